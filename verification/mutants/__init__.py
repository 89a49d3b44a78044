"""Wrong solvers on purpose: one mutant per file, found by discovery.

A mutant is a module with

``PROBLEM`` : str
    What it gets wrong, e.g. "simplex.projection".
``candidate`` : callable
    With the signature of the problem. Apart from its one defect it is right: the sound algorithms
    it is made from (`_sound`) pass every check, so what kills a mutant is its defect.
``FIXED`` : dict, optional
    Arguments that it has built in, see ``verify(fixed=...)``.
``ERRATA`` : tuple of str, optional
    Errata of the papers, or defects of other libraries, that it implements: keys of
    `verification.errata.ERRATA`.
``TIMEOUT`` : float, optional
    Seconds per call, for one that hangs.

and a docstring that says what is wrong. `verification.kill_matrix` runs them all.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    fixed: Mapping[str, Any] = field(default_factory=dict)
    errata: tuple[str, ...] = ()
    timeout: float = 10.0


@functools.cache
def discover() -> dict[str, Mutant]:
    """All mutants by name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{__name__}.{info.name}")
            found[info.name] = of(info.name, module)
    return found


def of(name: str, module: Any) -> Mutant:
    """The mutant that a module describes."""
    return Mutant(
        name,
        module.PROBLEM,
        " ".join((module.__doc__ or "").split()),
        module.candidate,
        getattr(module, "FIXED", {}),
        tuple(getattr(module, "ERRATA", ())),
        getattr(module, "TIMEOUT", 10.0),
    )


def options(mutant: Mutant) -> dict[str, Any]:
    """What `verify` is told beside the problem."""
    given: dict[str, Any] = {"timeout": mutant.timeout}
    return given | {"fixed": mutant.fixed} if mutant.fixed else given


def run(mutant: Mutant, profile: str = "quick", seed: int = 0) -> Report:
    """The report on one mutant, with the smallest counterexample."""
    return verify(mutant.candidate, mutant.problem, profile, seed, **options(mutant))
