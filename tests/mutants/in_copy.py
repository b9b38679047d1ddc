"""in_copy.py -- a copy of the working tree and its build folder: build it, change a line of it, run some of its tests.
SPDX-License-Identifier: Apache-2.0"""
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import xml.etree.ElementTree

MEMORY = 24 << 30  # address space of a program under test: a bug that asks for all there is fails instead of swapping


def describe_tests(build):
    """CTest's own description of a build folder's tests; runs none."""
    text = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["tests"]


def bare(name):
    """Without the parameter that GoogleTest prints behind a name: where it is a pointer, each build gives another one."""
    return name.split()[0]


def test_names(build):
    return [bare(test["name"]) for test in describe_tests(build)]


def registered_names(build):
    """The same names from the files that CTest reads: a CTest inside a CTest would write over its log."""
    files = [*build.rglob("CTestTestfile.cmake"), *build.rglob("*_tests*.cmake")]
    return {name for path in files for name in re.findall(r'^ *add_test\((?:\[=*\[)?([^\s\]"]+)', path.read_text(), re.MULTILINE)}


class Copy:
    def __init__(self, root, work, stage, jobs, timeout):
        self.root, self.stage, self.jobs, self.timeout = root, stage, jobs, timeout
        work = pathlib.Path(work).resolve()
        self.tree, self.build, self.logs = work / "tree", work / stage, work / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.limit_memory = stage not in ("asan", "tsan")  # sanitizers reserve terabytes
        self.copy_tree()

    def copy_tree(self):
        """Copies what Git knows or would take; files that are the same already keep their time, and what was built from them stays."""
        listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=self.root, check=True, capture_output=True).stdout
        wanted = {name for name in os.fsdecode(listed).split("\0") if name and (self.root / name).is_file()}
        for name in wanted:
            source, target = self.root / name, self.tree / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for path in list(self.tree.rglob("*")):
            if path.is_file() and str(path.relative_to(self.tree)) not in wanted and "__pycache__" not in path.parts:
                path.unlink()

    def build_all(self):
        """Configures and builds the whole stage; the names of its tests."""
        print(f"{self.stage}: building {self.build}", flush=True)
        launcher = []
        if shutil.which("ccache"):
            launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        configure = ["cmake", "-S", str(self.tree), "-B", str(self.build), "--preset", self.stage, *launcher, "-DRNNPACK_TEST_SHARDS=0"]
        log = self.logs / f"{self.stage}.log"
        with open(log, "w") as out:
            for command in (configure, ["ninja", "-C", str(self.build), "-j", str(self.jobs)]):
                if subprocess.run(command, stdout=out, stderr=out).returncode:
                    sys.exit(f"the clean copy does not build: {log}")
        self.targets = {line.rsplit(": ", 1)[0] for line in self.ninja("-t", "targets", "all").splitlines()}
        tests = describe_tests(self.build)
        self.commands = {bare(test["name"]): test.get("command", []) for test in tests}
        return list(self.commands)

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", str(self.build), *arguments], check=True, capture_output=True, text=True).stdout

    @contextlib.contextmanager
    def changed(self, file, find, replace):
        path = self.tree / file
        clean = path.read_text()
        path.write_text(clean.replace(find, replace))
        try:
            yield
        finally:
            path.write_text(clean)

    def build_for(self, names, log):
        """Builds the files of this build folder that the tests' commands name; all of it where a test takes the folder itself."""
        files = set()
        for word in (word for name in names for word in self.commands[name]):
            if word == str(self.build):
                files = {"all"}
                break
            if word.startswith(f"{self.build}/") and word[len(str(self.build)) + 1:] in self.targets:
                files.add(word[len(str(self.build)) + 1:])
        with open(self.logs / log, "w") as out:
            return subprocess.run(["ninja", "-C", str(self.build), "-j", str(self.jobs), *sorted(files)], stdout=out, stderr=out).returncode == 0

    def run_tests(self, names, stop):
        """Those that do not pass, and how: failed, skipped, timeout."""
        report = self.logs / "tests.xml"
        report.unlink(missing_ok=True)
        if not names:
            return {}
        command = ["ctest", "--test-dir", str(self.build), "-j", str(self.jobs), "--timeout", str(self.timeout), "--output-junit", str(report),
                   "-I", self.numbers_of(names)] + (["--stop-on-failure"] if stop else [])
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=self.set_limits)
        if not report.exists():
            return {"ctest": "wrote no report"}
        bad, seen = {}, set()
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            name = bare(case.get("name"))
            seen.add(name)
            failure, skipped = case.find("failure"), case.find("skipped")
            if failure is not None:
                bad[name] = "timeout" if "imeout" in (failure.get("message") or "") else "failed"
            elif skipped is not None or case.get("status") != "run":
                bad[name] = "skipped"
        bad.update({name: "did not run" for name in names if name not in seen and not bad})
        return bad

    def numbers_of(self, names):
        """CTest's -I for these tests and no others (a build may have found tests anew)."""
        wanted = set(names)
        numbers = [str(place) for place, name in enumerate(test_names(self.build), 1) if name in wanted]
        return "0,0,0," + ",".join(numbers)

    def set_limits(self):
        if self.limit_memory:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
