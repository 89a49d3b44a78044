"""Imports on first use: cvxpy costs about two seconds that the formulas do not need; objects are found."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from refsolve import catalogue


class _LazyModule:
    """Stands for a module and imports it at the first attribute access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"<lazy module {self._name!r}>"


def members(kind: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a room: its objects, imported when they are asked for."""

    def get(name: str) -> Any:
        if not name.startswith("_") and name in catalogue.object_names(kind):
            return importlib.import_module(f"refsolve.{kind}.{name}")
        raise AttributeError(f"module 'refsolve.{kind}' has no attribute {name!r}")

    return get, lambda: list(catalogue.object_names(kind))


if TYPE_CHECKING:
    import clarabel
    import cvxpy as cp
else:
    clarabel = _LazyModule("clarabel")
    cp = _LazyModule("cvxpy")

__all__ = ["clarabel", "cp", "members"]
