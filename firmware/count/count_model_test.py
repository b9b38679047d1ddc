#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_model_test.py BUILD TOOLS SOURCE -- what `make firmware MODEL=` prints of a model is what the image of the same model has; models
and boards that it cannot take are refused by name."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from device_table import build_plugin, images_of, measure

BUILD, TOOLS, SOURCE = (pathlib.Path(path) for path in sys.argv[1:4])


def count(model, *options):
    command = [sys.executable, SOURCE / "firmware" / "count" / "count_model.py", BUILD, TOOLS, model, *options]
    return subprocess.run(command, capture_output=True, text=True)


class CountModel(unittest.TestCase):
    def test_it_prints_what_the_firmwares_image_of_the_model_has(self):
        image = next(i for i in images_of(str(BUILD)) if i["model"] == "gru64")
        with tempfile.TemporaryDirectory() as folder:
            facts = measure(str(BUILD), image, build_plugin(folder))
        done = count(BUILD / "firmware" / "gru64.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {line.split()[0]: [int(n) for n in re.findall(r"\b\d+\b(?!\.)", line)] for line in done.stdout.splitlines()[1:]}
        library = facts["code"] + facts["constants"]
        self.assertEqual(said["flash"], [facts["weights"] + library, facts["weights"], library])
        self.assertEqual(said["RAM"][1:], [facts["session"], 256])
        self.assertEqual(said["stack"], [facts["stack"], facts["bound"]])
        self.assertAlmostEqual(said["instructions"][0], facts["instructions"], delta=2)  # steps differ, by where things lie

    def test_options_of_compile_are_passed_on(self):
        f32, int8 = (count(SOURCE / "models" / "vad_gru" / "model.onnx", *options).stdout for options in ((), ("--weights", "int8")))
        flash = [int(re.search(r"flash +(\d+) bytes", text).group(1)) for text in (f32, int8)]
        self.assertLess(flash[1], flash[0] / 2)

    def test_what_it_cannot_take_is_refused_by_name(self):
        done = count(SOURCE / "models" / "no_such.onnx")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such.onnx", done.stderr)
        done = subprocess.run([SOURCE / "scripts" / "count_firmware.sh", "build", "cortex-m99", "model.onnx"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no emulated board is called 'cortex-m99'; there are: cortex-m0plus cortex-m3", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
