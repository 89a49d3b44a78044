"""What a training run knows at any time: best model, best dual bound, history."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


def block_length(m: int) -> int:
    """Rows per matrix product, so that a block of scores stays in the cache."""
    return max(64, 131072 // max(m, 1))


def certified_gap(primal: float, dual: float) -> float:
    """Relative duality gap (P - D)/max(|P|, |D|), never negative by rounding; 0/0 is 0."""
    scale = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / scale if scale > 0.0 else 0.0


@dataclass(kw_only=True)
class Certified:
    """What every trainer says of its model: objectives at these very points, relative gap, history."""

    primal: float
    dual: float
    gap: float
    n_iter: int
    history: list[dict[str, float]]
    solver: str
    interrupted: bool
    stopped: bool


@dataclass
class TrainingState:
    """The best certified model so far.

    ``primal`` is the smallest P(W) seen, at ``W``; ``dual`` the D(A) of the current dual (every
    solver here increases it); their difference bounds the suboptimality of ``W``.
    """

    started: float = field(default_factory=time.perf_counter)
    primal: float = np.inf
    dual: float = -np.inf
    W: Any = None
    n_iter: int = 0
    done: bool = False  # the check just recorded is the last one
    passes: int = 0  # of a solver that counts them, also since the last check
    estimate: float = np.inf  # of the relative gap there, not certified
    #: Called after a pass; true asks for a check.
    pulse: Callable[["TrainingState"], bool | None] | None = None
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """Relative duality gap of the best model."""
        return certified_gap(self.primal, self.dual)

    @property
    def absolute_gap(self) -> float:
        """P - D of the best model."""
        return self.primal - self.dual

    def record(self, iteration: int, primal: float, dual: float, W: np.ndarray) -> None:
        """Take in the objectives of one check."""
        if primal < self.primal:
            self.primal = primal
            if self.W is None:
                self.W = W.copy(order="K")
            elif self.W is not W:
                self.W[:] = W
        self.n_iter = iteration
        self.dual = dual
        self.history.append(
            {
                "iteration": iteration,
                "time": time.perf_counter() - self.started,
                "primal": self.primal,
                "dual": self.dual,
                "gap": self.gap,
            }
        )

    def set_dual(self, dual: float) -> None:
        """Replace the dual objective, also in the last entry of the history."""
        self.dual = dual
        if self.history:
            self.history[-1] |= {"dual": dual, "gap": self.gap}
