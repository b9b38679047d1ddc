#!/usr/bin/env python3
"""overhead.py BUILD [--rounds N] [--write FILE.md] -- what a step of a 16-unit LSTM costs in each language that `make test-bindings` has
built into BUILD, above the same step in C, and in onnxruntime's Python package from PyPI. Languages take turns, N rounds; the least
counts. Beside Go and C# stands what an empty call costs there, beside JavaScript what the step costs within the module, and
what it costs as machine code of this CPU from the same sources, with vectors as narrow. SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOALS = {"rust": 0, "go": 100, "csharp": 30, "java": 50, "js": 50, "lua": 10}
CASE = "overhead overhead blob=golden/lstm_f32_avx512.rnnp count=200000\n"
NAMES = {"c": "C", "cpp": "C++", "rust": "Rust", "go": "Go", "csharp": "C# (mono)", "java": "Java", "js": "JavaScript (wasm, simd128)", "lua": "LuaJIT", "ada": "Ada",
         "python": "Python"}
# A step of the same size in onnxruntime, with its states fed back: by arrays, and by tensors that are bound once.
ONNXRUNTIME = r'''
import time, numpy as np, onnx, onnxruntime as ort
from onnx import helper, TensorProto
rng = np.random.default_rng(1)
w = [helper.make_tensor(n, TensorProto.FLOAT, s, rng.standard_normal(s).astype(np.float32).ravel()) for n, s in
     (("W", (1, 64, 8)), ("R", (1, 64, 16)), ("B", (1, 128)))]
value = lambda n, s: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
node = helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], ["y", "hn", "cn"], hidden_size=16)
graph = helper.make_graph([node], "g", [value("x", (1, 1, 8)), value("h", (1, 1, 16)), value("c", (1, 1, 16))],
                          [value("y", (1, 1, 1, 16)), value("hn", (1, 1, 16)), value("cn", (1, 1, 16))], w)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
options = ort.SessionOptions()
options.intra_op_num_threads = 1
session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
feed = {"x": np.zeros((1, 1, 8), np.float32), "h": np.zeros((1, 1, 16), np.float32), "c": np.zeros((1, 1, 16), np.float32)}
def arrays():
    _, feed["h"], feed["c"] = session.run(None, feed)
binding = session.io_binding()
values = {n: ort.OrtValue.ortvalue_from_numpy(v) for n, v in feed.items()}
for n, v in values.items():
    binding.bind_ortvalue_input(n, v)
for n in ("y", "hn", "cn"):
    binding.bind_ortvalue_output(n, ort.OrtValue.ortvalue_from_shape_and_type([1, 1, 1, 16] if n == "y" else [1, 1, 16], np.float32))
bound = lambda: session.run_with_iobinding(binding)
for name, call in (("arrays", arrays), ("bound", bound)):
    least = 1e18
    for _ in range(60):
        start = time.perf_counter_ns()
        for _ in range(200):
            call()
        least = min(least, (time.perf_counter_ns() - start) / 200)
    print("onnxruntime", ort.__version__, name, least)
'''


def commands(build, suite):
    library = str(build / "src/librnnpack.so")
    found = {
        "c": [build / "bindings/c/suite_c", "run", suite],
        "cpp": [build / "bindings/c/suite_cpp", suite],
        "rust": [build / "rust/release/examples/suite", suite],
        "go": [build / "go-suite", suite],
        "csharp": ["mono", build / "csharp/Suite.exe", suite],
        "java": ["java", "-Xms64m", "-cp", f"{build}/java/rnnpack.jar:{build}/java/test", "Suite", suite],
        "js": ["node", ROOT / "bindings/js/tests/suite.mjs", suite],
        "lua": ["env", f"RNNPACK_LIBRARY={library}", f"LUA_PATH={ROOT}/bindings/lua/?.lua", "luajit", ROOT / "bindings/lua/suite.lua", suite],
        "ada": [build / "ada/native/suite", suite],
        "python": [f"{build}-python-venv/bin/python", "-B", ROOT / "bindings/python/tests/suite.py", suite],
    }
    built = {"csharp": found["csharp"][1], "java": build / "java/rnnpack.jar", "js": ROOT / "bindings/js/rnnpack.wasm", "lua": pathlib.Path(library)}
    return {name: words for name, words in found.items() if pathlib.Path(built.get(name, words[0])).exists()}


def measure(build, rounds):
    suite = build / "suite-overhead"
    (suite / "golden").mkdir(parents=True, exist_ok=True)
    (suite / "suite.txt").write_text(CASE)
    blob = "lstm_f32_avx512.rnnp"
    (suite / "golden" / blob).write_bytes((ROOT / "tests/golden/v1" / blob).read_bytes())
    env = dict(os.environ, LD_LIBRARY_PATH=str(build / "src/compiler"))
    least, empty = {}, {}
    for _ in range(rounds):
        for name, words in commands(build, suite).items():
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env)
            said = re.search(r"^overhead (.*)$", done.stdout, re.M)
            if not said:
                sys.exit(f"{name}: {done.stdout[-500:]}{done.stderr[-500:]}")
            least[name] = min(least.get(name, 1e18), float(said.group(1)))
            for ns in re.findall(r"^empty (.*)$", done.stdout, re.M):
                empty[name] = min(empty.get(name, 1e18), float(ns))
    return least, empty


def within_module(build):
    """JavaScript: nanoseconds of a step called within the module, and of an empty call into it."""
    objects, module = pathlib.Path(f"{build}-wasm"), build / "step_loop.wasm"
    wasm = ["--target=wasm32-unknown-unknown", "-msimd128", "-Os", "-I", ROOT / "include", "-isystem", ROOT / "toolchains/parts/wasm32"]
    subprocess.run(["clang-19", *wasm, "-c", ROOT / "bindings/js/tests/step_loop.c", "-o", build / "step_loop.o"], check=True)
    functions = json.loads((ROOT / "include/rnnpack/rnnpack.abi.json").read_text())["functions"]
    shown = ["step_loop", "__heap_base", *(one["name"] for one in functions if one["header"] == "rnnpack.h" and not one["inline"])]
    subprocess.run(["wasm-ld-19", "--no-entry", "--gc-sections", "-O2", "-z", "stack-size=65536", "--stack-first", *(f"--export={one}" for one in shown),
                    build / "step_loop.o", objects / "runtime.o", objects / "src/librnnpack.a", "-o", module], check=True)
    said = subprocess.run(["node", ROOT / "bindings/js/tests/step_loop.mjs", module, ROOT / "tests/golden/v1/lstm_f32_avx512.rnnp"],
                          check=True, capture_output=True, text=True).stdout
    return {name: float(ns) for name, ns in re.findall(r"^(\w+) (\S+)$", said, re.M)}


def native_of_module(build):
    """Nanoseconds of a step in C by the module's own sources and kernels of 128 bits, compiled for this CPU: the bound of an engine."""
    objects, folder, words = f"{build}-wasm", build / "native128", ROOT / "bindings/js/tests/native128"
    folder.mkdir(exist_ok=True)
    native = f"--target=x86_64-linux-gnu -mavx -mno-avx2 -mno-fma -D__wasm_simd128__=1 -I{words} -include {words}/wasm_simd128.h -w"
    subprocess.run(["cmake", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", objects], check=True, capture_output=True)
    made = []
    for one in json.loads(pathlib.Path(objects, "compile_commands.json").read_text()):
        if not one["file"].endswith(".cpp"):
            continue
        made.append(folder / f"{pathlib.Path(one['file']).name}.o")
        command = one["command"].replace("--target=wasm32-unknown-unknown", native).replace("-msimd128 -mbulk-memory", "")
        command = re.sub(r"-isystem \S+/parts/wasm32", "", command)
        subprocess.run(f"{re.split(r' -(?:MD|o) ', command)[0]} -o {made[-1]} -c {one['file']}", shell=True, check=True, cwd=one["directory"])
    subprocess.run(["clang-19", "-O2", "-D_POSIX_C_SOURCE=199309L", "-I", ROOT / "include", words / "step_time.c", *made, "-o", folder / "step_time"], check=True)
    said = subprocess.run([folder / "step_time", ROOT / "tests/golden/v1/lstm_f32_avx512.rnnp"], check=True, capture_output=True, text=True).stdout
    return float(said)


def onnxruntime(build):
    """Lines of (name, nanoseconds)."""
    venv = pathlib.Path(f"{build}-onnxruntime-venv")
    if not (venv / ".done").exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", "--only-binary=:all:", "onnxruntime", "onnx"], check=True)
        (venv / ".done").touch()
    said = subprocess.run([venv / "bin/python", "-c", ONNXRUNTIME], capture_output=True, text=True, check=True).stdout
    return [(f"onnxruntime {version}, Python, {'tensors bound once' if how == 'bound' else 'arrays'}", float(ns))
            for version, how, ns in re.findall(r"^onnxruntime (\S+) (\S+) (\S+)$", said, re.M)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    least, empty = measure(build, options.rounds)
    inside = within_module(build) if "js" in least else {}
    empty.update({"js": inside["empty"]} if inside else {})
    lines = ["| language | step, ns | above C, ns | goal | an empty call, ns |", "|---|---|---|---|---|"]
    for name, ns in least.items():
        goal, call = f"{GOALS[name]}" if name in GOALS else "", f"{empty[name]:.0f}" if name in empty else ""
        lines.append(f"| {NAMES[name]} | {ns:.0f} | {ns - least['c']:+.0f} | {goal} | {call} |")
        if name == "js":
            bound = native_of_module(build)
            lines.append(f"| the same step called within the module | {inside['inside']:.0f} | {inside['inside'] - least['c']:+.0f} | | |")
            lines.append(f"| the module's sources compiled for this CPU: 128 bits, no fused multiply-add | {bound:.0f} | {bound - least['c']:+.0f} | | |")
    lines += [f"| {name} | {ns:.0f} | {ns - least['c']:+.0f} | | |" for name, ns in onnxruntime(build)]
    print("\n".join(lines))
    if options.write:
        cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
        head = f"# A step in each language\n\n`bindings/overhead.py BUILD --write FILE` on {cpu}: a step of an LSTM with 8 inputs and 16 units, the least of\nmany pieces of 1000 calls. C calls `rnnp_step`; the others' checks of lengths and owners are in their numbers. An\nempty call is what a language's way into C costs by itself (C#: P/Invoke of mono); some of it overlaps with the step. A\nwasm engine has vectors of 128 bits and no fused multiply-add, C has 512 bits here: the module's sources as machine code\nwith what the engine has are the engine's bound.\n\n"
        options.write.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
