"""The k largest of m probabilities, h(x) = S_k(p) - 1 + gamma/2 (||p||^2 - 1), p = (x, 1 - <1,x>).

S_k(p) is the largest <q,p> over 0 <= q <= 1, <1,q> = k. Each problem here has such a q, with which it is the
biased projection of a quadratic form: q clips the scores at an interval of length 1 whose place makes the sum k,
where the score of the truth is beta times its own probability if the problem curves the others only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from refsolve import formulas as f
from refsolve._types import Array, Float, Floats, Scalar
from refsolve.generators import Point
from refsolve.generators.quadratic import Quadratic
from refsolve.proofs import rationals
from refsolve.proofs.domain import Domain

#: Searches of the truth's q are exact long before; in floats the last steps are roundings.
STEPS = 200


@dataclass(frozen=True)
class TopSum:
    """S_k(p) - 1 + gamma/2 (||p||^2 - 1); k and gamma are numbers, or names of parameters of the loss."""

    k: Any = "k"
    gamma: Any = 0
    rational = True
    complement = ""
    shifted = False

    def bind(self, params: Mapping[str, Any]) -> Self:
        """With the parameters of a loss put in."""
        gamma = params[self.gamma] if isinstance(self.gamma, str) else self.gamma
        return replace(self, k=params["k"], gamma=gamma)

    @property
    def quadratic(self) -> Quadratic:
        """gamma/2 (||p||^2 - 1)."""
        return Quadratic(self.gamma, self.gamma, self.gamma)

    @property
    def ell(self) -> Any:
        """Size of what does not grow with the scores: slopes of the sum, and the quadratic form."""
        return self.gamma + 1

    unit = ell

    @property
    def modulus(self) -> Any:
        """Gamma."""
        return self.gamma

    @property
    def smooth(self) -> bool:
        """Whether x has a curvature of its own."""
        return bool(self.gamma != 0)

    def size(self, domain: Domain, z: Array) -> Any:
        """max|z|, the margin 1 and gamma."""
        return abs(z).max(axis=-1) + self.ell

    def value(self, x: Array, rest: Array | None = None) -> Array:
        """H(x); S_k(p) - 1 is minus the sum of the other entries."""
        below = f.descending(_full(x))[..., self.k :].sum(axis=-1)
        return self.quadratic.value(x) - below

    def terms(self, x: Array) -> Fraction:
        """Size of the terms of h at a vector of Fractions."""
        s = rationals.total(abs(x))
        return 2 * (1 + s) + self.gamma * (1 + s) ** 2

    def number(self, x: Array) -> Fraction:
        """H at a vector of Fractions."""
        return Fraction(f.single(self.value(f.objects(x))))

    def gradient(self, x: Array) -> Array:
        """A subgradient, at ties that of the first entries."""
        p = _full(x)
        q = np.argsort(np.argsort(-p, axis=-1, kind="stable"), axis=-1) < self.k
        return self.quadratic.gradient(x) + (q[..., :-1] * 1 - q[..., -1:] * 1)

    # ---- the q of a problem

    def weights(self, b: Array, beta: Scalar | Float = 0, coupled: bool = False) -> Array:
        """The q, (..., d + 1), of min beta/2 (||x||^2 + [coupled] s^2) - <b,x> + h(x), that of the truth last."""
        if coupled or beta == 0:
            return _clipped(_scores(b, beta), self.k)
        exact = b.dtype == object
        number: Any = Fraction if exact else np.longdouble
        domain = Domain("topk_simplex_alpha", {"k": 1, "r": number(1)})

        def at(own: Any) -> tuple[Array, Array, Any]:
            """Weights of the others, x, and the score of the truth."""
            q = _clipped(b, self.k - own)
            point, rho, _ = self.quadratic.reduced(b - q + own, beta, False)
            x = rationals.project(domain, point, rho) if exact else domain.nearest(point, rho)
            assert x is not None
            return q, x, beta * (1 - x.sum())

        one, zero = number(1), number(0)
        q, _, score = at(one)
        if score - (b - q)[q < 1].max() >= 1:
            return np.append(q, one)
        q, _, score = at(zero)
        if score <= (b - q)[q > 0].min():
            return np.append(q, zero)
        low, high, own = zero, one, one / 2
        least = zero if exact else np.finfo(b.dtype).eps
        for step in range(STEPS):
            q, x, score = at(own)
            inner, positive = (q > 0) & (q < 1), x > 0
            n, active = max(1, int(inner.sum())), int(positive.sum())
            off = one / 2 - own  # without others inside, own is 0 or 1 up to rounding
            if inner.any():
                off = score - (b - q)[inner].max() - own
            low, high = (own, high) if off > 0 else (low, own)
            moved = active + number(int((inner & positive).sum())) / n
            slope = beta * moved / (beta + self.gamma + self.gamma * active) * bool(score > 0)
            new = own + off / (slope + 1 + one / n)
            if off == 0 or abs(new - own) <= least:
                break
            newton = low < new < high and step % 4 < 3 and inner.any()
            own = new if newton else (low + high) / 2
        return np.append(q, own)

    def _left(self, z: Array) -> tuple[Array, Array]:
        """Z less the slopes of S_k, and q, of the loss at z."""
        q = self.weights(z)
        return z - q[..., :-1] + q[..., -1:], q

    def reduced(self, b: Array, beta: Scalar, coupled: bool) -> tuple[Array, Any, Any]:
        """Point, rho and curvature as of the quadratic form, with the slopes of S_k at the solution in the point."""
        q = self.weights(b, beta, coupled)
        return self.quadratic.reduced(b - q[:-1] + q[-1], beta, coupled)

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any] | None:
        """The biased projection with the q of the problem."""
        q = self.weights(b, beta, coupled)
        return self.quadratic.propose(domain, b - q[:-1] + q[-1], beta, coupled)

    # ---- the loss

    def attained(self, z: Array) -> Array:
        """Where max <z,x> - h(x) is attained without curvature: one entry, or all that have a part in q, equally."""
        u = _scores(z)
        shared = (self.weights(z) > 0) * 1
        first = np.arange(u.shape[-1]) == np.argmax(u, axis=-1)[..., None]
        one: Any = Fraction(1) if z.dtype == object else z.dtype.type(1)
        p = shared * one / shared.sum(axis=-1, keepdims=True)
        values = [(u * v).sum(axis=-1) - f.top_sum(v, self.k) for v in (first * one, p)]
        better = np.asarray(values[0] > values[1])[..., None]
        return np.where(better, first * one, p)[..., :-1]

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """Where the loss is attained."""
        if self.smooth:
            return self.quadratic.maximum(domain, self._left(z)[0])
        return Point(self.attained(z))

    def excess(self, x: Array, q: Array) -> Any:
        """S_k(p) - <q,p>, a sum of nonnegative terms."""
        p = _full(x)
        over = p - f.descending(p)[..., self.k - 1, None]
        return ((1 - q) * f.positive(over) + q * f.positive(-over)).sum(axis=-1)

    def gap(
        self,
        domain: Domain,
        z: Array,
        x: Array,
        point: Point | None = None,
        rest: Array | None = None,
    ) -> Array:
        """That of the quadratic form, and S_k(p) - <q,p>."""
        w, q = self._left(z)
        return self.quadratic.gap(domain, w, x, point) + self.excess(x, q)

    def bounds(self, domain: Domain, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """From the maximiser."""
        point = self.maximum(domain, z) if point is None else point
        lower = (z * point.x).sum(axis=-1) - self.value(point.x)
        return f.positive(lower), lower + self.gap(domain, z, point.x, point)


def _full(x: Array) -> Array:
    """(x, 1 - <1,x>)."""
    return np.concatenate([x, 1 - x.sum(axis=-1, keepdims=True)], axis=-1)


def _scores(z: Array, own: Any = 0) -> Array:
    """Scores, that of the truth last."""
    return np.concatenate([z, own + 0 * z[..., :1]], axis=-1)


def _clipped(u: Array, k: Any) -> Array:
    """Projection on {0 <= q <= 1, <1,q> = k}."""
    kind: Any = Fraction if u.dtype == object else u.dtype.type
    domain = Domain("capped_simplex", {"r": kind(k), "cap": kind(1)})
    if u.dtype == object:
        return rationals.project(domain, u)
    found = domain.nearest(u)
    assert found is not None
    small = 64 * np.finfo(found.dtype).eps  # what a repair leaves at the ends
    return np.where(found <= small, 0, np.where(found >= 1 - small, 1, found))
