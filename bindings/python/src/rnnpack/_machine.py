# SPDX-License-Identifier: Apache-2.0
"""Machine files: what `rnnpack tune -o NAME.json` found, as options of a session."""
from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Union

from ._errors import UsageError
from ._files import file_errors
from ._isa import Isa

_FORMAT = "rnnpack machine 1"


@dataclass(frozen=True)
class Machine:
    threads: int
    all_threads: bool
    chunk_steps: int
    isa_allowed: int
    l2_bytes: int


def read_machine(path: Union[str, "os.PathLike[str]"]) -> Machine:
    with file_errors():
        text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        document: Any = json.loads(text)
        if document["format"] != _FORMAT:
            raise ValueError(f"its format is not '{_FORMAT}'")
        options = document["options"]
        isa = sum(int(Isa[name.upper()]) for name in options["isa_allowed"])
        numbers = [options[name] for name in ("threads", "chunk_steps", "l2_bytes")]
        if not all(isinstance(number, int) and 0 <= number < 1 << 32 for number in numbers) or not isinstance(options["all_threads"], bool):
            raise ValueError("an option has another type than rnnpack tune writes")
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise UsageError(f"'{os.fspath(path)}' is no machine file of rnnpack tune: {reason}") from None
    return Machine(options["threads"], options["all_threads"], options["chunk_steps"], isa, options["l2_bytes"])
