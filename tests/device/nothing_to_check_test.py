#!/usr/bin/env python3
"""nothing_to_check_test.py SOURCE -- a check that looked at nothing fails and says so: each is given an empty archive, an empty folder,
or the map of a program without the library. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
MAP = """Linker script and memory map

 .text          0x0000000000001000      0x120 main.o
 .text.step     0x0000000000001120      0x400 other.a(dense.cpp.o)
"""


class NothingToCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        for name in ("main.o", "model.c"):
            (self.at / name).write_text("")
        self.archive = self.at / "empty.a"
        subprocess.run(["ar", "rcs", self.archive], check=True)
        subprocess.run(["cc", "-x", "c", "-c", "/dev/null", "-o", self.at / "main.o"], check=True)

    def refused(self, script, *args, says=""):
        done = subprocess.run([sys.executable, SOURCE / script, *map(str, args)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, f"{script}: {done.stdout}{done.stderr}")
        self.assertIn(says, done.stdout)

    def test_a_program_without_the_archive(self):
        path = self.at / "image.map"
        path.write_text(MAP)
        check = ["firmware/count/check_image.py", "nm", self.at / "main.o", path, self.at / "model.c"]
        self.refused(*check, says="names no code of librnnpack*.a")
        path.write_text(MAP.replace("other.a", "build/librnnpack-board.a"))
        subprocess.run([sys.executable, SOURCE / check[0], *map(str, check[1:])], check=True, stdout=subprocess.DEVNULL)
        path.write_text(MAP)
        self.refused("tests/size/check_size.py", SOURCE / "tests/size/budgets.json", "one_gru_cortex-m4f", "--map", path, says="that is not the library")

    def test_an_empty_archive(self):
        self.refused("tests/device/check_freestanding.py", "nm", self.archive, says="is not the library")
        self.refused("tests/api/check_symbols.py", self.archive, says="is not the library")
        self.refused("tests/kernels/check_loops.py", "objdump", self.archive)
        self.refused("tests/kernels/check_vzeroupper.py", "objdump", self.archive)

    def test_an_empty_folder(self):
        self.refused("tests/device/check_stack.py", self.at, says="only 0 functions")


unittest.main(argv=sys.argv[:1])
