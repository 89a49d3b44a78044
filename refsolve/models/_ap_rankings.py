"""Rankings of one or several queries by their inversions: Delta, coefficients, the loss, all of them.

A ranking is given by its inversions: for a positive the negatives above it, for a negative the
positives below it. These are the row and column sums of a 0/1 matrix whose rows are nested, and
such a matrix is the only one with its sums: distinct rankings have distinct inversions. With
several queries Delta, coefficients and loss are means over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import numpy as np

from refsolve.errors import InvalidParameterError

Array = np.ndarray[Any, Any]
Real = np.longdouble
#: Entries of h_k(j) held at a time.
CHUNK = 2_000_000


@dataclass(frozen=True)
class Query:
    """One query: the items it ranks and which of them are positive."""

    items: Array
    positive: Array

    @property
    def n_positive(self) -> int:
        """P."""
        return int(self.positive.sum())

    @property
    def n_negative(self) -> int:
        """N."""
        return int((~self.positive).sum())

    @property
    def pairs(self) -> int:
        """P N; 0 where there is nothing to rank."""
        return self.n_positive * self.n_negative

    def delta(self, inversions: Array) -> Array:
        """1 - AP = (1/P) sum_k c_(k)/(k + c_(k)) of each row of inversions (m, n)."""
        if self.pairs == 0:
            return np.zeros(len(inversions), Real)
        c = np.sort(inversions[:, self.positive], axis=1).astype(Real)
        k = np.arange(1, self.n_positive + 1)
        return (c / (k + c)).sum(axis=1) / self.n_positive

    def coefficients(self, inversions: Array) -> Array:
        """Of Psi(R) - Psi(R*) in the scores: -2c/(PN) on positives, 2t/(PN) on negatives."""
        signs = np.where(self.positive, Real(-2), Real(2))
        return inversions * (signs / max(self.pairs, 1))

    def is_ranking(self, inversions: Array) -> Array:
        """Whether each row of integers (m, n) is one: sorted t and c are conjugate partitions."""
        c, t = inversions[:, self.positive], inversions[:, ~self.positive]
        valid = (inversions >= 0).all(axis=1) & (c <= self.n_negative).all(axis=1)
        j = np.arange(1, self.n_negative + 1)
        for row in np.flatnonzero(valid):
            at_least = self.n_positive - np.searchsorted(np.sort(c[row]), j)  # #{i: c_i >= j}
            valid[row] = (np.sort(t[row])[::-1] == at_least).all()
        return valid

    def most_violated(self, scores: Array) -> tuple[Any, Array]:
        """An upper bound on every Delta(R) + <coefficients, scores>, and a ranking that attains it.

        Each negative j, sorted, takes the best place for itself: sum_j max_i delta_j(i). No ranking
        gets more out of its negatives, and the places chosen are nested: they are a ranking.
        """
        inversions = np.zeros(self.positive.size, np.int64)
        if self.pairs == 0:
            return Real(0), inversions
        s = scores.astype(Real)
        order = np.argsort(-s, kind="stable")
        up, down = order[self.positive[order]], order[~self.positive[order]]
        P, N = len(up), len(down)
        k = np.arange(1, P + 1, dtype=Real)[:, None]
        value = Real(0)
        size = max(1, CHUNK // P)
        for start in range(0, N, size):
            block = down[start : start + size]
            j = np.arange(start + 1, start + len(block) + 1, dtype=Real)
            h = k / (P * (j + k) * (j + k - 1)) - 2 * (s[up][:, None] - s[block]) / self.pairs
            below = np.vstack([h[::-1].cumsum(axis=0)[::-1], np.zeros((1, len(block)), Real)])
            best = P - below[::-1].argmax(axis=0)  # 0-based; of equal places the lowest
            value += below[best, np.arange(len(block))].sum()
            inversions[block] = P - best
            inversions[up] += np.bincount(best, minlength=P + 1).cumsum()[:P]
        return value, inversions

    def all_rankings(self) -> Array:
        """Every ranking, in every order of the items: inversions (`n_rankings`, n)."""
        up, down = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        found = []
        for blocks in _alternations(tuple(down), tuple(up), first=True):
            row = np.zeros(self.positive.size, np.int64)
            above = 0
            for position, block in enumerate(blocks):  # negatives, positives, negatives, ...
                if position % 2:
                    row[list(block)] = above
                else:
                    above += len(block)
                    row[list(block)] = sum(len(b) for b in blocks[position + 1 :: 2])
            found.append(row)
        return np.array(found)

    @property
    def n_rankings(self) -> int:
        """Number of different rankings, a poly-Bernoulli number: sum_j j!^2 S(P+1,j+1) S(N+1,j+1)."""
        P, N = self.n_positive, self.n_negative
        return sum(
            factorial(j) ** 2 * _subsets(P + 1, j + 1) * _subsets(N + 1, j + 1)
            for j in range(min(P, N) + 1)
        )


def _subsets(n: int, k: int) -> int:
    """Stirling number of the second kind."""
    return sum((-1) ** (k - i) * comb(k, i) * i**n for i in range(k + 1)) // factorial(k)


def _alternations(
    next_class: tuple[int, ...], other: tuple[int, ...], first: bool = False
) -> Iterator[list[tuple[int, ...]]]:
    """Ways to take turns: blocks of one class, of the other, ...; only the first may be empty."""
    if not next_class and not first:
        if not other:
            yield []
        return
    for mask in range(0 if first else 1, 2 ** len(next_class)):
        block = tuple(v for i, v in enumerate(next_class) if mask >> i & 1)
        rest = tuple(v for i, v in enumerate(next_class) if not mask >> i & 1)
        if not other:
            if not rest:
                yield [block]
            continue
        for tail in _alternations(other, rest):
            yield [block, *tail]


@dataclass(frozen=True)
class Queries:
    """All queries over n items; every mean is over them."""

    n: int
    queries: tuple[Query, ...]

    def delta(self, inversions: Array) -> Array:
        """Mean Delta of each row of inversions (m, n)."""
        return sum(q.delta(inversions[:, q.items]) for q in self.queries) / Real(len(self.queries))

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
            raise InvalidParameterError(
                "rankings", rankings, "integer inversions", f"the dtype is {array.dtype}; count"
            )
        array = array.astype(np.int64)
        for q in self.queries:
            bad = np.flatnonzero(~q.is_ranking(array[:, q.items]))
            if bad.size:
                raise InvalidParameterError(
                    "rankings", f"row {bad[0]}, {array[bad[0], q.items].tolist()}"[:70],
                    "the inversions of a ranking: for a positive the negatives above it, for a "
                    "negative the positives below it", "count both sides of the same ranking",
                )  # fmt: skip
        return array


def check_labels(y: Any, n: int | None = None) -> Array:
    """Mask of the positives from y: booleans, 0/1 or -1/1."""
    array = np.asarray(y)
    expected = "one label per example" if n is None else f"{n} labels"
    expected += ", all of them booleans, 0/1 or -1/1"
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InvalidParameterError("y", y, expected, "encode the positives as 1")
    values = set(np.unique(array).tolist())  # NaN is in neither set
    if (n is not None and array.size != n) or not (values <= {0, 1} or values <= {-1, 1}):
        raise InvalidParameterError("y", y, expected, "encode the positives as 1")
    return np.asarray(array == 1)


def check_queries(y: Any, n: int | None = None, groups: Any = None) -> Queries:
    """Queries from labels and group identifiers; each needs a positive and a negative."""
    positive = check_labels(y, n)
    n = positive.size
    if groups is None:
        ids, index = np.zeros(1), np.zeros(n, np.intp)
    else:
        array = np.asarray(groups)
        if array.shape != (n,) or (array.dtype.kind == "f" and not np.isfinite(array).all()):
            raise InvalidParameterError(
                "groups", groups, f"{n} identifiers of queries", "pass one per example"
            )
        ids, index = np.unique(array, return_inverse=True)
    queries = []
    for g in range(len(ids)):
        items = np.flatnonzero(index == g)
        query = Query(items, positive[items])
        if query.pairs == 0:
            lacking = "positive" if query.n_positive == 0 else "negative"
            name, where = ("y", "") if groups is None else ("groups", f" in query {ids[g]!r}")
            raise InvalidParameterError(
                name, f"no {lacking}{where}", "a positive and a negative in every query",
                "add one, or drop the query: average precision ranks one class above the other",
            )  # fmt: skip
        queries.append(query)
    return Queries(n, tuple(queries))
