"""Which problems can be verified, and what each one's arguments are.

Stems come from `refsolve` by discovery; whether a stem has k, r or gamma is read off
its declaration, so a new stem needs no edit here.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from refsolve import catalogue
from verification.errors import UnknownProblemError

# operation -> (kind of stem, arguments in calling order); those a stem does not declare are dropped
OPERATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "projection": ("sets", ("a", "k", "r", "rho")),
    "value": ("losses", ("scores", "y", "k", "gamma", "costs", "sample_weight")),
    "gradient": ("losses", ("scores", "y", "k", "gamma", "costs", "sample_weight")),
    "conjugate": ("losses", ("x", "k", "gamma", "costs")),
    "prox": ("losses", ("v", "k", "t", "gamma", "costs")),
    "sdca_update": ("losses", ("q", "y", "k_ii", "C", "k", "gamma", "costs", "sample_weight")),
}

# What a missing argument means; a candidate may leave out any of these.
DEFAULTS: dict[str, Any] = {
    "k": 1,
    "r": 1.0,
    "rho": 0.0,
    "t": 1.0,
    "gamma": 1.0,
    "C": 1.0,
    "costs": None,
    "sample_weight": None,
}

# Arguments that only some stems declare.
DECLARED = ("k", "r", "gamma")

FUNCTION_NAMES = {"projection": "project"}


@dataclass(frozen=True)
class Problem:
    """A stem and an operation, e.g. ``simplex.projection``, with its argument names in order."""

    name: str
    stem: str
    operation: str
    kind: str
    arguments: tuple[str, ...]

    @property
    def data(self) -> str:
        """Name of the main array: a, scores, x, v or q."""
        return self.arguments[0]

    @property
    def function(self) -> str:
        """Name of the function that solves it in `fast`."""
        return FUNCTION_NAMES.get(self.operation, self.operation)

    @property
    def required(self) -> tuple[str, ...]:
        """Arguments without a default."""
        return tuple(a for a in self.arguments if a not in DEFAULTS)

    def declaration(self) -> ModuleType:
        """The module of `refsolve` that says what the stem is."""
        return catalogue.load(self.stem)

    def largest_k(self, d: int) -> int | None:
        """Upper end of k for d entries: None if unbounded, 0 if the stem has no k."""
        for symbol in self.declaration().SPEC.symbols:
            if symbol.name == "k":
                return d if symbol.high == "d" else None
        return 0


@functools.cache
def lookup(name: str) -> Problem:
    """Find ``"<stem>.<operation>"``; UnknownProblemError says what there is."""
    stem, _, operation = str(name).rpartition(".")
    kind, arguments = OPERATIONS.get(operation, ("", ()))
    if not kind or stem not in catalogue.stems(kind):
        raise UnknownProblemError(
            f"problem={name!r} is not known; expected one of: {', '.join(names())}"
        )
    declared = catalogue.load(stem).SPEC.names
    kept = tuple(a for a in arguments if a not in DECLARED or a in declared)
    return Problem(name, stem, operation, kind, kept)


def names() -> tuple[str, ...]:
    """All problems of stems that solvers are written for, sorted by kind and stem.

    Stems that exist only to be refuted are left out.
    """
    return tuple(
        f"{stem}.{operation}"
        for kind in ("sets", "losses")
        for stem in catalogue.stems(kind)
        if not catalogue.load(stem).SPEC.oracle_only
        for operation, (where, _) in OPERATIONS.items()
        if where == kind
    )


def fast_candidate(name: str) -> Callable[..., Any] | None:
    """The production implementation of a problem, or None if `fast` has none."""
    problem = lookup(name)
    try:
        module = importlib.import_module(f"fast.{problem.kind}.{problem.stem}")
    except ModuleNotFoundError as error:
        if error.name == f"fast.{problem.kind}.{problem.stem}":
            return None
        raise
    return getattr(module, problem.function, None)
