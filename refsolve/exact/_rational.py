"""Rational helpers: gap of a projection, and the support function of each polytope."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from refsolve import catalogue

Vector = Sequence[Fraction]
ZERO = Fraction(0)
Number = TypeVar("Number", bound=Fraction | int)


def clip(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Value moved into [low, high]."""
    return min(max(value, low), high)


def neighbours(knots: Sequence[Number], before: Callable[[Number], bool]) -> tuple[Number, Number]:
    """The two ascending knots between which a condition ceases to hold."""
    last = len(knots) - 1
    at = bisect_left(knots, True, min(1, last), last, key=lambda knot: not before(knot))
    return knots[max(at - 1, 0)], knots[at]


def fenchel_young(
    object_name: str, x: Vector, a: Vector, rho: Fraction, params: Mapping[str, Any]
) -> tuple[Fraction, Fraction]:
    """Objective 1/2||x-a||^2 + rho/2 s^2 and the gap <g,x> + support(-g), both exact.

    Raises AssertionError if x is infeasible. The set's own float formulas are evaluated on object
    arrays of Fractions, so that the certificate shares no line with the projection.
    """
    module = catalogue.load(object_name)
    vector = np.array(x, dtype=object)
    if module.violation(vector, **params) != 0:
        raise AssertionError(f"infeasible for {object_name}: {[float(v) for v in x]}")
    s = sum(x, ZERO)
    w = np.array([ai - xi - rho * s for ai, xi in zip(a, x, strict=True)], dtype=object)
    gap: Any = np.asarray(module.residual(vector, w, **params), dtype=object)[()]
    if not isinstance(gap, int | Fraction):
        raise AssertionError(f"the gap for {object_name} left the rationals: {gap!r}")
    value = sum(((xi - ai) ** 2 for xi, ai in zip(x, a, strict=True)), rho * s * s) / 2
    return value, Fraction(gap)
