"""Certificates: verdicts on answers from formulas alone, in exact rational arithmetic.

`judge` measures an answer against an exact solution whose own gap is exactly zero, `certify`
bounds its suboptimality without any solution, `erm` recomputes the duality gap of a trained
model. Tolerances are rounding-error bounds for the precision of the input.
"""

from __future__ import annotations

from verification.certificates import core, loss, points, truth
from verification.certificates.model import ModelCertificate, erm, judge_claims, trained
from verification.certificates.truth import expected
from verification.instances import Instance
from verification.verdicts import Candidate, Judgement

__all__ = [
    "ModelCertificate",
    "certify",
    "core",
    "erm",
    "expected",
    "judge",
    "judge_claims",
    "loss",
    "points",
    "trained",
    "truth",
]


def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by its distance to the exact solution."""
    if instance.operation == "value":
        return loss.judge_value(instance, candidate.x)
    if instance.operation == "conjugate":
        return loss.judge_conjugate(instance, candidate.x)
    return points.by_truth(instance, candidate.x)


def certify(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge an answer by the gap at the repaired point; needs no solution."""
    if instance.operation in ("value", "conjugate"):
        return judge(instance, candidate)
    return points.by_gap(instance, candidate.x, candidate.dual)
