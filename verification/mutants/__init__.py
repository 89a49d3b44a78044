"""Wrong solvers on purpose: one mutant per file, found by discovery.

A mutant is a module with ``PROBLEM``, a docstring that says what is wrong, and a function
``candidate`` with the signature of the problem. Apart from its one defect it is right: the sound
algorithms it is made from (`_sound`) pass every check, so what kills a mutant is its defect.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verification.kit import verify
from verification.verdicts import Report


@dataclass(frozen=True)
class Mutant:
    """A wrong solver: its file stem, the problem it gets wrong, what is wrong, and the callable."""

    name: str
    problem: str
    defect: str
    candidate: Callable[..., Any]


@functools.cache
def discover() -> dict[str, Mutant]:
    """All mutants by name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{__name__}.{info.name}")
            defect = " ".join((module.__doc__ or "").split())
            found[info.name] = Mutant(info.name, module.PROBLEM, defect, module.candidate)
    return found


def run(mutant: Mutant, profile: str = "quick", seed: int = 0) -> Report:
    """The report on one mutant, with the smallest counterexample."""
    return verify(mutant.candidate, mutant.problem, profile, seed)


def kill_matrix(profile: str = "quick", seed: int = 0) -> dict[str, dict[str, int]]:
    """Failures per mutant and check; a mutant whose row is all zero has survived."""
    matrix = {}
    for name, mutant in discover().items():
        report = verify(mutant.candidate, mutant.problem, profile, seed, shrink=False)
        matrix[name] = {
            check: counts["fail"] + counts["crash"] + counts["timeout"]
            for check, counts in report.by_check().items()
        }
    return matrix
