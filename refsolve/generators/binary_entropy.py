"""The binary entropy of every entry, on the box: logistic losses.

h(x) = sum x_i log x_i + (1-x_i) log(1-x_i). The minimiser of alpha/2 ||x||^2 - <b,x> + h(x) has the
logits l_i with alpha sigmoid(l_i) + l_i = b_i.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from refsolve import formulas as f
from refsolve._types import Float, Floats
from refsolve.exact.decimals import ONE, ZERO, decimal_of, log, root, sigmoid, softplus, total
from refsolve.generators import Array, Decimals, Point
from refsolve.generators import logarithms as lg
from refsolve.generators.entropic import Entropic
from refsolve.generators.roots import near
from refsolve.proofs.curved import Curved, Found, Solution
from refsolve.proofs.domain import Domain


@dataclass(frozen=True)
class BinaryEntropy(Entropic):
    """Sum of x_i log x_i + (1-x_i) log(1-x_i)."""

    complement = "entries"
    modulus = 4.0

    def rest(self, x: Array) -> Array:
        """1 - x."""
        return 1 - x

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """Entry by entry, x = 1/(1 + e^-z)."""
        loss, back = lg.softplus(z), lg.softplus(-z)
        return Point(lg.exp(-back), -back, lg.exp(-loss), -loss, None, loss.sum(axis=-1))

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any]:
        """By bisection of the logits."""

        def below(v: Array) -> Array:
            return beta * lg.exp(-lg.softplus(-v)) + v < b

        v = f.bisect(below, b - beta, b) if beta > 0 else b
        return lg.exp(-lg.softplus(-v)), lg.exp(-lg.softplus(v))

    # ---- in decimals

    def complements(self, x: Decimals) -> list[Decimal]:
        """1 - x."""
        return [ONE - xi for xi in x]

    def exact_rest(self, x: Sequence[Fraction]) -> list[Fraction]:
        """1 - x."""
        return [max(1 - xi, Fraction(0)) for xi in x]

    def slopes(self, p: Decimals, rest: Decimals) -> list[Decimal]:
        """Log x_i - log(1-x_i)."""
        return [log(pi) - log(yi) for pi, yi in zip(p, rest, strict=True)]

    def solve(self, core: Curved, b: list[Decimal], alpha: Decimal) -> Found:
        """Every entry by itself."""
        logits = []
        for bi in b:

            def excess(at: Decimal, bi: Decimal = bi) -> tuple[Decimal, Decimal]:
                x = sigmoid(at)
                return at + alpha * x - bi, ONE + alpha * x * sigmoid(-at)

            start = near(_proposed(float(bi), float(alpha)))
            logits.append(
                bi
                if alpha == 0
                else root(excess, start or bi, increasing=True, near=start is not None)
            )
        x = [sigmoid(at) for at in logits]
        return x, [sigmoid(-at) for at in logits], ZERO, [ZERO] * len(b)

    def conditions(self, core: Curved, found: Found) -> Decimal:
        """Alpha x_i + log x_i - log(1-x_i) = b_i."""
        x, complement, _, _ = found
        alpha, b = decimal_of(core.alpha), [decimal_of(v) for v in core.b]
        return max(
            max(abs(xi + yi - 1), abs(alpha * xi + log(xi) - log(yi) - bi))
            for xi, yi, bi in zip(x, complement, b, strict=True)
        )

    def loss(self, core: Curved, found: Solution) -> Decimal:
        """Sum of log(1 + e^b_i)."""
        return total(softplus(decimal_of(v)) for v in core.b)


def _proposed(b: float, alpha: float) -> float:
    """The root t of t + alpha/(1 + e^-t) = b in floats, a place to start from."""
    low, high = b - alpha, b
    t = high
    for _ in range(200):
        s = 1 / (1 + math.exp(-t)) if t > -700 else math.exp(max(t, -745.0))
        off = t + alpha * s - b
        low, high = (low, t) if off > 0 else (t, high)
        new = t - off / (1 + alpha * s * (1 - s))
        new = new if low < new < high else low + (high - low) / 2
        if abs(new - t) <= 1e-15 * abs(new) or new in (low, high):
            return new
        t = new
    return t
