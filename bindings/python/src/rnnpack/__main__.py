# SPDX-License-Identifier: Apache-2.0
"""`rnnpack` and `python -m rnnpack`: the tool itself, which also takes what rnnpack.compile() reads: .keras and .h5 files."""
from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import zipfile
from typing import Dict, List, NoReturn, Tuple

from ._errors import Error
from ._model import is_of_keras
from ._tool import TOOL, code_of


def _is_model(argument: str) -> bool:
    """Of Keras; arrays for `run` are zip files too."""
    if argument.startswith("-") or not is_of_keras(argument):
        return False
    if not zipfile.is_zipfile(argument):
        return True
    with zipfile.ZipFile(argument) as archive:
        return "model.weights.h5" in archive.namelist()


def _with_onnx(arguments: List[str], models: List[str], folder: pathlib.Path) -> Tuple[Dict[str, str], List[str]]:
    """ONNX files in the place of Keras' ones among the arguments: path -> path. Sizes that a model was made with go out; which did."""
    from ._keras import keras_to_onnx
    sizes = {}
    for option, value in zip(arguments, arguments[1:]):
        name, _, size = value.partition("=")
        if option == "--dim" and size.isdecimal():
            sizes[name] = int(size)
    left = dict(sizes)
    written = {}
    for i, model in enumerate(models):
        path = folder / f"{i}.onnx"
        path.write_bytes(keras_to_onnx(model, left))
        written[model] = str(path)
    spent = [f"{name}={size}" for name, size in sizes.items() if name not in left]
    for at in range(len(arguments) - 1, 0, -1):
        if arguments[at - 1] == "--dim" and arguments[at] in spent:
            del arguments[at - 1:at + 1]
    return written, spent


def _run(arguments: List[str], models: List[str]) -> int:
    """The messages name the files that the caller named."""
    with tempfile.TemporaryDirectory() as name:
        written, spent = _with_onnx(arguments, models, pathlib.Path(name))
        sizes = "".join(f" --dim {size}" for size in spent)

        def named(text: str) -> str:
            for model, path in written.items():
                text = text.replace(f"next: rnnpack verify {path}", f"next: rnnpack verify{sizes} {shlex.quote(model)}").replace(path, model)
            return text

        with open(pathlib.Path(name) / "out", "w+", encoding="utf-8") as out, \
                subprocess.Popen([str(TOOL), *(written.get(a, a) for a in arguments)], stdout=out, stderr=subprocess.PIPE, encoding="utf-8",
                                 errors="replace") as child:
            assert child.stderr is not None
            for line in child.stderr:
                print(named(line), end="", file=sys.stderr, flush=True)
            child.wait()
            out.seek(0)
            print(named(out.read()), end="")
        return child.returncode


def main() -> NoReturn:
    arguments = sys.argv[1:]
    models = [a for a in arguments if _is_model(a)]
    if not models:
        os.execv(str(TOOL), ["rnnpack", *arguments])
    try:
        sys.exit(_run(arguments, models))
    except Error as error:
        print(f"rnnpack: {error}", file=sys.stderr)
        sys.exit(code_of(error))


if __name__ == "__main__":
    main()
