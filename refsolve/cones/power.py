"""Power cones {(x, z): x >= 0, x_1^a_1 ... x_k^a_k >= |z|}, the weights a > 0 of sum 1, and their duals.

The dual is {(u, v): u >= 0, (u_1/a_1)^a_1 ... (u_k/a_k)^a_k >= |v|} (Chares 2009, 4.3). Weights are
the rational numbers that their floats are. Products of powers of small denominators are compared in
rational numbers, others by logarithms of 50 digits.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from refsolve._lazy import clarabel
from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, down, up

_DIGITS = 50
#: Largest common denominator of weights whose powers are multiplied out.
_MULTIPLIED = 64


def _log(value: Fraction) -> decimal.Decimal:
    """Natural logarithm, within 10^-48 times 1 + its size."""
    return (decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)).ln()


def _in_floats(x: list[Fraction], weights: tuple[Fraction, ...], z: Fraction) -> bool | None:
    """The same where logarithms in floats, a millionth of their digits given away, decide."""
    try:
        logs = [float(a) * math.log(float(v)) for a, v in zip(weights, x, strict=True)]
        logs.append(-math.log(float(z)))
    except (OverflowError, ValueError):
        return None
    total, size = sum(logs), 1 + sum(map(abs, logs))
    return total > 0 if abs(total) > 1e-10 * size else None


def at_least(x: list[Fraction], weights: tuple[Fraction, ...], z: Fraction) -> bool:
    """Whether x_1^a_1 ... x_k^a_k >= z is certain, for z >= 0."""
    if min(x) >= z >= 0:
        return True
    if min(x) <= 0:
        return False
    far = _in_floats(x, weights, z)
    if far is not None:
        return far
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        terms = [decimal.Decimal(a.numerator) / decimal.Decimal(a.denominator) * _log(v)
                 for a, v in zip(weights, x, strict=True)]  # fmt: skip
        terms.append(-_log(z))
        error = decimal.Decimal(10) ** -45 * (1 + sum(map(abs, terms), decimal.Decimal(0)))
        total = sum(terms, decimal.Decimal(0))
    if abs(total) > error:
        return bool(total > 0)
    q = math.lcm(*(a.denominator for a in weights))
    if q > _MULTIPLIED:
        return False
    product = math.prod(
        (v ** int(a * q) for a, v in zip(weights, x, strict=True)), start=Fraction(1)
    )
    return product >= z**q


@dataclass(frozen=True)
class Power:
    """A power cone with one number on the right side.

    Attributes
    ----------
    given : tuple of float
        Weights a_1 ... a_k; the last is what is left of 1, and made so.
    """

    given: tuple[float, ...]

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """Exact weights of sum 1."""
        first = [Fraction(a) for a in self.given[:-1]]
        return (*first, 1 - sum(first, Fraction(0)))

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.given) + 1

    @property
    def scale(self) -> None:
        """Rows are as Clarabel wants them."""
        return None

    def clarabel(self) -> list[Any]:
        """The cone of Clarabel."""
        if len(self.given) == 2:
            return [clarabel.PowerConeT(self.given[0])]
        return [clarabel.GenPowerConeT(list(self.given), 1)]

    def inwards(self, dual: bool) -> Array:
        """All that is to be >= 0 up by 1."""
        step = np.ones(self.size)
        step[-1] = 0.0
        return step

    def _holds(self, x: list[Fraction], z: Fraction, *, dual: bool) -> bool:
        if dual:
            x = [u / a for u, a in zip(x, self.weights, strict=True)]
        return at_least(x, self.weights, abs(z))

    def _mean(self, x: Array, *, dual: bool) -> float:
        """The product of powers in floats, about."""
        a = np.array([float(w) for w in self.weights])
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(x / a if dual else x, 0.0))
        return float(np.exp(a @ logs)) if np.all(np.isfinite(logs)) else 0.0

    def violation(self, s: Dyadic, reach: Array) -> float:
        """At least how far (sum of changes) points within ``reach`` of ``s`` are outside; 0: none is."""
        if not np.all(np.isfinite(reach)):
            return float("inf")
        far = [Fraction(r) for r in reach.tolist()]
        x = [s.fraction(i) - far[i] for i in range(self.size - 1)]
        z = abs(s.fraction(self.size - 1)) + far[-1]
        if self._holds(x, z, dual=False):
            return 0.0
        raised = [max(v, Fraction(0)) for v in x]
        first = sum((b - a for a, b in zip(x, raised, strict=True)), Fraction(0))
        choices = [first + z]  # z to 0
        lowered = Fraction(self._mean(np.array([down(v) for v in raised]), dual=False))
        lowered *= 1 - Fraction(1, 2**45)
        if lowered < z and self._holds(raised, lowered, dual=False):
            choices.append(first + z - lowered)
        step = first + z  # or all of x up by as much as it takes
        for _ in range(60):
            if not self._holds([v + step for v in raised], z, dual=False):
                break
            choices.append(first + step * len(x))
            step /= 2
        return up(min(choices))

    def into_dual(self, z: Array) -> Array:
        """Multipliers raised, or the last one lowered, by what a proof lacks."""
        if not np.all(np.isfinite(z)):
            return np.full(self.size, np.nan)
        u, v = np.maximum(z[:-1].astype(float), 0.0), float(z[-1])
        if self._in_dual(u, v):
            return np.append(u, v)
        mean = self._mean(u, dual=True)
        choices = [np.append(u, 0.0)]
        for more in (2.0**-50, 2.0**-40, 2.0**-20):
            lowered = math.copysign(mean * (1 - more), v)
            if abs(lowered) < abs(v) and self._in_dual(u, lowered):
                choices.append(np.append(u, lowered))
                break
        if mean > 0:
            for more in (2.0**-50, 2.0**-40, 2.0**-20):
                with np.errstate(over="ignore"):
                    raised = u * (abs(v) / mean) * (1 + more)
                if np.all(np.isfinite(raised)) and self._in_dual(raised, v):
                    choices.append(np.append(raised, v))
                    break
        return min(choices, key=lambda c: float(np.abs(c - z).sum()))

    def _in_dual(self, u: Array, v: float) -> bool:
        return self._holds([Fraction(a) for a in u.tolist()], Fraction(v), dual=True)

    def room(self, z: Array, eta: Array) -> bool:
        """Whether all multipliers within ``eta`` of ``z`` are certainly in the dual cone."""
        if not (np.all(np.isfinite(z)) and np.all(np.isfinite(eta))):
            return False
        u = [
            Fraction(a) - Fraction(e)
            for a, e in zip(z[:-1].tolist(), eta[:-1].tolist(), strict=True)
        ]
        return self._holds(u, abs(Fraction(float(z[-1]))) + Fraction(float(eta[-1])), dual=True)

    def freedom(self, z: Array) -> float:
        """How far multipliers may move, about."""
        z = z.astype(float)
        least = min(float(z[:-1].min()), self._mean(z[:-1], dual=True) - abs(float(z[-1])))
        return max(least, 0.0)

    def slope(self, s: Array) -> Array:
        """Of the product of powers less the last entry's size, about."""
        x = np.maximum(s[:-1], 1e-300)
        with np.errstate(over="ignore"):
            slope = self._mean(x, dual=False) * np.array([float(a) for a in self.weights]) / x
        return np.append(np.minimum(slope, 1e300), -math.copysign(1.0, float(s[-1])))

    def narrow(self, lo: Array, hi: Array) -> None:
        """Ranges of the slacks, in place: x >= 0, |z| is at most the largest x."""
        lo[:-1] = np.maximum(lo[:-1], 0.0)
        top = float(np.max(hi[:-1]))
        hi[-1], lo[-1] = min(hi[-1], top), max(lo[-1], -top)
