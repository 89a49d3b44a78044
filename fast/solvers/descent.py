"""Objectives J that are not convex, lowered by convex steps that bound them from above.

What a step keeps fixed, its state, is taken from a point w: then its P is >= J and equal at w, so that
the minimiser of P has J no higher. J never rises, and ends at a point that its own step keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fast.errors import InvalidParameterError
from fast.solvers.state import certified_gap

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
    objectives = [objective(w)]
    following = state = state_of(w)
    result: Any = None
    history: list[dict[str, float]] = []
    n_iter, n_oracle, converged = 0, n_oracle + 1, False

    def settle() -> bool:
        """Take in J of the step; whether it is no higher."""
        nonlocal result
        found = objective(result.w)
        if found > objectives[-1]:  # rounding: w itself has the certificate of the step
            gap = certified_gap(objectives[-1], result.dual)
            result = replace(result, w=w, primal=objectives[-1], gap=gap)
            history[-1] |= {"primal": result.primal, "gap": gap}
        objectives.append(min(found, objectives[-1]))
        return found <= objectives[-1]

    try:
        for round_ in range(1, max_rounds + 1):
            result, state = step(following, w, result), following
            history += [
                line
                | {
                    "iteration": line["iteration"] + n_iter,
                    "oracle_calls": line["oracle_calls"] + n_oracle,
                    "round": round_,
                }
                for line in result.history
            ]
            n_iter, n_oracle = n_iter + result.n_iter, n_oracle + result.n_oracle + 1
            lower = settle()
            if result.stopped:
                break
            following = state_of(result.w)
            w, fell = result.w, objectives[-2] - objectives[-1]
            same = np.array_equal(following, state)
            if same or not lower or fell <= LEAST * tol * abs(objectives[-1]):
                converged = True
                break
    except KeyboardInterrupt:  # between two steps
        if result is None or not history:
            raise
        if len(objectives) == history[-1]["round"]:
            settle()
        result = replace(result, interrupted=True, stopped=True)
    result = replace(result, history=history, n_iter=n_iter, n_oracle=n_oracle)
    return Descent(result, state, objectives, converged)
