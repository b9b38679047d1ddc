#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of rnnpack given what it cannot use: a message that names the thing and what would do, a non-zero exit status and
nothing left behind, neither a new file nor a changed one.

cli_errors_test.py RNNPACK MODEL_FOLDER
"""
import os
import pathlib
import random
import stat
import struct
import subprocess
import sys
import unittest
import zipfile
import zlib

import numpy as np

import read_blob
from cli_support import InFolder, Tool

rnnpack = Tool(sys.argv[1])
MODEL = pathlib.Path(sys.argv[2]) / "vad_gru" / "model.onnx"
USAGE, REFUSED, IO = 1, 2, 3


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


class Errors(InFolder):
    def setUp(self):
        super().setUp()
        self.blob, self.onnx, self.x = self.at / "model.rnnp", self.at / "model.onnx", self.at / "x.npy"
        self.onnx.write_bytes(MODEL.read_bytes())
        rnnpack("compile", MODEL, "-o", self.blob)
        np.save(self.x, np.zeros((4, 1, 256), np.float32))
        (self.at / "empty").write_bytes(b"")
        (self.at / "folder").mkdir()
        (self.at / "junk").write_bytes(random.Random(1).randbytes(5000))
        self.before = contents(self.at)

    def refuse(self, code, words, *args):
        done = rnnpack(*args, code=code)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, done.stderr, args)
        self.assertNotIn("terminate called", done.stderr)
        self.assertEqual(contents(self.at), self.before, f"{args} left something behind")

    def commands(self, onnx, blob, x):
        """Every command with these files."""
        return [["compile", onnx, "-o", self.at / "new"], ["compile", onnx, "--emit-c", self.at / "new"], ["inspect", blob],
                ["inspect", blob, "--svg", self.at / "new"], ["run", blob, "--input", x], ["run", blob, "--input", x, "--output", self.at / "new"],
                ["verify", onnx, blob], ["verify", onnx, blob, "--input", x]]

    def test_files_that_cannot_be_read_are_named(self):
        for bad, words in (("absent", "No such file"), ("folder", "is a folder")):
            name = str(self.at / bad)
            for command in self.commands(name, self.blob, self.x)[:2] + self.commands(self.onnx, name, self.x)[2:]:
                self.refuse(IO, [f"'{name}'", words], *command)
            for command in self.commands(self.onnx, self.blob, name):
                if name in command:
                    self.refuse(IO, [name, words], *command)
            self.refuse(IO, [f"'{name}.npy'" if bad == "absent" else "", "No such file" if bad == "absent" else ""], "compile", self.onnx, "-o",
                        self.at / "new", "--set", f"frames={self.at}/absent.npy")

    def test_files_of_another_kind_are_said_not_to_be_one(self):
        for bad in ("empty", "junk", "x.npy", "model.rnnp"):
            for command in self.commands(self.at / bad, self.blob, self.x)[:2]:
                self.refuse(IO if bad == "empty" else REFUSED, "is empty" if bad == "empty" else "not an ONNX model", *command)
        for bad in ("empty", "junk", "x.npy", "model.onnx"):
            for command in self.commands(self.onnx, self.at / bad, self.x)[2:]:
                self.refuse(IO, ["does not open", bad], *command)
        for bad in ("empty", "junk", "model.rnnp", "model.onnx"):
            for option in (f"{self.at}/{bad}", f"frames={self.at}/{bad}"):
                self.refuse(IO, [bad, "not a .npy file"], "run", self.blob, "--input", option)

    def test_a_damaged_blob_or_model_is_refused(self):
        whole = self.blob.read_bytes()
        for cut in (1, 63, 64, 200, len(whole) // 2, len(whole) - 1):
            (self.at / "junk").write_bytes(whole[:cut])
            self.before = contents(self.at)
            self.refuse(IO, "does not open", "run", self.at / "junk", "--input", self.x)
            self.refuse(IO, "does not open", "inspect", self.at / "junk")
        (self.at / "junk").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.before = contents(self.at)
        self.refuse(IO, "does not open", "run", self.at / "junk", "--input", self.x)
        (self.at / "junk").write_bytes(MODEL.read_bytes()[:1000])
        self.before = contents(self.at)
        self.refuse(REFUSED, "refused", "compile", self.at / "junk", "-o", self.at / "new")

    def test_a_node_that_the_library_does_not_run_is_named(self):
        blob = bytearray(self.blob.read_bytes())
        node = read_blob.Blob(bytes(blob)).sections["nodes"][0]
        struct.pack_into("<I", blob, node, 4711)
        weights = read_blob.Blob(self.blob.read_bytes()).sections["weights"][0]
        head = bytearray(blob[:weights])
        head[24:32] = bytes(8)
        struct.pack_into("<I", blob, 24, zlib.crc32(head))
        (self.at / "unknown").write_bytes(blob)
        self.before = contents(self.at)
        self.refuse(IO, ["node 0 (unknown ", "no operator of this kind"], "run", self.at / "unknown", "--input", self.x)
        self.refuse(REFUSED, ["node 0 (unknown ", "no operator of this kind"], "registry", self.at / "unknown", "-o", self.at / "new.c")

    def test_outputs_that_cannot_be_written_leave_nothing(self):
        for place, words in ((self.at / "no" / "such" / "file", "No such file"), (self.at / "folder", "is a folder"),
                             (pathlib.Path("/proc/version/file"), "Not a directory")):
            self.refuse(IO, [f"'{place}'", words], "compile", self.onnx, "-o", place)
            self.refuse(IO, [f"'{place}'", words], "run", self.blob, "--input", self.x, "--output", place)
            self.refuse(IO, [f"'{place}'", words], "inspect", self.blob, "--svg", place)
        # The array could be written, the blob cannot: neither is.
        self.refuse(IO, "is a folder", "compile", self.onnx, "--emit-c", self.at / "model", "-o", self.at / "folder")
        (self.at / "taken.c").mkdir()
        self.before = contents(self.at)
        self.refuse(IO, "taken.c", "compile", self.onnx, "--emit-c", self.at / "taken", "-o", self.at / "new")

    def test_a_full_disk_leaves_nothing(self):
        """A limit on the size of files stands for the disk."""
        def limited(*args):
            import resource
            import signal
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            return subprocess.run([sys.argv[1], *map(str, args)], preexec_fn=limit, capture_output=True, text=True)
        for command in (["compile", self.onnx, "-o", self.at / "new"], ["compile", self.onnx, "--emit-c", self.at / "new"], ["sources", self.at / "new"],
                        ["compile", self.onnx, "-o", self.blob]):
            done = limited(*command)
            self.assertEqual(done.returncode, IO)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(contents(self.at), self.before)
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.argv[1], "inspect", str(self.blob)], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, IO)
        self.assertIn("standard output", done.stderr)

    def test_one_file_is_not_written_twice_nor_over_an_input(self):
        link = self.at / "link"
        link.symlink_to(self.blob)
        np.savez(self.at / "x.npz", frames=np.zeros((4, 1, 256), np.float32))
        self.before = contents(self.at)
        self.refuse(USAGE, ["model.onnx", "also an input"], "compile", self.onnx, "-o", self.onnx)
        self.refuse(USAGE, ["new.c", "two outputs"], "compile", self.onnx, "--emit-c", self.at / "new", "-o", self.at / "new.c")
        self.refuse(USAGE, ["new.h", "two outputs"], "compile", self.onnx, "--emit-c", self.at / "new", "-o", self.at / "folder" / ".." / "new.h")
        self.refuse(USAGE, ["x.npy", "also an input"], "run", self.blob, "--input", self.x, "--output", self.x)
        self.refuse(USAGE, ["x.npz", "also an input"], "run", self.blob, "--input", self.at / "x.npz", "--output", self.at / "x.npz")
        self.refuse(USAGE, ["link", "also an input"], "run", self.blob, "--input", self.x, "--output", link)
        self.refuse(USAGE, ["model.rnnp", "also an input"], "inspect", self.blob, "--svg", self.blob)
        self.refuse(USAGE, ["model.onnx", "also an input"], "inspect", self.blob, "--onnx", self.onnx, "--svg", self.onnx)
        for data in (self.x, f"frames={self.x}"):
            self.refuse(USAGE, ["x.npy", "also an input"], "compile", self.onnx, "-o", self.x, "--weights", "int8", "--calibrate", data)
            self.refuse(USAGE, ["x.npy", "also an input"], "compile", self.onnx, "-o", self.at / "new", "--calibrate", data, "--report", self.x)
        self.refuse(USAGE, ["x.npy", "also an input"], "compile", self.onnx, "-o", self.x, "--set", f"frames={self.x}")
        self.refuse(USAGE, ["junk", "also an input"], "compile", self.onnx, "-o", self.at / "junk", "--weights", "int8", "--calibrate", self.x, "--metric",
                    self.at / "junk")
        for output in (self.blob, link):
            self.refuse(USAGE, [output.name, "also an input"], "profile", self.blob, "--trace", output)
            self.refuse(USAGE, [output.name, "also an input"], "tune", self.blob, "-o", output)
            self.refuse(USAGE, [output.name, "also an input"], "registry", self.blob, "-o", output)
        self.refuse(USAGE, ["junk", "also an input"], "run", self.blob, "--input", self.x, "--machine", self.at / "junk", "--output", self.at / "junk")

    def test_links_are_followed_and_devices_stay_what_they_are(self):
        link = self.at / "link"
        link.symlink_to(self.at / "target")
        rnnpack("compile", self.onnx, "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual((self.at / "target").read_bytes(), self.blob.read_bytes())
        pipe = self.at / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([sys.argv[1], "compile", str(self.onnx), "-o", str(pipe)], stderr=subprocess.DEVNULL) as tool:
            self.assertEqual(pipe.read_bytes(), self.blob.read_bytes())
            self.assertEqual(tool.wait(), 0)
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        rnnpack("compile", self.onnx, "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_data_that_takes_too_much_memory_is_refused_before_it_is_read(self):
        import resource
        reserves_addresses = b"__asan_init" in pathlib.Path(sys.argv[1]).read_bytes()  # terabytes of them
        def limited(*args):
            def limit():
                if not reserves_addresses:
                    resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
            return subprocess.run([sys.argv[1], *map(str, args)], preexec_fn=limit, capture_output=True, text=True, timeout=120)
        def refused(words, *args):
            done = limited(*args)
            self.assertEqual(done.returncode, IO, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertLess(len(done.stderr), 2000)
        bomb = self.at / "bomb.npz"
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("frames", "more", "rest"):
                with archive.open(f"{name}.npy", "w", force_zip64=False) as entry:
                    np.lib.format.write_array_header_1_0(entry, {"descr": "<f4", "fortran_order": False, "shape": (6 << 20,)})
                    entry.write(bytes(24 << 20))
        for given in (("run", self.blob, "--input", bomb, "--output", self.at / "y.npy"), ("verify", self.onnx, self.blob, "--input", bomb),
                      ("compile", self.onnx, "-o", self.at / "new", "--weights", "int8", "--calibrate", bomb)):
            refused(["accepted: up to 67108864, or more with --max-input BYTES"], *given, "--max-input", "64MiB")
            for device in ("/dev/zero", "/dev/urandom"):
                refused([device, "it is a device; accepted: files and pipes"], *[device if word == bomb else word for word in given])
        endless = f"cat /dev/zero | {sys.argv[1]} run {self.blob} --input frames=/dev/stdin --output {self.at}/y.npy --max-input 1MiB"
        done = subprocess.run(["/bin/sh", "-c", endless], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, IO)
        self.assertIn("accepted: up to 1048576", done.stderr)
        sparse = self.at / "sparse.npy"
        with open(sparse, "wb") as file:
            file.truncate(5 << 30)
        refused(["accepted: up to 1073741824, or more"], "run", self.blob, "--input", sparse, "--output", self.at / "y.npy")
        wide = self.at / "wide.npy"  # a byte an element in the file, four in memory
        np.save(wide, np.zeros((3 << 20, 1), np.bool_))
        refused(["accepted: up to 4194304"], "run", self.blob, "--input", wide, "--output", self.at / "y.npy", "--max-input", "4MiB")
        self.assertEqual(limited("run", self.blob, "--input", self.x, "--output", self.at / "y.npy", "--max-input", "1MB").returncode, 0)
        for made in (bomb, sparse, wide, self.at / "y.npy"):
            made.unlink()

    def test_integers_that_float32_does_not_hold_are_refused(self):
        numbers = np.zeros((4, 1, 256), np.int64)
        numbers[1, 0, 7] = 16777217
        np.save(self.x, numbers)
        self.before = contents(self.at)
        self.refuse(USAGE, ["'frames' has the integer 16777217, which float32 does not hold"], "run", self.blob, "--input", self.x)
        numbers[1, 0, 7] = 16777216
        np.save(self.x, numbers)
        self.assertEqual(rnnpack("run", self.blob, "--input", self.x).returncode, 0)

    def test_wrong_options_are_named(self):
        for words, command in (
                ("subcommand", []), ("there is no command 'nonsense'; accepted: compile", ["nonsense"]), ("model", ["compile"]), ("nothing to write", ["compile", self.onnx]),
                ("--nosuch", ["inspect", self.blob, "--nosuch"]), ("--threads", ["run", self.blob, "--threads", "0"]),
                ("--threads", ["run", self.blob, "--threads", "two"]), ("--steps-per-call", ["run", self.blob, "--steps-per-call", "-1"]),
                ("--steps-per-call", ["run", self.blob, "--steps-per-call", "0"]), ("z80", ["compile", self.onnx, "-o", self.at / "new", "--target", "z80"]),
                ("C identifier", ["compile", self.onnx, "--emit-c", self.at / "9bad"]), ("C identifier", ["compile", self.onnx, "--emit-c", f"{self.at}/"]),
                *(("that is taken", ["compile", self.onnx, "--emit-c", self.at / name]) for name in ("while", "rnnp", "rnnp_model")),
                ("that is taken", ["compile", self.onnx, "--one-file", "--emit-c", self.at / "class"]), ("unknown device 'cortex-m99'; accepted: cortex-m4, cortex-m7, cortex-m55", ["inspect", self.blob, "--target", "cortex-m99"]), ("--mhz", ["inspect", self.blob, "--mhz", "168"]), ("--incbin is said with", ["compile", self.onnx, "-o", self.at / "new", "--incbin"]), ("--chunk-steps", ["compile", self.onnx, "-o", self.at / "new", "--chunk-steps", "0"]),
                ("--stream", ["compile", self.onnx, "-o", self.at / "new", "--stream", "0"]), ("nosuch", ["compile", self.onnx, "-o", self.at / "new", "--set", "nosuch=1"]),
                ("NAME=VALUE", ["compile", self.onnx, "-o", self.at / "new", "--set", "x"]), ("not a number", ["compile", self.onnx, "-o", self.at / "new", "--dim", "T=a"]),
                ("--tolerance", ["verify", self.onnx, self.blob, "--tolerance", "-1"]), ("--deviation", ["verify", self.onnx, self.blob, "--deviation", "0"]),
                *(("a number above 0", ["verify", self.onnx, self.blob, "--deviation", n]) for n in ("nan", "inf", "1e300")),
                ("'nan'; accepted: 0 or", ["verify", self.onnx, self.blob, "--tolerance", "nan"]),
                *(("a finite number", [*command, "--accuracy-min", "nan"]) for command in (["verify", self.onnx, self.blob], ["compile", self.onnx, "-o", self.at / "new"])),
                ("--steps", ["verify", self.onnx, self.blob, "--steps", "0"]), ("--batch", ["verify", self.onnx, self.blob, "--batch", "x"]),
                *(("--seconds: 'nan'; accepted: a number from 0 to 3600", [command, self.blob, "--seconds", "nan"]) for command in ("profile", "tune")),
                *((f"--max-input: '{size}'; accepted: a number of bytes, as 4096 or 4GiB", [*command, "--max-input", size])
                  for command in (["run", self.blob, "--input", self.x], ["verify", self.onnx, self.blob], ["compile", self.onnx, "-o", self.at / "new"])
                  for size in ("-1", "-1kb", "1.5", "18446744073709551616", "16EiB", "one")),
                *((f"would name a function '{name}', which is taken", ["tune", self.blob, "--seconds", "0", "-o", self.at / f"{name}.h"])
                  for name in ("int", "class", "rnnp_run")),
                ("'nosuch'; it has: 'frames'", ["run", self.blob, "--input", f"nosuch={self.x}"]),
                ("'nosuch'; it has: 'speech'", ["run", self.blob, "--input", self.x, "--output", "nosuch=y.npy"]),
                ("given twice", ["run", self.blob, "--input", self.x, "--input", f"frames={self.x}"]), ("'frames' [steps, batch, 256] is missing", ["run", self.blob]),
                ("'frames' [steps, batch, 256] is missing", ["run", self.blob, "--output", self.at / "new"])):
            self.refuse(USAGE, words, *command)

    def test_an_interrupted_write_is_never_seen_under_the_files_name(self):
        """Whoever looks while a file is being replaced finds the old one or the new one."""
        whole = {self.blob.read_bytes()}
        rnnpack("compile", self.onnx, "-o", self.at / "other", "--target", "cortex-m")
        whole.add((self.at / "other").read_bytes())
        for target in ("cortex-m", "generic") * 3:
            with subprocess.Popen([sys.argv[1], "compile", str(self.onnx), "-o", str(self.blob), "--target", target], stderr=subprocess.DEVNULL) as tool:
                while tool.poll() is None:
                    self.assertIn(self.blob.read_bytes(), whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
