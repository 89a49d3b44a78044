"""The right answer of an instance, where there is one."""

from __future__ import annotations

import numpy as np

from refsolve.errors import UncertainError
from refsolve.proofs.rationals import floats, vector
from verification.certificates import core as cores
from verification.certificates import entropy_points, loss, ranking, scalar, truncated, truth
from verification.instances.instance import Instance


def expected(instance: Instance) -> np.ndarray | None:
    """The right answer as floats (one of them, where it is not unique), or None if unknown."""
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
        x = truth.solution(instance)
    except (UncertainError, scalar.UncertainError):
        return None
    if instance.operation == "projection":
        return floats(x)
    if instance.operation == "prox":
        return floats(vector(instance["v"]) - cores.exact(instance["t"]) * x)
    factor = cores.mass(instance) * (1 if instance.operation == "gradient" else -1)
    return floats(cores.coordinates.push(instance.stem, x * factor, instance["y"]))
