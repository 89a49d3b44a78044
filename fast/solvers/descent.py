"""Objectives J that are not convex, lowered by convex steps that bound them from above.

What a step keeps fixed, its state, is taken from a point w: then its P is >= J and equal at w, so that
the minimiser of P has J no higher. J never rises, and ends at a point that its own step keeps.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fast._interrupts import hold_back, let_through
from fast.errors import InvalidParameterError

LEAST = 0.1  # a round that lowers J by less than this part of tol, relatively, is the last


@dataclass
class Descent:
    """The last step with its state, and J at the start and after each step."""

    result: Any
    state: np.ndarray
    objectives: list[float]
    converged: bool


def descend(
    w: np.ndarray,
    state_of: Callable[[np.ndarray], np.ndarray],
    objective: Callable[[np.ndarray], float],
    step: Callable[[np.ndarray, np.ndarray, Any], Any],
    tol: float,
    max_rounds: int,
    n_oracle: int = 0,
) -> Descent:
    """Take convex steps until what they keep fixed stays, or J does.

    Parameters
    ----------
    w : (d,) array
        Start.
    state_of, objective : callable
        State and J of a point.
    step : callable
        (state, w, result of the step before or None) to a result with w, primal, dual, gap,
        history, n_iter, n_oracle and stopped; it begins at w and ends no higher.
    tol : float
    max_rounds : int
        At least 1.
    n_oracle : int
        Calls spent on the start.

    Raises
    ------
    InvalidParameterError
        No step is allowed.
    """
    if max_rounds < 1:
        raise InvalidParameterError(
            "max_rounds", str(max_rounds), "an integer >= 1", "allow at least one step"
        )
    path = _Path(w, state_of, objective, step, tol, n_oracle)
    try:
        for round_ in range(1, max_rounds + 1):
            if path.take(round_):
                break
            let_through()
    except KeyboardInterrupt:  # between two steps
        path.interrupted()
    hold_back()
    return path.descent()


class _Path:
    """Steps so far: what they fixed, J after each of them, their histories as one."""

    def __init__(
        self, w: np.ndarray, state_of: Callable[[np.ndarray], np.ndarray],
        objective: Callable[[np.ndarray], float], step: Callable[[np.ndarray, np.ndarray, Any], Any],
        tol: float, n_oracle: int,
    ) -> None:  # fmt: skip
        self.w, self.tol = w, tol
        self.state_of, self.objective, self.step = state_of, objective, step
        self.objectives = [objective(w)]
        self.following = self.state = state_of(w)
        self.result: Any = None
        self.history: list[dict[str, float]] = []
        self.n_iter, self.n_oracle, self.converged = 0, n_oracle + 1, False

    def take(self, round_: int) -> bool:
        """One more step; whether it was the last."""
        self.result = self.step(self.following, self.w, self.result)
        result, self.state = self.result, self.following
        for line in result.history:
            counted = {
                "iteration": line["iteration"] + self.n_iter,
                "oracle_calls": line["oracle_calls"] + self.n_oracle,
                "round": round_,
            }
            self.history.append(line | counted)
        self.n_iter += result.n_iter
        self.n_oracle += result.n_oracle + 1
        lower = self.finalize()
        if self.result.stopped:
            return True
        self.following = self.state_of(self.result.w)
        self.w = self.result.w
        fell = self.objectives[-2] - self.objectives[-1]
        same = np.array_equal(self.following, self.state)
        least = LEAST * self.tol * abs(self.objectives[-1])
        self.converged = same or not lower or fell <= least
        return self.converged

    def finalize(self) -> bool:
        """Take in J of the step; whether it is no higher."""
        found, before = self.objective(self.result.w), self.objectives[-1]
        if found > before:  # rounding: w itself has the certificate of the step
            self.result = replace(self.result, w=self.w, history=self.history)
            self.result.claim(before, self.result.dual)
        self.objectives.append(min(found, before))
        return found <= before

    def interrupted(self) -> None:
        """Ctrl-C: before there is any step, nothing can be kept."""
        if self.result is None or not self.history:
            raise KeyboardInterrupt
        if len(self.objectives) == self.history[-1]["round"]:
            self.finalize()
        self.result = replace(self.result, interrupted=True, stopped=True)

    def descent(self) -> Descent:
        """The last step's result, with the counts of all."""
        result = replace(
            self.result, history=self.history, n_iter=self.n_iter, n_oracle=self.n_oracle
        )
        return Descent(result, self.state, self.objectives, self.converged)
