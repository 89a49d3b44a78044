"""Duality gap of TopPush: squared hinges of the positives below the best negative.

For scores s = Xw, t the largest of a negative, z_i = 1 + t - s_i, feasible multipliers alpha of the
positives and beta of the negatives (>= 0, equal sums) and v = sum_i alpha_i x_i - sum_j beta_j x_j,

    P(w) - D(alpha, beta) = 1/2||w - v||^2 + sum_i [C (max(0, z_i) - alpha_i/(2C))^2 + alpha_i max(0, -z_i)]
                            + sum_j beta_j (t - s_j),

a sum of nonnegative terms. Multipliers are one vector (n,).
"""

from dataclasses import dataclass

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import Proof
from refsolve.proofs.space import Space, balanced


@dataclass(frozen=True)
class Problem:
    """The rows, which of them are positive, and C."""

    space: Space
    up: Array
    C: float

    def repair(self, given: Array) -> tuple[Array, float]:
        """Multipliers >= 0 with equal sums, and by how much the given ones were not."""
        off = abs(given[self.up].sum() - given[~self.up].sum())
        inside = balanced(np.maximum(0, given), self.up)
        return inside, max(0.0, float(-given.min()), float(off))

    def pull(self, a: Array) -> Array:
        """The v of multipliers."""
        return self.space.pull(np.where(self.up, a, -a))

    def hinges(self, scores: Array) -> Array:
        """The z_i."""
        return np.asarray(1 + scores[~self.up].max() - scores[self.up])

    def value(self, w: Array) -> Real:
        """P."""
        z = np.maximum(0, self.hinges(self.space.values(w)))
        return (w * w).sum() / 2 + self.C * (z * z).sum()

    def lower(self, a: Array) -> Real:
        """D of feasible multipliers."""
        alpha, v = a[self.up], self.pull(a)
        return alpha.sum() - (alpha * alpha).sum() / (4 * Real(self.C)) - (v * v).sum() / 2

    def prove(self, w: Array, a: Array) -> Proof:
        """P - D of w and feasible multipliers as a sum of nonnegative terms."""
        space, n, eps = self.space, len(a), self.space.eps
        scores, v = space.values(w), self.pull(a)
        z, alpha, C = self.hinges(scores), a[self.up], Real(self.C)
        over = np.maximum(0, z)
        residuals = np.empty(n, space.real)
        residuals[self.up] = C * (over - alpha / (2 * C)) ** 2 + alpha * (over - z)
        top = scores[~self.up].max()
        residuals[~self.up] = a[~self.up] * (top - scores[~self.up])
        drift = ((w - v) ** 2).sum() / 2
        # what rounding in scores, in v and in the sums of the multipliers may hide
        off = 2 * space.slip(w).max() + 4 * eps * (1 + abs(scores).max())
        error = 2 * C * (off * (over + off)).sum() + 2 * off * alpha.sum()
        error += space.apart_slip(w - v, 2 * a) + (n + 8) * eps * abs(top) * alpha.sum()
        error += (n + 16) * eps * (C * (over * over).sum() + drift + residuals.sum())
        terms = {
            "positives: hinges against alpha": float(residuals[self.up].sum()),
            "negatives: sum_j beta_j (t - <x_j,w>)": float(residuals[~self.up].sum()),
            "1/2||w - v||^2, v of the multipliers": float(drift),
        }
        return Proof(self.value(w), self.lower(a), residuals, drift, terms, error)
