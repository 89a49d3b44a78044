"""What the entropies have in common: divergences in logarithms, and their twins in decimals.

All of it happens in logarithms: a probability may underflow, its logarithm does not. A `Point` says
where the maximiser is and carries multipliers mu >= 0 of the caps, from which the bounds on the value
follow whatever mu is; nothing here is believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self, cast

import numpy as np

from refsolve._types import Floats
from refsolve.exact import decimals as dec
from refsolve.generators import Array, Decimals, Point
from refsolve.generators import logarithms as logs
from refsolve.proofs.curved import Curved, Solution
from refsolve.proofs.domain import Domain
from refsolve.protocols import Capped

#: In the place of zeros of x where its logarithm is taken.
FLOOR = Decimal("1e-55")


@dataclass(frozen=True)
class Entropic:
    """Sums of x log x over the entries of a point and of its complement."""

    rational = False
    complement = ""
    shifted = False
    smooth = True
    modulus = 1.0

    def bind(self, params: Mapping[str, Any]) -> Self:
        """An entropy has no parameters."""
        return self

    def size(self, domain: Domain, z: Array) -> Any:
        """max|z| + log(d + 1): a score has a unit."""
        return abs(z).max(axis=-1) + np.log(z.shape[-1] + 1.0)

    def rest(self, x: Array) -> Array | None:
        """The complement by subtraction, with an axis for its entries."""
        return None

    def value(self, x: Array, rest: Array | None = None) -> Array:
        """Sum of x log x, the complement included."""
        found = logs.xlogx(np.maximum(x, 0)).sum(axis=-1)
        rest = self.rest(x) if rest is None else rest
        return found if rest is None else found + logs.xlogx(rest).sum(axis=-1)

    def gap(
        self, domain: Domain, z: Array, x: Array, point: Point | None, rest: Array | None
    ) -> Array:
        """The divergence of x from the maximiser and what its caps leave."""
        p = self.maximum(domain, z) if point is None else point
        assert p.logs is not None
        total = logs.divergence(x, p.x, p.logs).sum(axis=-1)
        if p.rest is not None and p.log_rest is not None:
            rest = self.rest(x) if rest is None else rest
            assert rest is not None  # both points have one
            total = total + logs.divergence(rest, p.rest, p.log_rest).sum(axis=-1)
        return total + _slack(domain, x, p)

    def bounds(self, domain: Domain, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """The bound that the multipliers give, and what the caps take away from it."""
        p = self.maximum(domain, z) if point is None else point
        assert p.upper is not None
        return np.maximum(p.upper - _slack(domain, p.x, p), 0), p.upper

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """In closed form."""
        raise NotImplementedError

    # ---- in decimals

    def complements(self, x: Decimals) -> list[Decimal]:
        """Without a complement."""
        return []

    def inner(self, x: Sequence[Fraction]) -> tuple[list[Decimal], list[Decimal]]:
        """X with its zeros lifted."""
        lift = [max(dec.decimal_of(v), FLOOR) for v in x]
        return lift, [max(dec.decimal_of(v), FLOOR) for v in self.exact_rest(x)]

    def divergence(self, x: Decimals, complement: Decimals, p: Decimals, rest: Decimals) -> Decimal:
        """X log(x/p) - x + p over all entries."""
        pairs = zip([*x, *complement], [*p, *rest], strict=True)
        return dec.total(dec.divergence(xi, pi) for xi, pi in pairs)

    def moves(self, core: Curved, found: Solution, by: Decimal) -> list[Decimal]:
        """W moves by dt W/(1 + W) with t: the curvature damps the rounding of the terms in it."""
        alpha = dec.decimal_of(core.alpha)
        return [by * xi / (dec.ONE + alpha * xi) for xi in found.x]

    def spread(self, x: Decimals, rest: Decimals, off: Decimals) -> Decimal:
        """A divergence at x - e is at most three times that at x + e."""
        reach = [dec.total(off)] if self.complement == "sum" else list(off) if rest else []
        pairs = [*zip(x, off, strict=True), *zip(rest, reach, strict=True)]
        return 3 * dec.total(dec.divergence(at + by, at) for at, by in pairs)

    def number(self, x: Sequence[Fraction]) -> Decimal:
        """H, with the complement taken exactly."""
        found = dec.total(dec.entropy(dec.decimal_of(max(v, Fraction(0)))) for v in x)
        return found + dec.total(dec.entropy(dec.decimal_of(v)) for v in self.exact_rest(x))

    def exact_rest(self, x: Sequence[Fraction]) -> list[Fraction]:
        """The complement of exact entries, not below 0."""
        return []

    def rounded(self, x: Sequence[float], eps: float) -> float:
        """What rounding of p and of its complement does to p log p."""
        full = [*x, *(float(v) for v in self.exact_rest([Fraction(v) for v in x]))]
        return sum(1.0 - math.log(min(1.0, max(v, eps))) for v in full)


def _slack(domain: Domain, x: Array, p: Point) -> Any:
    """Sum of mu_i (cap(x) - x_i): what the caps leave of the support."""
    if p.mu is None:
        return 0
    cap = cast(Capped, domain.module).cap(x, **domain.params)
    slack = cap - x
    # what the rounding of s explains moves x by no more than `roundoff` allows for
    least = (4 + np.log2(x.shape[-1])) * np.finfo(x.dtype).eps * cap
    return (p.mu * np.where(slack > least, slack, 0)).sum(axis=-1)
