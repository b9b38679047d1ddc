#!/usr/bin/env python3
"""pack.py FOLDER RID README SUFFIX -- FOLDER/Rnnpack.VERSION[SUFFIX].nupkg from FOLDER/Rnnpack.dll and FOLDER/librnnpack.so. The same bits each time.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUSPEC = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>Rnnpack</id>
    <version>{version}</version>
    <authors>rnnpack</authors>
    <license type="expression">Apache-2.0</license>
    <readme>README.md</readme>
    <description>Recurrent neural networks (LSTM, GRU, RNN) from packed blobs</description>
    <dependencies>
      <group targetFramework=".NETStandard2.0"><dependency id="System.Memory" version="4.5.4" /></group>
    </dependencies>
  </metadata>
</package>
"""
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="dll" ContentType="application/octet" />
  <Default Extension="so" ContentType="application/octet" />
  <Default Extension="md" ContentType="application/octet" />
</Types>
"""
RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/Rnnpack.nuspec" Id="R1" />
</Relationships>
"""


def main():
    folder, rid, readme = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    version = re.search(r"project\(rnnpack VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1) + sys.argv[4]
    files = {"[Content_Types].xml": TYPES.encode(), "_rels/.rels": RELATIONS.encode(), "Rnnpack.nuspec": NUSPEC.format(version=version).encode(),
             "README.md": readme.read_bytes(), "lib/netstandard2.0/Rnnpack.dll": (folder / "Rnnpack.dll").read_bytes(),
             f"runtimes/{rid}/native/librnnpack.so": (folder / "librnnpack.so").read_bytes()}
    target = folder / f"Rnnpack.{version}.nupkg"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    print(target)


main()
