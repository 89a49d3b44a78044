"""Newton's method for smooth losses of features with any offsets, scales and correlations.

In the coordinates U of `fast.solvers.orthonormal` the problem is 1/2 tr(U G U') + sum_i r_i L_i(U q_i).
Directions solve with the whole Hessian (I - 11'/m) (x) G + sum_i r_i H_i (x) q_i q_i', or, as long as no
step had to be shortened much, by conjugate gradients in float32, preconditioned by G + sum_i c_i q_i q_i'
with c_i the mean curvature of an example, later by the last whole Hessian.

A large scale is a weak regulariser. Where some directions separate examples and others do not, Newton's
steps take examples so far that they have no curvature left to bring them back. Then the path of the
minimisers of P + ridge/2 ||U||^2 is followed instead, from a large ridge down to none: along it the scores
that grow do so with the logarithm of the ridge, by which the next point is guessed.

The certificate is that of `fast.solvers.primal_newton`: A made of the gradients in the scores is dual
feasible, and P(W) - D(A) = ||W - X'A||^2/2 = ||(UG - A'Q) R||^2/2.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .kronecker import Factor, assemble
from .orthonormal import Orthonormal, dense
from .rows import is_sparse
from .state import TrainingState

LARGEST = 5000  # unknowns of a matrix that is factorised
CG_STEPS, MOST_CG_STEPS = 6, 500  # worth trying; if no matrix can take over
LOOPS = 400  # what a score costs besides, in multiplications
SHORT, WRONG = 0.25, 3.0  # a step that is; a margin that is
NEAR = 1e-9  # of P: what a Newton step promises at a minimum
FIRST, LESS = 0.1, 0.01  # ridge over the curvature at 0; of the ridge before
CLOSE = 5.0  # change of scores in a step that says: arrived
LEAST = 1e-13  # pivot, relative
NOISE = 1e-15  # of P
FASTER = 0.55  # of the slope; a quadratic falls by half of it
STALLED = 3  # steps without a better certificate


class Point(NamedTuple):
    """U with P, blocks -a_i, gap and W there; value and gradient of P with the ridge."""

    U: np.ndarray
    primal: float
    A: np.ndarray
    gap: float
    W: np.ndarray
    value: float
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
        self.metric: Any = None  # with the ridge
        self.ridge = 0.0  # on the path
        self.last: Any = None  # U where the ridge was larger
        self.followed = False  # the path
        self.whole: Any = None  # the last Hessian that was factorised

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual: masses of the other classes (n, m)."""
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
            self.metric = self.space.metric
        point: Point | None = self._at(self.space.coordinates(self.W))
        stalled, least, lowest = 0, np.inf, np.inf
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
            stalled = 0 if better or self.ridge > 0.0 else stalled + 1
            least, lowest = min(least, point.gap), min(lowest, point.primal)
            if report(state) or state.done or stalled == STALLED:
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
        value = primal + 0.5 * self.ridge * float(np.vdot(U, U))
        return Point(U, primal, A, gap, W, value, gradient + self.ridge * U)

    def _next(self, at: Point) -> Point | None:
        """A Newton step; where that must be shortened much, the path is followed."""
        direction = self._direction(at)
        found, length, moved = self._search(at, direction)
        if self.ridge == 0.0:
            near = -float(np.vdot(at.gradient, direction)) <= NEAR * abs(at.value)
            if length >= SHORT or near or self.followed:
                return found
            self.followed = True
            start = self._at(np.zeros_like(at.U))
            return self._ridged(FIRST * float(self.rows.curvatures().max()), start.U)
        if found is not None and moved > CLOSE:
            return found
        U = at.U if found is None else found.U
        before, self.last = self.last, U
        ridge = LESS * self.ridge if self.ridge > float(self.space.metric.diagonal().min()) else 0.0
        point = self._ridged(ridge, U)
        if before is not None:  # along the path scores change with the logarithm of the ridge
            further = self._at(2.0 * U - before)
            point = further if further.value < point.value else self._at(U)
        return point

    def _ridged(self, ridge: float, U: np.ndarray) -> Point:
        """The objective with ridge/2 ||U||^2 from now on, at U."""
        self.ridge = ridge
        self.metric = self.space.metric + ridge * np.eye(len(self.space.metric))
        return self._at(U)

    def _search(self, at: Point, direction: np.ndarray) -> tuple[Point | None, float, float]:
        """Armijo backtracking, and longer steps where the objective falls faster than its model.

        Returns the length too, and the largest change of a score. No margin is taken below -WRONG, or
        by WRONG below where it is if that is less.
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
            if point.value <= at.value + 1e-4 * length * slope + NOISE * abs(at.value):
                break
            length *= 0.5
        else:
            return None, 0.0, 0.0
        while 1.0 <= length < most and point.value < at.value + FASTER * length * slope:
            length = min(2.0 * length, most)
            longer = self._beyond(at, length, direction)
            if not longer.value < point.value:
                point = self._at(point.U)  # where its curvature is needed next
                break
            point = longer
        return point, length, length * float(np.abs(falls).max())

    def _beyond(self, at: Point, length: float, direction: np.ndarray) -> Point:
        with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
            return self._at(at.U + length * direction)

    # -- directions ---------------------------------------------------------------------------
    def _direction(self, at: Point) -> np.ndarray:
        """The Newton step, to a part of its length that shrinks with it."""
        residual = at.gradient.mean(axis=0) - at.gradient
        weighted = np.sqrt(self.rows.curvatures())[:, None] * self.space.Q
        factor = Factor(self.metric + weighted.T @ weighted)
        rho = float(np.vdot(residual, factor.solve(residual)))
        forcing = max(1e-10, min(0.01, rho / abs(at.value)))
        worth, step = self._worth(), None
        if self.followed:
            worth = 0
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
        m, p = self.m, self.space.Q.shape[1]
        shares = np.eye(m - 1) - 1.0 / m
        H = assemble(self.rows.blocks, self.space.Q, m - 1).reshape(m - 1, p, m - 1, p)
        for s, row in enumerate(shares):
            for t, share in enumerate(row):
                H[s, :, t] += share * self.metric
        return Factor(H.reshape((m - 1) * p, -1), LEAST)

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
            image = search @ self.metric + size * (V.T @ Q)
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

    def masses(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it is 0."""
        x = np.zeros((len(self.y), self.m)) if self.A is None else self.A.copy()
        x[np.arange(len(self.y)), self.y] = 0.0
        return x if self.rows.single else sp.csr_array(x)
