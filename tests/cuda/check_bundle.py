#!/usr/bin/env python3
"""check_bundle.py SOURCE -- make cuda-bundle and the run.sh in it, without nvcc, compilations or a GPU. The archive is made by the script,
with a compiler and a cmake that write programs which behave badly: there is no GPU, one crashes, one never ends, cuDNN's library is not
there. Unpacked elsewhere its run.sh must tell each, go on to the next, keep within its time and end; without a GPU and with good programs
it ends well. An archive that is too large is refused. SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NO_GPU = "echo 'no GPU: nothing was run'\nexit 77\n"
GOOD = {"tests/cuda/has_gpu": NO_GPU, "tests/cuda/cuda_gpu_test": NO_GPU, "bench/cuda/gpu_check": NO_GPU, "bench/cuda/phase_times": NO_GPU,
        "bench/cuda/bench_cuda": NO_GPU}
BAD = {"tests/cuda/has_gpu": NO_GPU, "tests/cuda/cuda_gpu_test": 'case "$*" in *repeat*) kill -SEGV $$ ;; esac\n' + NO_GPU,
       "bench/cuda/bench_cuda": "sleep 600\n", "bench/cuda/bench_cudnn": "echo 'libcudnn.so.9: cannot open' >&2\nexit 127\n"}
BAD_TOLD = ["exchange: not there", "kernels: skipped: no GPU", "tests: skipped: no GPU", "repeats: FAILED (139)", "bench-cudnn: not there",
            "bench: ended after", "all in"]
GOOD_TOLD = [f"{step}: skipped: no GPU" for step in ("facts", "exchange", "exchange-again", "phases", "kernels", "tests", "clusters", "repeats", "bench")] + ["all in"]


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def make_bundle(source, folder, programs, padding=0):
    """What the script answers, and where the archive would be."""
    made, tools, build = folder / "made", folder / "tools", folder / "build"
    for name, text in programs.items():
        write_program(made / name, text)
    if padding:
        with open(made / "bench/cuda/bench_cuda", "ab") as file:
            file.truncate(padding)
    write_program(tools / "nvcc", "echo 'release 13.0, V13.0.88'\n")
    write_program(tools / "cmake", f'[ "$1" != -S ] || cp -r "{made}" "{build}"\n')
    write_program(tools / "strip", "")
    done = subprocess.run([source / "scripts/make_cuda_bundle.sh", build], capture_output=True, text=True,
                          env=dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", CUDACXX=str(tools / "nvcc")))
    return done, build / "rnnpack-cuda-bundle.tar.gz"


def run_bundle(archive, folder, seconds, told):
    """What is wrong of the archive's run.sh, and whether it ended well. Without the tools of this machine's CUDA."""
    subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
    out, began = folder / "out", time.monotonic()
    path = os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if "cuda" not in one)
    done = subprocess.run([folder / "rnnpack-cuda-bundle/run.sh", out], capture_output=True, text=True,
                          env=dict(os.environ, PATH=path, RNNPACK_BUNDLE_SECONDS=str(seconds)))
    summary = (out / "summary.txt").read_text()
    bad = [f"its summary does not say: {text}" for text in told if text not in summary]
    if time.monotonic() - began > 3 * seconds:
        bad.append("it took longer than its time")
    if "13.0" not in (out / "facts.txt").read_text():
        bad.append("facts.txt does not say what it was built by")
    return [*bad, summary, done.stderr] if bad else [], done.returncode == 0


def main():
    source, bad = pathlib.Path(sys.argv[1]), []
    for name, programs, seconds, told, ends_well in (("good", GOOD, 20, GOOD_TOLD, True), ("bad", BAD, 8, BAD_TOLD, False)):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            done, archive = make_bundle(source, folder, programs)
            if done.returncode != 0:
                bad.append(f"{name}: {done.stdout}{done.stderr}")
                continue
            shutil.rmtree(folder / "made")
            wrong, well = run_bundle(archive, folder, seconds, told)
            bad += [f"{name}: {text}" for text in wrong]
            if well != ends_well:
                bad.append(f"{name}: run.sh ends {'well' if well else 'as failed'}")
    with tempfile.TemporaryDirectory() as folder:
        done, archive = make_bundle(source, pathlib.Path(folder), GOOD, 61 << 20)
        if done.returncode == 0 or "at most" not in done.stderr or archive.exists():
            bad.append("an archive of more than 60 MB is not refused")
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
