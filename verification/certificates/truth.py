"""Exact solutions, each believed only with a certificate that is exactly zero."""

from __future__ import annotations

import functools

import numpy as np

from refsolve import exact as rational_solver
from refsolve.errors import UncertainError
from refsolve.proofs import rationals
from refsolve.proofs.rationals import Vector, floats, vector
from verification.certificates import core as cores
from verification.instances.instance import Instance

__all__ = ["UncertainError", "available", "expected", "solution"]


def available(stem: str) -> bool:
    """Whether a set has exact projections."""
    return stem in rational_solver.stems()


@functools.lru_cache(maxsize=20000)
def solution(instance: Instance) -> Vector:
    """The exact x of an instance (a maximiser, where it is not unique)."""
    core = cores.core(instance)
    if core.linear:
        return rationals.maximiser(
            cores.generator(instance), core.domain, cores.margins(instance)[0]
        )
    return rationals.project(core.domain, core.b, core.rho)


def expected(instance: Instance) -> np.ndarray | None:
    """The right answer as floats (one of them, where it is not unique), or None if unknown."""
    from verification.certificates import (
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
        if not problem.generator.rational:
            return entropy_points.expected(instance)
        x = solution(instance)
    except (UncertainError, scalar.UncertainError):
        return None
    if instance.operation == "projection":
        return floats(x)
    if instance.operation == "prox":
        return floats(vector(instance["v"]) - cores.exact(instance["t"]) * x)
    factor = cores.mass(instance) * (1 if instance.operation == "gradient" else -1)
    return floats(cores.coordinates.push(instance.stem, x * factor, instance["y"]))
