"""Floats as the rational numbers they are, and vectors of them that numpy formulas accept."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Vector = np.ndarray[Any, Any]  # of Fraction objects


def exact(value: Any) -> Fraction:
    """A finite float or integer, exactly."""
    return value if isinstance(value, Fraction) else Fraction(*value.as_integer_ratio())


def vector(values: Any) -> Vector:
    """An object array of Fractions from numbers."""
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    out = np.empty(len(items), dtype=object)
    for i, value in enumerate(items):
        out[i] = exact(value)
    return out


def total(v: Vector) -> Fraction:
    """Sum of the entries, a Fraction even if there are none."""
    return sum(v.tolist(), Fraction(0))


def dot(v: Vector, w: Vector) -> Fraction:
    """Inner product."""
    return sum((a * b for a, b in zip(v.tolist(), w.tolist(), strict=True)), Fraction(0))


def norm(v: Vector) -> float:
    """Euclidean norm, to float precision whatever the exponents are."""
    largest = max((abs(x) for x in v.tolist()), default=Fraction(0))
    if largest == 0:
        return 0.0
    squares = sum(float(x / largest) ** 2 for x in v.tolist())
    return number(largest) * squares**0.5


def largest(v: Vector) -> float:
    """Largest absolute value."""
    return number(max((abs(x) for x in v.tolist()), default=Fraction(0)))


def number(value: Fraction) -> float:
    """Nearest float; infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def floats(v: Vector) -> np.ndarray:
    """The entries rounded to float64."""
    return np.array([number(x) for x in v.tolist()])
