"""What a new generator has to write: h entry by entry, and its first two derivatives.

>>> from refsolve.generators.separable import Separable
>>> class Cubic(Separable):
...     modulus = 0.0
...
...     def value(self, x, rest=None):
...         return (abs(x) ** 3).sum(axis=-1) / 3
...
...     def slope(self, x):
...         return x * abs(x)
...
...     def curvature(self, x):
...         return 2 * abs(x)

All three act on arrays of longdoubles and on object arrays of Decimals alike (use `log`, `exp` and `sqrt` of
this module for both). Everything else follows: minimisers over any set that declares `halfspaces` by an
interior point method in the numbers given, certificates from the convexity of h. A generator that
declares its modulus, max mu with h - mu/2 ||x||^2 convex on the domain, has sharper ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np

from refsolve import formulas as f
from refsolve._types import Float, Floats
from refsolve.exact.decimals import ZERO, decimal_of, dot
from refsolve.generators import Array, Decimals, Point
from refsolve.generators.entropic import FLOOR
from refsolve.generators.interior import minimise
from refsolve.proofs.curved import Curved, Found, Solution
from refsolve.proofs.domain import Domain


def _entrywise(name: str, own: Callable[[Any], Any]) -> Callable[[Array], Array]:
    def function(x: Array) -> Array:
        if np.asarray(x).dtype != object:
            return own(x)
        out = np.empty(x.shape, dtype=object)
        for i, v in np.ndenumerate(x):
            out[i] = getattr(v, name)()
        return out

    return function


#: Natural logarithm, exponential and square root of longdoubles or Decimals.
log = _entrywise("ln", np.log)
exp = _entrywise("exp", np.exp)
sqrt = _entrywise("sqrt", np.sqrt)


class Separable:
    """h(x) = sum of phi(x_i), strictly convex; a subclass writes `value`, `slope` and `curvature`.

    Parameters of the loss are attributes after `bind`: ``self.params["delta"]``.
    """

    rational = False
    complement = ""
    shifted = False
    smooth = True
    modulus: Any = 0.0
    params: Mapping[str, Any] = {}

    def value(self, x: Array, rest: Array | None = None) -> Array:
        """Sum of phi(x_i) along the last axis."""
        raise NotImplementedError

    def slope(self, x: Array) -> Array:
        """phi'(x_i)."""
        raise NotImplementedError

    def curvature(self, x: Array) -> Array:
        """phi''(x_i)."""
        raise NotImplementedError

    def bind(self, params: Mapping[str, Any]) -> Self:
        """A copy with the parameters of a loss."""
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound.params = dict(params)
        return bound

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[Any, ...]:
        return tuple(sorted((n, v) for n, v in self.params.items() if np.ndim(v) == 0))

    def size(self, domain: Domain, z: Array) -> Any:
        """max|z| and what h varies by at a point of the domain."""
        one = domain.repair(np.ones(z.shape[-1], np.longdouble))
        return abs(z).max(axis=-1) + abs(self.value(one)) + self.modulus

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """By the interior point method, row by row."""
        rows = z.reshape(-1, z.shape[-1])
        inner = np.array([self._minimum(domain, row, np.longdouble(0), 0) for row in rows])
        inner = inner.reshape(z.shape)
        return Point(domain.repair(inner), inner=inner)

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any]:
        """By the interior point method."""
        return domain.repair(self._minimum(domain, b, np.longdouble(beta), int(coupled))), None

    def _minimum(self, domain: Domain, b: Array, alpha: Float | Decimal, rho: int) -> Array:
        return minimise(self, domain, np.asarray(b, np.longdouble), alpha, rho)

    def gap(
        self, domain: Domain, z: Array, x: Array, point: Point | None, rest: Array | None
    ) -> Array:
        """residual(x, z - h'(p)) + D_h(x, p) for the better of p = x and the maximiser, by row."""
        p = self.maximum(domain, z) if point is None else point
        assert p.inner is not None
        with np.errstate(all="ignore"):
            own, there = self.slope(x), self.slope(p.inner)
            direct = domain.residual(x, np.where(np.isfinite(own), z - own, 0))
            direct = np.where(np.isfinite(own).all(axis=-1), direct, np.inf)
            apart = self.value(x) - self.value(p.inner) - (there * (x - p.inner)).sum(axis=-1)
            through = domain.residual(x, z - there) + np.maximum(apart, 0)
        return np.fmin(direct, np.where(np.isfinite(through), through, np.inf))

    def bounds(self, domain: Domain, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """<z,p> - h(p) at a feasible p, and support(z - h'(p)) + <h'(p),p> - h(p) at an inner one."""
        p = self.maximum(domain, z) if point is None else point
        assert p.inner is not None
        lower = (z * p.x).sum(axis=-1) - self.value(p.x)
        w = self.slope(p.inner)
        upper = domain.support(z - w) + (w * p.inner).sum(axis=-1) - self.value(p.inner)
        return lower, np.maximum(lower, upper)

    # ---- in decimals

    def solve(self, core: Curved, b: list[Decimal], alpha: Decimal) -> Found:
        """By the interior point method, in the precision of the context."""
        x = minimise(self, core.domain, f.objects(b), alpha, core.rho)
        return x.tolist(), [], ZERO, []

    def conditions(self, core: Curved, found: Found) -> Decimal:
        """The violation of the set's own constraints: `refsolve.proofs.curved.gap` says the rest."""
        return decimal_of(f.single(core.decimal_domain.violation(f.objects(found[0]))))

    def complements(self, x: Decimals) -> list[Decimal]:
        """None."""
        return []

    def inner(self, x: Sequence[Fraction]) -> tuple[list[Decimal], list[Decimal]]:
        """X, or a point a little further inside where h is not smooth there."""
        at = [decimal_of(v) for v in x]
        try:
            if all(v.is_finite() for v in self.slopes(at, [])):
                return at, []
        except ArithmeticError:
            pass
        return [max(v, FLOOR) for v in at], []

    def slopes(self, p: Decimals, rest: Decimals) -> list[Decimal]:
        """phi'(p_i)."""
        return self.slope(f.objects(p)).tolist()

    def divergence(self, x: Decimals, complement: Decimals, p: Decimals, rest: Decimals) -> Decimal:
        """phi(x) - phi(p) - phi'(p)(x - p)."""
        step = [xi - pi for xi, pi in zip(x, p, strict=True)]
        apart = self._number(x) - self._number(p) - dot(self.slopes(p, rest), step)
        return max(apart, ZERO)

    def moves(self, core: Curved, found: Solution, by: Decimal) -> list[Decimal]:
        """A change of b moves x by no more than the curvature lets it, wherever x goes."""
        least = decimal_of(core.alpha) + decimal_of(float(self.modulus))
        if least <= 0:
            least = decimal_of(min(self.curvature(f.objects(found.x)).tolist()))
        d = Decimal(len(found.x))
        return [by * d.sqrt() / least] * len(found.x)

    def spread(self, x: Decimals, rest: Decimals, off: Decimals) -> Decimal:
        """Divergences from steps to either side."""
        both = []
        for sign in (1, -1):
            at = [xi + sign * e for xi, e in zip(x, off, strict=True)]
            try:
                both.append(self.divergence(at, [], x, []))
            except ArithmeticError:  # out of the domain of h
                continue
        return 3 * max(both, default=ZERO)

    def loss(self, core: Curved, found: Solution) -> Decimal:
        """<b,x> - h(x)."""
        return dot((decimal_of(v) for v in core.b), found.x) - self._number(found.x)

    def number(self, x: Sequence[Fraction]) -> Decimal:
        """H."""
        return self._number([decimal_of(v) for v in x])

    def _number(self, x: Decimals) -> Decimal:
        return decimal_of(f.single(self.value(f.objects(x))))

    def rounded(self, x: Sequence[float], eps: float) -> float:
        """The terms of h, and how steep they are."""
        at = self.inner([Fraction(v) for v in x])[0]
        steep = (abs(v * w) for v, w in zip(at, self.slopes(at, []), strict=True))
        return float(1 + abs(self._number(at)) + sum(steep))
