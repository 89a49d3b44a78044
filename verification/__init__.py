"""Judges solvers by certificates: throws instances at a candidate and believes only formulas.

``verify(candidate, problem="topk_simplex_alpha.projection")`` returns a `Report`; a failure comes
with its smallest counterexample as code. Nothing here trusts a solver's status, and a run in which
nothing was judged is a failure.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verification.adapters import adapt
    from verification.app.model_file import load_model
    from verification.errors import (
        CandidateSignatureError,
        InvalidArgumentError,
        NoDualPointError,
        UnknownProblemError,
        VerificationError,
        VerificationFailedError,
    )
    from verification.instances.instance import Instance
    from verification.kit.loop import verify
    from verification.pytest_plugin import parametrize
    from verification.verdicts.report import Report
    from verification.verdicts.verdict import Candidate, Judgement, Result, Verdict

# Where each public name stands. They are imported when they are asked for: pytest loads the plugin in
# this package at every start, also for suites that have nothing to do with it.
_HOMES = {
    "Candidate": "verdicts",
    "CandidateSignatureError": "errors",
    "Instance": "instances",
    "InvalidArgumentError": "errors",
    "Judgement": "verdicts",
    "NoDualPointError": "errors",
    "Report": "verdicts.report",
    "Result": "verdicts",
    "UnknownProblemError": "errors",
    "Verdict": "verdicts",
    "VerificationError": "errors",
    "VerificationFailedError": "errors",
    "adapt": "adapters",
    "load_model": "app.model_file",
    "parametrize": "pytest_plugin",
    "verify": "kit.loop",
}

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
    "load_model",
    "parametrize",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("refsolve")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
