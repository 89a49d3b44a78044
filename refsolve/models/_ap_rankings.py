"""The queries of a model over rankings: Delta, coefficients and the loss as means over them.

A ranking is the vector of its inversions, see `refsolve._ranking`; with several queries a vector
joins one ranking of each, in the order of the examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve._ranking import check_relevance, conjugate_partition, loss_of_counts, queries, signed
from refsolve._ranking_scores import Query as Scored
from refsolve.errors import InvalidParameterError

Array = np.ndarray[Any, Any]
Real = np.longdouble


@dataclass(frozen=True)
class Query:
    """One query: the items it ranks and which of them are positive."""

    items: Array
    positive: Array

    def delta(self, inversions: Array) -> Array:
        """1 - AP of each row of inversions (m, n)."""
        return np.array([loss_of_counts(row) for row in inversions[:, self.positive]])

    def coefficients(self, inversions: Array) -> Array:
        """Of Psi(R) - Psi(R*) in the scores: -2c/(PN) on positives, 2t/(PN) on negatives."""
        return signed(self.positive, inversions)

    def invalid(self, inversions: Array) -> Array:
        """Indices of the rows of integers (m, n) that are no ranking."""
        c, t = inversions[:, self.positive], inversions[:, ~self.positive]
        N = t.shape[1]
        bad = (inversions < 0).any(axis=1) | (c > N).any(axis=1)
        for row in np.flatnonzero(~bad):
            bad[row] = (np.sort(t[row])[::-1] != conjugate_partition(c[row], N)).any()
        return np.flatnonzero(bad)

    def most_violated(self, scores: Array) -> tuple[Any, Array]:
        """A bound on Delta(R) + <coefficients, scores> of every R, and the R that attains it.

        The bound sum_j max_i delta_j(i) needs no argument on the ranking that was found.
        """
        scored = Scored(scores, self.positive)
        places, bound = scored.greedy()
        return bound, scored.ranking(places)


@dataclass(frozen=True)
class Queries:
    """All queries over n items; every mean is over them."""

    n: int
    queries: tuple[Query, ...]

    def delta(self, inversions: Array) -> Array:
        """Mean Delta of each row of inversions (m, n)."""
        each = [q.delta(inversions[:, q.items]) for q in self.queries]
        return np.asarray(np.mean(each, axis=0, dtype=Real))

    def coefficients(self, inversions: Array) -> Array:
        """Coefficients (m, n) of the mean in the scores."""
        out = np.zeros(inversions.shape, Real)
        for q in self.queries:
            out[:, q.items] = q.coefficients(inversions[:, q.items]) / len(self.queries)
        return out

    def most_violated(self, scores: Array) -> tuple[Any, Array]:
        """Upper bound on the mean loss, attained by the inversions (n,) beside it."""
        inversions = np.zeros(self.n, np.int64)
        value = Real(0)
        for q in self.queries:
            bound, inversions[q.items] = q.most_violated(scores[q.items])
            value += bound
        return value / len(self.queries), inversions

    def check_rankings(self, rankings: Any) -> Array:
        """Inversions (m, n) of m rankings, or `InvalidParameterError`."""
        array = np.asarray(rankings)
        if array.ndim != 2 or array.shape[1] != self.n or len(array) == 0:
            raise InvalidParameterError(
                "rankings", rankings, f"inversions of shape (m, {self.n}), m >= 1",
                "pass one row per ranking",
            )  # fmt: skip
        if array.dtype.kind not in "iu":
            fix = f"the dtype is {array.dtype}; convert with astype(int)"
            raise InvalidParameterError("rankings", rankings, "integer inversions", fix)
        array = array.astype(np.int64)
        for q in self.queries:
            bad = q.invalid(array[:, q.items])
            if bad.size:
                raise InvalidParameterError(
                    f"rankings[{bad[0]}]", array[bad[0], q.items],
                    "the inversions of a ranking: for a positive the negatives above it, for a "
                    "negative the positives below it", "count both sides of the same ranking",
                )  # fmt: skip
        return array


def check_queries(y: Any, n: int, groups: Any = None) -> Queries:
    """Queries from n labels and group names; each needs a positive and a negative."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        expected = f"{n} labels, 0/1, -1/1 or booleans"
        raise InvalidParameterError("y", y, expected, "pass one label per example")
    found = (Query(q, check_relevance(labels[q])) for q in queries(labels, groups))
    return Queries(n, tuple(found))
