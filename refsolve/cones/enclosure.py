"""Sums, products and exponentials of floats with bounds on their rounding.

A sum of n products in any order differs from the exact one by at most gamma_n = n u / (1 - n u) times
the sum of the absolute products (Higham 2002, 3.1), u the unit roundoff of the longest float that the
processor has. What underflows is covered by a number far below anything of use.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array

LONG = np.longdouble
#: Twice the unit roundoff of the sums, and of their bounds.
UNIT, EPS = float(np.finfo(LONG).eps), float(np.finfo(float).eps)
#: More than any product that underflows.
TINY = 1e-290
_FEW = 8
#: log 2 in two parts: the first of 33 bits, so that multiples of it are exact.
_LOG2_HIGH = 5954088943.0 / 2.0**33
_LOG2_LOW = LONG("7.440617110012396716130156807550013e-11")
_TERMS = 24


@dataclass(frozen=True)
class Enclosed:
    """Numbers within ``error`` of ``middle``."""

    middle: Array
    error: Array

    def __getitem__(self, chosen: Any) -> Enclosed:
        return Enclosed(self.middle[chosen], self.error[chosen])

    def __add__(self, other: Enclosed) -> Enclosed:
        with np.errstate(all="ignore"):
            total = self.middle + other.middle
            error = (self.error + other.error) * (1 + _FEW * EPS)
            return Enclosed(total, error + UNIT * np.abs(total).astype(float) + TINY)

    def __neg__(self) -> Enclosed:
        return Enclosed(-self.middle, self.error)

    def below(self) -> Array:
        """Floats that are at most the numbers."""
        return -(-self).above()

    def above(self) -> Array:
        """Floats that are at least the numbers."""
        with np.errstate(all="ignore"):
            high = self.middle + self.error * (1 + _FEW * UNIT)
            near = high.astype(float)
            short = (near < high) | (self.error > 0)
            return np.where(short, np.nextafter(near, np.inf), near)

    def size(self) -> Array:
        """Floats that are at least the absolute values."""
        return np.maximum(self.above(), (-self).above())


def exact(values: Array) -> Enclosed:
    """Floats as they are."""
    values = np.asarray(values, dtype=float)
    return Enclosed(values.astype(LONG), np.zeros(values.shape))


def times(matrix: Any, vector: Array) -> Enclosed:
    """``matrix @ vector`` of floats."""
    A = sp.csr_array(matrix)
    terms = np.diff(A.indptr)
    with np.errstate(all="ignore"):
        long = sp.csr_array((A.data.astype(LONG), A.indices, A.indptr), shape=A.shape)
        middle = long @ vector.astype(LONG)
        size = above(abs(A) @ np.abs(vector), terms)
        error = size * (terms + _FEW) * UNIT
    return Enclosed(middle, error * (1 + _FEW * EPS) + TINY * (terms > 0))


def above(sums: Array, terms: Any) -> Array:
    """Floats above sums of nonnegative products that were computed in floats."""
    with np.errstate(all="ignore"):
        return np.asarray(sums) * (1 + (np.asarray(terms) + _FEW) * EPS) + TINY


def reach(matrix: Any, eta: Array) -> Array:
    """At least ``abs(matrix) @ eta``; 0 where nothing is moved."""
    A = abs(sp.csr_array(matrix))
    with np.errstate(all="ignore"):
        moved = above(A @ eta, np.diff(A.indptr))
    touched = A.astype(bool) @ (eta > 0)
    return np.where(touched, moved, 0.0)


def dot(left: Array, right: Array) -> tuple[Fraction, Fraction]:
    """The scalar product of vectors of floats (or of long ones, rounded), and how far it may be off."""
    with np.errstate(all="ignore"):
        products = left.astype(LONG) * right.astype(LONG)
        size = float(np.sum(np.abs(products))) * (1 + (len(left) + _FEW) * EPS)
        total = np.sum(products)
    some = bool(np.any((left != 0) & (right != 0)))
    error = size * (len(left) + _FEW) * UNIT * (1 + _FEW * EPS) + TINY * some
    return rational(total), rational(error)


def rational(value: Any) -> Fraction:
    """A long float as a rational number; OverflowError for those that are none."""
    high = float(value)
    low = float(value - LONG(high)) if np.isfinite(high) else 0.0
    return Fraction(high) + Fraction(low)


def norm(values: Array) -> float:
    """At least the Euclidean norm of floats."""
    largest = float(np.abs(values).max(initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    unit = float(np.exp2(np.ceil(np.log2(largest))))
    size = float(np.sum((values / unit) ** 2))
    return float(np.sqrt(size * (1 + (len(values) + _FEW) * EPS)) * unit * (1 + _FEW * EPS) + TINY)


def exponential(power: Enclosed) -> tuple[Array, Array]:
    """Long floats below and above exp, numbers of either side beyond any float as 0 and inf.

    exp t = 2^k exp r with r = t - k log 2, |r| <= 0.35, by Taylor's series: its remainder after 24 terms
    is below 1e-35, Horner's rule rounds by less than 3 * 24 units, r by less than 2 units and |k| times
    the error of the second part of log 2, 1e-26 units.
    """
    t = np.clip(power.middle.astype(LONG), -11000, 11000)
    k = np.rint(t / LONG(0.6931471805599453))
    r = (t - k * LONG(_LOG2_HIGH)) - k * _LOG2_LOW
    series = np.ones_like(r)
    for n in range(_TERMS, 0, -1):
        series = 1 + series * r / n
    with np.errstate(all="ignore"):
        near = np.ldexp(series, k.astype(int))
        off = power.error.astype(LONG) * (1 + _FEW * UNIT)
        off = np.where(off < 0.5, off, np.inf)
        relative = (256 * UNIT + off + off * off) * (1 + _FEW * UNIT)
        low = np.where(np.isfinite(near) & (relative < 1), near * (1 - relative), 0)
        high = near * (1 + relative) + LONG(TINY)
    low = np.where(power.middle < -11000, 0, low)
    high = np.where(power.middle > 10999, np.inf, np.where(np.isnan(high), np.inf, high))
    exactly = (power.middle == 0) & (power.error == 0)
    return np.where(exactly, 1, low), np.where(exactly, 1, high)
