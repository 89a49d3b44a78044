"""What a training run knows at any time: best model, best dual bound, history."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy as np

from fast._interrupts import hold_back


def block_length(m: int) -> int:
    """Rows per matrix product, so that a block of scores stays in the cache."""
    return max(64, 131072 // max(m, 1))


def certified_gap(primal: float, dual: float) -> float:
    """Relative duality gap (P - D)/max(|P|, |D|), never negative by rounding; 0/0 is 0."""
    scale = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / scale if scale > 0.0 else 0.0


class Objectives:
    """Primal and dual objective, with the history that led to them."""

    primal: float
    dual: float
    history: list[dict[str, float]]

    @property
    def gap(self) -> float:
        """Relative duality gap of the best model."""
        return certified_gap(self.primal, self.dual)

    def claim(self, primal: float, dual: float) -> None:
        """Replace both, also in the last entry of the history."""
        self.primal, self.dual = primal, dual
        if self.history:
            self.history[-1] |= {"primal": primal, "dual": dual, "gap": self.gap}


@dataclass(kw_only=True)
class Solution(Objectives):
    """What every trainer says of its model: objectives at these very points, relative gap, history.

    ``interrupted``: by Ctrl-C; ``stopped``: by that or by ``report``.
    """

    primal: float
    dual: float
    n_iter: int
    history: list[dict[str, float]]
    solver: str
    interrupted: bool
    stopped: bool


@dataclass
class TrainingState(Objectives):
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


class Counted:
    """A report whose iterations are counted through several trainings, each of which begins at 1."""

    def __init__(self, report: Callable[[Any], bool | None] | None) -> None:
        self.report, self.before = report, 0

    def __call__(self, state: TrainingState) -> bool:
        """Whether to stop."""
        seen = replace(state, n_iter=self.before + state.n_iter)
        return self.report is not None and bool(self.report(seen))

    def finished(self, result: Any) -> Any:
        """The result of a training, with its iterations counted on; the next one begins behind it."""
        for entry in result.history:
            entry["iteration"] += self.before
        self.before = result.n_iter = self.before + result.n_iter
        return result


class TrainingRun:
    """A training, the body of a ``with``: Ctrl-C ends it without an error, and so does ``report``."""

    def __init__(self, report: Callable[[Any], bool | None] | None) -> None:
        self.report, self.interrupted, self.stopped = report, False, False

    def ask(self, state: Any) -> bool:
        """Whether ``report`` stops the training here."""
        self.stopped = self.report is not None and bool(self.report(state))
        return self.stopped

    def __enter__(self) -> "TrainingRun":
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        hold_back()
        if kind is KeyboardInterrupt:
            self.interrupted = self.stopped = True
        return kind is KeyboardInterrupt

    def outcome(self, state: Any, solver: str) -> dict[str, Any]:
        """What a `Solution` says besides its model."""
        names = ("primal", "dual", "n_iter", "history")
        how = {"solver": solver, "interrupted": self.interrupted, "stopped": self.stopped}
        return {name: getattr(state, name) for name in names} | how
