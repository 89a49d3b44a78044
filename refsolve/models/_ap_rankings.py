"""The queries of a model over rankings: Delta, coefficients and the loss as means over them.

A ranking is the vector of its inversions, see `refsolve._ranking`; with several queries a vector
joins one ranking of each, in the order of the examples.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve._ranking import MAX_LISTED, all_rankings, check_relevance, queries
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import Master, couple
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.ranking_model import Queries, Query
from refsolve.proofs.ranking_truth import ranking_defect
from refsolve.proofs.space import Space

#: Examples of a query up to which, by default, all its rankings are constraints.
FEW = 6


def check_ranking(queries: Queries, name: str, ranking: ArrayLike) -> Array:
    """Inversions (n,) of one ranking, or `InvalidParameterError` under this name."""
    try:
        return check_rankings(queries, np.asarray(ranking)[None])[0]
    except InvalidParameterError as error:
        fix = "pass the inversions of one ranking as integers"
        raise InvalidParameterError(name, ranking, error.expected, fix) from None


def check_rankings(queries: Queries, rankings: ArrayLike) -> Array:
    """Inversions (m, n) of m rankings, or `InvalidParameterError`."""
    array = np.asarray(rankings)
    if array.ndim != 2 or array.shape[1] != queries.n or len(array) == 0:
        raise InvalidParameterError(
            "rankings", rankings, f"inversions of shape (m, {queries.n}), m >= 1",
            "pass one row per ranking",
        )  # fmt: skip
    if array.dtype.kind not in "iu":
        fix = f"the dtype is {array.dtype}; convert with astype(int)"
        raise InvalidParameterError("rankings", rankings, "integer inversions", fix)
    array = array.astype(np.int64)
    for t, row in enumerate(array):
        for items, positive in queries.queries:
            if ranking_defect(positive, row[items]):
                raise InvalidParameterError(
                    f"rankings[{t}]", row[items],
                    "the inversions of a ranking: for a positive the negatives above it, for a "
                    "negative the positives below it", "count both sides of the same ranking",
                )  # fmt: skip
    return array


def check_classes(y: ArrayLike, n: int) -> Array:
    """Mask of the positives from n labels; one class alone is allowed."""
    labels = np.asarray(y)
    values = set(np.unique(labels).tolist()) if labels.dtype.kind in "biuf" else {None}
    if labels.shape != (n,) or not (values <= {0, 1} or values <= {-1, 1}):
        expected = f"{n} labels, 0/1, -1/1 or booleans"
        raise InvalidParameterError("y", y, expected, "pass one label per example")
    return np.asarray(labels == 1)


def check_queries(y: ArrayLike, n: int, groups: ArrayLike | None = None) -> Queries:
    """Queries from n labels and group names; each needs a positive and a negative."""
    labels = check_classes(y, n)
    found = (Query(q, check_relevance(labels[q])) for q in queries(labels, groups))
    return Queries(n, tuple(found))


class RankingMaster(Master):
    """The master whose cuts are rankings of queries over the rows of X.

    Parameters
    ----------
    queries : Queries
    space : Space
        Rows of X.
    C, unit : float
    reference : ndarray of shape (n,), optional
        Inversions of a ranking whose coefficients are subtracted from all others.
    **hard
        See `Master`.
    """

    def __init__(
        self,
        queries: Queries,
        space: Space,
        C: float,
        unit: float,
        reference: Array | None = None,
        **hard: Any,
    ) -> None:
        free, rows = hard.get("free", 0), space.dense().astype(float)
        super().__init__(C, max(len(queries.queries), 1), rows.shape[1], unit, **hard)
        self.queries, self.space = queries, space
        self.data = np.pad(rows, ((0, 0), (0, free)))  # rankings do not see b
        self.reference = np.zeros(queries.n, np.int64) if reference is None else reference
        self.add_ranking(self.reference)  # a cut that is constant keeps the master bounded
        self.add_ranking(queries.most_violated(np.zeros(queries.n))[1])
        self._add_nothing()

    def _add_rows(self, index: int, inversions: Array) -> bool:
        q = self.queries.queries[index]
        weights = (inversions - self.reference[q.items]) * q.units()
        new, deltas = False, self.queries.loss.delta(inversions[:, q.positive])
        for tag, offset, row in zip(
            inversions, deltas, weights @ self.data[q.items], strict=True
        ):
            new |= self.add(index, tag, offset, row)
        return new

    def add_ranking(self, inversions: Array) -> bool:
        """Keep the cut of each query in a vector of inversions (n,); whether one was new."""
        parts = enumerate(self.queries.queries)
        return sum(self._add_rows(index, inversions[None, q.items]) for index, q in parts) > 0

    def separate(self, w: Array, _: float = 0.0) -> bool:
        """Keep the rankings most violated at w; whether one was new."""
        return self.add_ranking(self.queries.most_violated(self.space.values(w).astype(Real))[1])

    def add_all(self) -> None:
        """Keep all rankings of every query."""
        for index, q in enumerate(self.queries.queries):
            self._add_rows(index, all_rankings(q.positive))

    def listed(self) -> Self:
        """With all rankings of every query, as `all_rankings` lists them, and no other cut."""
        self.clear(len(self.tags))
        self.add_all()
        self._add_nothing()
        return self

    def _add_nothing(self) -> None:
        """The only cut where there is no ranking: a loss of 0."""
        if not self.queries.queries:
            self.add(0, np.zeros(0), 0.0, np.zeros(self.d + self.free))

    def whole(self) -> fenchel.Model:
        """The model with all of them."""
        self.listed()
        return self.declared(max(map(len, self.tags)))

    def adopt(self, other: RankingMaster) -> None:
        """Keep the rankings of another master over the same queries."""
        for index, tags in enumerate(other.tags):
            self._add_rows(index, np.array(tags))

    def joined(self, parts: list[Array]) -> tuple[Array, Array]:
        """Weights per query as weights (m,), of sum C, on inversions (m, n)."""
        weights, index = couple(parts)
        inversions = np.zeros((len(weights), self.queries.n), np.int64)
        for q, query in enumerate(self.queries.queries):
            inversions[:, query.items] = np.array(self.tags[q])[index[:, q]]
        return weights * self.C, inversions


def wants_all(how: str, queries: Queries) -> bool:
    """Whether all rankings are constraints, from the argument ``rankings`` of the operations."""
    if how not in ("auto", "all", "cutting_plane"):
        raise InvalidParameterError("rankings", how, "'auto', 'all' or 'cutting_plane'", "choose")
    largest = max((q.items.size for q in queries.queries), default=0)
    if how == "all" and largest > MAX_LISTED:
        raise InvalidParameterError(
            "rankings", how, f"queries of at most {MAX_LISTED} examples, not {largest}",
            "use 'cutting_plane', or fewer examples",
        )  # fmt: skip
    return how == "all" or (how == "auto" and largest <= FEW)
