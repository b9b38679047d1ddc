# SPDX-License-Identifier: Apache-2.0
"""suite.py FOLDER -- bindings/suite.json in Python; run_suite.sh runs it."""
import pathlib
import sys
import threading
import time

import numpy as np

import rnnpack
from rnnpack import _abi, _abi_tables

FOLDER = pathlib.Path(sys.argv[1])


class NotHere(Exception):
    pass


def floats(name):
    return np.frombuffer((FOLDER / name).read_bytes(), np.float32)


def read(name):
    return (FOLDER / name).read_bytes()


def opened(case):
    return rnnpack.Model(read(case["blob"]))


def stream(session, x, start, stop):
    y = np.empty((stop - start, 1), np.float32)
    for i in range(start, stop):
        session.step(x[i * 256:(i + 1) * 256].reshape(1, 256), out=y[i - start:i - start + 1])
    return y.ravel()


def same(a, b):
    assert a.tobytes() == b.tobytes(), "other bits"


def fails(status, call):
    """The library's status; what Python refuses before the library is asked has none, and is a UsageError."""
    try:
        call()
    except rnnpack.Error as error:
        assert error.status == status or (error.status is None and isinstance(error, rnnpack.UsageError)), f"{type(error).__name__} {error.status}: {error}"
        return
    raise AssertionError("is not refused")


def shaped(tensor, steps, batch, flat):
    """Time-major numbers in the order of the tensor's axes."""
    axes = {"steps": steps, "batch": batch}
    order = [one for one in ("steps", "batch") if one in tensor.dims]
    rest = [one for one in tensor.dims if one not in axes]
    array = np.asarray(flat).reshape([axes[one] for one in order] + rest)
    places = [tensor.dims.index(one) for one in order]
    return np.moveaxis(array, range(len(order)), places) if places else array


def flat_of(tensor, array):
    order = [tensor.dims.index(one) for one in ("steps", "batch") if one in tensor.dims]
    return np.moveaxis(array, order, range(len(order))).ravel()


def states():
    """Of the suite's numbers, without an end."""
    state = 1
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield state >> 16


def values_of(tensor, shape, state):
    values = [next(state) for _ in range(int(np.prod(shape)))]
    return np.array([one % tensor.limit if tensor.dtype == np.int32 else one / 32768 - 1 for one in values], tensor.dtype)


def numbers(model, steps, batch, spoil):
    given, state = {}, states()
    for at, tensor in enumerate(model.inputs):
        if tensor.optional:
            continue
        values = values_of(tensor, [{"steps": steps, "batch": batch}.get(one, one) for one in tensor.dims], state)
        if at == 0 and spoil == "nan":
            values[0] = np.nan
        if at == 0 and spoil == "index":
            values[0] = tensor.limit
        given[tensor.name] = np.ascontiguousarray(shaped(tensor, steps, batch, values))
    return given


def status(case):
    code = int(case["code"])
    assert _abi_tables.STATUS_NAMES[code] == case["constant"], "another name"
    try:
        _abi.check(code)
    except rnnpack.Error as error:
        assert error.status == code and len(str(error)) > 8, str(error)
        return
    raise AssertionError("raises nothing")


def speech(case):
    want, labels = floats(case["output"]), read(case["labels"])
    y = stream(opened(case).session(reference=True), floats(case["input"]), 0, len(want))
    same(y, want)
    count = [sum(one == kind for one in labels) for kind in (1, 2)]
    found = [sum(one == kind and y[i] >= 0.5 for i, one in enumerate(labels)) for kind in (1, 2)]
    line = f"loud speech frames found {found[0]} of {count[0]}, speech said in the gaps {found[1]} of {count[1]} frames"
    print(line)
    assert line == read(case["line"]).decode(), "another line"


def golden(case):
    model, steps = opened(case), int(case["steps"])
    batch = model.info.fixed_batch or int(case["batch"])
    session = model.session(batch, max_steps=None if model.info.causal else steps, reference=True)
    if any("steps" in tensor.dims for tensor in model.inputs):
        y = session.run(numbers(model, steps, batch, "no"))
        outs = list(y.values()) if isinstance(y, dict) else [y]
        same(np.concatenate([flat_of(tensor, one) for tensor, one in zip(model.outputs, outs)]), floats(case["output"]))
        return
    # Steps come from an axis. This model has one input and none, so it takes a step a call.
    tensor, = model.inputs
    shape = [steps, *({"batch": batch}.get(one, one) for one in tensor.dims)]
    x = values_of(tensor, shape, states()).reshape(shape)
    same(np.concatenate([session.run(one).ravel() for one in x]), floats(case["output"]))


