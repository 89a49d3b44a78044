"""The entropy on the probability simplex: multilabel cross-entropy.

h is a function of p = x + t, <p, log p>. The minimiser of alpha/2 ||p - t||^2 - <b,p> + h is p_i =
X(b_i + alpha t_i - theta), X the root of alpha X + log X, with theta such that the sum is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refsolve._types import Float, Floats
from refsolve.exact.decimals import (
    ONE,
    ZERO,
    decimal_of,
    dot,
    entropic,
    entropic_step,
    log,
    log1p,
    root,
    total,
)
from refsolve.generators import Array, Decimals, Point
from refsolve.generators import logarithms as lg
from refsolve.generators.entropic import Entropic
from refsolve.generators.roots import bracket, log_root
from refsolve.proofs.curved import Curved, Found, Solution
from refsolve.proofs.domain import Domain


@dataclass(frozen=True)
class SimplexEntropy(Entropic):
    """<p, log p>, p = x + t."""

    shifted = True

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """The softmax p; the loss log sum e^z - <t,z> is shifted before it is summed."""
        logs = z - lg.logsumexp(z)
        logs = logs - lg.logsumexp(logs)
        loss = lg.logsumexp(z - (target * z).sum(axis=-1, keepdims=True))[..., 0]
        return Point(lg.exp(logs), logs, None, None, None, loss)

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any]:
        """The point p."""
        at = b + beta * target
        low, high = self._bracket(at, beta)
        p = lg.exp(log_root(at - low - (high - low) / 2, beta))
        return p / p.sum(), None

    def _bracket(self, at: Array, beta: Float) -> tuple[Any, Any]:
        """Both ends of a bracket of the root theta."""

        def excess(t: Float) -> Any:
            return lg.logsumexp(log_root(at - t, beta))[0]

        return bracket(excess, at.max(), abs(at).max() + beta)

    # ---- in decimals

    def slopes(self, p: Decimals, rest: Decimals) -> list[Decimal]:
        """Log p_i + 1."""
        return [log(pi) + 1 for pi in p]

    def solve(self, core: Curved, b: list[Decimal], alpha: Decimal) -> Found:
        """Theta by a search."""
        points = [bi + alpha * decimal_of(ti) for bi, ti in zip(b, core.target, strict=True)]

        def log_sum(number: Any) -> Any:
            own, scale = [number(point) for point in points], number(alpha)

            def at(theta: Any) -> tuple[Any, Any]:
                x = [entropic(point - theta, scale) for point in own]
                return log(sum(x)), -sum(xi / (1 + scale * xi) for xi in x) / sum(x)

            return at

        theta, step = root(log_sum, max(points))
        x = [entropic_step(entropic(p - theta, alpha), alpha, -step) for p in points]
        return x, [], theta + step, [ZERO] * len(b)

    def conditions(self, core: Curved, found: Found) -> Decimal:
        """Alpha (p_i - t_i) + log p_i + theta = b_i, with sum 1."""
        x, _, theta, _ = found
        alpha = decimal_of(core.alpha)
        points = (
            decimal_of(bi) + alpha * decimal_of(ti)
            for bi, ti in zip(core.b, core.target, strict=True)
        )
        off = (abs(alpha * xi + log(xi) + theta - at) for xi, at in zip(x, points, strict=True))
        return max(abs(total(x) - 1), *off)

    def loss(self, core: Curved, found: Solution) -> Decimal:
        """Log sum e^b - <t,b>."""
        b, t = ([decimal_of(v) for v in w] for w in (core.b, core.target))
        if ONE in t:  # one class: log(1 + sum of the others), however small
            i = t.index(ONE)
            return log1p(total((v - b[i]).exp() for j, v in enumerate(b) if j != i))
        top = max(b)
        return total((v - top).exp() for v in b).ln() + top - dot(t, b)
