#!/usr/bin/env python3
"""check_page_program.py PAGE PROGRAM -- the page shows the program that is compiled. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

page, program = (pathlib.Path(name).read_text() for name in sys.argv[1:])
if "```text\n" + program + "```\n" not in page:
    sys.exit(f"{sys.argv[1]} does not show {sys.argv[2]} as it is")
