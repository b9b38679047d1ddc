#!/usr/bin/env python3
"""test_bindings.py BUILD [LANGUAGE...] -- runs bindings/suite.json in every language that has a run_suite.sh, or in those named, and
ends with a table: language, version, cases passed, lines of code, and what a step costs. As many languages at a time as there are
processors; with JOBS=1 no other one disturbs a step that is timed.

A language is a folder bindings/LANGUAGE with
  packages.txt   the Debian packages it needs beside scripts/packages-build.txt; installed here
  run_suite.sh   BUILD SUITE: builds the binding, runs its own tests, runs SUITE/suite.txt. Prints `version TEXT`, a line for each
                 case (ok NAME, FAILED NAME: why, na NAME: why), `overhead NANOSECONDS`; ends with an error where its own tests fail
SPDX-License-Identifier: Apache-2.0"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOUNDS = pathlib.Path(os.environ.get("RNNPACK_DEMO_SOUNDS", "/usr/share/sounds/alsa"))
SPEECH = ("Front_Center", "Front_Left", "Front_Right", "Rear_Center", "Rear_Left", "Side_Right")
SECONDS = 900


def cases(suite):
    """Every case as a line of suite.txt."""
    statuses = next(e for e in json.loads((ROOT / "include/rnnpack/rnnpack.abi.json").read_text())["enums"] if e["name"] == "rnnp_status")
    lines = [f"status status.{v['name'][5:]} code={v['value']} constant={v['name']}" for v in statuses["values"] if v["value"] != 0]
    golden = suite["golden"]
    for line in (ROOT / golden["folder"] / "list.txt").read_text().splitlines():
        name = line.split()[0]
        lines.append(f"golden golden.{name} blob=golden/{name}.rnnp output=golden/{name}.out steps={golden['steps']} batch={golden['batch']}")
    for case in suite["cases"]:
        rest = " ".join(f"{key}={value}" for key, value in case.items() if key not in ("kind", "name"))
        lines.append(f"{case['kind']} {case['name']} {rest}")
    return lines


def prepare(build, folder):
    """The suite's data, made by C: blobs, the recording, what comes out of it."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bad").mkdir(parents=True)
    suite = json.loads((ROOT / "bindings/suite.json").read_text())
    shutil.copytree(ROOT / suite["golden"]["folder"], folder / "golden")
    lines = cases(suite)
    (folder / "suite.txt").write_text("\n".join(lines) + "\n")
    shutil.copy(ROOT / "models/vad_gru/model.onnx", folder / "vad.onnx")
    subprocess.run([build / "src/compiler/rnnpack", "compile", folder / "vad.onnx", "-o", folder / "vad.rnnp"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([build / "bindings/c/suite_c", "prepare", folder, SOUNDS / "Noise.wav", *(SOUNDS / f"{name}.wav" for name in SPEECH)], check=True)
    return [line.split()[1] for line in lines]


def run(language, build, folder, wanted):
    """One language's row of the table, and what went wrong."""
    try:
        done = subprocess.run([ROOT / "bindings" / language / "run_suite.sh", build, folder], capture_output=True, text=True, timeout=SECONDS,
                              errors="replace", cwd=ROOT / "bindings" / language)
        text, code = done.stdout, done.returncode
        output = done.stdout[-3000:] + done.stderr[-3000:] if code else ""
    except subprocess.TimeoutExpired as late:
        text, code, output = (late.stdout or b"").decode(errors="replace"), "no end", ""
    said = dict(re.findall(r"^(version|overhead) (.*)$", text, re.M))
    passed = set(re.findall(r"^ok (\S+)$", text, re.M))
    absent = dict(re.findall(r"^na (\S+): (.*)$", text, re.M))
    problems = re.findall(r"^FAILED .*$", text, re.M)
    problems += [f"says nothing of {name}" for name in wanted if name not in passed and name not in absent and f"FAILED {name}:" not in text]
    problems += [f"run_suite.sh ends with {code}"] if code and not problems else []
    return {"language": language, "version": said.get("version", "?")[:28], "passed": len(passed & set(wanted)), "absent": absent,
            "overhead": float(said["overhead"]) if "overhead" in said else None, "problems": problems, "output": output}


def lines_of(language):
    """Lines written by hand and generated, tests left out."""
    hand = made = 0
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", f"bindings/{language}"], capture_output=True, text=True).stdout.split()
    for name in {"cpp": ["include/rnnpack/rnnpack.hpp"], "c": []}.get(language, names):  # C++ is a header; C has the library's own
        path = ROOT / name
        if path.suffix not in (".rs", ".go", ".lua", ".ads", ".adb", ".c", ".h", ".hpp", ".cpp", ".cs", ".java", ".js", ".ts", ".mjs", ".py", ".kt", ".swift"):
            continue
        if re.search(r"(^|/)(tests?|suite|examples)[/._]|_test\.|suite\.|[sS]uite", name.split("/", 2)[2]):
            continue
        text = path.read_text(encoding="utf-8")
        part = re.search(r"generated: begin\n(.*?)generated: end", text, re.S)
        count, inner = text.count("\n"), part.group(1).count("\n") if part else 0
        whole = re.search(r"scripts/abi/generate\.py", text) and not part
        made, hand = made + (count if whole else inner), hand + (0 if whole else count - inner)
    return f"{hand} + {made}"


def table(rows, cases_in_all):
    base = next((row["overhead"] for row in rows if row["language"] == "c"), None)
    print(f"\n{'language':10} {'version':28} {'passed':>9} {'n/a':>4} {'lines: hand + generated':>24} {'step, ns':>9} {'above C':>8}")
    for row in rows:
        step, above = "", ""
        if row["overhead"] is not None:
            step, above = f"{row['overhead']:.0f}", f"{row['overhead'] - base:+.0f}" if base is not None else ""
        print(f"{row['language']:10} {row['version']:28} {row['passed']:>3} of {cases_in_all:>3} {len(row['absent']):>4} {lines_of(row['language']):>24} {step:>9} {above:>8}")


def main():
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    there = sorted(path.parent.name for path in (ROOT / "bindings").glob("*/run_suite.sh"))
    unknown = [name for name in names if name not in there]
    if unknown:
        sys.exit(f"no binding {' '.join(unknown)}; there are: {' '.join(there)}")
    chosen = [name for name in there if name == "c" or not names or name in names]
    lists = [str(path) for path in (ROOT / "bindings" / name / "packages.txt" for name in chosen) if path.exists()]
    if lists and not os.environ.get("RNNPACK_NO_INSTALL"):
        subprocess.run([ROOT / "scripts/install_packages.sh", *lists], check=True)
    wanted = prepare(build, build / "suite")
    rows = []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        for row in pool.map(lambda name: run(name, build, build / "suite", wanted), chosen):
            print(f"== {row['language']}", flush=True)
            print("".join([row["output"], *(f"  {problem}\n" for problem in row["problems"][:20])]), end="", flush=True)
            rows.append(row)
    table(rows, len(wanted))
    for row in rows:
        for name, why in row["absent"].items():
            print(f"  {row['language']}: {name} not applicable: {why}")
    passed, failed, absent = (sum(count) for count in zip(*((r["passed"], len(r["problems"]), len(r["absent"])) for r in rows)))
    print(f"{absent} cases not applicable\n{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
