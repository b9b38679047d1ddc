# SPDX-License-Identifier: Apache-2.0
"""`rnnpack` and `python -m rnnpack`: the tool itself."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

from ._tool import TOOL


def main() -> NoReturn:
    os.execv(str(TOOL), ["rnnpack", *sys.argv[1:]])


if __name__ == "__main__":
    main()
