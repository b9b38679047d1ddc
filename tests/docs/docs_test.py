#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages, followed word for word. In a copy of the tree, whose folder `build` is this build, the sh blocks of a page are run from top to
bottom, its C and C++ blocks compiled, its Python blocks run as one program by the Python that has the package (RNNPACK_PACKAGE_PYTHON); commands marked `# by hand: <why>` and those in running text are only asked whether they exist: make
targets by `make -n`, scripts and their options by --help, the tool's likewise. A non-zero exit status or a traceback is a failure.

docs_test.py SOURCE BUILD PAGE...      pages relative to SOURCE
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pages

ENTRY_SECONDS = 900  # of a page


class Tree:
    """The copy in which commands run. Its path stays the same so that a compiler cache works."""

    def __init__(self, source, build):
        self.source, self.build, self.at = source, build, build / "docs_tree"
        shutil.rmtree(self.at, ignore_errors=True)
        names = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True).stdout
        for name in filter(None, names.decode().split("\0")):
            if (source / name).is_file():
                (self.at / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, self.at / name)
        (self.at / "build").symlink_to(build)
        self.environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C"}
        self.environment["PATH"] = f"/usr/bin:{self.environment['PATH']}"  # Debian's python3, which has numpy
        ccache = pathlib.Path("/usr/lib/ccache")
        if ccache.is_dir():
            self.environment["PATH"] = f"{ccache}:{self.environment['PATH']}"
            for language in ("C", "CXX"):
                self.environment[f"CMAKE_{language}_COMPILER_LAUNCHER"] = "ccache"

    def run(self, script, seconds=ENTRY_SECONDS):
        try:
            return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.at, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds)
        except subprocess.TimeoutExpired as expired:
            return subprocess.CompletedProcess(script, 124, (expired.stdout or b"").decode(errors="replace") + f"\nlonger than {seconds} s\n")


