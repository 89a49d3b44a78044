"""Losses, one per file: value, gradient, conjugate, prox and dual coordinate update."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

_STEMS = tuple(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def __getattr__(name: str) -> ModuleType:
    if name in _STEMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_STEMS})
