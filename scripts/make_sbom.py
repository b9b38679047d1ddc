#!/usr/bin/env python3
"""make_sbom.py VERSION SECONDS DIST -- the bill of materials of a release as SPDX 2.3 JSON on standard output: the files in DIST with
their SHA-256, and what the program and the wheel link (THIRD_PARTY_NOTICES). SPDX-License-Identifier: Apache-2.0"""
import datetime
import hashlib
import json
import pathlib
import re
import sys

version, seconds, dist = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
root = pathlib.Path(__file__).resolve().parent.parent


def third_parties():
    """Names and licences, as the notices head their sections."""
    heads = re.findall(r"^-{80}\n([^,\n]+),.* https?://\S+ \(([\w.-]+).*\)$", (root / "THIRD_PARTY_NOTICES").read_text(), re.M)
    if not heads:
        sys.exit("make_sbom.py: THIRD_PARTY_NOTICES has no heads of sections")
    return heads


def package(name, **more):
    spdx = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)
    return {"SPDXID": spdx, "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "copyrightText": "NOASSERTION", **more}


own = package("rnnpack", versionInfo=version, licenseConcluded="Apache-2.0", licenseDeclared="Apache-2.0")
others = [package(name, licenseConcluded=licence, licenseDeclared=licence) for name, licence in third_parties()]
files = []
for path in sorted(p for p in dist.iterdir() if p.is_file()):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    files.append({"SPDXID": f"SPDXRef-File-{len(files)}", "fileName": f"./{path.name}", "licenseConcluded": "Apache-2.0",
                  "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]})
links = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
links += [(own["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files] + [(own["SPDXID"], "STATIC_LINK", p["SPDXID"]) for p in others]
everything = hashlib.sha256(json.dumps(files).encode()).hexdigest()
document = {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rnnpack-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/rnnpack-{version}-{everything[:16]}",
    "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "creators": ["Tool: rnnpack scripts/make_sbom.py"]},
    "packages": [own] + others, "files": files,
    "relationships": [dict(zip(("spdxElementId", "relationshipType", "relatedSpdxElement"), link)) for link in links],
}
json.dump(document, sys.stdout, indent=2)
print()
