#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `rnnpack compile` and `inspect` say of time and batch, and that the commands which compile proposes do run.

cli_axes_test.py RNNPACK
"""
import shlex
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from cli_support import InFolder, Tool, save_onnx

rnnpack = Tool(sys.argv[1])
H = 4


def layer(name, x, y, direction="forward"):
    """A GRU over x and its output without the axis of directions."""
    directions = 2 if direction == "bidirectional" else 1
    nodes = [("GRU", [x, name + "W", name + "R"], [name + "Y"], {"hidden_size": H, "direction": direction}),
             ("Transpose", [name + "Y"], [name + "T"], {"perm": [0, 2, 1, 3]}), ("Reshape", [name + "T", name + "s"], [y], {})]
    random = np.random.default_rng(3)
    constants = {name + part: (random.standard_normal((directions, 3 * H, H)) * 0.3).astype(np.float32) for part in "WR"}
    return nodes, constants | {name + "s": np.array([0, 0, directions * H])}


class Axes(InFolder):
    def said(self, nodes, constants, x, *options):
        save_onnx(self.onnx, nodes, {"x": list(x)}, ["y"], constants)
        lines = rnnpack("compile", self.onnx, "-o", self.blob, *options).stderr.splitlines()
        self.assertEqual([line.split(" ")[0] for line in lines[-4:]], ["axes:", "made", "streams:", "next:"])
        self.assertIn("\n" + lines[-4] + "\n", rnnpack("inspect", self.blob, "--onnx", self.onnx, *options).stdout)
        return lines[-4]

    def test_one_axis_that_layers_run_along(self):
        said = self.said(*layer("a", "x", "y"), ("frames", "N", H))
        self.assertEqual(said, "axes: time is axis 0 of 'x' ('frames'), because recurrent layers run along it; "
                               "batch is axis 1 of 'x' ('N'), because it is the batch of recurrent layers")

    def dual_path(self, first="forward"):
        along, constants = layer("a", "x", "m", first)
        across, more = layer("b", "t", "y")
        return along + [("Transpose", ["m"], ["t"], {"perm": [1, 0, 2]})] + across, constants | more

    def test_of_several_axes_the_name_then_the_open_size_then_the_order_decides(self):
        which = "because of the axes that recurrent layers run along it is the "
        self.assertIn("time is axis 1 of 'x' ('time'), " + which + "one named like time", self.said(*self.dual_path(), (6, "time", H)))
        self.assertIn("time is axis 1 of 'x' ('q'), " + which + "one of open size", self.said(*self.dual_path(), (6, "q", H)))
        self.assertIn("time is axis 0 of 'x', " + which + "first", self.said(*self.dual_path(), (6, 5, H)))

    def test_what_the_user_says_is_said_to_be_it(self):
        said = self.said(*self.dual_path(), (6, "time", H), "--dim", "time=5", "--axes", "x=time,features,features")
        self.assertIn("time is axis 0 of 'x', because --axes says so", said)

    def test_without_a_recurrent_layer_it_is_a_guess_and_called_one(self):
        said = self.said([("Relu", ["x"], ["y"], {})], {}, ("M", "L", H))
        self.assertEqual(said, "axes: time is axis 1 of 'x' ('L'), because no recurrent layer says which, and its size is open; "
                               "batch is axis 0 of 'x' ('M'), because no recurrent layer says which, and it is the first")

    def test_a_named_batch_axis_wins_over_a_guess(self):
        said = self.said([("Relu", ["x"], ["y"], {})], {}, (2, "batch", H))
        self.assertIn("batch is axis 1 of 'x' ('batch'), because it is named so", said)

    def test_inspect_refuses_a_file_that_the_blob_is_not_made_from(self):
        self.said(*layer("a", "x", "y"), ("frames", "N", H))
        save_onnx(self.onnx, [("Relu", ["x"], ["y"], {})], {"x": ["N", "L", H]}, ["y"], {})
        self.assertIn("is not made from", rnnpack("inspect", self.blob, "--onnx", self.onnx, code=1).stderr)

    def test_states_of_a_loop_are_no_inputs(self):
        floats = TensorProto.FLOAT
        body = helper.make_graph(
            [helper.make_node("Mul", ["h", "half"], ["old"]), helper.make_node("Add", ["old", "x"], ["h_next"]),
             helper.make_node("Identity", ["h_next"], ["y"])], "body",
            [helper.make_tensor_value_info("h", floats, ["N", H]), helper.make_tensor_value_info("x", floats, ["N", H])],
            [helper.make_tensor_value_info("h_next", floats, ["N", H]), helper.make_tensor_value_info("y", floats, ["N", H])])
        said = self.said([("Scan", ["start", "x"], ["last", "y"], {"num_scan_inputs": 1, "body": body})],
                         {"half": np.float32(0.5), "start": np.zeros((3, H), np.float32)}, ("frames", 3, H))
        self.assertEqual(said, "axes: time is axis 0 of 'x' ('frames'), because a loop runs along it; "
                               "batch is axis 1 of 'x', because it is the second one of what a loop runs along")

    def one_row(self, name):
        """One step of one row, with a Reshape in the place of the Transpose between batch first and steps first."""
        nodes, constants = layer("a", "steps", "made")
        front = [("Reshape", ["x", "same"], [name], {}), ("Identity", [name], ["steps"], {})]
        back = [("Reshape", ["made", "flat"], ["row"], {}), ("Reshape", ["row", "same"], ["y"], {})]
        return front + nodes + back, constants | {"same": np.array([1, 1, H]), "flat": np.array([1, H])}

    def test_one_step_of_one_row_is_batch_first_where_a_name_or_the_user_says_so(self):
        for name, options, made in (("lstm/transpose:0", [], "x [batch, steps, 4] -> y [batch, steps, 4]"),
                                    ("lstm/other:0", [], "x [steps, batch, 4] -> y [steps, batch, 4]"),
                                    ("lstm/other:0", ["--axes", "x=batch,time,features"], "x [batch, steps, 4] -> y [batch, steps, 4]"),
                                    ("lstm/transpose:0", ["--axes", "x=time,batch,features"], "x [steps, batch, 4] -> y [steps, batch, 4]")):
            self.said(*self.one_row(name), (1, 1, H), *options)
            self.assertIn(made, rnnpack("compile", self.onnx, "-o", self.blob, *options).stderr)
            rnnpack("verify", self.onnx, self.blob, *options)

    def refused(self, nodes, constants, x):
        """What is proposed, after it was tried with 7 for SIZE."""
        save_onnx(self.onnx, nodes, {"x": list(x)}, ["y"], constants)
        said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr.splitlines()
        self.assertEqual(len(said), 3, said)
        flags = said[-1].removeprefix("try: ").split(" (")[0]
        self.said(nodes, constants, x, *flags.replace("SIZE", "7").split())
        return flags

    def test_a_refusal_ends_with_the_flag_that_helps(self):
        nodes, constants = layer("a", "x", "z")
        every = nodes + [("Transpose", ["z"], ["q"], {"perm": [1, 0, 2]}), ("Transpose", ["z"], ["k"], {"perm": [1, 2, 0]}),
                         ("MatMul", ["q", "k"], ["y"], {})]
        self.assertEqual(self.refused(every, constants, ("frames", 2, H)), "--dim frames=SIZE")
        self.assertEqual(self.refused(every, constants, (None, 2, H)), "--shape x=SIZE,2,4")
        rows = nodes + [("ReduceMax", ["z"], ["y"], {"axes": [1], "keepdims": 0})]
        self.assertEqual(self.refused(rows, constants, (7, 3, H)), "--axes x=features,features,features")

    def test_what_is_proposed_may_be_several_flags_or_a_size_of_the_graph(self):
        nodes, constants = layer("a", "x", "z")
        for shape, flags in (([7, -1, 2], "--dim T=7"), ([256, H], "--dim T=SIZE --dim N=SIZE")):
            seen = [("Reshape", ["z", "shape"], ["m"], {}), ("Softmax", ["m"], ["y"], {"axis": 0 if len(shape) == 3 else 1})]
            save_onnx(self.onnx, nodes + seen, {"x": ["T", "N", H]}, ["y"], constants | {"shape": np.array(shape)})
            said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr.splitlines()
            self.assertEqual(said[-1].removeprefix("try: ").split(" (")[0], flags)
            rnnpack("compile", self.onnx, "-o", self.blob, *flags.replace("SIZE", "16").split())
            rnnpack("verify", self.onnx, self.blob, *flags.replace("SIZE", "16").split())
        rows = nodes + [("ReduceMax", ["z"], ["y"], {"axes": [1], "keepdims": 0})]
        self.assertEqual(self.refused(rows, constants, ("T", "N", H)), "--dim T=SIZE --dim N=SIZE --axes x=features,features,features")
        self.assertEqual(self.refused(rows, constants, (None, None, H)), "--shape x=SIZE,SIZE,4 --axes x=features,features,features")

    def test_a_proposal_that_leads_to_another_refusal_is_not_made(self):
        nodes, constants = layer("a", "t", "y")
        constants["K"] = np.ones((H, H, 4), np.float32)
        front = [("Transpose", ["x"], ["c"], {"perm": [0, 2, 1]}), ("Conv", ["c", "K"], ["d"], {"strides": [2]}),
                 ("Transpose", ["d"], ["t"], {"perm": [2, 0, 1]})]
        save_onnx(self.onnx, front + nodes, {"x": ["batch", "steps", H]}, ["y"], constants)
        self.assertIn("try: --dim steps=SIZE", rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr)
        save_onnx(self.onnx, [*front, *nodes, ("Det", ["w"], ["z"], {})], {"x": ["batch", "steps", H], "w": [1, 3, 3]}, ["y", "z"], constants)
        said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr
        self.assertIn("Det", said)
        self.assertNotIn("try:", said)

    def test_nothing_is_proposed_where_nothing_helps(self):
        nodes, constants = layer("a", "x", "z")
        save_onnx(self.onnx, nodes + [("Det", ["z"], ["y"], {})], {"x": ["frames", "N", H]}, ["y"], constants)
        self.assertEqual(len(rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr.splitlines()), 2)

    def test_one_row_is_proposed_where_another_input_has_one(self):
        nodes, constants = layer("a", "x", "z")
        one = [*nodes, ("Gather", ["z", "first"], ["y"], {"axis": 1}), ("GRU", ["z", "aW", "aR", "", "", "h0"], ["q"], {"hidden_size": H})]
        constants = constants | {"first": np.array(0)}
        save_onnx(self.onnx, one, {"x": ["T", 1, H], "h0": [1, "N", H]}, ["y", "q"], constants)
        said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr
        self.assertIn("try: --dim N=1 (the graph has this size where others are open)", said)
        rnnpack("compile", self.onnx, "-o", self.blob, "--dim", "N=1")

    def test_open_sizes_are_named_where_they_may_be_the_reason(self):
        nodes, constants = layer("a", "s", "y")
        some = [("Conv", ["x", "K"], ["c"], {"strides": [64]}), ("Squeeze", ["c", "last"], ["d"], {}), ("Unsqueeze", ["d", "first"], ["s"], {}), *nodes]
        constants |= {"K": np.ones((H, 1, 64), np.float32), "last": np.array([2]), "first": np.array([0])}
        save_onnx(self.onnx, some, {"x": ["N", 1, "samples"]}, ["y"], constants)
        said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr
        self.assertIn("a size that the network is made for may help: --dim N=SIZE, --dim samples=SIZE", said)
        rnnpack("compile", self.onnx, "-o", self.blob, "--dim", "samples=64")

    def test_what_compile_proposes_next_runs_as_it_stands(self):
        nodes, constants = layer("a", "z", "y")
        save_onnx(self.onnx, [("Add", ["x", "h"], ["z"], {}), ("Identity", ["z"], ["h_out"], {})] + nodes,
                  {"x": [1, "N", H], "h": [1, "N", H]}, ["y", "h_out"], constants)
        done = rnnpack("compile", self.onnx, "-o", self.blob, "--dim", "N=2", "--state", "h=h_out")
        commands = done.stderr.splitlines()[-1].removeprefix("next: ").split("; ")
        self.assertEqual([command.split(" ")[:2] for command in commands],
                         [["rnnpack", "verify"], ["rnnpack", "inspect"], ["rnnpack", "run"]])
        np.save(self.at / "x.npy", np.ones((1, 2, H), np.float32))
        for command in commands:
            rnnpack(*shlex.split(command.replace("=x.npy", f"={self.at}/x.npy"))[1:])

    def test_what_compile_proposes_next_has_names_as_a_shell_reads_them(self):
        nodes, constants = layer("a", "x y's", "y")
        folder = self.at / "my $models; it's"
        folder.mkdir()
        model, blob = save_onnx(folder / "a (1).onnx", nodes, {"x y's": ["T", "N", H]}, ["y"], constants), folder / "a\\b.rnnp"
        np.save(folder / "x y's.npy", np.ones((3, 2, H), np.float32))
        proposed = rnnpack("compile", model, "-o", blob, "--axes", "x y's=time,batch,features").stderr.splitlines()[-1].removeprefix("next: ")
        script = f'rnnpack() {{ {shlex.quote(sys.argv[1])} "$@"; }}\nset -e\n' + proposed
        self.assertIn("\nverified", subprocess.run(["/bin/sh", "-c", script], cwd=folder, check=True, capture_output=True, text=True).stdout)

    def test_verify_draws_integers_for_integers_that_become_floats(self):
        nodes, constants = layer("a", "f", "y")
        save_onnx(self.onnx, [("Cast", ["x"], ["f"], {"to": TensorProto.FLOAT})] + nodes, {"x": ["T", "N", H]}, ["y"], constants)
        for kind, words in (("INT64", "integers from 0 to 9"), ("UINT8", "integers from 0 to 255"), ("BOOL", "integers from 0 to 1")):
            model = onnx.load(str(self.onnx))
            model.graph.input[0].type.tensor_type.elem_type = getattr(TensorProto, kind)
            onnx.save(model, str(self.onnx))
            rnnpack("compile", self.onnx, "-o", self.blob)
            said = rnnpack("verify", self.onnx, self.blob).stdout
            self.assertIn(f"drawn, {words}, seed", said)
            self.assertIn("\nverified:", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
