#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line of rnnpack, end to end: compile, inspect, run, verify, exit codes.

cli_test.py RNNPACK MODEL_FOLDER
"""
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import numpy as np

import read_blob
from cli_support import Tool, read_npy, write_npy

TOOL, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
MODEL = MODELS / "vad_gru" / "model.onnx"
FEATURES = 256


rnnpack = Tool(TOOL)


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        self.blob = self.at / "model.rnnp"
        rnnpack("compile", MODEL, "-o", self.blob)
        self.steps, self.batch = 7, 2
        values = [((i * 37) % 101 - 50) / 500 for i in range(self.steps * self.batch * FEATURES)]
        self.x = self.at / "x.npy"
        write_npy(self.x, (self.steps, self.batch, FEATURES), values)

    def tearDown(self):
        self.folder.cleanup()

    def run_model(self, name, *options, x=None, code=0):
        y = self.at / name
        done = rnnpack("run", self.blob, "--input", x or self.x, "--output", y, *options, code=code)
        return done if code else read_npy(y)

    def test_help_and_usage(self):
        for command in ("compile", "inspect", "run", "verify"):
            self.assertIn("--help", rnnpack(command, "--help").stdout)
        rnnpack("--help")
        for bad in ([], ["nonsense"], ["compile"], ["run", self.blob, "--threads", "0"]):
            rnnpack(*bad, code=1)
        rnnpack("compile", MODEL, "-o", self.at / "a", "--target", "z80", code=1)
        rnnpack("compile", MODEL, code=1)

    def test_plan_for_a_gpu(self):
        for gpu, sms, kernel in (("orin64", "16 SMs", "resident: "), ("h100", "132 SMs", "resident in clusters: ")):
            text = rnnpack("inspect", "--plan", "--cuda", gpu, "--cuda-weights", "f16", self.blob).stdout
            for words in (sms, kernel, "not measured"):
                self.assertIn(words, text)
        norms = pathlib.Path(__file__).parents[1] / "golden" / "v1" / "lstm_norm.rnnp"
        self.assertIn("two launches for each step", rnnpack("inspect", "--plan", "--cuda", "orin64", norms).stdout)
        facts = self.at / "gpu.json"
        facts.write_text('{"arch": 870, "sm_count": 1, "shared_per_block": 49152}')
        self.assertIn("more blocks than SMs", rnnpack("inspect", "--plan", "--cuda", facts, self.blob).stdout)
        facts.write_text('{"arch": 720, "sm_count": 1, "shared_per_block": 49152}')
        self.assertIn("arch is at least 870", rnnpack("inspect", "--plan", "--cuda", facts, self.blob, code=3).stderr)
        facts.write_text('{"sms": 1}')
        self.assertIn("no fact of a GPU", rnnpack("inspect", "--plan", "--cuda", facts, self.blob, code=3).stderr)
        rnnpack("inspect", "--plan", "--cuda", self.at / "nowhere", self.blob, code=3)
        rnnpack("inspect", "--cuda", "h100", self.blob, code=1)

    def test_run_on_a_gpu(self):
        y = self.at / "y.npy"
        rnnpack("run", self.blob, "--input", self.x, "--cuda", "--threads", "2", code=1)
        rnnpack("run", self.blob, "--input", self.x, "--cuda-weights", "f16", code=1)
        done = rnnpack.run("run", self.blob, "--input", self.x, "--output", y, "--cuda")
        if "emulates a GPU" not in done.stderr and done.returncode != 0:  # the build, or this machine, has none
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, "was built without CUDA|there is no GPU here")
            return self.assertFalse(y.exists())
        shape, on_gpu = read_npy(y)
        on_cpu = self.run_model("cpu.npy")
        self.assertEqual(shape, on_cpu[0])
        np.testing.assert_allclose(on_gpu, on_cpu[1], atol=1e-5)
        self.assertEqual(self.run_model("cut.npy", "--cuda", "--steps-per-call", 3), (shape, on_gpu))
        last = self.run_model("last.npy", "--cuda", "--last-step")[1]
        self.assertEqual(last, on_gpu[-len(last):])
        in_halves = self.run_model("halves.npy", "--cuda", "--cuda-weights", "f16")[1]
        self.assertNotEqual(in_halves, on_gpu)
        np.testing.assert_allclose(in_halves, on_gpu, atol=1e-2)

    def test_second_reader_agrees(self):
        for target in ("generic", "cortex-m"):
            rnnpack("compile", MODEL, "-o", self.blob, "--target", target)
            self.assertEqual(json.loads(rnnpack("inspect", "--json", self.blob).stdout), read_blob.read(self.blob))
        self.assertIn("pool", rnnpack("inspect", "--memory", self.blob).stdout)
        picture = self.at / "memory.svg"
        rnnpack("inspect", "--memory", "--svg", picture, self.blob)
        root = xml.etree.ElementTree.parse(picture).getroot()
        boxes = [e for e in root.iter("{http://www.w3.org/2000/svg}title")]
        spans = re.findall(r"^ +\d+ \.\. \d+ +value (\d+)", rnnpack("inspect", "--memory", self.blob).stdout, re.M)
        self.assertEqual(sorted(spans), sorted(e.text.split()[1].rstrip(":") for e in boxes))

    def test_verify(self):
        self.assertIn("verified", rnnpack("verify", MODEL, self.blob, "--steps", 30, "--batch", 3, "--seed", 5).stdout)
        rnnpack("verify", MODEL, self.blob, "--tolerance", "1e-12", code=4)
        others = [path for path in sorted(MODELS.glob("*/model.onnx")) if path != MODEL]
        for other in others[:1]:
            self.assertIn("model ids differ", rnnpack("verify", other, self.blob, code=4 if len(others) else 0).stdout)

    def test_progress_in_lines_rises_to_its_end(self):
        for command in (["compile", MODEL, "-o", self.blob], ["verify", MODEL, self.blob],
                        ["compile", MODEL, "-o", self.blob, "--weights", "auto", "--calibrate", self.x]):
            said = rnnpack(*command, "--progress")
            told = [tuple(map(int, pair)) for pair in re.findall(r"^progress: (\d+) of (\d+)$", said.stderr, re.M)]
            self.assertEqual((told[0], told), ((0, told[-1][1]), sorted(set(told))))
            self.assertEqual(told[-1][0], told[-1][1])
            self.assertGreater(len(told), 20 if "auto" in command else 2)
            quiet = rnnpack(*command)
            self.assertEqual((quiet.stdout, quiet.stderr), (said.stdout, re.sub(r"(?m)^progress: .*\n", "", said.stderr)))

    def test_sizes_and_constants_of_inputs(self):
        name = json.loads(rnnpack("inspect", "--json", self.blob).stdout)["inputs"][0]["name"]
        for bad in (["--set", "nosuch=1"], ["--dim", "nosuch=1"], ["--shape", "nosuch=1"], ["--state", "nosuch=1"]):
            self.assertIn("nosuch", rnnpack("compile", MODEL, "-o", self.blob, *bad, code=1).stderr)
        for bad in (["--set", "x"], ["--dim", "T=1.5"], ["--shape", f"{name}=a"], ["--shape", f"{name}=-1,-1,{FEATURES + 1}"]):
            rnnpack("compile", MODEL, "-o", self.blob, *bad, code=1)
        options = ["--shape", f"{name}=-1,-1,{FEATURES}"]
        rnnpack("compile", MODEL, "-o", self.blob, *options)
        self.assertIn("verified", rnnpack("verify", MODEL, self.blob, *options).stdout)

    def test_stream(self):
        rnnpack("compile", MODEL, "-o", self.at / "s.rnnp", "--stream", 3)
        document = json.loads(rnnpack("inspect", "--json", self.at / "s.rnnp").stdout)
        self.assertEqual(document["stream_steps"], 3)
        self.assertEqual(document, read_blob.read(self.at / "s.rnnp"))
        self.assertIn("a streaming model of 3 steps", rnnpack("inspect", self.at / "s.rnnp").stdout)
        whole = self.run_model("y.npy")
        self.blob = self.at / "s.rnnp"
        for options in ([], ["--steps-per-call", 3], ["--steps-per-call", 5]):
            self.assertEqual(whole, self.run_model("z.npy", *options), options)
        rnnpack("compile", MODEL, "-o", self.blob, "--stream", 0, code=1)

    def test_run_does_not_depend_on_cuts_or_threads(self):
        whole = self.run_model("y.npy")
        self.assertEqual(whole[0][:2], (self.steps, self.batch))
        for options in (["--steps-per-call", 1], ["--steps-per-call", 3], ["--threads", 2], ["--threads", 3, "--steps-per-call", 2]):
            self.assertEqual(whole, self.run_model("z.npy", *options), options)
        shape, last = self.run_model("l.npy", "--last-step")
        self.assertEqual(shape, whole[0][1:])
        self.assertEqual(last, whole[1][-len(last):])
        self.assertEqual(last, self.run_model("l.npy", "--last-step", "--steps-per-call", 2)[1])

    def test_every_array_type_that_loses_nothing_is_read(self):
        shape = (self.steps, self.batch, FEATURES)
        values = (np.arange(np.prod(shape)) * 37 % 3).reshape(shape)
        expected = None
        for dtype in (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            np.save(self.at / "d.npy", values.astype(dtype))
            got = self.run_model("z.npy", x=self.at / "d.npy")
            expected = expected or got
            self.assertEqual(got, expected, dtype)
        np.save(self.at / "d.npy", values > 0)
        np.save(self.at / "e.npy", (values > 0).astype(np.float32))
        self.assertEqual(self.run_model("y.npy", x=self.at / "d.npy"), self.run_model("z.npy", x=self.at / "e.npy"))

    def test_halves_are_read_to_the_bit(self):
        shape = (self.steps, self.batch, FEATURES)
        halves = (np.arange(np.prod(shape)) * 19 % 0x7c00).astype(np.uint16).view(np.float16).reshape(shape) / np.float16(4)
        halves[::2] *= -1
        np.save(self.at / "h.npy", halves)
        np.save(self.at / "f.npy", halves.astype(np.float32))
        self.assertEqual(self.run_model("y.npy", x=self.at / "h.npy"), self.run_model("z.npy", x=self.at / "f.npy"))

    def test_fortran_order_is_read_as_what_it_says(self):
        values = np.asfortranarray(np.random.default_rng(1).standard_normal((self.steps, self.batch, FEATURES)).astype(np.float32))
        np.save(self.at / "f.npy", values)
        np.save(self.at / "c.npy", np.ascontiguousarray(values))
        self.assertIn(b"'fortran_order': True", (self.at / "f.npy").read_bytes())
        self.assertEqual(self.run_model("y.npy", x=self.at / "f.npy"), self.run_model("z.npy", x=self.at / "c.npy"))

    def test_other_array_types_are_named_with_what_would_do(self):
        shape = (self.steps, self.batch, FEATURES)
        for values, word in ((np.zeros(shape, ">f4"), "'>f4' (big-endian)"), (np.zeros(shape, np.complex64), "'<c8'"),
                             (np.zeros(shape, "S3"), "'|S3'"), (np.full(shape, 1 << 40), "does not fit 32 bits")):
            np.save(self.at / "d.npy", values)
            message = self.run_model("y.npy", x=self.at / "d.npy", code=3).stderr
            self.assertIn(word, message)
            self.assertIn("32", message)

    def test_inputs_come_from_archives(self):
        whole = self.run_model("y.npy")
        x = np.load(self.x)
        name = json.loads(rnnpack("inspect", "--json", self.blob).stdout)["inputs"][0]["name"]
        for save in (np.savez, np.savez_compressed):
            save(self.at / "x.npz", **{name: x, "other": np.zeros(3)})
            self.assertEqual(whole, self.run_model("z.npy", x=self.at / "x.npz"))
            self.assertEqual(whole, self.run_model("z.npy", x=f"{name}={self.at}/x.npz"))
        np.savez(self.at / "x.npz", other=x)
        message = self.run_model("z.npy", x=self.at / "x.npz", code=1).stderr
        self.assertIn(name, message)
        archive = bytearray((self.at / "x.npz").read_bytes())
        for at in range(0, len(archive), max(1, len(archive) // 40)):
            (self.at / "cut.npz").write_bytes(archive[:at])
            self.run_model("z.npy", x=self.at / "cut.npz", code=3)

    def test_run_without_output_says_what_came_out(self):
        shape, values = self.run_model("y.npy")
        said = rnnpack("run", self.blob, "--input", self.x).stdout
        self.assertIn(f"[{', '.join(map(str, shape))}]", said)
        numbers = re.search(r"from (\S+) to (\S+), mean (\S+)\n", said)
        for text, expected in zip(numbers.groups(), (min(values), max(values), sum(values) / len(values)), strict=True):
            self.assertAlmostEqual(float(text), expected, places=5)
        np.save(self.at / "nan.npy", np.full((2, 1, FEATURES), np.nan, np.float32))
        self.assertIn("2 NaN or infinite", rnnpack("run", self.blob, "--input", self.at / "nan.npy").stdout)

    def test_profile_has_a_line_for_every_node(self):
        nodes = [(node["name"], node["op"]) for node in json.loads(rnnpack("inspect", "--json", self.blob).stdout)["nodes"]]
        for options, steps, batch in (((), 100, 1), (("--steps", 1, "--batch", 3), 1, 3)):
            found = json.loads(rnnpack("profile", self.blob, "--seconds", 0, "--json", *options).stdout)
            self.assertEqual([(node["name"], node["op"]) for node in found["nodes"]], nodes)
            self.assertEqual((found["steps"], found["batch"]), (steps, batch))
            self.assertAlmostEqual(sum(node["share"] for node in found["nodes"]), 1)
        table = rnnpack("profile", self.blob, "--seconds", 0).stdout
        self.assertTrue(all(re.search(f"^{re.escape(name)} +{op} +[0-9.]+ +[0-9.]+%$", table, re.M) for name, op in nodes), table)
        self.assertIn("nothing.rnnp", rnnpack("profile", self.at / "nothing.rnnp", code=3).stderr)

    def test_run_errors(self):
        write_npy(self.at / "bad.npy", (self.steps, 3), [0.0] * (3 * self.steps))
        self.assertIn("accepted: [steps, batch", self.run_model("y.npy", x=self.at / "bad.npy", code=1).stderr)
        self.run_model("y.npy", x=self.at / "absent.npy", code=3)
        self.run_model("y.npy", x=f"nosuch={self.x}", code=1)
        (self.at / "text.npy").write_text("hello")
        self.run_model("y.npy", x=self.at / "text.npy", code=3)
        damaged = bytearray(self.blob.read_bytes())
        damaged[-1] ^= 1
        self.blob.write_bytes(damaged)
        self.run_model("y.npy", code=3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
