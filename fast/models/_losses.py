"""The losses that the trainers know, as parameters of one training core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import entr

from fast.losses import _batch, truncated_topk_entropy
from fast.solvers.entropy_rows import EntropyRows
from fast.solvers.rows import is_sparse
from fast.solvers.smooth_rows import SmoothRows

VARIANTS = {"alpha": 0, "beta": 1}


class Loss(Protocol):
    """What the trainers ask of a loss."""

    @property
    def variant(self) -> int:
        """0 alpha, 1 beta."""

    @property
    def k(self) -> int:
        """Number of guesses."""

    @property
    def gamma(self) -> float:
        """Smoothing of a hinge; 0 for plain hinges and for entropies."""

    @property
    def smooth(self) -> bool:
        """Whether Newton's method applies."""

    @property
    def solvers(self) -> tuple[str, ...]:
        """Algorithms that can train it."""

    def rows(self, y: np.ndarray, r: np.ndarray, m: int) -> Any:
        """Losses, gradients and Hessian products of all examples; for smooth losses."""

    def at_zero(self, m: int) -> float:
        """Loss of an example at W = 0."""

    def conjugates(self, masses: Any, r: np.ndarray) -> np.ndarray:
        """r_i times the conjugate of each example's block, for `dual_objective`."""

    def values(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each row of scores."""


@dataclass(frozen=True)
class TopKHinge:
    """Top-k hinge: 0 alpha or 1 beta, k, and the smoothing gamma (0: none)."""

    variant: int
    k: int
    gamma: float

    @classmethod
    def named(cls, variant: str, k: int, gamma: float) -> TopKHinge:
        """From the names that the estimators use."""
        return cls(VARIANTS[variant], int(k), float(gamma))

    @property
    def smooth(self) -> bool:
        """Whether the loss has a gradient."""
        return self.gamma > 0.0

    @property
    def solvers(self) -> tuple[str, ...]:
        """Algorithms that can train it."""
        return ("active", "newton", "sdca") if self.smooth else ("active", "sdca")

    def rows(self, y: np.ndarray, r: np.ndarray, m: int) -> SmoothRows:
        """Row operations of the smooth loss."""
        return SmoothRows(self, y, r, m)

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, where all margins are 1."""
        width = m - 1
        if self.gamma == 0.0:
            return min(self.k, width) / self.k
        # p = q*1 with <1,p> <= gamma and, for beta, p <= gamma/k; z = 1
        q = min(1.0, self.gamma / max(width, self.k if self.variant else 0))
        return width * q * (1.0 - 0.5 * q) / self.gamma

    def conjugates(self, masses: Any, r: np.ndarray) -> np.ndarray:
        """gamma/(2 r_i) ||x_i||^2 - <1,x_i>."""
        x = sp.csr_array(masses)
        values: np.ndarray = -np.asarray(x.sum(axis=1)).ravel()
        if self.gamma > 0.0:
            squares = np.asarray(x.multiply(x).sum(axis=1)).ravel()
            safe = np.where(r > 0.0, r, 1.0)
            values += 0.5 * self.gamma * np.where(r > 0.0, squares / safe, 0.0)
        return values

    def values(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each row of scores."""
        return np.asarray(_batch.value(self.variant, f, y, self.k, self.gamma, None, None))


@dataclass(frozen=True, eq=False)
class TopKEntropy:
    """Top-k entropy: 0 alpha or 1 beta, and k (1: softmax); ``dropped`` classes do not count.

    ``dropped`` (n, q) int64 names, per example, other classes that are left out of its loss: the
    pieces of the truncated entropy.
    """

    variant: int
    k: int
    dropped: np.ndarray | None = None
    gamma = 0.0
    smooth = True
    solvers = ("newton",)

    @classmethod
    def named(cls, variant: str, k: int) -> TopKEntropy:
        """From the names that the estimators use."""
        return cls(VARIANTS[variant], int(k))

    def rows(self, y: np.ndarray, r: np.ndarray, m: int) -> EntropyRows:
        """Row operations of the loss."""
        return EntropyRows(self, y, r, m)

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, where all scores are equal."""
        q = 0 if self.dropped is None else self.dropped.shape[1]
        rows = EntropyRows(TopKEntropy(self.variant, self.k), *_ONE, m - q)
        return rows.evaluate(np.zeros((1, m - q)), np.empty((1, m - q)))

    def conjugates(self, masses: Any, r: np.ndarray) -> np.ndarray:
        """r_i (<x,log x> + (1-s) log(1-s)) at x = x_i/r_i, s = <1,x>."""
        safe = np.where(r > 0.0, r, 1.0)
        x = (masses.toarray() if is_sparse(masses) else masses) / safe[:, None]
        rest = np.clip(1.0 - x.sum(axis=1), 0.0, 1.0)
        return r * -(entr(x).sum(axis=1) + entr(rest))

    def values(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each row of scores."""
        rows = self.rows(y, np.ones(len(y)), f.shape[1])
        rows.evaluate(f, np.empty_like(f))
        return rows.losses


@dataclass(frozen=True)
class TruncatedEntropy:
    """Truncated top-k entropy as a value; it is trained in convex pieces (`train_truncated`)."""

    k: int

    def values(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each row of scores."""
        return np.asarray(truncated_topk_entropy.value(f, y, self.k))


_ONE = (np.zeros(1, np.int64), np.ones(1))
