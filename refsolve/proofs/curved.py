"""The curved twin of the projection: its solution to 60 digits, believed only with certificates.

Gradients, proxes and dual updates of a loss whose generator h is not rational ask for the minimiser x of

    F(x) = h(x) + alpha/2 (||x||^2 + rho <1,x>^2) - <b,x>  over the dual set with r = 1

(alpha/2 ||p - t||^2 where h is a function of p = x + t). The generator's twin solves it in decimals and
says for which perturbation of b its point solves the conditions of optimality exactly: that moves x by
no more than the curvature lets it. `gap` bounds F(x) - min F at any x from formulas alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from refsolve import formulas as f
from refsolve.errors import UncertainError
from refsolve.exact.decimals import CERTAIN, ONE, ZERO, decimal_of, digits, dot, total
from refsolve.generators import Decimals, Generator
from refsolve.proofs.domain import Domain

__all__ = ["CERTAIN", "Curved", "Solution", "Twin", "UncertainError", "gap", "solve"]


@dataclass(frozen=True)
class Curved:
    """One such problem, all numbers exact.

    Attributes
    ----------
    generator : the generator h.
    object_name : dual set; params: its parameters, with r = 1.
    b, target : points (the target of a shifted h only).
    alpha : curvature; rho : weight of <1,x>^2 in units of alpha, 0 or 1.
    spread : size of the floats from which b is computed.
    """

    generator: Twin
    object_name: str
    params: tuple[tuple[str, Any], ...]
    b: tuple[Fraction, ...]
    alpha: Fraction
    rho: int
    spread: float
    target: tuple[Fraction, ...] = ()

    @property
    def domain(self) -> Domain:
        """The dual set, its parameters rational."""
        return Domain(
            self.object_name,
            {n: np.array(v) if isinstance(v, tuple) else v for n, v in self.params},
        )

    @property
    def decimal_domain(self) -> Domain:
        """The dual set for vectors of Decimals."""
        params = self.domain.params
        return Domain(
            self.object_name,
            {n: decimal_of(v) if isinstance(v, Fraction) else v for n, v in params.items()},
        )


@dataclass(frozen=True)
class Solution:
    """A minimiser with its multipliers.

    Attributes
    ----------
    x : entries of x (of p = x + t where h is shifted).
    complement : (1 - s,), or 1 - x_i for every entry, or empty.
    theta : multiplier of the sum; mu: multipliers of the caps.
    error : backward error relative to the numbers in the problem.
    size : size of these numbers, for rounding-error bounds.
    """

    x: tuple[Decimal, ...]
    complement: tuple[Decimal, ...]
    theta: Decimal
    mu: tuple[Decimal, ...]
    error: Decimal
    size: float


Found = tuple[Decimals, Decimals, Decimal, Decimals]


@runtime_checkable
class Twin(Generator, Protocol):
    """What the kit asks of a generator that is not rational, in decimals of the active context."""

    def solve(self, core: Curved, b: list[Decimal], alpha: Decimal) -> Found:
        """Minimiser with its complement and multipliers; ArithmeticError if there is none."""
        ...

    def conditions(self, core: Curved, found: Found) -> Decimal:
        """Largest violation of the conditions of optimality, as a change of b."""
        ...

    def complements(self, x: Decimals) -> list[Decimal]:
        """(1 - s,), or 1 - x_i for every entry; empty where h has none."""
        ...

    def inner(self, x: Sequence[Fraction]) -> tuple[list[Decimal], list[Decimal]]:
        """A point beside x, with complement, at which h is smooth."""
        ...

    def slopes(self, p: Decimals, rest: Decimals) -> list[Decimal]:
        """Gradient of h at p, inside the domain of h."""
        ...

    def divergence(self, x: Decimals, complement: Decimals, p: Decimals, rest: Decimals) -> Decimal:
        """Bregman divergence of x from p, a sum of nonnegative terms."""
        ...

    def moves(self, core: Curved, found: Solution, by: Decimal) -> list[Decimal]:
        """How far a change of b by ``by`` moves every entry."""
        ...

    def spread(self, x: Decimals, rest: Decimals, off: Decimals) -> Decimal:
        """Bound on h's share of what entries that are off by these bounds cost to second order."""
        ...

    def loss(self, core: Curved, found: Solution) -> Decimal:
        """The loss at b, -min F with alpha = 0, without cancellation."""
        ...

    def number(self, x: Sequence[Fraction]) -> Decimal:
        """H at a feasible x, taken exactly."""
        ...

    def rounded(self, x: Sequence[float], eps: float) -> float:
        """What rounding of the entries, in units of eps, does to h."""
        ...


