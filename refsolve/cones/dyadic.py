"""Exact arithmetic on floats: every float is an integer over a power of two, and so are sums and products.

Nothing is rounded here, so that nothing needs a bound on rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array

Objects = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Dyadic:
    """Vector ``numbers / 2**bits``, numbers being Python's integers."""

    numbers: Objects
    bits: int = 0

    @classmethod
    def of(cls, values: Array) -> Dyadic:
        """Finite floats, as what they are; others raise OverflowError."""
        values = np.asarray(values, dtype=float).ravel()
        if not np.all(np.isfinite(values)):
            raise OverflowError("nan and inf are no numbers")
        mantissa, exponent = np.frexp(values)
        whole = (mantissa * 2.0**53).astype(np.int64).astype(object)
        shift = exponent.astype(np.int64) - 53
        least = int(min(shift[mantissa != 0], default=0))
        numbers = whole << np.maximum(shift - least, 0).astype(object)
        if least >= 0:
            return cls(numbers << least, 0)
        return cls(numbers, -least)

    def _aligned(self, other: Dyadic) -> tuple[Objects, Objects, int]:
        bits = max(self.bits, other.bits)
        return (
            self.numbers << (bits - self.bits),
            other.numbers << (bits - other.bits),
            bits,
        )

    def __add__(self, other: Dyadic) -> Dyadic:
        left, right, bits = self._aligned(other)
        return Dyadic(left + right, bits)

    def __sub__(self, other: Dyadic) -> Dyadic:
        left, right, bits = self._aligned(other)
        return Dyadic(left - right, bits)

    def __mul__(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.numbers * other.numbers, self.bits + other.bits)

    def __neg__(self) -> Dyadic:
        return Dyadic(-self.numbers, self.bits)

    def __getitem__(self, chosen: Any) -> Dyadic:
        return Dyadic(self.numbers[chosen], self.bits)

    def __len__(self) -> int:
        return len(self.numbers)

    def total(self) -> Fraction:
        """Sum of the entries."""
        return Fraction(sum(self.numbers.tolist()), 1 << self.bits)

    def fraction(self, at: int) -> Fraction:
        """One entry."""
        return Fraction(self.numbers[at], 1 << self.bits)

    @property
    def zero(self) -> Array:
        """Which entries are exactly zero."""
        return np.array([number == 0 for number in self.numbers.tolist()], dtype=bool)

    def above(self) -> Array:
        """Floats that are at least the entries."""
        whole = 1 << self.bits
        return np.array([_quotient_above(v, whole) for v in self.numbers.tolist()], dtype=float)

    def below(self) -> Array:
        """Floats that are at most the entries."""
        return -(-self).above()


def _quotient_above(number: int, whole: int) -> float:
    """Like `up` of a quotient by a power of two, without reducing it."""
    try:
        near = number / whole  # rounded to nearest
    except OverflowError:
        return up(Fraction(number, whole))
    exact = number == 0 or (number // (number & -number)).bit_length() <= 53
    return (
        near if exact and (abs(near) > 1e-290 or number == 0) else float(np.nextafter(near, np.inf))
    )


def up(value: Fraction) -> float:
    """Least float that is not below a rational number (or one above it)."""
    try:
        near = float(value)
    except OverflowError:
        return float("inf") if value > 0 else -np.finfo(float).max
    return float(np.nextafter(near, np.inf)) if near < value else near


def down(value: Fraction) -> float:
    """Greatest float that is not above a rational number (or one below it)."""
    return -up(-value)


def entries(matrix: Any) -> tuple[Array, Array, Array]:
    """Rows, columns and values of what is not zero in a sparse or dense matrix."""
    found = sp.coo_array(matrix)
    used = found.data != 0
    return found.row[used], found.col[used], found.data[used]


def product(matrix: Any, vector: Dyadic) -> Dyadic:
    """``matrix @ vector`` for a sparse or dense matrix of floats, exactly."""
    row, column, data = entries(matrix)
    terms = Dyadic.of(data) * vector[column]
    result = np.zeros(matrix.shape[0], dtype=object)
    np.add.at(result, row, terms.numbers)
    return Dyadic(result, terms.bits)
