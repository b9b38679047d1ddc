#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rnnpack compile --emit-c`: what it writes is compiled with a C compiler, linked with the library, run, and gives the bits of the blob.

emitted_c_test.py RNNPACK MODEL_FOLDER INCLUDE CC FLAG...      flags that link the library
"""
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from cli_support import Tool, save_onnx

rnnpack, MODELS, INCLUDE, CC, FLAGS = Tool(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:5], sys.argv[5:]
STEPS = 11

# Reads steps of x from its input, writes those of y; says what the session was made of.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "net.h"
static uint8_t memory[NET_SESSION_BYTES] __attribute__((aligned(NET_ALIGN)));
int main(void) {
  rnnp_model model;
  rnnp_session *session;
  rnnp_session_options options;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_tensor_info in = {0}, out = {0};
  rnnp_status status;
  float *x, *y;
  in.struct_bytes = out.struct_bytes = sizeof in;
  net_options(&options);
#ifdef REFERENCE
  options.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
#endif
  /* A 0 would ask the machine, and the session's size be its. */
  if (!options.chunk_steps || !options.l1d_bytes || !options.l2_bytes || !options.l3_bytes) return 9;
#ifdef CHECKED
  status = rnnp_model_open(&model, net, NET_BYTES, RNNP_OPEN_CHECK_WEIGHTS);
#else
  status = rnnp_model_open_with(&net_registry, &model);
#endif
  if (status == RNNP_OK) status = rnnp_model_get_input(&model, 0, &in);
  if (status == RNNP_OK) status = rnnp_model_get_output(&model, 0, &out);
  if (status == RNNP_OK) status = rnnp_session_memory_with(&net_registry, &model, &options, &need);
  if (status == RNNP_OK) status = rnnp_session_init_with(&net_registry, &session, &model, &options, memory, sizeof memory);
  x = calloc(in.row_elems, sizeof *x);
  y = calloc(out.row_elems, sizeof *y);
  while (status == RNNP_OK && fread(x, sizeof *x, in.row_elems, stdin) == in.row_elems) {
    status = rnnp_step(session, x, y);
    if (status == RNNP_OK) fwrite(y, sizeof *y, out.row_elems, stdout);
  }
  fprintf(stderr, "status %d chunk %u session %lu of %lu align %lu of %lu state %lu of %lu\\n", (int)status, (unsigned)options.chunk_steps,
          (unsigned long)need.session_bytes, (unsigned long)sizeof memory, (unsigned long)need.alignment, (unsigned long)NET_ALIGN,
          (unsigned long)need.state_bytes, (unsigned long)NET_STATE_BYTES);
  return status != RNNP_OK;
}
"""


def mixed_layers(path):
    """One model with most kinds of operators, each of them needed."""
    random = np.random.default_rng(3)
    weights = lambda *shape: random.uniform(-0.4, 0.4, shape).astype(np.float32)
    nodes = [
        ("Transpose", ["x"], ["channels_first"], {"perm": [1, 2, 0]}), ("Conv", ["channels_first", "k", "kb"], ["c"], {"pads": [2, 0]}),
        ("Conv", ["c", "dk"], ["d"], {"group": 8, "pads": [1, 0]}), ("Transpose", ["d"], ["s"], {"perm": [2, 0, 1]}),
        ("LSTM", ["s", "W", "R"], ["Y"], {"hidden_size": 8}), ("Squeeze", ["Y", "one"], ["h"], {}),
        ("LayerNormalization", ["h", "scale"], ["n"], {"axis": -1}), ("Greater", ["n", "zero"], ["g"], {}), ("Where", ["g", "n", "h"], ["w"], {}),
        ("ReduceMax", ["w"], ["most"], {"axes": [-1], "keepdims": 1}), ("Sub", ["w", "most"], ["below"], {}), ("Erf", ["below"], ["e"], {}),
        ("MatMul", ["e", "M"], ["m"], {}), ("Softmax", ["m"], ["y"], {"axis": -1})]
    constants = {"k": weights(8, 6, 3), "kb": weights(8), "dk": weights(8, 1, 2), "W": weights(1, 32, 8), "R": weights(1, 32, 8), "one": np.array([1]),
                 "scale": weights(8), "zero": np.array(0, np.float32), "M": weights(8, 5)}
    return save_onnx(path, nodes, {"x": ["T", 1, 6]}, ["y"], constants, opset=17)


