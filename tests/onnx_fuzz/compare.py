"""compare.py -- our outputs beside onnxruntime's. Numbers are equal where they differ by no more than rounding explains: a few
units of the outputs' own size, or, where a network amplifies rounding, what onnxruntime's own results move when every weight and
input is shaken by some 2^-24. SPDX-License-Identifier: Apache-2.0"""
import numpy as np

import reference

NEAR = 2e-5  # of max(1, |x|): some two hundred roundings
SHAKES = 6
LOOSE = 24  # times the largest move under a shake


def wrong_at(ours, theirs, bound):
    """Elements that are neither near, nor both NaN, nor the same infinity."""
    with np.errstate(all="ignore"):
        near = np.abs(ours.astype(np.float64) - theirs) <= bound
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return ~(near | same)


def near_bound(theirs):
    return NEAR * np.maximum(1.0, np.where(np.isfinite(theirs), np.abs(theirs), 1.0))


def shaken_bounds(case, theirs, seed):
    """How far each output moves; infinite where one of them is not finite."""
    rng = np.random.default_rng(seed)
    moves = {n: np.zeros(a.shape) for n, a in theirs.items()}
    for _ in range(SHAKES):
        model, feeds = reference.shaken(case, rng)
        for name, array in reference.run(case, model, feeds).items():
            with np.errstate(all="ignore"):
                move = np.abs(array.astype(np.float64) - theirs[name])
            move[(array == theirs[name]) | (np.isnan(array) & np.isnan(theirs[name]))] = 0
            move[np.isnan(move)] = np.inf
            moves[name] = np.maximum(moves[name], move)
    return {n: near_bound(theirs[n]) + LOOSE * m for n, m in moves.items()}


def elements_joined(ours, theirs):
    """Ours in the axes of the file, where several of its elements make a step: the blob has two axes for one of the file's."""
    shape, wanted = list(ours.shape), list(theirs.shape)
    for i in range(len(wanted) if len(shape) == len(wanted) + 1 else 0):
        if shape[:i] + [shape[i] * shape[i + 1]] + shape[i + 2:] == wanted:
            return ours.reshape(wanted)
    return ours


def differences(case, ours, theirs, seed):
    """Lines that say what is wrong, empty for nothing; and each output's bounds, if a shake was needed."""
    lines, doubtful = [], []
    tied = {o for _, o in case.states}
    for name, array in theirs.items():
        if name not in ours:
            if name not in tied:
                lines.append(f"output '{name}' is missing")
        elif list(ours[name].shape) != list(array.shape):
            lines.append(f"output '{name}' has shape {list(ours[name].shape)}, onnxruntime's {list(array.shape)}")
        elif wrong_at(ours[name], array, near_bound(array)).any():
            doubtful.append((name, ours[name], array))
    if lines or not doubtful:
        return lines, None
    bounds = shaken_bounds(case, theirs, seed)
    for name, mine, array in doubtful:
        wrong = wrong_at(mine, array, bounds[name])
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            lines.append(f"output '{name}': {int(wrong.sum())} of {wrong.size} differ, first at {list(at)}: {mine[at]!r} where "
                         f"onnxruntime has {array[at]!r} (bound {bounds[name][at]:.3g})")
    return lines, bounds
