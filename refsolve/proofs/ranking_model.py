"""Duality gap of a model over rankings, from its weights w and the rankings that carry weight.

A cut is a ranking R_t of all examples (or of bags, each by one row of X). With rows X_t, scores s = Xw,
weights lambda_t >= 0 that sum to at most C (the rest is the right ranking's, whose Delta and coefficients
vanish) and v = -sum_t lambda_t X_t'c_t + C X'reference,

    P(w) - D(lambda) = 1/2||w - v||^2 + sum_t lambda_t [L(s) - Delta_t - <c_t, X_t w>],

a sum of nonnegative terms, for P = 1/2||w||^2 + C (L(s) - <reference, s>) and means over queries. The
reference is that of a convex step of the ramp loss, else 0. Easy examples (problem (10)) add multipliers
mu >= 0 with <mu, y> = 0: v gains X'(mu y), and the gap mu_i (y_i (s_i + b) - 1); w is scaled up if its
margins are short. L is bounded from above by the sum that `refsolve.proofs.ranking_truth` certifies.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from refsolve.proofs import ranking_truth
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import Proof
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.proofs.space import EPS, EPS_OF_REAL, Space, balanced


class Query(NamedTuple):
    """The items of a query, and which of them are positive."""

    items: Array
    positive: Array

    def units(self) -> Array:
        """Coefficients of one inversion: -2/(PN) at positives, 2/(PN) at negatives."""
        P = int(self.positive.sum())
        return np.where(self.positive, -1, 1) * (Real(2) / (P * (len(self.positive) - P)))


@dataclass(frozen=True)
class Queries:
    """Queries over n items; every mean is over them. Without any, and outside them, all is 0."""

    n: int
    queries: tuple[Query, ...]
    loss: RankingLoss = AVERAGE_PRECISION

    @cached_property
    def units(self) -> Array:
        """Coefficients of one inversion in the mean, (n,)."""
        out = np.zeros(self.n, Real)
        for query in self.queries:
            out[query.items] = query.units() / len(self.queries)
        return out

    def coefficients(self, inversions: Array) -> Array:
        """Coefficients (m, n) of the mean in the scores."""
        return np.asarray(inversions * self.units)

    def delta(self, inversions: Array) -> Array:
        """Mean of Delta of each row of inversions (m, n)."""
        total = np.zeros(len(inversions), Real)
        for query in self.queries:
            total += self.loss.delta(inversions[:, query.items[query.positive]])
        return total / max(1, len(self.queries))

    def worst(self, scores: Array) -> tuple[Real, float, Array]:
        """The mean of L, a bound on its error, and the inversions (n,) that attain it."""
        value, error, inversions = Real(0), 0.0, np.zeros(self.n, np.int64)
        for items, positive in self.queries:
            best = ranking_truth.solve(scores[items], positive, limit=0, of=self.loss)
            value += Real(best.value.numerator) / Real(best.value.denominator)
            error, inversions[items] = error + best.error, best.inversions
        many = max(1, len(self.queries))
        return value / many, error / many, inversions

    def most_violated(self, scores: Array) -> tuple[Real, Array]:
        """The mean loss, and the inversions (n,) that attain it."""
        value, _, inversions = self.worst(scores)
        return value, inversions

    def defect(self, inversions: Array) -> str | None:
        """Why these (n,) are not the inversions of a ranking of each query; None if they are."""
        outside = inversions.copy()
        for items, positive in self.queries:
            outside[items] = 0
            if found := ranking_truth.ranking_defect(positive, inversions[items]):
                return found
        return "inversions of an example that is not ranked" if outside.any() else None


class Easy(NamedTuple):
    """Labels -1/1 of the easy examples, 0 at the others, and whether there is a free b."""

    signs: Array
    free: bool = True

    @property
    def binding(self) -> bool:
        """Whether the constraints say anything of w: a free b alone satisfies a single class."""
        inside = self.signs[self.signs != 0]
        return bool(inside.size and not (self.free and abs(inside.sum()) == inside.size))

    def balanced(self, mu: Array) -> Array:
        """Multipliers >= 0 of the easy ones alone, with equal sums of both classes for a free b."""
        mu = np.where(self.signs != 0, np.maximum(0, mu), 0)
        if not self.free:
            return mu
        inside, out = self.signs != 0, mu.copy()
        out[inside] = balanced(mu[inside], self.signs[inside] > 0)
        return out

    def margins(self, scores: Array, b: Offset) -> Array:
        """y_i (s_i + b) of the easy examples."""
        inside = self.signs != 0
        return self.signs[inside] * (scores[inside] + b)

    def offset(self, scores: Array) -> Offset:
        """The b whose least margin is largest (0 without one); any large enough for one class."""
        if not (self.free and self.signs.any()):
            return Real(0)
        low = scores[self.signs > 0].min(initial=np.inf)
        high = scores[self.signs < 0].max(initial=-np.inf)
        if np.isinf(low) or np.isinf(high):
            return -1 - high if np.isinf(low) else 1 - low
        return -(low + high) / 2

    def repair(self, scores: Array, b: Offset | None) -> tuple[Real, Offset, float]:
        """The factor t >= 1 and the b that keep margins of 1, and by how much the given ones did not.

        Where the least margin is not positive, nothing on the ray of w is feasible: t is inf.
        """
        if not self.signs.any():
            return Real(1), Real(0) if b is None else b, 0.0
        short = 0.0
        if b is not None:
            short = max(0.0, float(1 - self.margins(scores, b).min()))
            if short == 0:
                return Real(1), b, 0.0
        b = self.offset(scores)
        least = self.margins(scores, b).min()
        short = short or max(0.0, float(1 - least))
        if least >= 1 or not self.binding:
            return Real(1), b, short
        if least <= 0:
            return Real(np.inf), b, np.inf
        t = 1 / least * (1 + 4 * EPS_OF_REAL)
        return t, t * b, short


@dataclass(frozen=True)
class RankingProof(Proof):
    """A `Proof`; residuals are those of the cuts, of the right ranking and of the easy examples.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The point that P was taken at.
    b : float
    short : float
        By how much the margins of the easy examples were below 1.
    """

    w: Array = field(kw_only=True, repr=False)
    b: Offset = field(kw_only=True)
    short: float = field(kw_only=True)


class Dual:
    """Weighted rankings and multipliers, repaired to feasibility, and the weights v they stand for.

    Parameters
    ----------
    space : Space
        Rows of X.
    queries : Queries
        Over the examples, or over bags.
    C : float
    inversions : (m, n) array of int
    weights : (m,) array
        Clipped at 0, and scaled down to the sum C.
    rows : (m, n) array of int, optional
        Row of X of each bag in each cut; by default the examples are the rows.
    reference : (n,) array of int, optional
    easy, mu : Easy and (n,) array, optional
    """

    def __init__(
        self,
        space: Space,
        queries: Queries,
        C: float,
        inversions: Array,
        weights: Array,
        *,
        rows: Array | None = None,
        reference: Array | None = None,
        easy: Easy | None = None,
        mu: Array | None = None,
    ) -> None:
        self.space, self.queries, self.C = space, queries, Real(C)
        self.easy = Easy(np.zeros(queries.n, Real)) if easy is None else easy
        lam = np.maximum(weights, 0)
        total = lam.sum()
        self.weights = lam * (self.C / total) if total > C else lam
        given = np.zeros(queries.n, Real) if mu is None else mu
        self.mu = self.easy.balanced(given)
        self.moved = float(abs(self.weights - weights).sum() + abs(self.mu - given).sum())
        self.coefficients, self.rows = queries.coefficients(inversions), rows
        self.offsets = queries.delta(inversions)
        fixed = np.zeros((1, queries.n), np.int64) if reference is None else reference[None]
        self.fixed = queries.coefficients(fixed)[0]
        pulls, sizes = np.zeros(space.total, Real), np.zeros(space.total, Real)
        cuts = -self.weights[:, None] * self.coefficients
        where = np.broadcast_to(np.arange(queries.n), cuts.shape) if rows is None else rows
        np.add.at(pulls, where, cuts)
        np.add.at(sizes, where, abs(cuts))
        if rows is None:
            extra = self.C * self.fixed + self.mu * self.easy.signs
            pulls, sizes = pulls + extra, sizes + self.C * abs(self.fixed) + self.mu
        self.v = space.pull(pulls).astype(Real)
        self.off = (queries.n + len(lam) + 4) * space.eps * float((sizes * space.norms).sum())

    def lower(self) -> tuple[Real, float]:
        """D, and what rounding may hide in it."""
        gains = self.weights @ self.offsets + self.mu.sum()
        length = float(np.sqrt((self.v * self.v).sum()))
        size = self.queries.n + len(self.weights)
        error = length * self.off + self.off**2 / 2 + 4 * size * EPS_OF_REAL * float(gains)
        return gains - (self.v * self.v).sum() / 2, error

    def bound(self) -> float:
        """A lower bound on the optimum, rounded to a float."""
        value, error = self.lower()
        return float(value) - error - EPS * abs(float(value))

    def prove(self, w: Array, b: Offset | None = None, seen: Array | None = None) -> RankingProof:
        """P - D at w, scaled up if the easy examples need it; ``seen``: the row of X of each bag."""
        every = self.space.values(w).astype(Real)
        scores = every if seen is None else every[seen]
        t, b, short = self.easy.repair(scores, b)
        scale = t if np.isfinite(t) else Real(1)
        w, every, scores = w * scale, every * scale, scores * scale
        value, slip, _ = self.queries.worst(scores)
        cuts = (self.coefficients * (scores if self.rows is None else every[self.rows])).sum(axis=1)
        lacking = self.weights * np.maximum(0, value - self.offsets - cuts)
        rest = np.maximum(Real(0), self.C - self.weights.sum()) * value  # the right ranking's
        inside = self.easy.signs != 0
        hard = self.mu[inside] * np.maximum(0, self.easy.margins(scores, b) - 1)
        drift = ((w - self.v) ** 2).sum() / 2
        # what rounding in the scores and in v may hide
        d, n, eps = self.space.width, self.queries.n, self.space.eps
        reach = float((self.space.norms * float(np.sqrt((w * w).sum()))).max(initial=0.0))
        error = float(self.C) * (slip + 8 * (d + 4) * eps * reach)
        most = float(abs(scores[inside] + b).max(initial=0.0)) + 1
        error += 4 * float(self.mu.sum()) * (eps * (d + 4) * reach + EPS_OF_REAL * most)
        error += float(np.sqrt(2 * drift)) * self.off + self.off**2 / 2
        largest = 1 + 4 * float(abs(every).max(initial=0.0))
        error += 4 * (n + 4) * EPS_OF_REAL * float(self.C) * largest
        terms = {
            "1/2||w - v||^2, v the dual's weights": float(drift),
            "sum_t lambda_t (L(s) - Delta_t - <c_t,s>)": float(lacking.sum() + rest),
        }
        if self.easy.signs.any():
            terms["sum_i mu_i (y_i (s_i + b) - 1)"] = float(hard.sum())
        primal = (w * w).sum() / 2 + self.C * (value - (self.fixed * scores).sum())
        lower, hidden = self.lower()
        if not np.isfinite(t):
            primal, drift, error = Real(np.inf), Real(np.inf), error + hidden
        return RankingProof(
            primal, lower, np.concatenate([lacking, [rest], hard]), drift, terms,
            Real(error), self.moved, w=w, b=b, short=short,
        )  # fmt: skip
