#!/usr/bin/env python3
"""The command line of rnnpack, end to end: compile, inspect, run, verify, --emit-c, exit codes, nothing left behind.

cli_test.py RNNPACK MODEL_FOLDER [CC INCLUDE LIBRARY...]      standard library only
"""
import array
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import read_blob

TOOL, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
CC, INCLUDE, *LIBRARIES = sys.argv[3:] or [None, None]
MODEL = MODELS / "vad_gru" / "model.onnx"
FEATURES = 256


def rnnpack(*args, code=0):
    done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == code, f"{args}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
    return done


def write_npy(path, shape, values, descr="<f4", code="f"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array(code, values).tobytes())


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    shape = tuple(int(v) for v in re.search(r"'shape': \(([^)]*)\)", data[10:10 + length].decode()).group(1).replace(",", " ").split())
    return shape, array.array("f", data[10 + length:]).tolist()


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
        self.assertIn("streams of 3 steps", rnnpack("inspect", self.at / "s.rnnp").stdout)
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

    def test_array_types(self):
        whole = self.run_model("y.npy")
        _, values = read_npy(self.x)
        write_npy(self.at / "d.npy", (self.steps, self.batch, FEATURES), values, "<f8", "d")
        self.assertEqual(whole, self.run_model("z.npy", x=self.at / "d.npy"))
        name = json.loads(rnnpack("inspect", "--json", self.blob).stdout)["inputs"][0]["name"]
        self.assertEqual(whole, self.run_model("z.npy", x=f"{name}={self.x}"))

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

    def test_errors_leave_nothing_behind(self):
        before = sorted(os.listdir(self.at))
        bad = self.at / "bad.onnx"
        bad.write_bytes(MODEL.read_bytes()[:1000])
        self.assertIn("refused", rnnpack("compile", bad, "-o", self.at / "bad.rnnp", code=2).stderr)
        rnnpack("compile", self.at / "absent.onnx", "-o", self.at / "bad.rnnp", code=3)
        rnnpack("compile", MODEL, "-o", self.at / "no" / "such" / "folder", code=3)
        rnnpack("compile", MODEL, "--emit-c", self.at / "9bad", code=1)
        bad.unlink()
        self.assertEqual(before, sorted(os.listdir(self.at)))

    def test_emitted_c(self):
        rnnpack("compile", MODEL, "--emit-c", self.at / "voice", "--target", "cortex-m", "-o", self.blob)
        header = (self.at / "voice.h").read_text()
        for word in ("VOICE_BYTES", "VOICE_SESSION_BYTES", "VOICE_ALIGN", "VOICE_STATE_BYTES"):
            self.assertIn(f"#define {word} ", header)
        if not CC:
            self.skipTest("no C compiler given")
        (self.at / "main.c").write_text(PROGRAM)
        program = self.at / "main"
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}", f"-I{self.at}"]
        subprocess.run([CC, *flags, self.at / "main.c", self.at / "voice.c", "-o", program, *LIBRARIES], check=True)
        x = self.at / "one.npy"
        write_npy(x, (3, 1, FEATURES), [0.25] * (3 * FEATURES))
        _, expected = self.run_model("y.npy", x=x)
        got = [float(line) for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()]
        for a, b in zip(got, expected, strict=True):
            self.assertAlmostEqual(a, b, places=5)


PROGRAM = """
#include <stdio.h>
#include "rnnpack/rnnpack.h"
#include "voice.h"
static uint8_t memory[VOICE_SESSION_BYTES] __attribute__((aligned(VOICE_ALIGN)));
int main(void) {
  rnnp_model model;
  rnnp_session *session;
  rnnp_session_options options;
  static float x[256];
  float y;
  int i;
  for (i = 0; i < 256; ++i) x[i] = 0.25f;
  voice_options(&options);
  if (rnnp_model_open(&model, voice, VOICE_BYTES, RNNP_OPEN_CHECK_WEIGHTS) != RNNP_OK) return 1;
  if (rnnp_session_init_with(&voice_registry, &session, &model, &options, memory, sizeof memory) != RNNP_OK) return 2;
  for (i = 0; i < 3; ++i) {
    if (rnnp_step(session, x, &y) != RNNP_OK) return 3;
    printf("%.9g\\n", (double)y);
  }
  return 0;
}
"""

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
