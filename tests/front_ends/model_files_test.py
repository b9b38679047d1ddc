"""Model files of other kinds through the tool: compile, verify, inspect, and what is said of files that are not whole or newer.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import write_model_file_seeds

tool = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)


class ModelFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        write_model_file_seeds.main(cls.folder)
        cls.names = sorted(path.name for path in cls.folder.iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_every_kind_compiles_and_verifies(self):
        self.assertEqual(len(self.names), 10)
        for name in self.names:
            blob = self.folder / f"{name}.rnnp"
            made = run("compile", self.folder / name, "-o", blob)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("streams: yes, in pieces of any number of steps", made.stderr)
            self.assertNotIn("not checked", made.stderr)
            checked = run("verify", self.folder / name, blob, "--steps", 40)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_quality_makes_another_blob(self):
        file, blob = self.folder / "container", self.folder / "small.rnnp"
        made = run("compile", file, "-o", blob, "--quality", 0.25)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("--quality 0.25;", made.stderr)  # of the next command
        self.assertEqual(run("verify", file, blob, "--quality", 0.25).returncode, 0)
        self.assertEqual(run("verify", file, blob).returncode, 4)  # it is the other network
        self.assertIn("loudness", run("inspect", blob).stdout)
        refused = run("compile", self.folder / "rtneural", "-o", blob, "--quality", 1)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--quality is of files that hold several networks; this one is of the kind RTNeural", refused.stderr)

    def test_files_that_end_early_are_said_to(self):
        for name in self.names:
            whole = (self.folder / name).read_text()
            (self.folder / "part").write_text(whole[:2 * len(whole) // 3])
            refused = run("compile", self.folder / "part", "-o", self.folder / "none.rnnp")
            self.assertEqual(refused.returncode, 2, name)
            self.assertIn("the file is not whole or damaged: it begins as JSON; parse error", refused.stderr)
            self.assertFalse((self.folder / "none.rnnp").exists())

    def test_what_others_than_the_tool_read_is_said(self):
        header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        for start, words in ((b"\x89HDF\r\n\x1a\n", "the Python package reads it"), (b"PK\3\4", ".keras is read by the Python package"),
                             (b"\x80\x04", "export the network to ONNX"), (b"GGUF", "GGUF"), (b"\x93NUMPY", "an array of NumPy"),
                             (len(header).to_bytes(8, "little") + header, "rnnpack.from_weights")):
            (self.folder / "other").write_bytes(start + bytes(4))
            refused = run("compile", self.folder / "other", "-o", self.folder / "none.rnnp")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("the file is not an ONNX model but ", refused.stderr)
            self.assertIn(words, refused.stderr)

    def test_a_saved_model_is_said_to_have_no_graph(self):
        (self.folder / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04\x0a\x02\x08\x01")
        refused = run("compile", self.folder / "saved_model.pb", "-o", self.folder / "none.rnnp")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the file is not an ONNX model: it has no graph (a SavedModel", refused.stderr)

    def test_newer_files_are_said_to_be(self):
        file = json.loads((self.folder / "wavenet").read_text())
        (self.folder / "newer").write_text(json.dumps({**file, "version": "0.9.0"}))
        refused = run("compile", self.folder / "newer", "-o", self.folder / "none.rnnp")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("version: '0.9.0' is newer than what is read; accepted: 0.5 to 0.7", refused.stderr)


if __name__ == "__main__":
    unittest.main()
