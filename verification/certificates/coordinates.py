"""How the scores of m classes become margins z, and how an answer over the classes means an x.

    "others"  multiclass: z_j = f_j - f_y + c_j over j != y; a gradient is x_j at j != y and -s at y
    "signs"   one score per class: z_j = f_j + c_j, but -f_j + c_j at the ground truth (one-vs-all) or
              the positives (multilabel); a gradient is x with these signs
    "scores"  multilabel entropy: z = f + c; a gradient is x = p - t

The formulas are written down here once more, not taken from the code that is judged by them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.proofs.loss import generator_of
from refsolve.proofs.rationals import Vector, exact, vector

ZERO, ONE = Fraction(0), Fraction(1)


def family(stem: str) -> str:
    """Family of a loss: "multiclass", "ova" or "multilabel"."""
    return str(getattr(catalogue.load(stem), "family", "multiclass"))


def layout(stem: str) -> str:
    """One of "others", "signs", "scores"."""
    if generator_of(catalogue.load(stem)).shifted:
        return "scores"
    return "others" if family(stem) == "multiclass" else "signs"


def default_cost(stem: str) -> Fraction:
    """Margin c_j of a class unless given."""
    return exact(getattr(catalogue.load(stem), "default_cost", 1.0))


def positive(y: Any, m: int) -> np.ndarray:
    """Boolean mask of the classes that ought to win."""
    return np.asarray(y) != 0 if np.ndim(y) else np.arange(m) == y


def signs(y: Any, m: int) -> Vector:
    """+1, and -1 at the classes that ought to win, as Python integers."""
    return np.where(positive(y, m), -1, 1).astype(object)


def target(y: Any, m: int) -> Vector:
    """T = 1/|P| at the positives."""
    mask = positive(y, m)
    out = vector(np.zeros(m))
    out[mask] = Fraction(1, max(1, int(mask.sum())))
    return out


def costs(stem: str, given: Any, y: Any, d: int) -> Vector:
    """Margins c over the d coordinates; ``given`` over all classes if y is one of them."""
    if given is not None:
        full = vector(given)
        return np.delete(full, y) if full.size > d else full
    c = vector(np.zeros(d))
    c[:] = default_cost(stem)
    if family(stem) == "multilabel":
        c[positive(y, d)] = ZERO
    return c


def margins(stem: str, scores: Vector, y: Any, c: Vector) -> Vector:
    """Margins z of exact scores."""
    if layout(stem) == "others":
        return np.delete(scores, y) - scores[y] + c
    return signs(y, scores.size) * scores + c if layout(stem) == "signs" else scores + c


def pull(stem: str, direction: Vector, y: Any) -> tuple[Vector, Fraction]:
    """The x whose gradient is this vector over the classes, and the sum where it must be 0."""
    if layout(stem) == "others":
        return np.delete(direction, y), sum(direction.tolist(), ZERO)
    return signs(y, direction.size) * direction if layout(stem) == "signs" else direction, ZERO


def push(stem: str, x: Vector, y: Any) -> Vector:
    """Gradient over the classes that x means."""
    if layout(stem) == "others":
        return np.insert(x, y, -sum(x.tolist()))
    return signs(y, x.size) * x if layout(stem) == "signs" else x
