"""Duality gap of a structural SVM for recall at k, from w and the sets that carry weight.

A cut is a set T of k samples: Delta(T) = 1 - |T and pos|/P, c_T = 2 (1_T - 1_pos). For scores s = Xw,
weights lambda_t >= 0 with sum at most C (the rest is that of the slack's bound 0) and
v = -sum_t lambda_t X'c_t,

    P(w) - D(lambda) = 1/2||w - v||^2 + sum_t lambda_t [L(s) - Delta_t - <c_t,s>] + (C - sum_t lambda_t) L(s),

a sum of nonnegative terms, L(s) = max(0, max_T Delta(T) + <c_T,s>).
"""

from dataclasses import dataclass

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import Proof
from refsolve.proofs.space import Space


@dataclass(frozen=True)
class Problem:
    """The rows, which of them are positive, C and k."""

    space: Space
    up: Array
    C: float
    k: int

    def worst(self, scores: Array) -> tuple[Real, Array]:
        """max_T Delta(T) + <c_T,s>, and the T (n,) that attains it: every number of positives is tried."""
        order = np.argsort(-scores, kind="stable")
        up, down = order[self.up[order]], order[~self.up[order]]
        most = np.arange(max(0, self.k - len(down)), min(self.k, len(up)) + 1)
        zero = np.zeros(1, scores.dtype)
        # what is lost of the positives, and what the negatives add
        lost = np.append(np.cumsum(scores[up[::-1]])[::-1], zero)[most]
        added = np.append(zero, np.cumsum(scores[down]))[self.k - most]
        values = 1 - most / Real(len(up)) + 2 * (added - lost)
        t = int(most[values.argmax()])
        members = np.zeros(len(scores), bool)
        members[up[:t]] = members[down[: self.k - t]] = True
        return values.max(), members

    def offsets(self, sets: Array) -> Array:
        """The Delta(T) of sets (m, n)."""
        return 1 - (sets & self.up).sum(axis=1) / Real(self.up.sum())

    def coefficients(self, sets: Array) -> Array:
        """The c_T (m, n)."""
        return 2 * (sets.astype(Real) - self.up)

    def value(self, w: Array) -> Real:
        """P."""
        loss = max(self.worst(self.space.values(w).astype(Real))[0], Real(0))
        return (w * w).sum() / 2 + self.C * loss

    def repair(self, weights: Array) -> tuple[Array, float]:
        """Weights >= 0 with a sum of at most C, and by how much the given ones were not."""
        inside = np.maximum(0, weights)
        over = float(inside.sum() - self.C)
        off = max(0.0, float(-weights.min(initial=0)), over)
        return (inside * (self.C / inside.sum()) if over > 0 else inside), off

    def pull(self, sets: Array, weights: Array) -> Array:
        """The v of weighted sets."""
        return self.space.pull(-weights @ self.coefficients(sets)).astype(Real)

    def lower(self, sets: Array, weights: Array) -> Real:
        """D of feasible weights."""
        v = self.pull(sets, weights)
        return weights @ self.offsets(sets) - (v * v).sum() / 2

    def prove(self, w: Array, sets: Array, weights: Array) -> Proof:
        """P - D of w and feasible weights; residuals are those of the sets and of the slack's bound."""
        space, n, eps = self.space, len(self.up), self.space.eps
        scores, c = space.values(w).astype(Real), self.coefficients(sets)
        loss = max(self.worst(scores)[0], Real(0))
        lacking = weights * np.maximum(0, loss - self.offsets(sets) - c @ scores)
        rest = np.maximum(Real(0), self.C - weights.sum()) * loss
        drift = ((w - self.pull(sets, weights)) ** 2).sum() / 2
        terms = {
            "1/2||w - v||^2, v of the weights": float(drift),
            "sum_T lambda_T (L(s) - Delta_T - <c_T,s>)": float(lacking.sum() + rest),
        }
        # of scores, of the sums of 2 (k + P) of them, and of v
        spread = 2 * (self.k + int(self.up.sum()))
        off = spread * (space.slip(w).max() + (n + 8) * eps * abs(scores).max()) + 8 * eps
        error = 4 * self.C * off + space.apart_slip(w, weights @ abs(c))
        error += (n + 16) * eps * (drift + lacking.sum() + self.C * loss)
        lower = self.lower(sets, weights)
        residuals = np.append(lacking, rest)
        return Proof(self.value(w), lower, residuals, drift, terms, Real(error))
