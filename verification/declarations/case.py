"""A case: one instance of a model with points of both sides, and what its printed symbols stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
#: Rows and columns of the data.
N, D = 6, 2


@dataclass
class Case:
    """One instance of a model with points of both sides.

    ``patterns``: printed expressions by what they must equal; ``names``: what their symbols stand for;
    ``primal``: P at the unknowns of ``at``; ``blocks``: the point of the declared form, and its multipliers.
    """

    given: dict[str, Any]
    certify: dict[str, Any]
    names: Callable[[Any], dict[str, Any]]
    patterns: dict[str, tuple[str, str]]
    more: str = ""
    unknowns: tuple[str, ...] = ("w",)
    answer: Callable[[Any], dict[str, Any]] | None = None
    blocks: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]] | None = None
    declared: dict[str, Any] = field(default_factory=dict)


def data(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Rows that a line does not separate, labels, and weights."""
    X = rng.normal(size=(N, D)).round(2)
    y = np.where(np.arange(N) % 2, 1, -1)
    return X, y, np.array([1.0, 0.5, 2.0, 1.5, 1.0, 0.75])


def balanced(rng: np.random.Generator, y: Array, top: Array) -> Array:
    """Multipliers between 0 and their bounds with <alpha,y> = 0."""
    alpha = rng.uniform(0.2, 0.9, size=y.size) * np.minimum(top, 2.0)
    ratio = alpha[y > 0].sum() / alpha[y < 0].sum()
    return alpha * np.where(y > 0, min(1, 1 / ratio), min(1, ratio))