class Page:
    def __init__(self, tree, name):
        self.tree, self.name, self.text = tree, name, (tree.source / name).read_text()
        self.failures, self.ran, self.asked = [], 0, 0
        self.helps, self.said = {}, ""

    def fail(self, where, what, output=""):
        self.failures.append(f"{where}: {what}\n{output[-3000:]}")

    def check(self):
        for line in pages.indented_commands(self.text):
            self.fail(self.name, f"a command outside of ```sh: {line.strip()}")
        script, program = [], []
        for block in pages.blocks(self.name, self.text):
            if block.language == "sh":
                script.append((block, self.runnable(block)))
            elif block.language == "c":
                self.compile(block)
            elif block.language == "cpp":
                self.compile(block, "snippet.cpp", "c++ -std=c++17")
            elif block.language == "python":
                program.append(block)
            elif block.language != "text":
                self.fail(block, f"a block of language '{block.language}'; known are sh, c, cpp, python and text")
        self.run_blocks(script)
        self.run_python(program)
        for command in pages.inline_commands(self.text):
            self.ask(self.name, command)
        return not self.failures

    def runnable(self, block):
        """The block without what is run by hand, and with the build that exists in place of `make build`."""
        kept = []
        for line in re.sub(r"\\\n\s*", " ", block.text).splitlines():
            command, by_hand, why = line.partition(pages.BY_HAND)
            if by_hand:
                if not why.strip():
                    self.fail(block, f"no reason why it is run by hand: {line}")
                self.ask(block, command)
                continue
            if re.match(r"make install( |$)", command):
                command = command.replace("make install", "make -o build install")
            elif re.match(r"make ", command):
                self.fail(block, f"takes long, so it needs `{pages.BY_HAND} <why>`: {line}")
                continue
            kept.append(command)
        return kept

    def run_blocks(self, script):
        """All blocks of a page in one shell, as a reader would have them: variables stay."""
        lines = []
        for block, commands in script:
            lines += [f"echo ' {block}'"] + commands
            self.ran += len([c for c in commands if c.strip()])
        if not any(commands for _, commands in script):
            return
        done = self.tree.run("\n".join(lines))
        if done.returncode != 0:
            at = re.findall(r"^ (.*)$", done.stdout, re.M)
            self.fail(at[-1] if at else self.name, f"exit status {done.returncode}", done.stdout)
        if "Traceback (most recent call last)" in done.stdout:
            self.fail(self.name, "a traceback", done.stdout)

    def run_python(self, blocks):
        """All blocks of a page as one program, behind its commands; where there is no such Python they are only read."""
        for block in blocks:
            compile(block.text, str(block), "exec")
            self.ran += 1
        python = os.environ.get("RNNPACK_PACKAGE_PYTHON")
        if not blocks or not python or subprocess.run([python, "-c", "import rnnpack"], capture_output=True).returncode != 0:
            return
        (self.tree.at / "page.py").write_text("\n".join(block.text for block in blocks))
        done = self.tree.run(f"'{python}' -B page.py")
        if done.returncode != 0:
            self.fail(blocks[0], "the page's Python fails", done.stdout)

    def compile(self, block, name="snippet.c", compiler="cc -std=c11"):
        file = self.tree.at / (block.file_name or name)
        file.write_text(block.text)
        if block.file_name and '#include "' in block.text:
            return  # compiled by the commands that follow, which make what it includes
        done = self.tree.run(f"{compiler} -Wall -Wextra -Werror -fsyntax-only -Iinclude -I. {file.name}")
        self.ran += 1
        if done.returncode != 0:
            self.fail(block, "does not compile", done.stdout)

    def ask(self, where, command):
        """Whether a command that is not run exists, with its options."""
        parts = pages.words(command)
        if not parts:
            return
        self.asked += 1
        if parts[0] == "make":
            targets = [p for p in parts[1:] if "=" not in p and re.match(r"^[\w-]+$", p)]
            done = self.tree.run(f"make -n {' '.join(targets)}")
            if done.returncode != 0:
                self.fail(where, f"`{command}`: there is no such target", done.stdout)
            return
        by_python = parts[0].endswith("/python")
        parts = parts[by_python:]
        program = parts[0]
        if program in ("rnnpack", "build/src/compiler/rnnpack"):
            self.ask_options(where, command, f"build/src/compiler/rnnpack {parts[1] if len(parts) > 1 else ''} --help", parts[2:])
        elif re.match(r".*\.(py|sh)$", program):
            runs_itself = len(parts) > 1 and not by_python
            if not os.access(self.tree.at / program, os.X_OK if runs_itself else os.R_OK):
                self.fail(where, f"`{command}`: there is no such program")
            elif program.endswith(".py"):
                self.ask_python(where, command, program, parts[1:])
        elif re.match(r"build[\w-]*/", program):
            name = pathlib.Path(program).name
            short = name.removeprefix("rnnpack_")
            search = f"grep -rqw --include=CMakeLists.txt --include='*.py' -e '{name}' -e '{short}' src tests bench demo examples firmware"
            if self.tree.run(search).returncode != 0:
                self.fail(where, f"`{command}`: nothing makes {name}")

    def ask_options(self, where, command, ask, arguments):
        options = [a.split("=")[0] for a in arguments if a.startswith("--")]
        if ask not in self.helps:
            done = self.tree.run(ask)
            self.helps[ask] = done.stdout
            if done.returncode != 0:
                self.fail(where, f"`{ask}` fails", done.stdout)
        for option in options:
            if not re.search(re.escape(option) + r"(?![\w-])", self.helps[ask]):
                self.fail(where, f"`{command}`: there is no option {option}")

    def ask_python(self, where, command, program, arguments):
        """Options are looked for in the text of the program and of those beside it that it imports: others may not be installed here."""
        path = self.tree.at / program
        text = path.read_text()
        compile(text, program, "exec")
        beside = [path.with_name(name + ".py") for name in re.findall(r"^from (\w+) import", text, re.M)]
        text += "".join(other.read_text() for other in beside if other.exists())
        for option in [a.split("=")[0] for a in arguments if a.startswith("--")]:
            if f'"{option}"' not in text:
                self.fail(where, f"`{command}`: there is no option {option}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    tree = Tree(options.source.resolve(), options.build.resolve())
    bad = 0
    for name in options.pages:
        page = Page(tree, name)
        good = page.check()
        print(f"{name}: {page.ran} commands run, {page.asked} asked for, {len(page.failures)} failures", flush=True)
        for failure in page.failures:
            print(f"FAILED {failure}")
        bad += not good
    if not bad:
        shutil.rmtree(tree.at)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