def precision(core: Curved) -> Any:
    """Context for a problem's numbers."""
    return digits(*core.b, core.alpha)


def solve(core: Curved) -> Solution:
    """Minimiser to about 60 digits; UncertainError if it does not certify itself."""
    with precision(core):
        alpha = decimal_of(core.alpha)
        try:
            found = core.generator.solve(core, [decimal_of(v) for v in core.b], alpha)
        except ArithmeticError as failure:
            raise UncertainError(f"no solution in decimal arithmetic: {failure}") from failure
        x, complement, theta, mu = found
        size = ONE + decimal_of(core.spread) + abs(theta) + alpha * max(abs(v) for v in x)
        error = backward_error(core, x, complement, theta, mu) / size
        own = gap(core, x, complement, x, complement) / size
        if error > CERTAIN or own > CERTAIN:
            raise UncertainError(
                f"the solution in decimal arithmetic has backward error {error:.2e} and gap {own:.2e}"
            )
        return Solution(tuple(x), tuple(complement), theta, tuple(mu), error, float(size))


def backward_error(
    core: Curved, x: Decimals, complement: Decimals, theta: Decimal, mu: Decimals
) -> Decimal:
    """Largest violation of the conditions of optimality, as a change of b or relative one of x."""
    if min(mu, default=ZERO) < 0 or min(complement, default=ONE) <= 0:
        return Decimal("Infinity")
    try:
        return core.generator.conditions(core, (x, complement, theta, mu))
    except ArithmeticError:  # a logarithm of a negative number
        return Decimal("Infinity")


def gradient(core: Curved, p: Decimals, rest: Decimals) -> list[Decimal]:
    """Gradient of F at p, with the complement given apart; up to the constant of the simplex."""
    alpha = decimal_of(core.alpha)
    common = alpha * core.rho * total(p)
    at = [pi - decimal_of(ti) for pi, ti in zip(p, core.target, strict=True)] if core.target else p
    slopes = core.generator.slopes(p, rest)
    return [
        own + common + alpha * pi - decimal_of(bi)
        for own, pi, bi in zip(slopes, at, core.b, strict=True)
    ]


def slope(core: Curved, p: Decimals, rest: Decimals) -> Decimal:
    """Largest entry of the gradient at p: what a step out of the face of the solution costs."""
    g = gradient(core, p, rest)
    # on the simplex a constant costs nothing
    return max(g) - min(g) if core.generator.shifted else max(abs(v) for v in g)


def bregman(
    core: Curved, x: Decimals, complement: Decimals, p: Decimals, rest: Decimals
) -> Decimal:
    """F(x) - F(p) - <grad F(p), x - p>, a sum of nonnegative terms."""
    found = core.generator.divergence(x, complement, p, rest)
    step = [xi - pi for xi, pi in zip(x, p, strict=True)]
    return found + decimal_of(core.alpha) / 2 * (dot(step, step) + core.rho * total(step) ** 2)


def gap(core: Curved, x: Decimals, complement: Decimals, p: Decimals, rest: Decimals) -> Decimal:
    """Bound on F(x) - min F for a feasible x, from any p inside the domain of h.

    bregman(x, p) + <g,x> + support(-g) with g = grad F(p), both parts nonnegative.
    """
    g = gradient(core, p, rest)
    return bregman(core, x, complement, p, rest) + dot(g, x) + support(core, [-v for v in g])


def support(core: Curved, w: Decimals) -> Decimal:
    """Support function of the dual set, as the set declares it."""
    return decimal_of(f.single(core.decimal_domain.support(f.objects(w))))


def value(core: Curved, found: Solution) -> Decimal:
    """The loss at b, i.e. -min F with alpha = 0, without cancellation."""
    with precision(core):
        return core.generator.loss(core, found)


def floats(values: Decimals) -> np.ndarray:
    """Nearest floats."""
    return np.array([float(v) for v in values])
