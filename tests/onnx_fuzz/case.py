"""case.py -- one case: a model with its inputs, how it is run, and what came of it. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import re

import numpy as np
import onnx

import compare
import known
import models
import reference
import refusals
import time_models
from driver_process import PART_OF_A_STEP, REFUSED, WRONG, DriverLost

RAN, REFUSED_, FAILED, NO_REFERENCE = "ran", "refused", "failed", "no reference"
PART, UNCLEAR = "part of a step", "refused unclearly"


OTHER_ROWS = re.compile(r"^the blob is for a batch of \d+ where the case has \d+")


def fails_in_onnxruntime(case):
    """A constant state of other rows than the case has."""
    try:
        reference.run(case)
    except Exception:  # pylint: disable=broad-except
        return True
    return False


class Case:
    def __init__(self, seed, model, feeds, states=(), steps=1, batch=1, implied=False, notes=(), template="", special="", later=False):
        self.seed, self.model, self.feeds, self.states = seed, model, feeds, list(states)
        self.steps, self.batch, self.implied, self.notes, self.template = steps, batch, implied, set(notes), template
        self.special, self.later = special, later  # later: the model runs at another size too, and not at all sizes

    @classmethod
    def of_seed(cls, seed):
        g = models.make(seed)
        return cls(seed, g.model(), g.feeds, g.states, g.steps, g.batch, g.implied, g.notes, g.template, g.special)

    @classmethod
    def around_time(cls, seed):
        """One model at each of its sizes."""
        g = time_models.make(seed)
        model = g.model()
        runs = [(at, *sizes) for at, sizes in enumerate(g.runs) if at not in g.dead]
        found = [cls(seed, model, g.feeds_at(at), (), steps, batch, notes=g.notes, template="time", later=at > 0) for at, steps, batch in runs]
        return found, g.forms

    def save(self, folder, text):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **self.feeds)
        facts = dict(seed=self.seed, states=self.states, steps=self.steps, batch=self.batch, implied=self.implied,
                     notes=sorted(self.notes), template=self.template, special=self.special, later=self.later)
        (folder / "case.json").write_text(json.dumps(facts))
        (folder / "what.txt").write_text(text + "\n\nagain: fuzz.py --driver DRIVER --case " + str(folder) + "\n")

    @classmethod
    def load(cls, folder):
        folder = pathlib.Path(folder)
        facts = json.loads((folder / "case.json").read_text())
        return cls(model=onnx.load(folder / "model.onnx"), feeds=dict(np.load(folder / "inputs.npz")), **facts)

    def copy(self, model=None, feeds=None):
        return Case(self.seed, model or self.model, feeds or self.feeds, self.states, self.steps, self.batch, self.implied, self.notes,
                    self.template, self.special, self.later)


class Result:
    def __init__(self, kind, text="", causal=False, shaken=False, excused=""):
        self.kind, self.text, self.causal, self.shaken, self.excused = kind, text, causal, shaken, excused


def run(case, driver, walks, spoil=0):
    """Our side first: what is refused needs no reference. Of a later size the reference says whether the model runs there."""
    data = case.model.SerializeToString()
    if case.later:
        try:
            reference.run(case)
        except Exception as error:  # pylint: disable=broad-except
            return Result(NO_REFERENCE, str(error).replace("\n", " ")[:300])
    try:
        verdict, message, causal, ours, _ = driver.ask(data, case.feeds, case.states, case.steps, case.batch, case.seed, walks, spoil,
                                                          portable=int(case.special in ("nan", "inf")), serial=int(case.template == "time"))
    except DriverLost as error:
        return Result(FAILED, str(error))
    if verdict == REFUSED:
        unclear = refusals.unclear(message, case.model)
        return Result(UNCLEAR if unclear else REFUSED_, f"{unclear}: {message}" if unclear else message)
    if verdict == PART_OF_A_STEP:
        return Result(PART, message)
    if verdict == WRONG and not (OTHER_ROWS.search(message) and fails_in_onnxruntime(case)):
        return Result(FAILED, message, causal)
    try:
        theirs = reference.run(case)
    except Exception as error:  # pylint: disable=broad-except
        return Result(NO_REFERENCE, str(error).replace("\n", " ")[:300], causal)
    ours = {n: compare.elements_joined(a, theirs[n]) if n in theirs else a for n, a in ours.items()}
    lines, bounds = compare.differences(case, ours, theirs, case.seed)
    excused = ""
    if lines and bounds:
        ask = lambda model: driver.ask(model.SerializeToString(), case.feeds, case.states, case.steps, case.batch, case.seed, 0, evaluate=1)[4]
        excused = known.excuse(case, ours, theirs, bounds, ask)
    if lines and not excused:
        return Result(FAILED, "; ".join(lines), causal, bounds is not None)
    return Result(RAN, causal=causal, shaken=bounds is not None, excused=excused)
