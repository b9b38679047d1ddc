#!/usr/bin/env python3
"""check_bundle.py RUN -- the bundle's run.sh on programs that behave badly: there is no GPU, one is missing, one crashes, one never ends.
It must tell each, go on to the next, keep within its time and end. SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NO_GPU = "#!/bin/bash\necho 'no GPU: nothing was run'\nexit 77\n"
PROGRAMS = {
    "has_gpu": NO_GPU,
    "cuda_gpu_test": "#!/bin/bash\ncase \"$*\" in *repeat*) kill -SEGV $$ ;; esac\necho 'no GPU: nothing was run'\nexit 77\n",
    "bench_cuda": "#!/bin/bash\nsleep 600\n",
}
WANTED = ["exchange: not there", "kernels: skipped: no GPU", "tests: skipped: no GPU", "repeats: FAILED (139)", "bench: ended after", "all in"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "bundle"
        bundle.mkdir()
        shutil.copy(sys.argv[1], bundle / "run.sh")
        for name, text in PROGRAMS.items():
            (bundle / name).write_text(text)
            (bundle / name).chmod(0o755)
        out, seconds = pathlib.Path(folder) / "out", 20
        began = time.monotonic()
        done = subprocess.run([bundle / "run.sh", out], env=dict(os.environ, RNNPACK_BUNDLE_SECONDS=str(seconds)), capture_output=True, text=True)
        summary = (out / "summary.txt").read_text()
        bad = [f"its summary does not say: {text}" for text in WANTED if text not in summary]
        if done.returncode == 0:
            bad.append("a crash is no failure")
        if time.monotonic() - began > 3 * seconds:
            bad.append("it took longer than its time")
        if not (out / "facts.txt").exists():
            bad.append("there is no facts.txt")
        sys.exit("\n".join(bad + [summary, done.stderr]) if bad else 0)


if __name__ == "__main__":
    main()
