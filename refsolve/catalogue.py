"""Finds the stems: every file of sets/, losses/, functions/ and models/ is one, without a list."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from refsolve.errors import UnknownProblemError

#: Operations of the stems of a kind; they are derived. A module may declare fewer: `operations`.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "sets": ("projection",),
    "losses": ("value", "gradient", "conjugate", "prox", "sdca_update"),
    "functions": ("value",),
    "models": ("primal", "dual"),
}


@cache
def _stems(kind: str) -> tuple[str, ...]:
    package = importlib.import_module(f"refsolve.{kind}")
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in names if not name.startswith("_")))


def stems(kind: str | None = None) -> tuple[str, ...]:
    """Names of the stems of a kind ("sets", "losses", "functions", "models"), or all of them.

    Raises
    ------
    UnknownProblemError
        If the kind does not exist.
    """
    if kind is None:
        return tuple(name for each in OPERATIONS for name in _stems(each))
    if kind not in OPERATIONS:
        raise UnknownProblemError(kind, OPERATIONS, "kind")
    return _stems(kind)


def kind(stem: str) -> str:
    """Folder of a stem: "sets", "losses", "functions" or "models"."""
    for each in OPERATIONS:
        if stem in _stems(each):
            return each
    raise UnknownProblemError(stem, stems(), "stem")


def load(stem: str) -> ModuleType:
    """Module that declares ``stem``."""
    return importlib.import_module(f"refsolve.{kind(stem)}.{stem}")


def operations(stem: str) -> tuple[str, ...]:
    """Operations of a stem: all of its kind unless its module declares ``operations``."""
    return tuple(getattr(load(stem), "operations", OPERATIONS[kind(stem)]))


def arguments(module: Any) -> tuple[str, ...]:
    """Arguments of a set's projection: ``arguments``, or a, k, r, rho as far as it has them."""
    names = module.SPEC.names
    return tuple(getattr(module, "arguments", ("a", *(n for n in ("k", "r") if n in names), "rho")))


def has_rho(module: Any) -> bool:
    """Whether a set's projection takes the weight rho of the squared sum."""
    return "rho" in arguments(module)


def problems(kind: str | None = None) -> tuple[str, ...]:
    """All problem names ``"<stem>.<operation>"``, optionally of one kind."""
    kinds = OPERATIONS if kind is None else (kind,)
    return tuple(f"{s}.{op}" for each in kinds for s in stems(each) for op in operations(s))


def split(problem: str) -> tuple[str, str]:
    """``"topk_cone.projection"`` -> ``("topk_cone", "projection")``, both known."""
    stem, _, operation = str(problem).rpartition(".")
    if problem not in problems():
        raise UnknownProblemError(problem, problems())
    return stem, operation
