"""The proximal point method in the dual of a one-vs-all or multilabel hinge, after coordinate ascent.

x_next = argmax over x of D(x) - sum_i width/(2 r_i) ||x_i - c_i||^2, c the masses before: its primal is that of
the smoothed hinge with margins that are width c_i/r_i larger, which quasi-Newton steps solve in a few passes
where coordinate ascent, for large C, takes thousands.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast.families import named
from fast.kernels.signed import BIPARTITE, BOX

from .one_vs_rest_ascent import SignedAscent
from .one_vs_rest_quasi_newton import SignedQuasiNewton
from .state import TrainingState

# Checks of the gap that coordinate ascent may still need, by the rate of the last two, and is left to go on.
LOOKS = {BOX: 2.0, BIPARTITE: 20.0}
ROUNDING = 1e-14  # a tolerance below which it is never replaced
WIDTH, SHRINK, NARROWEST, WIDEST = 0.1, 0.3, 1e-6, 1e3
STEPS, EASY = 60, 25  # of one inner problem, and of one that lets the next be harder
SHARP, PATIENCE = 0.1, 12  # part of the gap that an inner problem leaves; how many without progress


class Centred:
    """The smoothed hinge whose dual stays near a centre; labels are numbers of rows, (n, 1)."""

    capabilities = frozenset({"gradients"})
    k, complements = 1, False

    def __init__(self, hinge: Any, y: np.ndarray, costs: np.ndarray, width: float) -> None:
        object_name = type(hinge).__module__.rpartition(".")[2].replace("hinge", "smooth_hinge")
        self.loss, self.y, self.costs = named(object_name, gamma=width), y, costs
        self.variant = hinge.variant

    def value(self, f: np.ndarray, rows: np.ndarray, sample_weight: np.ndarray) -> Any:
        """Losses, up to a constant."""
        at = rows[:, 0]
        return self.loss.value(f, self.y[at], self.costs[at], sample_weight)

    def gradient(self, f: np.ndarray, rows: np.ndarray, sample_weight: np.ndarray) -> Any:
        """Gradients in the scores."""
        at = rows[:, 0]
        return self.loss.gradient(f, self.y[at], self.costs[at], sample_weight)


class SignedProximal:
    """Trains a hinge; see `fast.solvers.one_vs_rest_training.train`."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        self.before = SignedAscent(X, y, own, r, loss, seed)
        self.given, self.seed, self.path_cache = (X, y, own, r, loss), seed, dict[Any, Any]()

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None) -> None:
        """Begin at a dual point."""
        self.before.start_at(W, A)

    def dual_variables(self) -> np.ndarray:
        """A of the best dual point."""
        return self.before.dual_variables()

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Inner problems until state.gap <= tol, or max_iter, or the callback stops."""
        before, patience = self.before, PATIENCE
        rounding = tol < ROUNDING  # of small problems: inner problems would only cost more there
        most = np.inf if rounding else LOOKS[self.given[-1].variant]
        if before.run(state, tol, max_iter, report, most) or rounding:
            return
        sharp, width, W = SHARP, WIDTH, np.ascontiguousarray(before.W)
        for iteration in range(state.n_iter + 1, max_iter + 1):
            goal = sharp * state.absolute_gap / state.primal
            W, A, steps, solved = self._inner(W, width, goal)
            gap, (risk, dual) = state.absolute_gap, before.objectives(W, A)
            sharp = SHARP if dual > state.dual or not solved else SHARP * sharp
            if dual > state.dual:
                before.x = np.abs(A)
            state.record(iteration, risk, max(dual, state.dual), W)
            state.done = state.gap <= tol
            patience = PATIENCE if state.absolute_gap < 0.9 * gap else patience - 1
            if report(state) or state.done:
                return
            if not patience:  # inner problems that few steps do not solve
                break
            change = SHRINK if steps <= EASY else 1.0 if solved else 1.0 / SHRINK
            width = min(max(width * change, NARROWEST), WIDEST)
        before.start_at(None, before.dual_variables())
        before.run(state, tol, max_iter, report)

    def _inner(self, W: np.ndarray, width: float, goal: float) -> tuple[np.ndarray, Any, int, bool]:
        """W and A of an inner problem from the centre on, steps, and whether it was solved."""
        X, y, own, r, loss = self.given
        centre = self.before.x * (width / np.where(r > 0.0, r, 1.0))[:, None]
        near = Centred(loss, y, self.before.costs + centre, width)
        numbers = np.arange(len(r))[:, None]
        inner = SignedQuasiNewton(X, numbers, own, r, near, self.seed)
        self.path_cache |= inner.path_cache
        inner.path_cache = self.path_cache
        inner.start_at(W)
        state = TrainingState()
        inner.run(state, goal, STEPS, lambda state: False)
        inner.best = state.W
        return state.W, inner.dual_variables(), state.n_iter, state.gap <= goal
