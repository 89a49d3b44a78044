"""Newton's method for smooth losses of features with any offsets, scales and correlations.

In the coordinates U of `fast.solvers.orthonormal` the problem is 1/2 tr(U G U') + sum_i r_i L_i(U q_i).
Directions solve with the whole Hessian (I - 11'/m) (x) G + sum_i r_i H_i (x) q_i q_i', or, as long as no
step had to be shortened much, by conjugate gradients in float32, preconditioned by G + sum_i c_i q_i q_i'
with c_i the mean curvature of an example, later by the last whole Hessian.

A large scale is a weak regulariser. Where some directions separate examples, Newton's steps have to be
shortened, or are too short; where the interior point method can take over, it does so.

The certificate is that of `fast.solvers.primal_newton`: A made of the gradients in the scores is dual
feasible, and P(W) - D(A) = ||W - X'A||^2/2 = ||(UG - A'Q) R||^2/2.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .kronecker import Factor, assemble
from .orthonormal import Orthonormal, dense
from .primal_newton import CRAWLING, SLOW
from .rows import is_sparse
from .state import TrainingState

LARGEST = 5000  # unknowns of a matrix that is factorised
CG_STEPS, MOST_CG_STEPS = 6, 500  # worth trying; if no matrix can take over
LOOPS = 400  # what a score costs besides, in multiplications
SHORT, WRONG = 0.25, 3.0  # a step that is; a margin that is
NEAR = 1e-9  # of P: what a Newton step promises at a minimum
FAR = 5  # steps that had to be made longer
LEAST = 1e-13  # pivot, relative
NOISE = 1e-15  # of P
FASTER = 0.55  # of the slope; a quadratic falls by half of it
STALLED = 3  # steps without a better certificate


class Point(NamedTuple):
    """U with P, blocks -a_i, gap, W and the gradient there."""

    U: np.ndarray
    primal: float
    A: np.ndarray
    gap: float
    W: np.ndarray
    gradient: np.ndarray


class FullNewtonSolver:
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "curvature"

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m = X, y, r, m
        self.rows = loss.rows(y, r, m)
        self.W = np.zeros((m, X.shape[1]))
        self.A: Any = None  # the best dual so far, as blocks -a_i
        self.space: Any = None
        self.Q32: Any = None
        self.patient, self.far = True, 0  # goes on where steps are; so many were too short
        self.followed = False  # by another method, where gaps hardly fall
        self.whole: Any = None  # the last Hessian that was factorised

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual: dual variables of the other classes (n, m)."""
        A = np.negative(dual.toarray() if is_sparse(dual) else dual)
        A[np.arange(len(self.y)), self.y] = -A.sum(axis=1)
        self.W = np.ascontiguousarray((self.X.T @ A).T, dtype=np.float64)

    def start_at(self, W: np.ndarray) -> None:
        """Begin at given weights (m, d)."""
        self.W = np.array(W, dtype=np.float64)

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Newton steps until state.gap <= tol, or max_iter, or the callback stops."""
        if self.space is None:  # examples without weight do not say what is large
            self.space = Orthonormal(np.where(self.r[:, None] > 0.0, dense(self.X), 0.0))
            self.Q32 = self.space.Q.astype(np.float32)
        point: Point | None = self._at(self.space.coordinates(self.W))
        stalled, least, lowest, mark = 0, np.inf, np.inf, (np.inf, 0)
        for iteration in range(state.n_iter + 1, max_iter + 1):
            if point is None:
                return
            self.W = point.W
            if point.primal - point.gap > state.dual or self.A is None:
                self.A = point.A
            dual = max(state.dual, point.primal - point.gap)
            state.record(iteration, point.primal, dual, point.W)
            state.done = state.gap <= tol
            better = point.gap < least or point.primal < lowest - NOISE * abs(lowest)
            stalled = 0 if better else stalled + 1
            least, lowest = min(least, point.gap), min(lowest, point.primal)
            mark = mark if state.gap > SLOW * mark[0] else (state.gap, iteration)
            crawling = self.followed and iteration - mark[1] >= CRAWLING
            if report(state) or state.done or stalled == STALLED or crawling:
                return
            point = self._next(point)

    def _at(self, U: np.ndarray) -> Point:
        """Objective and gradient."""
        space, W = self.space, self.space.weights(U)
        A = np.empty((len(self.y), self.m))
        risk = self.rows.evaluate(np.ascontiguousarray(space.Q @ U.T), A)
        gradient = U @ space.metric + A.T @ space.Q
        in_weights = gradient @ space.R
        gap = 0.5 * float(np.vdot(in_weights, in_weights))
        primal = 0.5 * float(np.vdot(W, W)) + risk
        return Point(U, primal, A, gap, W, gradient)

    def _next(self, at: Point) -> Point | None:
        """A Newton step; none where another method does better."""
        direction = self._direction(at)
        found, length = self._search(at, direction)
        near = -float(np.vdot(at.gradient, direction)) <= NEAR * abs(at.primal)
        self.far += length > 1.0
        return found if self.patient or near or (length >= SHORT and self.far < FAR) else None

    def _search(self, at: Point, direction: np.ndarray) -> tuple[Point | None, float]:
        """Armijo backtracking, and longer steps where the objective falls faster than its model.

        Returns the length too. No margin is taken below -WRONG, or by WRONG below where it is if that is
        less.
        """
        slope = float(np.vdot(at.gradient, direction))
        own = np.arange(len(self.y)), self.y
        f, change = self.space.Q @ at.U.T, self.space.Q @ direction.T
        room = np.maximum(f[own][:, None] - f, 0.0) + WRONG
        falls = (change - change[own][:, None]) * (self.r[:, None] > 0.0)
        most = float(1.0 / max(np.max(falls / room), 1e-9))
        length = min(1.0, most)
        for _ in range(40):
            point = self._beyond(at, length, direction)
            if point.primal <= at.primal + 1e-4 * length * slope + NOISE * abs(at.primal):
                break
            length *= 0.5
        else:
            return None, 0.0
        while 1.0 <= length < most and point.primal < at.primal + FASTER * length * slope:
            length = min(2.0 * length, most)
            longer = self._beyond(at, length, direction)
            if not longer.primal < point.primal:
                point = self._at(point.U)  # where its curvature is needed next
                break
            point = longer
        return point, length

    def _beyond(self, at: Point, length: float, direction: np.ndarray) -> Point:
        with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
            return self._at(at.U + length * direction)

    # -- directions ---------------------------------------------------------------------------
    def _direction(self, at: Point) -> np.ndarray:
        """The Newton step, to a part of its length that shrinks with it."""
        residual = at.gradient.mean(axis=0) - at.gradient
        weighted = np.sqrt(self.rows.curvatures())[:, None] * self.space.Q
        factor = Factor(self.space.metric + weighted.T @ weighted)
        rho = float(np.vdot(residual, factor.solve(residual)))
        forcing = max(1e-10, min(0.01, rho / abs(at.primal)))
        worth, step = self._worth(), None
        if worth >= CG_STEPS and self.whole is None:
            step = self._iterated(residual, factor.solve, forcing, worth)
        elif worth >= CG_STEPS:
            step = self._iterated(residual, self._solved, forcing, worth // 2)
        if step is None:
            self.whole = self._factorised()
            step = self._solved(residual)
        return step

    def _worth(self) -> int:
        """Conjugate gradients that cost as much as the whole Hessian."""
        n, p = self.space.Q.shape
        b = self.m - 1
        if b * p > LARGEST:
            return MOST_CG_STEPS
        whole = n * (b * (b + 1) / 2) * (p * (p + 1)) + (b * p) ** 3 / 2
        return int(whole / ((n + b * p) * self.m * (4 * p + LOOPS)))

    def _factorised(self) -> Factor:
        """The whole Hessian in the differences D_a = U_a - U_m of rows that sum to 0."""
        H = assemble(self.space.metric, self.rows.blocks, self.space.Q, self.y, self.m)
        return Factor(H, LEAST)

    def _solved(self, residual: np.ndarray) -> np.ndarray:
        """With the last matrix factorised."""
        D = self.whole.solve(residual[:-1])
        return np.vstack([D, np.zeros(residual.shape[1])]) - D.sum(axis=0) / self.m

    def _iterated(
        self, residual: np.ndarray, conditioned: Callable, forcing: float,
        most: int,
    ) -> np.ndarray | None:  # fmt: skip
        """By conjugate gradients in float32, None if ``most`` do not seem to be enough."""
        Q, everybody = self.Q32, np.arange(len(self.y))
        z = conditioned(residual)
        rho = first = float(np.vdot(residual, z))
        step, search = np.zeros_like(residual), z.copy()
        for count in range(1, most + 1):
            size = float(np.abs(search).max())
            V = Q @ np.ascontiguousarray((search / size).T, np.float32)
            self.rows.curve(V, everybody)
            image = search @ self.space.metric + size * (V.T @ Q)
            bend = float(np.vdot(search, image))
            if not 0.0 < bend < np.inf:
                break
            step += (rho / bend) * search
            residual = residual - (rho / bend) * (image - image.mean(axis=0))
            z = conditioned(residual)
            new = float(np.vdot(residual, z))
            if new <= forcing * first:
                return step
            if count > 3 and new / first > forcing ** (count / most):
                break
            search = z + (new / rho) * search
            rho = new
        few = (self.m - 1) * self.space.Q.shape[1] <= LARGEST
        return None if few else step

    def dual_variables(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it is 0."""
        x = np.zeros((len(self.y), self.m)) if self.A is None else self.A.copy()
        x[np.arange(len(self.y)), self.y] = 0.0
        return x if self.rows.single else sp.csr_array(x)
