"""Certificates: verdicts on answers from formulas alone, in exact or 60-digit arithmetic.

`judge` measures an answer against an exact solution whose own gap is exactly zero (for the entropies:
a solution to 60 digits whose own backward error and gap are below 1e-40), `certify` bounds its
suboptimality without any solution, `erm` recomputes the duality gap of a trained model. Tolerances
are rounding-error bounds for the precision of the input.
"""

from refsolve.proofs.model import ModelCertificate
from verification.certificates import core, entropy_points, loss, points, ranking, truth
from verification.certificates.dispatch import certify, expected, judge
from verification.certificates.extended import judge_long
from verification.certificates.fitted import judge_claims, trained
from verification.certificates.model import erm

__all__ = [
    "ModelCertificate",
    "certify",
    "core",
    "entropy_points",
    "erm",
    "expected",
    "judge",
    "judge_claims",
    "judge_long",
    "loss",
    "points",
    "ranking",
    "trained",
    "truth",
]