def threads(case):
    model, x, want, right = opened(case), floats(case["input"]), floats(case["output"]), []

    def work():
        right.append(stream(model.session(reference=True), x, 0, len(want)).tobytes() == want.tobytes())

    workers = [threading.Thread(target=work) for _ in range(int(case["count"]))]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert right == [True] * len(workers), "other bits"


def state(case):
    model, x, want, saved, at = opened(case), floats(case["input"]), floats(case["output"]), read(case["state"]), int(case["at"])
    loaded, streamed = model.session(reference=True), model.session(reference=True)
    loaded.state.load(saved)
    same(stream(loaded, x, at, len(want)), want[at:])
    stream(streamed, x, 0, at)
    assert streamed.state.save().rows == (saved,), "saves other bytes"


def load(case):
    session = opened(case).session(reference=True)
    fails(int(case["status"]), lambda: session.state.load(read(case["state"])))
    same(stream(session, floats(case["input"]), 0, 10), floats(case["output"])[:10])


def session_refused(case):
    model = opened(case)
    fails(int(case["status"]), lambda: model.session(int(case["max_batch"]), max_steps=int(case["max_steps"])))


def run(case):
    model, steps, batch = opened(case), int(case["steps"]), int(case["batch"])
    session = model.session(int(case["max_batch"]), reference=True)
    fails(int(case["status"]), lambda: session.run(numbers(model, steps, batch, case["spoil"]), check_finite=case["flags"] == "2"))


def resident_kib():
    return int(next(line for line in open("/proc/self/status", encoding="ascii") if line.startswith("VmRSS:")).split()[1])


def growth(case):
    blob, x, before = read(case["blob"]), np.zeros((1, 256), np.float32), 0
    for i in range(int(case["count"])):
        rnnpack.Model(blob).session(reference=True).step(x)
        if i == int(case["count"]) // 10:
            before = resident_kib()
    assert resident_kib() - before <= int(case["limit_kib"]), f"grew by {resident_kib() - before} KiB"


def meet(session, x):
    """Two threads in long runs: one of them is told."""
    met, frames = [], len(x) // 256

    def work():
        for _ in range(200):
            try:
                session.run(x[:frames * 256].reshape(frames, 1, 256))
            except rnnpack.BusyError:
                met.append(True)
            if met:
                return

    workers = [threading.Thread(target=work) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert met, "the second thread is not refused"


def misuse(case):
    if case["what"].startswith("closed"):
        raise NotHere("nothing is closed: what is in use stays")
    session, x = opened(case).session(reference=True), floats(case["input"])
    frame, y = x[:256].reshape(1, 256), np.empty((1, 1), np.float32)
    if case["what"] == "short_input":
        fails(-12, lambda: session.step(frame[:, :255], out=y))
    elif case["what"] == "short_output":
        fails(-12, lambda: session.step(frame, out=y[:, :0]))
    else:
        meet(session, x)
    session.step(frame, out=y)


def compiled(case):
    code = int(case["status"])
    option = {} if case["option"] in "-" else dict([case["option"].split("=")]) if "=" in case["option"] else {case["option"].replace("-", "_"): True}
    try:
        model = rnnpack.compile(read(case["onnx"]), **option)
    except (TypeError, rnnpack.UsageError):
        assert code == 1
    except rnnpack.Error as error:
        assert code == 2 and len(str(error)) > 8, str(error)
    else:
        assert code == 0 and bytes(model.blob) == read(case["blob"]), "another blob"


def overhead(case):
    session = opened(case).session()
    x, least = np.zeros([{"batch": 1}.get(one, one) for one in session.model.inputs[0].dims if one != "steps"], np.float32), 1e9
    y = session.step(x)
    for _ in range(int(case["count"]) // 1000):
        start = time.perf_counter_ns()
        for _ in range(1000):
            session.step(x, out=y)
        least = min(least, (time.perf_counter_ns() - start) / 1000)
    print(f"overhead {least:.1f}")


KINDS = {"status": status, "stream": speech, "golden": golden, "threads": threads, "state": state, "load": load, "session": session_refused,
         "open": lambda case: fails(int(case["status"]), lambda: opened(case)), "run": run, "growth": growth, "misuse": misuse,
         "compile": compiled, "overhead": overhead}


def main():
    failed = False
    print(f"version CPython {sys.version.split()[0]}")
    for line in (FOLDER / "suite.txt").read_text().splitlines():
        kind, name, *rest = line.split(" ")
        try:
            KINDS[kind]({"name": name, **dict(one.split("=", 1) for one in rest)})
            print("ok", name)
        except NotHere as why:
            print(f"na {name}: {why}")
        except Exception as error:  # pylint: disable=broad-except
            failed = True
            said = str(error).split("\n", maxsplit=1)[0]
            print(f"FAILED {name}: {type(error).__name__} {said}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
