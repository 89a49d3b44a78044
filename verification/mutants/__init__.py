"""Wrong solvers on purpose: one mutant per file, found by discovery.

A mutant is a module with

``PROBLEM`` : str
    What it gets wrong, e.g. "simplex.projection".
``candidate`` : callable
    With the signature of the problem. Apart from its one defect it is right: the sound algorithms
    it is made from (`_sound`) pass every check, so what kills a mutant is its defect.
``COMMAND`` : tuple of str, instead of ``candidate``
    A wrong program, see `verification.external`.
``FIXED`` : dict, optional
    Arguments that it has built in, see ``verify(fixed=...)``.
``ISOLATE`` : bool, optional
    Whether it must run in a process of its own: it takes the interpreter with it.
``ERRATA`` : tuple of str, optional
    Errata of the papers, or defects of other libraries, that it implements: keys of
    `verification.selftest.errata.ERRATA`.
``TIMEOUT`` : float, optional
    Seconds per call, for one that hangs.

and a docstring that says what is wrong. `verification.selftest.kill_matrix` runs them all.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from verification.kit.fixing import fix
from verification.kit.loop import verify
from verification.problems.problem import lookup
from verification.verdicts.report import Report


@dataclass(frozen=True)
class Mutant:
    """A wrong solver: its file stem, the problem it gets wrong, what is wrong, and the callable."""

    name: str
    problem: str
    defect: str
    candidate: Callable[..., Any] | None = None
    command: tuple[str, ...] = ()
    isolate: bool = False
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
        module.candidate if not hasattr(module, "COMMAND") else None,
        tuple(getattr(module, "COMMAND", ())),
        getattr(module, "ISOLATE", False),
        getattr(module, "FIXED", {}),
        tuple(getattr(module, "ERRATA", ())),
        getattr(module, "TIMEOUT", 10.0),
    )


@contextlib.contextmanager
def opened(mutant: Mutant) -> Iterator[Callable[..., Any]]:
    """The mutant as something to call; its process, if it has one, ends with the block."""
    from verification.external import External, isolated

    if mutant.command:
        with External(mutant.command, mutant.problem) as program:
            yield program
        return
    assert mutant.candidate is not None
    if not mutant.isolate:
        yield mutant.candidate
        return
    task = fix(lookup(mutant.problem), mutant.fixed)
    with isolated(mutant.candidate, task) as function:
        yield function


def run(mutant: Mutant, profile: str = "quick", seed: int = 0) -> Report:
    """The report on one mutant, with the smallest counterexample."""
    fixed = mutant.fixed or None
    with opened(mutant) as function:
        return verify(function, mutant.problem, profile, seed, fixed=fixed, timeout=mutant.timeout)
