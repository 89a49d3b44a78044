"""Random arguments shared by the tests of refsolve."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue

SETS = catalogue.stems("sets")
LOSSES = catalogue.stems("losses")


def set_params(stem: str, k: int, r: Any) -> dict[str, Any]:
    """k and r where the set has them."""
    names = catalogue.load(stem).SPEC.names
    return {name: value for name, value in (("k", k), ("r", r)) if name in names}


def loss_params(stem: str, rng: np.random.Generator, d: int) -> dict[str, Any]:
    """Random k <= d and gamma where the loss has them."""
    values = {"k": int(rng.integers(1, d + 1)), "gamma": float(10 ** rng.uniform(-1, 1))}
    return {name: values[name] for name in catalogue.load(stem).SPEC.names}


def rational_point(rng: np.random.Generator, d: int) -> list[Fraction]:
    """Small fractions with many ties."""
    return [Fraction(int(rng.integers(-4, 7)), int(rng.integers(1, 4))) for _ in range(d)]