def layer_over_features(path):
    """A GRU that runs over six groups of features in each step."""
    random = np.random.default_rng(5)
    weights = lambda *shape: random.uniform(-0.4, 0.4, shape).astype(np.float32)
    nodes = [("Reshape", ["x", "groups"], ["g"], {}), ("Transpose", ["g"], ["s"], {"perm": [1, 0, 2]}),
             ("GRU", ["s", "W", "R"], ["Y"], {"hidden_size": 24}), ("Squeeze", ["Y", "one"], ["h"], {}),
             ("Transpose", ["h"], ["t"], {"perm": [1, 0, 2]}), ("Reshape", ["t", "row"], ["y"], {})]
    constants = {"groups": np.array([-1, 6, 4]), "W": weights(1, 72, 4), "R": weights(1, 72, 24), "one": np.array([1]), "row": np.array([-1, 1, 144])}
    return save_onnx(path, nodes, {"x": ["T", 1, 24]}, ["y"], constants, opset=17)


class EmittedC(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        (self.at / "main.c").write_text(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()

    def emit(self, model, *options, how=("--portable-ops",)):
        """Writes the model's C files, and gives what the tool's run of the same blob answers."""
        rnnpack("compile", model, "--emit-c", self.at / "net", "-o", self.at / "net.rnnp", *options)
        width = json.loads(rnnpack("inspect", "--json", self.at / "net.rnnp").stdout)["inputs"][0]["dims"][-1]
        self.x = np.random.default_rng(4).uniform(-1, 1, (STEPS, 1, width)).astype(np.float32)
        np.save(self.at / "x.npy", self.x)
        rnnpack("run", self.at / "net.rnnp", "--input", self.at / "x.npy", "--output", self.at / "y.npy", *how)
        return np.load(self.at / "y.npy")

    def build(self, *more):
        program = self.at / "program"
        flags = ["-std=c99", "-Os", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wl,--gc-sections", f"-I{INCLUDE}", f"-I{self.at}"]
        subprocess.run([CC, *flags, *more, self.at / "main.c", self.at / "net.c", "-o", program, *FLAGS], check=True)
        return program

    def run_program(self, program):
        done = subprocess.run([program], input=self.x.tobytes(), capture_output=True)
        facts = re.search(rb"status (\S+) chunk (\d+) session (\d+) of (\d+) align (\d+) of (\d+) state (\d+) of (\d+)", done.stderr)
        self.assertIsNotNone(facts, done.stderr)
        return done.stdout, [int(v) for v in facts.groups()]

    def check(self, model, chunk, *options, how=("--portable-ops",), define=()):
        expected = self.emit(model, *options, how=how)
        outputs, (status, chunk_steps, need, session, align, reserved_align, state, header_state) = self.run_program(self.build(*define))
        self.assertEqual(status, 0)
        self.assertEqual(chunk_steps, chunk)
        self.assertEqual(session, need, "the header's size is not that of its options")
        self.assertEqual((align, state), (reserved_align, header_state))
        self.assertEqual(outputs, expected.tobytes(), "other bits than the blob's")

    def test_a_microcontrollers_model_runs_with_the_blobs_bits(self):
        """A microcontroller has no vectors, so here neither side may use them."""
        self.check(MODELS / "vad_gru" / "model.onnx", 1, "--target", "cortex-m", how=("--portable-ops", "--reference"), define=("-DREFERENCE",))
        self.assertIn("&rnnp_kernels_act_plain_f32", (self.at / "net.c").read_text())

    def test_the_session_is_sized_for_the_chunk_asked_for(self):
        sizes = []
        for chunk in (1, 5, 64):
            self.check(MODELS / "vad_gru" / "model.onnx", chunk, "--chunk-steps", chunk)
            sizes.append(int(re.search(r"NET_SESSION_BYTES (\d+)u", (self.at / "net.h").read_text()).group(1)))
        self.assertLess(sizes[0], sizes[1])
        self.assertLess(sizes[1], sizes[2])

    def test_the_session_is_sized_without_asking_the_machine(self):
        """A convolution of many positions takes more memory where there is a cache."""
        self.check(mixed_layers(self.at / "mixed.onnx"), 64, "--chunk-steps", 64)

    @unittest.skipIf(platform.machine() != "x86_64", "there is no 32-bit mode")
    def test_the_sessions_size_is_exact_with_pointers_of_4_bytes(self):
        """With threads, and built for one. Cortex-M's images check the same (firmware/image.c)."""
        vad = MODELS / "vad_gru" / "model.onnx"
        forms = [(vad, ()), (vad, ("--weights", "int8", "--chunk-steps", 3)), (MODELS / "kws_lstm" / "model.onnx", ("--target", "cortex-m")),
                 (mixed_layers(self.at / "mixed.onnx"), ("--chunk-steps", 5)), (layer_over_features(self.at / "inner.onnx"), ())]
        for model, options in forms:
            self.emit(model, "--one-file", *options)
            sizes = set()
            for threads in ("-DRNNPACK_MANY_THREADS", "-DRNNPACK_ONE_THREAD"):
                program, flags = self.at / "narrow", ["-m32", "-msse2", f"-I{self.at}", threads]
                subprocess.run([CC, *flags, "-DRNNPACK_REFERENCE_KERNELS", "-std=c++17", "-fno-exceptions", "-c", self.at / "net.cpp", "-o", self.at / "net.o"], check=True)
                subprocess.run([CC, *flags, "-std=c99", self.at / "main.c", self.at / "net.o", "-o", program], check=True)
                status, _, need, session, *_ = self.run_program(program)[1]
                self.assertEqual((status, session), (0, need), f"{model.name} {options} {threads}")
                sizes.add(need)
            self.assertEqual(len(sizes), 2)

    def test_inspect_says_the_same_session_and_names_what_its_table_lacks(self):
        vad = MODELS / "vad_gru" / "model.onnx"
        np.save(self.at / "x.npy", np.random.default_rng(1).uniform(-1, 1, (8, 1, 256)).astype(np.float32))
        integers = ("--weights", "int8", "--arithmetic", "integer", "--calibrate", self.at / "x.npy")
        for model, options, lacks in ((vad, (), set()), (vad, integers, {"recurrent"}),
                                      (mixed_layers(self.at / "mixed.onnx"), (), {"conv", "norm", "where", "reduce", "softmax"})):
            self.emit(model, "--target", "cortex-m4", *options)
            said = json.loads(rnnpack("inspect", self.at / "net.rnnp", "--target", "cortex-m4", "--mhz", "100", "--json").stdout)["device"]
            one_thread = re.findall(r"NET_SESSION_BYTES (\d+)u", (self.at / "net.h").read_text())[1]
            self.assertEqual(said["session_bytes"], int(one_thread))
            self.assertEqual(said["flash_bytes"] - said["library_bytes"], (self.at / "net.rnnp").stat().st_size)
            self.assertAlmostEqual(said["us"], said["cycles"] / 100, delta=0.06)
            self.assertLessEqual(lacks, {node.split()[0] for node in said["not_counted"]})
            self.assertEqual(bool(lacks), bool(said["not_counted"]))
            text = rnnpack("inspect", self.at / "net.rnnp", "--target", "cortex-m4").stdout
            self.assertEqual("at least" in text, bool(lacks))

    def test_a_streams_chunk_is_its_call(self):
        self.check(MODELS / "kws_lstm" / "model.onnx", 3, "--stream", 3)

    def test_a_registry_has_every_operator_and_kernel_its_model_needs_and_no_other(self):
        self.check(mixed_layers(self.at / "mixed.onnx"), 16)
        mixed = set(re.findall(r"&(rnnp_\w+)", (self.at / "net.c").read_text()))
        self.assertGreaterEqual(len([name for name in mixed if name.startswith("rnnp_op_")]), 9)
        self.emit(MODELS / "vad_gru" / "model.onnx")
        names = set(re.findall(r"&(rnnp_\w+)", (self.at / "net.c").read_text()))
        self.assertIn("rnnp_op_recurrent_unchecked", names)
        self.assertFalse({"rnnp_op_conv_unchecked", "rnnp_op_norm_unchecked", "rnnp_op_where_unchecked", "rnnp_kernels_lstm_f32_nr16"} & names)

    def test_the_array_is_aligned_wherever_the_linker_puts_it(self):
        self.emit(MODELS / "vad_gru" / "model.onnx")
        for bytes_before in (1, 16, 32, 48):
            (self.at / "pad.c").write_text(f"__attribute__((used, aligned(64))) const char pad[{bytes_before}] = {{1}};\n")
            program = self.build(self.at / "pad.c", "-Wl,--undefined=pad")
            self.assertEqual(self.run_program(program)[1][0], 0, f"{bytes_before} bytes before it")

    def test_a_tuning_is_options_that_give_the_same_bits(self):
        """The tool compares the bits of every way it tries, and fails when they differ."""
        self.emit(MODELS / "vad_gru" / "model.onnx")
        said = rnnpack("tune", self.at / "net.rnnp", "--steps", 3, "--batch", 2, "--threads", 2, "--seconds", 0, "-o", self.at / "fast.h").stdout
        self.assertGreaterEqual(len(re.findall(r"^\| (?:2 threads|AVX2|chunk_steps|l2_bytes)", said, re.M)), 8, said)
        (self.at / "fast.c").write_text("""#include "fast.h"
int main(void) {
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  fast(&options);
  return FAST_THREADS < 1 || FAST_THREADS > 2 || options.chunk_steps > 128 || options.max_batch != 1;
}
""")
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}", f"-I{self.at}"]
        subprocess.run([CC, *flags, self.at / "fast.c", "-o", self.at / "fast", *FLAGS], check=True)
        subprocess.run([self.at / "fast"], check=True)
        self.assertIn("nothing.rnnp", rnnpack("tune", self.at / "nothing.rnnp", code=3).stderr)

    def test_a_machine_file_has_the_options_of_a_run(self):
        self.emit(MODELS / "vad_gru" / "model.onnx")
        tuned, golden = self.at / "tuned.json", f"--input={MODELS / 'vad_gru' / 'golden.npz'}"
        rnnpack("tune", self.at / "net.rnnp", "--steps", 3, "--threads", 2, "--seconds", 0, "-o", tuned)
        document = json.loads(tuned.read_text())
        document["options"] = {"threads": 2, "all_threads": True, "chunk_steps": 3, "isa_allowed": ["avx2"], "l2_bytes": 262144} | {
            name: value for name, value in document["options"].items() if name not in ("threads", "all_threads", "chunk_steps", "isa_allowed", "l2_bytes")}
        tuned.write_text(json.dumps(document))
        rnnpack("run", self.at / "net.rnnp", golden, "--output", self.at / "y.npy")
        rnnpack("run", self.at / "net.rnnp", golden, "--output", self.at / "z.npy", "--machine", tuned)
        self.assertEqual((self.at / "y.npy").read_bytes(), (self.at / "z.npy").read_bytes())
        for changed, said in (({"threads": 0}, '"threads" is no integer from 1 to 256'), ({"isa_allowed": ["sse9"]}, '"sse9"'),
                              ({"all_threads": 1}, '"all_threads"'), ({"l2_bytes": -1}, '"l2_bytes"')):
            tuned.write_text(json.dumps({**document, "options": {**document["options"], **changed}}))
            self.assertIn(said, rnnpack("run", self.at / "net.rnnp", golden, "--machine", tuned, code=1).stderr)
        tuned.write_text("{")
        self.assertIn("rnnpack machine 1", rnnpack("run", self.at / "net.rnnp", golden, "--machine", tuned, code=1).stderr)

    def test_a_library_of_another_version_is_refused_by_the_compiler(self):
        self.emit(MODELS / "vad_gru" / "model.onnx")
        header = (self.at / "net.h").read_text()
        (self.at / "net.h").write_text(re.sub(r"RNNP_HEADER_VERSION != (\d+)u", r"RNNP_HEADER_VERSION != 1\1u", header))
        done = subprocess.run([CC, "-c", f"-I{INCLUDE}", f"-I{self.at}", self.at / "net.c", "-o", self.at / "net.o"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another version of rnnpack", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
