"""Exact projection on the knapsack of at most its capacity: a between the bounds, or the capacity is used up."""

from fractions import Fraction
from typing import Any

from refsolve.exact import knapsack
from refsolve.exact._rational import ZERO, Vector, clip
from refsolve.exact._thresholds import Named


def project(a: Vector, b: Any, low: Any, high: Any, capacity: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the set, which is not empty; bounds may be infinite floats."""
    x = [clip(*entry) for entry in zip(a, low, high, strict=True)]
    spent = sum((weight * v for weight, v in zip(b, x, strict=True)), ZERO)
    return x if spent <= capacity else knapsack.project(a, b, low, high, capacity)


def internals(a: Vector, x: Vector, b: Vector, low: Any, high: Any, capacity: Fraction) -> Named:
    """Threshold and multiplier of <b,x> <= capacity, 0 where a between the bounds is x, and index sets."""
    found = knapsack.internals(a, x, b, low, high, capacity)
    inside = list(x) == [clip(*entry) for entry in zip(a, low, high, strict=True)]
    return {**found, "t": ZERO, "lambda": ZERO} if inside else found
