"""One dispatch: which certificates judge an instance, and which solution is right, by its problem."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from refsolve.errors import UncertainError
from verification.certificates import core, entropy_points, loss, points, ranking, scalar, truncated
from verification.instances.instance import Instance
from verification.verdicts.verdict import Candidate, Judgement

Opinion = Callable[[Instance, Candidate], Judgement]


class Certificates(NamedTuple):
    """What is known of a sort of problems: against the solution, by the gap alone, the solution."""

    judge: Opinion
    certify: Opinion
    expected: Callable[[Instance], np.ndarray]


def _number(instance: Instance, candidate: Candidate) -> Judgement:
    if instance.operation == "value":
        return loss.judge_value(instance, candidate.x)
    return loss.judge_conjugate(instance, candidate.x)


SCALARS = Certificates(
    lambda i, c: scalar.judge(i, c.x), lambda i, c: scalar.judge(i, c.x), scalar.expected
)
RANKINGS = Certificates(ranking.judge, ranking.judge, ranking.expected)
NUMBERS = Certificates(_number, _number, lambda i: np.asarray(loss.exact_number(i), dtype=float))
PIECES = Certificates(
    lambda i, c: truncated.judge(i, c.x, c.complement),
    lambda i, c: truncated.by_gap(i, c.x),
    truncated.expected,
)
CURVED = Certificates(
    lambda i, c: entropy_points.by_truth(i, c.x, c.complement),
    lambda i, c: entropy_points.by_gap(i, c.x),
    entropy_points.expected,
)
POINTS = Certificates(
    lambda i, c: points.by_truth(i, c.x),
    lambda i, c: points.by_gap(i, c.x, c.dual),
    points.expected,
)


def certificates(instance: Instance) -> Certificates:
    """Those of an instance of a set, a loss or a function."""
    problem = instance.problem
    if problem.kind == "functions":
        return SCALARS
    if problem.ranking:
        return RANKINGS
    if not problem.convex:
        return PIECES
    if not problem.point:
        return NUMBERS
    return CURVED if core.is_curved(instance) else POINTS


def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by its distance to the exact solution."""
    return _early(instance, candidate) or certificates(instance).judge(instance, candidate)


def certify(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by the gap at the repaired point; needs no solution."""
    if not instance.problem.point:
        return judge(instance, candidate)
    return _early(instance, candidate) or certificates(instance).certify(instance, candidate)


def _early(instance: Instance, candidate: Candidate) -> Judgement | None:
    """Verdict on a point that needs no certificate."""
    if not instance.problem.point or instance.problem.ranking:
        return None
    return points.without_core(instance, candidate.x)


def expected(instance: Instance) -> np.ndarray | None:
    """The right answer as floats (one of them, where it is not unique), or None if unknown."""
    try:
        return certificates(instance).expected(instance)
    except UncertainError:
        return None
