"""Exact solutions, each believed only with a certificate that is exactly zero."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import exact as rational_solver
from verification.certificates import core as cores
from verification.certificates._rational import Vector, dot, floats, total, vector
from verification.certificates.core import Core
from verification.instances.instance import Instance


class UncertainError(Exception):
    """No exact solution with a zero certificate is at hand: the verdict is oracle uncertain."""


def available(stem: str) -> bool:
    """Whether a set has exact projections."""
    return stem in rational_solver.stems()


def project(stem: str, b: Vector, rho: Fraction, params: dict[str, Any]) -> Vector:
    """Exact biased projection, certified here once more: feasible, and gap zero."""
    if not available(stem):
        raise UncertainError(f"refsolve.exact has no projection on {stem}")
    x = vector(rational_solver.project(stem, b.tolist(), rho=rho, **params).x)
    g = x - b + rho * total(x)
    if fw_gap(stem, params, x, g, total(x)) != 0:
        raise UncertainError("the exact projection does not certify itself")
    return x


def fw_gap(stem: str, params: dict[str, Any], x: Vector, g: Vector, radius: Fraction) -> Fraction:
    """Gap max <g, x - y> over the set, at most ``radius`` in sum where the set is a cone."""
    module = cores.catalogue.load(stem)
    if module.violation(x, **params) != 0:
        raise UncertainError("the point to certify is infeasible")
    bounded = params if "r" in params else {**params, "r": radius}
    return dot(g, x) + Fraction(module.support(-g, **bounded))


def maximiser(core: Core) -> tuple[Vector, Fraction]:
    """A point of the set that attains max <b,x>, and the maximum.

    Projections of growing multiples of b reach a maximiser once they are large enough, since
    the set is a polytope; it is one as soon as <b,x> equals the support function.
    """
    best = Fraction(core.module.support(core.b, **core.params))
    largest = max((abs(v) for v in core.b.tolist()), default=Fraction(0))
    factor = Fraction(1) / largest if largest > 0 else Fraction(1)
    factor *= core.params.get("r", 1) or 1
    growth = 16
    for _ in range(12):  # 16^(2^11) spans the floats twice over
        x = project(core.stem, core.b * factor, Fraction(0), core.params)
        if dot(core.b, x) == best:
            return x, best
        factor *= growth
        growth *= growth
    raise UncertainError("no point was found that attains the support function")


@functools.lru_cache(maxsize=20000)
def solution(instance: Instance) -> Vector:
    """The exact x of an instance (a maximiser, where it is not unique)."""
    core = cores.core(instance)
    if core.linear:
        return maximiser(core)[0]
    return project(core.stem, core.b, core.rho, core.params)


def loss_value(stem: str, z: Vector, gamma: Fraction, params: dict[str, Any]) -> Fraction:
    """Largest value over the unit dual set of <z,x> − gamma/2 ||x||^2, attained by a certified x."""
    set_stem, fixed = cores.dual_set(stem)
    full = cores.set_params(set_stem, {**params, **fixed, "r": Fraction(1)})
    if gamma > 0:
        x = project(set_stem, z / gamma, Fraction(0), full)
        return dot(z, x) - gamma * dot(x, x) / 2
    return maximiser(Core(set_stem, full, z, Fraction(0), True, 0.0))[1]


def expected(instance: Instance) -> np.ndarray | None:
    """The right answer as floats (one of them, where it is not unique), or None if unknown."""
    from verification.certificates import (
        entropy,
        entropy_points,
        loss,
        ranking,
        scalar,
        truncated,
    )

    problem = cores.lookup(instance.problem)
    try:
        if problem.kind == "functions":
            return scalar.expected(instance)
        if problem.ranking:
            return ranking.expected(instance)
        if not problem.convex:
            return truncated.expected(instance)
        if instance.operation in ("value", "conjugate"):
            return np.asarray(loss.exact_number(instance), dtype=float)
        if problem.generator != "quadratic":
            return entropy_points.expected(instance)
        x = solution(instance)
    except (UncertainError, entropy.UncertainError, scalar.UncertainError):
        return None
    if instance.operation == "projection":
        return floats(x)
    if instance.operation == "prox":
        return floats(vector(instance["v"]) - cores.exact(instance["t"]) * x)
    factor = cores.weight(instance) if instance.operation == "gradient" else Fraction(-1)
    return floats(cores.coordinates.push(instance.stem, x * factor, instance["y"]))
