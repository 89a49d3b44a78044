"""Vectors with an entry for the ground truth where the problem has none, and the other way round.

A multiclass loss is a function of the m - 1 differences u_j = f_j - f_y to the other classes. Its
conjugate and prox have m - 1 entries here; others keep all m, the truth's entry being 0 or minus the
sum of the rest. Gradients and dual blocks have all m here, summing to 0; others give the m - 1 others.
"""

from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step, each, needed
from verification.errors import InvalidArgumentError
from verification.problems.problem import Problem

ZERO, BALANCE, ABSENT = "zero", "balance", "absent"
FILLS = (ZERO, BALANCE)
MODES = (*FILLS, ABSENT)
#: Arguments and answers with one entry per other class.
OTHERS = ("x", "v", "costs")


class WithTruth(Step):
    """The function's vectors hold the truth's entry differently from the problem's.

    Parameters
    ----------
    problem : Problem
        Of a multiclass loss.
    mode : {"zero", "balance", "absent"}
        What the function's vectors hold at the ground truth: 0, minus the sum of the others, or
        no entry at all.
    at : int
        Index of the ground truth in vectors of problems that give no y; the function may ask for
        it as ``y``.
    """

    def __init__(self, problem: Problem | None, mode: str, at: int = 0):
        self.problem = needed(problem, f"truth={mode!r}")
        self.mode = mode
        self.at = at
        if mode not in MODES:
            raise InvalidArgumentError(f"truth={mode!r}: expected one of {', '.join(MODES)}")
        if self.problem.kind != "losses" or self.problem.family != "multiclass":
            raise InvalidArgumentError(
                f"truth={mode!r}: {self.problem.name} has no entry of a ground truth to add or drop; "
                "leave truth out"
            )
        self.inserts = "y" not in self.problem.arguments
        if self.inserts and mode == ABSENT:
            raise InvalidArgumentError(
                f"truth={mode!r}: vectors of {self.problem.name} hold no ground truth already; "
                "leave truth out"
            )
        self.adds = ("y",) if self.inserts else ()

    def before(self, given: Given) -> Given:
        """Insert the entry into x or v and the costs, where the problem has none."""
        if not self.inserts:
            return given
        main = np.asarray(given[self.problem.data])
        m = main.shape[-1] + 1
        at = self.at % m
        changed: Given = {**given, "y": at if main.ndim == 1 else np.full(len(main), at)}
        for name in OTHERS:
            if given.get(name) is not None:
                fill = self.mode if name == self.problem.data else ZERO
                changed[name] = insert(given[name], at, fill)
        return changed

    def after(self, answer: Any, given: Given) -> Any:
        """Drop the entry from a point; or put in, where the problem has it, minus the others' sum."""
        if not self.problem.point:
            return answer

        def change(name: str, part: Any) -> Any:
            vector = np.asarray(part)
            if vector.ndim == 0:
                return part
            if self.inserts:
                return np.delete(vector, self.at % vector.shape[-1], axis=-1)
            return self._balanced(vector, given["y"])

        return each(answer, change)

    def _balanced(self, vector: np.ndarray, y: Any) -> np.ndarray:
        if vector.ndim == 2:
            return np.stack(
                [self._balanced(v, t) for v, t in zip(vector, np.asarray(y), strict=True)]
            )
        others = vector if self.mode == ABSENT else np.delete(vector, int(y))
        return insert(others, int(y), BALANCE)


def insert(vector: Any, at: int, fill: str) -> np.ndarray:
    """A vector (or rows) with 0 or minus its sum put in as entry ``at``."""
    others = np.asarray(vector)
    total = others.sum(axis=-1)
    return np.insert(others, at, np.zeros_like(total) if fill == ZERO else -total, axis=-1)
