"""Quadratic forms: h(x) = gamma/2 ||x||^2 + sigma/2 s^2 - ell s, s = <1,x>.

Hinges have h = 0, their Moreau envelopes gamma/2 ||x||^2; 1/2 s^2 squares a hinge, and 1/2||x||^2 +
1/2 (1-s)^2 - 1/2 is sparsemax. Whatever the numbers are, beta/2 (||x||^2 + s^2) - <b,x> + h(x) is
minimised by one biased projection, that of (b + ell)/(beta + gamma).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from refsolve import formulas as f
from refsolve._types import Float, Floats, Scalar
from refsolve.errors import InvalidParameterError
from refsolve.generators import Array, Point
from refsolve.proofs.domain import Domain

#: Multiple of z whose projection lies on the optimal face.
FAR = 2.0**20


@dataclass(frozen=True)
class Quadratic:
    """The quadratic form; a coefficient is a number, or the name of a parameter of the loss.

    Attributes
    ----------
    gamma, sigma : number or str
        Weights of 1/2 ||x||^2 and 1/2 s^2, >= 0.
    ell : number or str
        Weight of -s.
    """

    gamma: Any = 0
    sigma: Any = 0
    ell: Any = 0
    rational = True
    complement = ""
    shifted = False

    def bind(self, params: Mapping[str, Any]) -> Self:
        """With the parameters of a loss put in."""
        found = {}
        for name in ("gamma", "sigma", "ell"):
            number = getattr(self, name)
            if isinstance(number, str):
                if number not in params:
                    raise InvalidParameterError(
                        "generator", number, f"one of the loss's parameters {sorted(params)}",
                        f"declare Symbol({number!r}, ...), or give a number",
                    )  # fmt: skip
                found[name] = params[number]
        return replace(self, **found) if found else self

    @property
    def modulus(self) -> Any:
        """Gamma."""
        return self.gamma

    @property
    def smooth(self) -> bool:
        """Whether x has a curvature of its own."""
        return bool(self.gamma != 0)

    @property
    def flat(self) -> bool:
        """Whether h is linear: the loss is a support function."""
        return bool(self.gamma == 0 and self.sigma == 0)

    def size(self, domain: Domain, z: Array) -> Any:
        """max|z| times the largest sum on the set, where h alone bounds it too."""
        top = (abs(z).max(axis=-1) + abs(self.ell)) * domain.largest_sum
        return top * np.maximum(top / self._least(z), 1) if domain.cone else top

    def _least(self, z: Array) -> Any:
        """The least h(x) + ell s in units of s^2/2, s the sum of x."""
        one = Fraction(1) if z.dtype == object else np.longdouble(1)
        return self.sigma + self.gamma * one / z.shape[-1]

    def value(self, x: Array, rest: Array | None = None) -> Array:
        """H(x)."""
        found = self.gamma * (x * x).sum(axis=-1) / 2
        if self.sigma == 0 and self.ell == 0:
            return found
        s = x.sum(axis=-1)
        return found + self.sigma * s * s / 2 - self.ell * s

    def terms(self, x: Array) -> Fraction:
        """Size of the terms of h at a vector of Fractions, by which its rounding is judged."""
        return replace(self, ell=-abs(self.ell)).number(abs(x))

    def gradient(self, x: Array) -> Array:
        """Gamma x + (sigma s - ell) 1."""
        if self.sigma == 0 and self.ell == 0:
            return self.gamma * x
        return self.gamma * x + (self.sigma * x.sum(axis=-1, keepdims=True) - self.ell)

    def divergence(self, x: Array, p: Array) -> Array:
        """D_h(x, p)."""
        return replace(self, ell=0).value(x - p)

    def reduced(self, b: Array, beta: Scalar, coupled: bool) -> tuple[Array, Any, Any]:
        """Point, rho and curvature of min curvature/2 (||x||^2 + rho s^2) - <.,x>.

        Without curvature: -<b,x> + rho/2 s^2.
        """
        curvature, rho = beta + self.gamma, (beta if coupled else 0) + self.sigma
        shifted = b + self.ell
        return (shifted / curvature, rho / curvature, curvature) if curvature > 0 else (
            shifted, rho, curvature
        )  # fmt: skip

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any] | None:
        """The biased projection, where there is one."""
        point, rho, curvature = self.reduced(b, beta, coupled)
        x = domain.nearest(point, rho) if curvature > 0 else None
        return None if x is None else (x, None)

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """The biased projection, or a far one on the optimal face."""
        point, rho, curvature = self.reduced(z, 0, False)
        if curvature > 0:
            x = domain.nearest(point, rho)
        elif self.sigma == 0:
            size = abs(point).max(axis=-1, keepdims=True)
            x = domain.nearest(point / np.where(size > 0, size, 1) * FAR)
        else:
            x = domain.nearest(point * (FAR / self.sigma), FAR)
            x = None if x is None else self._scaled(domain, point, x)
        return Point(np.zeros_like(z) if x is None else x)

    def _scaled(self, domain: Domain, z: Array, x: Array) -> Array:
        """X on the same ray, with the sum at which the loss is attained, as far as it may go."""
        s = x.sum(axis=-1, keepdims=True)
        best = domain.cut(1).support(z)[..., None] / self.sigma
        c = best / np.where(s > 0, s, 1)
        return x * (c if domain.cone else np.minimum(c, 1))

    def _cut(self, domain: Domain, z: Array, x: Array) -> Domain:
        """The part of a cone that holds x and the maximiser, <z,x> <= s support(z) for s = 1."""
        if not domain.cone:
            return domain
        bound = domain.cut(1).support(z + self.ell) / self._least(z)
        return domain.cut(np.maximum(x.sum(axis=-1), bound))

    def gap(
        self,
        domain: Domain,
        z: Array,
        x: Array,
        point: Point | None = None,
        rest: Array | None = None,
    ) -> Array:
        """residual(x, z - h'(p)) + D_h(x, p) for the better of p = x and the maximiser, by row."""
        part = self._cut(domain, z, x)
        direct = part.residual(x, z - self.gradient(x))
        if self.flat or (point and point.x is x):
            return direct
        p = self.maximum(domain, z).x if point is None else point.x
        through = part.residual(x, z - self.gradient(p))
        return np.minimum(direct, through + self.divergence(x, p))

    def bounds(self, domain: Domain, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """From the maximiser; of a hinge the support function itself."""
        if self.flat:
            value = domain.support(z + self.ell if self.ell else z)
            return value, value
        y = self.maximum(domain, z).x if point is None else point.x
        lower = (z * y).sum(axis=-1) - self.value(y)
        if not np.any(domain.violation(np.zeros_like(z))):  # 0 competes
            lower = np.maximum(lower, 0)
        return lower, lower + self._cut(domain, z, y).residual(y, z - self.gradient(y))

    def number(self, x: Array) -> Fraction:
        """H at a vector of Fractions."""
        return Fraction(f.single(self.value(x)))
