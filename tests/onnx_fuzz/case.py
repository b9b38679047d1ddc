"""case.py -- one case: a model with its inputs, how it is run, and what came of it. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib

import numpy as np
import onnx

import compare
import known
import models
import reference
from driver_process import REFUSED, WRONG, DriverLost

RAN, REFUSED_, FAILED, NO_REFERENCE = "ran", "refused", "failed", "no reference"


class Case:
    def __init__(self, seed, model, feeds, states=(), steps=1, batch=1, implied=False, notes=(), template="", special=""):
        self.seed, self.model, self.feeds, self.states = seed, model, feeds, list(states)
        self.steps, self.batch, self.implied, self.notes, self.template = steps, batch, implied, set(notes), template
        self.special = special

    @classmethod
    def of_seed(cls, seed):
        g = models.make(seed)
        return cls(seed, g.model(), g.feeds, g.states, g.steps, g.batch, g.implied, g.notes, g.template, g.special)

    def save(self, folder, text):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **self.feeds)
        facts = dict(seed=self.seed, states=self.states, steps=self.steps, batch=self.batch, implied=self.implied,
                     notes=sorted(self.notes), template=self.template, special=self.special)
        (folder / "case.json").write_text(json.dumps(facts))
        (folder / "what.txt").write_text(text + "\n\nagain: fuzz.py --driver DRIVER --case " + str(folder) + "\n")

    @classmethod
    def load(cls, folder):
        folder = pathlib.Path(folder)
        facts = json.loads((folder / "case.json").read_text())
        return cls(model=onnx.load(folder / "model.onnx"), feeds=dict(np.load(folder / "inputs.npz")), **facts)

    def copy(self, model=None, feeds=None):
        return Case(self.seed, model or self.model, feeds or self.feeds, self.states, self.steps, self.batch, self.implied, self.notes,
                    self.template, self.special)


class Result:
    def __init__(self, kind, text="", causal=False, shaken=False, excused=""):
        self.kind, self.text, self.causal, self.shaken, self.excused = kind, text, causal, shaken, excused


def run(case, driver, walks, spoil=0):
    """Our side first: what is refused needs no reference."""
    data = case.model.SerializeToString()
    try:
        verdict, message, causal, ours, _ = driver.ask(data, case.feeds, case.states, case.steps, case.batch, case.seed, walks, spoil,
                                                          portable=int(case.special in ("nan", "inf")))
    except DriverLost as error:
        return Result(FAILED, str(error))
    if verdict == REFUSED:
        return Result(REFUSED_, message)
    if verdict == WRONG:
        return Result(FAILED, message, causal)
    try:
        theirs = reference.run(case)
    except Exception as error:  # pylint: disable=broad-except
        return Result(NO_REFERENCE, str(error).replace("\n", " ")[:300], causal)
    lines, bounds = compare.differences(case, ours, theirs, case.seed)
    excused = ""
    if lines and bounds:
        ask = lambda: driver.ask(data, case.feeds, case.states, case.steps, case.batch, case.seed, 0, evaluate=1)[4]
        excused = known.excuse(case, ours, theirs, bounds, ask)
    if lines and not excused:
        return Result(FAILED, "; ".join(lines), causal, bounds is not None)
    return Result(RAN, causal=causal, shaken=bounds is not None, excused=excused)
