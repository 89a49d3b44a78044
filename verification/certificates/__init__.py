"""Certificates: verdicts on answers from formulas alone, in exact or 60-digit arithmetic.

`judge` measures an answer against an exact solution whose own gap is exactly zero (for the entropies:
a solution to 60 digits whose own backward error and gap are below 1e-40), `certify` bounds its
suboptimality without any solution, `erm` recomputes the duality gap of a trained model. Tolerances
are rounding-error bounds for the precision of the input.
"""

from __future__ import annotations

from verification.certificates import (
    core,
    entropy_points,
    loss,
    points,
    ranking,
    scalar,
    truncated,
    truth,
)
from verification.certificates.answers import expected
from verification.certificates.fitted import judge_claims, trained
from verification.certificates.model import ModelCertificate, erm
from verification.instances.instance import Instance
from verification.problems.problem import lookup
from verification.verdicts.verdict import Candidate, Judgement

__all__ = [
    "ModelCertificate",
    "certify",
    "core",
    "entropy_points",
    "erm",
    "expected",
    "judge",
    "judge_claims",
    "loss",
    "points",
    "ranking",
    "trained",
    "truth",
]


def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by its distance to the exact solution."""
    problem = lookup(instance.problem)
    if problem.kind == "functions":
        return scalar.judge(instance, candidate.x)
    if problem.ranking:
        return ranking.judge(instance, candidate)
    if problem.point and (early := points.without_core(instance, candidate.x)):
        return early
    if not problem.convex:
        if problem.point and candidate.complement is not None:
            return truncated.with_complement(instance, candidate.x, candidate.complement)
        return truncated.judge(instance, candidate.x)
    if instance.operation == "value":
        return loss.judge_value(instance, candidate.x)
    if instance.operation == "conjugate":
        return loss.judge_conjugate(instance, candidate.x)
    if core.is_curved(instance):
        return entropy_points.by_truth(instance, candidate.x, candidate.complement)
    return points.by_truth(instance, candidate.x)


def certify(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by the gap at the repaired point; needs no solution."""
    problem = lookup(instance.problem)
    if not problem.point or problem.ranking:
        return judge(instance, candidate)
    if early := points.without_core(instance, candidate.x):
        return early
    if not problem.convex:
        return truncated.by_gap(instance, candidate.x)
    if core.is_curved(instance):
        return entropy_points.by_gap(instance, candidate.x)
    return points.by_gap(instance, candidate.x, candidate.dual)
