"""Other labels, transposed matrices, and functions that take only batches of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step, each, needed, parts
from verification.errors import InvalidArgumentError
from verification.problems.problem import Problem


class Labelled(Step):
    """Classes counted from another number than 0, or 0/1 labels written as two other numbers.

    Parameters
    ----------
    labels : int or sequence of two numbers
        The first class's number, e.g. 1; or what stands for 0 and for 1, e.g. (-1, 1).
    """

    def __init__(self, labels: int | Sequence[float]):
        if not isinstance(labels, int) and len(labels) != 2:
            raise InvalidArgumentError(
                f"labels={labels!r}: expected the number of the first class, e.g. 1, or a pair "
                "for the labels 0 and 1, e.g. (-1, 1)"
            )
        self.labels = labels

    def before(self, given: Given) -> Given:
        """Change y only."""
        y = given.get("y")
        if y is None:
            return given
        if isinstance(self.labels, int):
            shifted = np.asarray(y) + self.labels
        else:
            shifted = np.asarray(self.labels)[np.asarray(y, dtype=int)]
        return {**given, "y": shifted if np.ndim(y) else shifted.item()}


class Transposed(Step):
    """Some matrices, among the arguments or the answer's parts, have rows for columns."""

    def __init__(self, problem: Problem | None, names: Sequence[str]):
        self.names = (names,) if isinstance(names, str) else tuple(names)
        self.parts = parts(problem)

    def before(self, given: Given) -> Given:
        """Transposed copies in C order."""
        turned = {
            n: np.ascontiguousarray(np.asarray(given[n]).T)
            for n in self.names
            if given.get(n) is not None
        }
        return {**given, **turned}

    def after(self, answer: Any, given: Given) -> Any:
        """Transpose the named parts."""

        def change(name: str, part: Any) -> Any:
            return np.asarray(part).T if name in self.names else part

        return each(answer, change, self.parts)


class Rows(Step):
    """The function takes batches only: one vector is passed as a batch of one row.

    Parameters
    ----------
    per_row : sequence of str
        Further arguments of which the function wants one per row, e.g. ("r",); y and k_ii always
        are.
    """

    def __init__(self, problem: Problem | None, per_row: Sequence[str] = ()):
        self.problem = needed(problem, "rows")
        if self.problem.kind == "models":
            raise InvalidArgumentError(
                f"rows={per_row!r}: {self.problem.name} is about a whole data set; leave rows out"
            )
        self.per_row = (*self.problem.named(rows="always"), *per_row)
        vectors = self.problem.named(shape="vector") if self.problem.kind == "sets" else ()
        self.matched = (*vectors, *(("y", "costs") if self.problem.labels else ()))

    def before(self, given: Given) -> Given:
        """Add an axis; a batch stays as it is."""
        main = np.asarray(given[self.problem.data])
        single = main.ndim == 1
        rows = 1 if single else len(main)
        changed = dict(given)
        if single:
            changed[self.problem.data] = main[None, :]
        for name in self.per_row:
            value = given.get(name)
            if value is None:
                continue
            if name in self.matched:
                changed[name] = np.broadcast_to(value, changed[self.problem.data].shape).copy()
            else:
                changed[name] = np.broadcast_to(np.asarray(value), (rows,)).copy()
        return changed

    def after(self, answer: Any, given: Given) -> Any:
        """The first row of what came back, if one vector was asked about."""
        if np.ndim(given[self.problem.data]) != 1:
            return answer

        def change(name: str, part: Any) -> Any:
            whole = np.asarray(part)
            if whole.ndim == 0 or len(whole) != 1:
                raise ValueError(
                    f"shape {whole.shape} for a batch of one row, expected (1, ...): "
                    "does the function average or sum over the rows?"
                )
            return whole[0]

        return each(answer, change) if not isinstance(answer, list) else change("answer", answer)
