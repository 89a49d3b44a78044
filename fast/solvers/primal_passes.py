"""What methods in the primal share that go through smooth losses in passes: W, and the dual it makes.

P(W) = 1/2||W||^2 + C R(W), R = sum_i w_i L_i, C w_i = r_i. With A made of the gradients in the scores,
P(W) - D(A) is half the squared gradient of P: every float64 pass is a certificate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.data import rows as as_source

from .block_sums import at_weights, slopes_of_weights, transposed
from .dask_passes import passes_of
from .iterate import Point
from .rows import blocks_of
from .state import TrainingState


class PrimalPasses:
    """One smooth model, at weights that passes evaluate."""

    NEEDS = "gradients"
    single = False  # passes may go through float32
    kept = True  # the dual may be asked for, as an array
    finished: Any = None  # masses of the best dual, and the bounds claimed of both

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any) -> None:
        self.X, self.y, self.m, self.loss = X, y, m, loss
        self.C = float(r.max())
        self.w = r / self.C
        self.passes = passes_of(as_source(X), y, self.w, loss, m)
        self.W = np.zeros((m, X.shape[1]))
        self.best: Any = None  # W of the best dual, made when asked for; None: A = 0
        self.reached = 0  # steps that led to W

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual: dual variables of the other classes (n, m)."""
        self.W = transposed(self.X, blocks_of(dual, self.y))

    def start_at(self, W: np.ndarray) -> None:
        """Begin at given weights (m, d)."""
        self.W = np.array(W, dtype=np.float64)

    def _at(self, W: np.ndarray, double: bool = True) -> Point:
        """One pass."""
        single = self.single and not double
        Wt = np.ascontiguousarray(W.T.astype(np.float32) if single else W.T)
        risk, bend, bends, slopes = self.passes.total(at_weights, Wt, single=single)
        total = float(self.w.sum())
        return Point(risk, slopes, bend / total, None if bends is None else bends / total)

    def _certified(
        self, state: TrainingState, iteration: int, exact: Point, tol: float, max_iter: int,
        report: Callable,
    ) -> bool:  # fmt: skip
        """Take in W as evaluated in float64; whether the run is over."""
        primal = 0.5 * float(np.vdot(self.W, self.W)) + self.C * exact.risk
        gradient = self.W + self.C * exact.slopes
        dual = primal - 0.5 * float(np.vdot(gradient, gradient))
        if dual > state.dual:
            self.best = self.W
        state.record(iteration, primal, max(dual, state.dual), self.W)
        state.done = state.gap <= tol
        return bool(report(state)) or state.done or state.n_iter >= max_iter

    def finalize(self, state: TrainingState) -> None:
        """Certify the point reached, after an interruption."""
        if self.reached > state.n_iter:
            exact = self._at(self.W)
            self._certified(state, self.reached, exact, 0.0, self.reached, lambda state: True)

    def dual_variables(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it is 0.

        None if the rows are not in memory: a pass makes it from W.
        """
        if self.finished is not None or not self.kept:
            return None if self.finished is None else self.finished[0]
        x = np.zeros((len(self.y), self.m))
        if self.best is not None:
            self.passes.fill(x, slopes_of_weights, np.ascontiguousarray(self.best.T))
        x *= self.C
        x[np.arange(len(self.y)), self.y] = 0.0
        return x if self.single or self.loss.complements else sp.csr_array(x)
