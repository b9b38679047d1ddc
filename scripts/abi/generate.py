#!/usr/bin/env python3
"""generate.py [--check] [--html FOLDER] -- writes every language's declarations from rnnpack.abi.json, with the emit_*.py beside it.
--check compares instead, and says which are not as they should be. --html writes the API reference. SPDX-License-Identifier: Apache-2.0"""
import importlib
import pathlib
import sys

import abi

HERE = pathlib.Path(__file__).resolve().parent


def generated():
    """Path: text, of all languages."""
    files = {}
    for path in sorted(HERE.glob("emit_*.py")):
        language = importlib.import_module(path.stem)
        files.update(language.emit(abi.Abi()))
        if hasattr(language, "emit_compiler"):
            files.update(language.emit_compiler(abi.Abi(abi.COMPILER)))
    return files


def main():
    if "--html" in sys.argv:
        folder = pathlib.Path(sys.argv[sys.argv.index("--html") + 1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in importlib.import_module("html_pages").pages().items():
            (folder / name).write_text(text, encoding="utf-8")
        print(f"{folder}/index.html")
        return
    stale = []
    for name, text in generated().items():
        path = abi.ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit("not what scripts/abi/generate.py writes: " + ", ".join(stale))
    print(f"{len(generated())} files, {len(stale)} written")


if __name__ == "__main__":
    main()
