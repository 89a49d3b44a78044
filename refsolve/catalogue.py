"""Finds the stems: every file of sets/, losses/ and models/ is one; there is no list to maintain."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from refsolve.errors import UnknownProblemError

#: Operations that every stem of a kind has; they are derived, never declared per stem.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "sets": ("projection",),
    "losses": ("value", "gradient", "conjugate", "prox", "sdca_update"),
    "models": ("primal", "dual"),
}


@cache
def _stems(kind: str) -> tuple[str, ...]:
    package = importlib.import_module(f"refsolve.{kind}")
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in names if not name.startswith("_")))


def stems(kind: str | None = None) -> tuple[str, ...]:
    """Names of the stems of a kind ("sets", "losses", "models"), or all of them.

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
    """Folder of a stem: "sets", "losses" or "models"."""
    for each in OPERATIONS:
        if stem in _stems(each):
            return each
    raise UnknownProblemError(stem, stems(), "stem")


def load(stem: str) -> ModuleType:
    """Module that declares ``stem``."""
    return importlib.import_module(f"refsolve.{kind(stem)}.{stem}")


def problems(kind: str | None = None) -> tuple[str, ...]:
    """All problem names ``"<stem>.<operation>"``, optionally of one kind."""
    kinds = OPERATIONS if kind is None else (kind,)
    return tuple(f"{s}.{op}" for each in kinds for s in stems(each) for op in OPERATIONS[each])


def split(problem: str) -> tuple[str, str]:
    """``"topk_cone.projection"`` -> ``("topk_cone", "projection")``, both known."""
    stem, _, operation = str(problem).rpartition(".")
    if problem not in problems():
        raise UnknownProblemError(problem, problems())
    return stem, operation
