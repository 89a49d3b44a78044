"""The binary entropy of every entry, on the box: logistic losses.

h(x) = sum x_i log x_i + (1-x_i) log(1-x_i). The minimiser of alpha/2 ||x||^2 - <b,x> + h(x) has the
logits l_i with alpha sigmoid(l_i) + l_i = b_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from refsolve import formulas as f
from refsolve._types import Float, Floats
from refsolve.exact.decimals import ONE, ZERO, decimal_of, log, logistic, root, softplus, total
from refsolve.generators import Array, Decimals, Point
from refsolve.generators import logarithms as lg
from refsolve.generators.entropic import Entropic
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

        def solved(bi: Decimal) -> tuple[Decimal, Decimal]:
            def excess(number: Any) -> Any:
                own, scale = number(bi), number(alpha)

                def at(logit: Any) -> tuple[Any, Any]:
                    x, y = logistic(logit)
                    return logit + scale * x - own, 1 + scale * x * y

                return at

            logit, step = root(excess, bi, increasing=True) if alpha else (bi, ZERO)
            x, y = logistic(logit)
            return x + step * x * y, y - step * x * y

        x, y = zip(*map(solved, b), strict=True)
        return list(x), list(y), ZERO, [ZERO] * len(b)

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
