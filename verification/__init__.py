"""Judges solvers by certificates: throws instances at a candidate and believes only formulas.

``verify(candidate, problem="topk_simplex_alpha.projection")`` returns a `Report`; a failure comes
with its smallest counterexample as code. Nothing here trusts a solver's status, and a run in which
nothing was judged is a failure.
"""

from __future__ import annotations

from verification.adapters import adapt
from verification.errors import (
    CandidateSignatureError,
    InvalidArgumentError,
    NoDualPointError,
    UnknownProblemError,
    VerificationError,
    VerificationFailedError,
)
from verification.instances import Instance
from verification.kit import verify
from verification.verdicts import Candidate, Judgement, Report, Result, Verdict

__all__ = [
    "Candidate",
    "CandidateSignatureError",
    "Instance",
    "InvalidArgumentError",
    "Judgement",
    "NoDualPointError",
    "Report",
    "Result",
    "UnknownProblemError",
    "Verdict",
    "VerificationError",
    "VerificationFailedError",
    "adapt",
    "verify",
]
