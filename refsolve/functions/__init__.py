"""One scalar function per file: the minimisation that defines it, for CVXPY."""

from __future__ import annotations

import importlib
from typing import Any

from refsolve import catalogue


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name in catalogue.stems("functions"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(catalogue.stems("functions"))
