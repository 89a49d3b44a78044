"""Quasi-Newton steps for smooth losses with one signed score per class, whose dual is kept as A itself."""

from typing import Any

import numpy as np

from fast.kernels.signed import LOGISTIC

from .binary_logistic import logistic_rows
from .block_sums import slopes_of_weights, transposed
from .iterate import Point
from .passes import Block
from .quasi_newton import QuasiNewtonSolver


def logistic_at_weights(block: Block, W: np.ndarray) -> tuple[float, float, Any, np.ndarray]:
    """`fast.solvers.block_sums.at_weights` of the one-vs-all logistic loss: class by class, at once."""
    X, y, w, _, m, _ = block
    F = np.ascontiguousarray((X @ W).T)
    A, T, losses = np.empty_like(F), np.empty_like(F), np.empty(m)
    logistic_rows(y, np.arange(m), F, w, A, T, losses)
    bends = T.sum(axis=1)
    return float(losses.sum()), float(bends.mean()), np.diag(bends), -transposed(X, A.T)


class SignedQuasiNewton(QuasiNewtonSolver):
    """Trains a smooth one-vs-all or multilabel model; see `fast.solvers.one_vs_rest_training.train`."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        super().__init__(X, y, r, own.shape[1], loss, seed)

    def _at(self, W: np.ndarray, double: bool = True) -> Point:
        if self.loss.variant != LOGISTIC:
            return super()._at(W, double)
        total = float(self.w.sum())
        found = self.passes.total(logistic_at_weights, np.ascontiguousarray(W.T))
        risk, bend, bends, slopes = found
        return Point(risk, slopes, bend / total, bends / total)

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None = None) -> None:
        """Begin at weights, or at those of a dual point."""
        if W is not None:
            self.W = np.array(W, dtype=np.float64)
        elif A is not None:
            self.W = transposed(self.X, A)

    def dual_variables(self) -> np.ndarray:
        """A, minus the gradients in the scores of the weights whose dual point is the best."""
        A = np.zeros((len(self.y), self.m))
        if self.best is not None:
            self.passes.fill(A, slopes_of_weights, np.ascontiguousarray(self.best.T))
        A *= -self.C
        return A
