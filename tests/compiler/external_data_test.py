#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights beside the model, as PyTorch's exporter writes them: found, bounded, and never anywhere else.

external_data_test.py RNNPACK
"""
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.external_data_helper import convert_model_to_external_data

from cli_support import Tool, save_onnx

rnnpack = Tool(sys.argv[1])
HIDDEN = 5


class ExternalData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name) / "models"
        self.at.mkdir()
        random = np.random.default_rng(1)
        weights = {"W": random.uniform(-1, 1, (1, 4 * HIDDEN, 3)).astype(np.float32), "R": random.uniform(-1, 1, (1, 4 * HIDDEN, HIDDEN)).astype(np.float32)}
        self.inside = save_onnx(self.at / "inside.onnx", [("LSTM", ["x", "W", "R"], ["y"], {"hidden_size": HIDDEN})], {"x": ["T", 1, 3]}, ["y"], weights)
        self.model, self.data = self.at / "m.onnx", self.at / "m.onnx.data"
        self.save(onnx.load(str(self.inside)))

    def save(self, proto, change=None, attributes=False):
        """The model with its weights in m.onnx.data; `change` sees each tensor's entries before it is saved again."""
        self.data.unlink(missing_ok=True)
        convert_model_to_external_data(proto, location=self.data.name, size_threshold=0, convert_attribute=attributes)
        onnx.save(proto, str(self.model))
        if change is None:
            return
        proto = onnx.load(str(self.model), load_external_data=False)
        for tensor in proto.graph.initializer:
            entries = {e.key: e.value for e in tensor.external_data}
            change(tensor.name, entries)
            del tensor.external_data[:]
            for key, value in entries.items():
                tensor.external_data.add(key=key, value=str(value))
        onnx.save(proto, str(self.model))

    def refused(self, *words):
        said = rnnpack("compile", self.model, "-o", self.at / "m.rnnp", code=2).stderr
        for word in words:
            self.assertIn(word, said)
        self.assertFalse((self.at / "m.rnnp").exists())
        return said

    def changed(self, **new):
        self.save(onnx.load(str(self.inside)), lambda name, entries: entries.update(new) if name == "R" else None)

    def test_weights_beside_the_model_give_the_blob_of_weights_inside(self):
        rnnpack("compile", self.inside, "-o", self.at / "inside.rnnp")
        self.assertGreater(self.data.stat().st_size, 4 * 4 * HIDDEN * (3 + HIDDEN) - 1)
        rnnpack("compile", self.model, "-o", self.at / "m.rnnp")
        self.assertEqual((self.at / "m.rnnp").read_bytes(), (self.at / "inside.rnnp").read_bytes())
        self.assertIn("verified", rnnpack("verify", self.model, self.at / "m.rnnp").stdout)
        here = os.getcwd()
        os.chdir(self.at)  # the folder of a path without one is the current one
        try:
            rnnpack("compile", "m.onnx", "-o", "again.rnnp")
        finally:
            os.chdir(here)
        self.assertEqual((self.at / "again.rnnp").read_bytes(), (self.at / "inside.rnnp").read_bytes())

    def test_constants_of_nodes_and_branches_are_found_too(self):
        proto = onnx.load(str(self.inside))
        value = onnx.numpy_helper.from_array(np.linspace(-1, 1, HIDDEN, dtype=np.float32), "v")
        proto.graph.node.append(helper.make_node("Constant", [], ["c"], value=value))
        branch = helper.make_graph([helper.make_node("Mul", ["c", "k"], ["t"])], "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, [HIDDEN])],
                                   [onnx.numpy_helper.from_array(np.full(HIDDEN, 3, np.float32), "k")])
        other = helper.make_graph([helper.make_node("Neg", ["c"], ["f"])], "else", [], [helper.make_tensor_value_info("f", TensorProto.FLOAT, [HIDDEN])])
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(True), "yes"))
        proto.graph.node.append(helper.make_node("If", ["yes"], ["b"], then_branch=branch, else_branch=other))
        proto.graph.node.append(helper.make_node("Add", ["y", "b"], ["z"]))
        proto.graph.output[0].name = "z"
        whole = self.at / "whole.onnx"
        onnx.save(proto, str(whole))
        rnnpack("compile", whole, "-o", self.at / "whole.rnnp")
        self.save(proto, attributes=True)
        self.assertTrue(any(a.t.data_location == TensorProto.EXTERNAL for n in onnx.load(str(self.model), load_external_data=False).graph.node for a in n.attribute))
        rnnpack("compile", self.model, "-o", self.at / "m.rnnp")
        self.assertEqual((self.at / "m.rnnp").read_bytes(), (self.at / "whole.rnnp").read_bytes())

    def test_a_file_that_is_not_there_is_named(self):
        self.data.unlink()
        said = self.refused("weights", "'m.onnx.data'", "keep the two files together")
        self.assertEqual(said.count("m.onnx.data"), 1, "one cause is said once")
        self.data.mkdir()
        self.refused("'m.onnx.data'", "keep the two files together")

    def test_nothing_outside_the_models_folder_is_read(self):
        outside = self.at.parent / "outside.data"
        outside.write_bytes(self.data.read_bytes())
        for location in ("../outside.data", "sub/../../outside.data", str(outside), str(self.data), ""):
            with self.subTest(location=location):
                self.changed(location=location)
                self.refused("'R'", "in the model's own folder")
        (self.at / "link.data").symlink_to(outside)
        self.changed(location="link.data")
        self.refused("'link.data'", "in the model's own folder")
        (self.at / "below").mkdir()
        (self.at / "below" / "r.data").write_bytes(self.data.read_bytes())
        self.changed(location="below/r.data")
        rnnpack("compile", self.model, "-o", self.at / "m.rnnp")

    def test_bytes_that_are_not_there_are_not_made_up(self):
        size = self.data.stat().st_size
        for new in ({"offset": size - 3}, {"offset": size + 1}, {"length": size + 1}, {"offset": 2**62, "length": 2**62}):
            with self.subTest(new=new):
                self.changed(**new)
                self.refused("'R'", "beyond the end of 'm.onnx.data'", str(size))
        self.changed(length=8)
        self.refused("'R'", "its shape needs")
        for new in ({"offset": "-1"}, {"length": "1e3"}, {"offset": ""}, {"length": "9" * 30}):
            with self.subTest(new=new):
                self.changed(**new)
                self.refused("'R'", "a number of bytes")
        self.save(onnx.load(str(self.inside)))
        self.data.write_bytes(self.data.read_bytes()[:-4])
        self.refused("beyond the end", "cut off?")

    def test_a_file_is_read_once_however_many_tensors_name_it(self):
        proto = onnx.load(str(self.inside))
        for i in range(50):
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(100, np.float32), f"n{i}"))
        self.save(proto, lambda name, entries: entries.update(offset=0, length=self.data.stat().st_size))
        self.refused("more data are asked of 'm.onnx.data'")

    def test_the_weights_are_no_place_for_the_blob(self):
        before = self.data.read_bytes()
        self.assertIn("is also an input", rnnpack("compile", self.model, "-o", self.data, code=1).stderr)
        blob = self.at / "m.rnnp"
        rnnpack("compile", self.model, "-o", blob)
        self.assertIn("is also an input", rnnpack("inspect", blob, "--onnx", self.model, "--svg", self.data, code=1).stderr)
        self.assertEqual(self.data.read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
