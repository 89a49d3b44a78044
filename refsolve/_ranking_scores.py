"""Loss-augmented inference for AP or NDCG in numpy: gains h_k(j), the greedy maximiser, and its proof.

With positives and negatives sorted by descending score, every ranking that is sorted within the
classes has Delta + <coefficients, s> = sum over pairs (k, j), j above k, of

    h_k(j) = steps(k, j)/norm - 2 (s_k - s_j)/(PN),   for AP (1/P) k/((j+k)(j+k-1)) - 2 (s_k - s_j)/(PN),

and negative j stands above the positives k >= i_j: it adds delta_j(i_j) = sum_{k >= i_j} h_k(j).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from refsolve._ranking import check_relevance, conjugate_partition
from refsolve._types import Array, Real
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.proofs.space import chunks
from refsolve.spec import check_vector

#: Gains held at a time.
BLOCK = 1_000_000


class Violated(NamedTuple):
    """The most violated ranking: L, its Delta, and its inversions in input order."""

    value: float
    delta: float
    inversions: Array


class Query:
    """Checked scores and relevance of one query, sorted within the classes.

    Attributes
    ----------
    scores, positive : (n,) arrays
        As given.
    P, N : int
        Numbers of positives and negatives.
    above, below : int arrays
        Indices of the positives and of the negatives by descending score, the first of equals first.
    """

    def __init__(
        self, scores: ArrayLike, y: ArrayLike, loss: RankingLoss = AVERAGE_PRECISION
    ) -> None:
        self.loss = loss
        check_vector("scores", scores)
        self.scores = np.asarray(scores, Real)
        self.positive = check_relevance(y, self.scores.size)
        rows, others = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        self.above = rows[np.argsort(-self.scores[rows], kind="stable")]
        self.below = others[np.argsort(-self.scores[others], kind="stable")]
        self.P, self.N = rows.size, others.size

    def gains(self, ranks: Array | None = None) -> Array:
        """h_k(j), (P, columns), for the negatives of these ranks j (all), in longdouble."""
        ranks = np.arange(1, self.N + 1) if ranks is None else ranks
        return self._gain(np.arange(1, self.P + 1)[:, None], ranks)

    def _gain(self, k: Array, j: Array) -> Array:
        high = self.scores[self.above[k - 1]].astype(Real)
        low = self.scores[self.below[j - 1]].astype(Real)
        k, j = k.astype(Real), j.astype(Real)
        return self.loss.steps(k, j) / self.loss.norm(self.P) - 2 * (high - low) / (Real(self.P) * self.N)

    def blocks(self, ranks: Array) -> Iterator[tuple[slice, Array]]:
        """Slices of the ranks, and delta_j(i) (P + 1, columns) with i from P + 1 down to 1."""
        step = max(1, BLOCK // (self.P + 1))
        for part in chunks(ranks.size, step):
            sums = np.zeros((self.P + 1, part.stop - part.start), Real)
            np.cumsum(self.gains(ranks[part])[::-1], axis=0, out=sums[1:])
            yield part, sums

    @cached_property
    def best(self) -> tuple[Array, Any]:
        """Inversions of the most violated ranking, in input order, and L in longdouble."""
        opt, total = self.greedy()
        return self.ranking(opt), total

    def greedy(self, every: bool | None = None) -> tuple[Array, Any]:
        """opt_j (N,), the largest maximiser in 1..P+1 of delta_j, and sum_j max_i delta_j(i).

        h_k(j) falls strictly in j, so opt_j does not fall; from the first opt_j = P + 1 on nothing
        is left to add. With ``every`` all i are tried; by default only if there are few, else for
        j < P, with AP: from j = P on h_k(j) does not fall in k, and opt_j counts the k with h_k(j) <= 0.
        """
        every = self.P * self.N <= BLOCK if every is None else every
        every = every or not self.loss.rises
        opt = np.full(self.N, self.P + 1)
        head = self.N if every else min(self.N, self.P - 1)
        total, open_ended = Real(0), True
        for part, sums in self.blocks(np.arange(1, head + 1)):
            best = sums.argmax(axis=0)  # the first of equals: fewest inversions
            total += np.take_along_axis(sums, best[None], axis=0).sum()
            opt[part] = self.P + 1 - best
            if best[-1] == 0:
                open_ended = False
                break
        if open_ended and head < self.N:
            for start in range(head, self.N, BLOCK):
                opt[start : start + BLOCK] = self._bisect(start + 1, min(start + BLOCK, self.N))
                if opt[min(start + BLOCK, self.N) - 1] == self.P + 1:
                    break
        opt = np.maximum.accumulate(opt)
        return opt, total if every else self.value(self.ranking(opt))

    def _bisect(self, first: int, last: int) -> Array:
        """1 + #{k: h_k(j) <= 0} for the ranks first..last, h_k(j) not falling in k."""
        ranks = np.arange(first, last + 1)
        low, high = np.zeros(ranks.size, int), np.full(ranks.size, self.P)
        for _ in range(self.P.bit_length()):
            middle = (low + high) // 2  # equal to both where they have met
            up = self._gain(np.minimum(middle + 1, self.P), ranks) <= 0
            low = np.where(up & (low < high), middle + 1, low)
            high = np.where(up, high, middle)
        return low + 1

    def ranking(self, opt: Array) -> Array:
        """Inversions in input order of the ranking with these interleaving ranks, non-decreasing."""
        inversions = np.empty(self.scores.size, np.int64)
        inversions[self.below] = self.P + 1 - opt
        inversions[self.above] = conjugate_partition(self.P + 1 - opt, self.P)[::-1]
        return inversions

    def centred(self, inversions: Array) -> Array:
        """Scores in longdouble less one of theirs, amid those that the ranking moves: <1,a> = 0."""
        s = self.scores.astype(Real)
        moved = s[inversions > 0]
        return s - np.partition(moved, moved.size // 2)[moved.size // 2] if moved.size else s

    def value(self, inversions: Array) -> Any:
        """Delta + <coefficients, s> of a ranking, in longdouble."""
        moves = np.where(self.positive, -inversions, inversions) @ self.centred(inversions)
        return self.loss.delta(inversions[self.positive]) + 2 * moves / (Real(self.P) * self.N)


def most_violated(
    scores: ArrayLike, y: ArrayLike, loss: RankingLoss = AVERAGE_PRECISION
) -> Violated:
    """The ranking that maximises Delta + <coefficients, s>, with the fewest inversions.

    In longdouble, by the formulas as they stand: O(PN) while that is small, O(P^2 + N log n) beyond for AP.
    ``value`` is L.
    """
    query = Query(scores, y, loss)
    inversions, total = query.best
    return Violated(float(total), float(loss.delta(inversions[query.positive])), inversions)
