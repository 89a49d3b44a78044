"""Naive ground truth: the projection by trying every face of the polytope, in Fractions.

The minimiser over the set is the minimiser over the affine hull of its own face, and every other
feasible candidate is only worse; so the best feasible candidate is the answer. No multipliers, no
sorting, no formula of the clever routines. Exponential: d <= 5.
"""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from refsolve.exact._rational import ZERO, Vector
from refsolve.generators.interior import eliminate

MAX_SIZE = 5


def project(object_name: str, a: Vector, *, rho: Fraction = ZERO, **params: Any) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2 over the polytope ``halfspaces`` declares."""
    d = len(a)
    if d > MAX_SIZE:
        raise InvalidParameterError(
            "a", f"{d} entries", f"at most {MAX_SIZE} entries", "use refsolve.exact.project"
        )
    rows = catalogue.load(object_name).halfspaces(d, **params)
    always = [(g, h) for g, h, equal in rows if equal]
    sometimes = [(g, h) for g, h, equal in rows if not equal]
    best: list[Fraction] | None = None
    lowest = ZERO
    for size in range(d - len(always) + 1):
        for chosen in itertools.combinations(sometimes, size):
            x = _equality_minimiser(a, rho, [*always, *chosen])
            if x is None or not all(_dot(g, x) <= h for g, h in sometimes):
                continue
            s = sum(x, ZERO)
            value = sum(((xi - ai) ** 2 for xi, ai in zip(x, a, strict=True)), rho * s * s)
            if best is None or value < lowest:
                best, lowest = x, value
    assert best is not None, "the set is empty"
    return best


def _dot(g: Vector, x: Vector) -> Fraction:
    return sum((gi * xi for gi, xi in zip(g, x, strict=True)), ZERO)


def _equality_minimiser(
    a: Vector, rho: Fraction, rows: list[tuple[list[Fraction], Fraction]]
) -> list[Fraction] | None:
    """Minimiser subject to <g,x> = h for independent rows; None if they are dependent.

    Dependent rows can be skipped: some independent subset has the same affine hull.
    """
    d, count = len(a), len(rows)
    system = [
        [Fraction(i == j) + rho for j in range(d)] + [g[i] for g, _ in rows] + [a[i]]
        for i in range(d)
    ]
    system += [[*g, *([ZERO] * count), h] for g, h in rows]
    try:
        return eliminate(np.array(system, dtype=object))[:d].tolist()
    except ArithmeticError:
        return None
