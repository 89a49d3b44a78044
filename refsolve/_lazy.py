"""cvxpy on first use: importing it costs about two seconds that the formulas do not need."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any


class _LazyModule:
    """Stands for a module and imports it at the first attribute access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"<lazy module {self._name!r}>"


if TYPE_CHECKING:
    import cvxpy as cp
else:
    cp = _LazyModule("cvxpy")

__all__ = ["cp"]
