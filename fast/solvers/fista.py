"""FISTA: accelerated gradient steps in the primal, for any smooth loss; a baseline of the papers.

P(W) = 1/2||W||^2 + C R(W), R = sum_i w_i L_i, has an L-Lipschitz gradient with L = 1 + C l lambda_max(X'wX),
l that of the losses in the scores (1/2 for the entropies, at most m/gamma for the smooth hinges). From
Y_1 = W_0, t_1 = 1,

    W_k = Y_k - grad P(Y_k)/L,  t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2,
    Y_{k+1} = W_k + (t_k - 1)/t_{k+1} (W_k - W_{k-1}).

L is found by backtracking, from the mean curvature of softmax at W = 0 up: it doubles until
P(W_k) <= P(Y_k) - ||grad P(Y_k)||^2/(2L), which the L above always passes, and which one a tenth of
it usually does. Where a step turns against the gradient, t begins at 1 again (O'Donoghue and Candes
2015), so that strong convexity counts. The gradient at Y_k is its certificate, too: a step goes through
the data once for that, and once, without a gradient, for every L that it tries; ``state.passes`` has both.

Source: Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse
problems", SIAM J. Imaging Sciences 2 (2009), the algorithm with backtracking; Lapin et al. compare
SDCA with it (arXiv version, Figure 3).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .block_sums import power
from .passes import Block
from .primal_passes import PrimalPasses
from .state import TrainingState

POWERS = 10  # products with X'wX that its largest eigenvalue is guessed from
NOISE = 1e-13  # of P, that rounding may hide
MOST = 100  # doublings of L


def risk_of_weights(block: Block, W: np.ndarray) -> tuple[float]:
    """Of a block at W' (d, m): the risk alone."""
    f = np.ascontiguousarray(block.X @ W)
    return (float(block.w @ block.loss.values(f, block.y)),)


class FistaSolver(PrimalPasses):
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        super().__init__(X, y, r, m, loss)
        self.rng = np.random.default_rng(seed)

    def _first_bound(self) -> float:
        """L to begin with."""
        v, largest = self.rng.standard_normal(self.X.shape[1]), 0.0
        for _ in range(POWERS):
            (v,) = self.passes.total(power, v / max(float(np.linalg.norm(v)), 1e-300))
            largest = float(np.linalg.norm(v))
        return 1.0 + self.C * largest * (1.0 - 1.0 / self.m) / self.m

    def _primal(self, W: np.ndarray) -> float:
        """P(W)."""
        with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
            (risk,) = self.passes.total(risk_of_weights, np.ascontiguousarray(W.T))
            return 0.5 * float(np.vdot(W, W)) + self.C * float(risk)

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops."""
        if state.n_iter >= max_iter:
            return
        L, t, before = self._first_bound(), 1.0, self.W  # self.W is Y
        while True:
            self.reached = state.n_iter + 1
            point = self._at(self.W)
            state.passes += 1
            if self._certified(state, self.reached, point, tol, max_iter, report):
                return
            gradient = self.W + self.C * point.slopes
            primal = 0.5 * float(np.vdot(self.W, self.W)) + self.C * point.risk
            square = float(np.vdot(gradient, gradient))
            for _ in range(MOST):
                W = self.W - gradient / L
                state.passes += 1
                if self._primal(W) <= primal - 0.5 * square / L + NOISE * abs(primal):
                    break
                L *= 2.0
            t = 1.0 if float(np.vdot(gradient, W - before)) > 0.0 else t
            following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
            self.W = W + (t - 1.0) / following * (W - before)
            before, t = W, following
