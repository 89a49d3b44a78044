"""L-BFGS in the primal, for any loss with a gradient.

The certificate is that of `fast.solvers.primal_newton`: with A made of the gradients in the scores,
P(W) - D(A) = ||W - X'A||^2 / 2, half the squared gradient of P.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from .rows import is_sparse, scores
from .state import TrainingState, block_length

MEMORY = 20
search: Any = minimize  # its annotations know no function that returns a gradient too


class QuasiNewtonSolver:
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "gradients"

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m, self.loss = X, y, r, m, loss
        self.W = np.zeros((m, X.shape[1]))
        self.best: Any = (
            None  # W of the best dual, whose blocks are made when asked for; None: A = 0
        )

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual: masses of the other classes (n, m)."""
        masses = dual.toarray() if is_sparse(dual) else dual
        blocks = np.negative(masses)
        blocks[np.arange(len(self.y)), self.y] = masses.sum(axis=1)
        self.W = self._transposed(slice(None), blocks)

    def _transposed(self, part: slice, A: np.ndarray) -> np.ndarray:
        rows = self.X[part]
        return np.asarray((rows.T @ A).T if is_sparse(rows) else A.T @ rows, dtype=np.float64)

    def _at(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """P(W) and its gradient, in blocks of rows."""
        W = w.reshape(self.W.shape)
        value, gradient = 0.5 * float(np.vdot(W, W)), W.copy()
        size, n = block_length(self.m), len(self.y)
        for first in range(0, n, size):
            part = slice(first, min(n, first + size))
            f, y, r = scores(self.X, W, first, part.stop), self.y[part], self.r[part]
            value += float(np.sum(self.loss.value(f, y, sample_weight=r)))
            slopes = self.loss.gradient(f, y, sample_weight=r)
            gradient += self._transposed(part, slopes)
        return value, gradient.ravel()

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops; anew where it stalls."""
        while state.n_iter < max_iter and self._run(state, tol, max_iter, report):
            pass

    def _run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> bool:
        """Whether to go on: the steps came to an end of their own, after some progress."""
        before, over = state.absolute_gap, False
        seen: dict[bytes, tuple[float, np.ndarray]] = {}

        def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
            seen.clear()
            seen[w.tobytes()] = found = self._at(w)
            return found

        def check(w: np.ndarray) -> None:
            nonlocal over
            primal, gradient = seen.get(w.tobytes()) or self._at(w)
            self.W = w.reshape(self.W.shape).copy()
            dual = primal - 0.5 * float(gradient @ gradient)
            if dual > state.dual:
                self.best = self.W
            state.record(state.n_iter + 1, primal, max(dual, state.dual), self.W)
            state.done = state.gap <= tol
            over = bool(report(state)) or state.done or state.n_iter >= max_iter
            if over:
                raise StopIteration

        if not state.n_iter:
            try:
                check(self.W.ravel())
            except StopIteration:
                return False
        options: dict[str, Any] = {
            "maxcor": MEMORY,
            "maxiter": max_iter,
            "maxfun": 10 * max_iter + 100,
        }
        options |= {"ftol": 0.0, "gtol": 0.0}
        search(
            objective, self.W.ravel(), jac=True, method="L-BFGS-B", callback=check, options=options
        )
        return not over and state.absolute_gap < 0.5 * before

    def masses(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m)."""
        if self.best is None:
            return sp.csr_array((len(self.y), self.m))
        f = scores(self.X, self.best, 0, len(self.y))
        x = self.loss.gradient(f, self.y, sample_weight=self.r)
        x[np.arange(len(self.y)), self.y] = 0.0
        return sp.csr_array(x)
