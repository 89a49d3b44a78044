"""Exact solutions of the core problems of rational generators, each with a gap that is exactly 0.

Floats are taken as the rational numbers that they are, in object arrays that numpy formulas accept.
"""

import importlib
import inspect
import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._types import Array, Scalar
from refsolve.errors import UncertainError
from refsolve.generators import Point
from refsolve.generators.quadratic import Quadratic
from refsolve.proofs.domain import Domain

Vector = np.ndarray[Any, Any]  # of Fraction objects
ZERO = Fraction(0)


def exact(value: Scalar | Decimal) -> Fraction:
    """A finite float or integer, exactly."""
    return value if isinstance(value, Fraction) else Fraction(*value.as_integer_ratio())


def vector(values: Array | Iterable[Scalar | Decimal]) -> Vector:
    """An object array of Fractions from numbers."""
    items = values.tolist() if isinstance(values, np.ndarray) else values
    return f.objects(exact(value) for value in items)


def total(v: Vector) -> Fraction:
    """Sum of the entries, a Fraction even if there are none."""
    return dot(v, np.ones(v.size, int))


def dot(v: Vector, w: Vector) -> Fraction:
    """Inner product, with one quotient at the end, not one a summand."""
    pairs = list(zip(v.tolist(), w.tolist(), strict=True))
    below = [a.denominator * b.denominator for a, b in pairs]
    one, parts = math.lcm(*set(below)), zip(pairs, below, strict=True)
    return Fraction(sum(a.numerator * b.numerator * (one // q) for (a, b), q in parts), one)


def norm(v: Vector) -> float:
    """Euclidean norm, to float precision whatever the exponents are."""
    entries = [abs(number(x)) for x in v.tolist()]
    if 1e-140 < max(entries, default=0.0) < 1e150:  # what is far smaller has no part
        return sum(x**2 for x in entries) ** 0.5
    largest = max((abs(x) for x in v.tolist()), default=ZERO)
    if largest == 0:
        return 0.0
    squares = sum(float(x / largest) ** 2 for x in v.tolist())
    return number(largest) * squares**0.5


def number(value: Fraction) -> float:
    """Nearest float; infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def floats(v: Vector) -> np.ndarray:
    """The entries rounded to float64."""
    return np.array([number(x) for x in v.tolist()])


def project(domain: Domain, b: Vector, rho: Fraction = ZERO) -> Vector:
    """Exact biased projection, certified here once more: feasible, and gap zero."""
    name = f"refsolve.exact.{domain.object_name}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UncertainError(f"there is no exact projection on {domain.object_name}") from None
    takes = "rho" in inspect.signature(module.project).parameters
    biased = {"rho": rho} if takes else {}
    if rho != 0 and not biased:
        raise UncertainError(f"{domain.object_name} has no biased projection")
    x = vector(module.project(b.tolist(), **biased, **domain.params))
    if fw_gap(domain, x, x - b + rho * total(x)) != 0:
        raise UncertainError("the exact projection does not certify itself")
    return x


def fw_gap(domain: Domain, x: Vector, g: Vector, radius: Fraction | None = None) -> Fraction:
    """Gap max <g, x - y> over the set, at most ``radius`` in sum where the set is a cone."""
    if domain.violation(x) != 0:
        raise UncertainError("the point to certify is infeasible")
    part = domain.cut(total(x) if radius is None else radius)
    return dot(g, x) + Fraction(f.single(part.support(-g)))


def maximiser(generator: Quadratic, domain: Domain, z: Vector) -> Vector:
    """A point that attains max <z,x> - h(x).

    Where h has no curvature, projections of growing multiples of z reach the optimal face once these
    are large enough, since the set is a polytope; the sum at which h is best follows.
    """
    point, rho, curvature = generator.reduced(z, ZERO, False)
    if curvature > 0:
        return project(domain, point, Fraction(rho))
    if attained := getattr(generator, "attained", None):
        x = attained(z)
        if domain.violation(x) == 0 and generator.gap(domain, z, x) == 0:
            return x
        raise UncertainError("the loss is not attained where its generator says")
    part = domain.cut(Fraction(1))
    best = Fraction(f.single(part.support(point)))
    sizes = max((abs(v) for v in point.tolist()), default=ZERO)
    factor = Fraction(2**20) / (sizes or 1) * Fraction(domain.params.get("r", 1) or 1)  # near ties
    growth = 16
    for _ in range(12):  # 16^(2^11) spans the floats twice over
        if rho == 0:
            x = project(domain, point * factor)
            if dot(point, x) == best:
                return x
        else:
            x = project(domain, point * factor, factor * rho)
            s = total(x)
            sought = best / rho if domain.cone else min(best / rho, s)
            x = x * (sought / s) if s > 0 else x
            if generator.gap(domain, z, x, Point(x)) == 0:
                return x
        factor *= growth
        growth *= growth
    raise UncertainError("no point was found that attains the support function")


def loss(generator: Quadratic, domain: Domain, z: Vector) -> tuple[Fraction, Vector]:
    """The loss max <z,x> - h(x), and a point x that attains it with a gap of exactly 0."""
    x = maximiser(generator, domain, z)
    return dot(z, x) - generator.number(x), x
