#!/usr/bin/env python3
"""python_calls.py [MODEL.onnx] -- what a call from Python costs: least and median of many rounds, in microseconds, beside one step of
the library alone (`rnnpack profile`). SPDX-License-Identifier: Apache-2.0"""
import argparse
import pathlib
import statistics
import timeit

import numpy as np

import rnnpack

ROOT = pathlib.Path(__file__).resolve().parents[1]


def measured(call, rounds, number=200):
    """(least, median) microseconds of a call."""
    call()
    times = [1e6 * t / number for t in timeit.repeat(call, number=number, repeat=rounds)]
    return min(times), statistics.median(times)


def sizes(tensor, steps, batch):
    return [dim if isinstance(dim, int) else {"steps": steps, "batch": batch}[dim] for dim in tensor.dims]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=pathlib.Path, default=ROOT / "models/vad_gru/model.onnx")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    model = rnnpack.compile(options.model)
    session = model.session()
    given = {t.name: np.zeros(sizes(t, 1, 1), t.dtype) for t in model.inputs if not t.optional}
    frame = {name: value if "steps" not in t.dims else value.squeeze(t.dims.index("steps"))
             for t in model.inputs if not t.optional for name, value in [(t.name, given[t.name])]}
    x, one = (next(iter(values.values())) if len(values) == 1 else values for values in (given, frame))
    calls = {"run(x), one step": lambda: session.run(x), "step(x)": lambda: session.step(one)}
    outs = session.step(one)
    if not isinstance(outs, dict):
        calls["step(x, out=y)"] = lambda: session.step(one, out=outs)
    alone = model.report(steps=1).us
    print(f"{model}\nthe library's step alone: {alone:.2f} us")
    for name, call in calls.items():
        least, median = measured(call, options.rounds)
        print(f"{name:<20} least {least:7.2f} us, median {median:7.2f} us; above the library's step {least - alone:6.2f} us")


if __name__ == "__main__":
    main()
