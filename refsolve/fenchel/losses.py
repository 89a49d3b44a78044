"""Losses of a vector by their conjugates: which slopes p a loss may have, and what they cost.

A loss has two faces, numbers and CVXPY. Its program takes z as an affine expression in parameters,
which disciplined parametrised programming allows in constraints alone: hence the slacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression, Parameter

#: An expression, its constraints, and constraints whose multipliers sum to p with these signs.
Canonicalization: TypeAlias = "tuple[Expression, list[Constraint], list[tuple[int, Constraint]]]"


class Loss(Protocol):
    """A convex phi of a vector, its conjugate, and both in CVXPY."""

    @property
    def nonneg(self) -> bool:
        """Whether all slopes are >= 0: phi does not decrease."""

    @property
    def kind(self) -> Hashable:
        """What programs depend on besides the numbers."""

    def value(self, z: Array) -> float:
        """phi(z) at a z of its domain."""

    def excess(self, z: Array) -> float:
        """How far z is from the domain of phi."""
        return 0.0

    def conjugate(self, p: Array) -> float:
        """phi*(p) at a p of its domain."""
        return 0.0

    def violation(self, p: Array) -> float:
        """How far p is from the domain of phi*."""

    def scaled(self, s: float, unit: float) -> Loss:
        """The loss phi(z/s)/unit."""

    def numbers(self, dual: bool) -> dict[str, Array]:
        """Values >= 0 of the parameters of a program."""

    def canonicalize(self, z: Expression, given: Mapping[str, Parameter]) -> Canonicalization:
        """phi(z) for a program that minimises it."""

    def canonicalize_conjugate(
        self, p: Expression, given: Mapping[str, Parameter]
    ) -> tuple[Expression, list[Constraint]]:
        """phi*(p) and the constraints of its domain."""


@dataclass(frozen=True)
class Slopes:
    """phi*(p) = sum_i own_i p_i^2/2 + eps |p_i| on 0 <= p_i <= cost_i, or on |p_i| <= cost_i.

    Parameters
    ----------
    cost : (n,) array or None
        Largest slope; None for no bound.
    own : (n,) array or None
        Curvature of the conjugate, > 0; None for 0.
    eps : float or None
        What |z| may be for nothing.
    both : bool
        Whether phi is even: slopes of both signs.
    """

    cost: Array | None = None
    own: Array | None = None
    eps: float | None = None
    both: bool = False

    @property
    def nonneg(self) -> bool:
        """Whether only positive z cost."""
        return not self.both

    @property
    def kind(self) -> Hashable:
        """Which of the parts there are."""
        return self.cost is None, self.own is None, self.eps is None, self.both

    def value(self, z: Array) -> float:
        """sup_p of <p,z> less the conjugate, entry by entry."""
        if self.own is None and self.cost is None:
            return 0.0
        t = self._over(z)
        p = np.full(t.shape, np.inf) if self.own is None else t / self.own
        p = p if self.cost is None else np.minimum(p, self.cost)
        return float((p * t).sum() - replace(self, eps=None).conjugate(p))

    def excess(self, z: Array) -> float:
        """What a constraint lacks."""
        return float(self._over(z).max()) if self.own is None and self.cost is None else 0.0

    def _over(self, z: Array) -> Array:
        return np.maximum(0, (abs(z) if self.both else z) - (self.eps or 0))

    def conjugate(self, p: Array) -> float:
        """The sum above."""
        own = 0 if self.own is None else (self.own * p * p).sum() / 2
        return float(own + (self.eps or 0) * abs(p).sum())

    def violation(self, p: Array) -> float:
        """Beyond the bounds."""
        over = 0.0 if self.cost is None else float((abs(p) - self.cost).max())
        return max(0.0, over, 0.0 if self.both else float(-p.min()))

    def scaled(self, s: float, unit: float) -> Slopes:
        """The loss phi(z/s)/unit."""
        return Slopes(
            None if self.cost is None else self.cost / (s * unit),
            None if self.own is None else self.own * (s * s * unit),
            None if self.eps is None else self.eps * s,
            self.both,
        )

    def numbers(self, dual: bool) -> dict[str, Array]:
        """Bounds, roots of the curvature (inverted in the primal) and eps."""
        own = None if self.own is None else np.sqrt(self.own if dual else 1 / self.own)
        parts = {"cost": self.cost, "root": own, "eps": self.eps}
        return {name: np.asarray(part) for name, part in parts.items() if part is not None}

    def canonicalize(self, z: Expression, given: Mapping[str, Parameter]) -> Canonicalization:
        """With a slack for each part: z <= r + over + eps, r paying squares and over its cost."""
        paid, slack, n = cp.Constant(0), cp.Constant(0), z.shape
        if self.own is not None:
            r = cp.Variable(n)
            paid, slack = paid + cp.sum_squares(cp.multiply(given["root"], r)) / 2, r
        if self.both and self.cost is None and self.eps is None:
            tie = z == slack
            return paid, [tie], [(1, tie)]
        over = given["eps"] if self.eps is not None else cp.Constant(0)
        if self.cost is not None:
            far = cp.Variable(n, nonneg=True)
            paid, over = paid + given["cost"] @ far, over + far
        sides = [(1, z <= slack + over)]
        if self.both:
            sides.append((-1, -z <= over - slack))
        return paid, [side for _, side in sides], sides

    def canonicalize_conjugate(
        self, p: Expression, given: Mapping[str, Parameter]
    ) -> tuple[Expression, list[Constraint]]:
        """The sum above and the bounds; p is declared >= 0 where slopes are."""
        paid = cp.Constant(0)
        if self.own is not None:
            paid += cp.sum_squares(cp.multiply(given["root"], p)) / 2
        if self.eps is not None:
            paid += given["eps"] * cp.norm1(p)
        size = cp.abs(p) if self.both else p
        return paid, [] if self.cost is None else [size <= given["cost"]]


def hinge(cost: Array) -> Slopes:
    """The loss sum cost_i max(0, z_i); 0 <= p <= cost."""
    return Slopes(cost)


def squared_hinge(cost: Array) -> Slopes:
    """The loss sum cost_i max(0, z_i)^2/2; p >= 0 at p^2/(2 cost)."""
    return Slopes(own=1 / cost)


def square(cost: Array) -> Slopes:
    """The loss sum cost_i z_i^2/2; any p at p^2/(2 cost)."""
    return Slopes(own=1 / cost, both=True)


def tube(cost: Array, eps: float) -> Slopes:
    """The loss sum cost_i max(0, |z_i| - eps); |p| <= cost at eps |p|."""
    return Slopes(cost, eps=eps, both=True)


def nonpositive() -> Slopes:
    """The constraint z <= 0; p >= 0."""
    return Slopes()


def zero() -> Slopes:
    """The constraint z = 0; any p."""
    return Slopes(both=True)


@dataclass(frozen=True)
class Largest(Loss):
    """mass times the sum over groups, rows of z as (groups, m), of their largest entries.

    p >= 0, with sum ``mass`` in each group: a support function, whose conjugate is 0 there. With
    a_t = Delta(R) and A_t = Psi(R) - Psi(R*) it is the structured hinge over rankings R.
    """

    mass: float
    groups: int

    @property
    def nonneg(self) -> bool:
        """Cuts only push."""
        return True

    @property
    def kind(self) -> Hashable:
        """The number of groups."""
        return "largest", self.groups

    def value(self, z: Array) -> float:
        """The sum of the largest entries."""
        return float(self.mass * z.reshape(self.groups, -1).max(axis=1).sum())

    def violation(self, p: Array) -> float:
        """From signs and sums."""
        sums = p.reshape(self.groups, -1).sum(axis=1)
        return max(0.0, float(-p.min()), float(abs(sums - self.mass).max()))

    def scaled(self, s: float, unit: float) -> Largest:
        """The loss phi(z/s)/unit."""
        return Largest(self.mass / (s * unit), self.groups)

    def numbers(self, dual: bool) -> dict[str, Array]:
        """The mass."""
        return {"mass": np.asarray(self.mass)}

    def canonicalize(self, z: Expression, given: Mapping[str, Parameter]) -> Canonicalization:
        """A bound xi for each group."""
        xi = cp.Variable(self.groups)
        above = z <= xi[np.repeat(np.arange(self.groups), z.size // self.groups)]
        return given["mass"] * cp.sum(xi), [above], [(1, above)]

    def canonicalize_conjugate(
        self, p: Expression, given: Mapping[str, Parameter]
    ) -> tuple[Expression, list[Constraint]]:
        """The sums."""
        parts = cp.reshape(p, (self.groups, p.size // self.groups), order="C")
        return cp.Constant(0), [cp.sum(parts, axis=1) == given["mass"]]
