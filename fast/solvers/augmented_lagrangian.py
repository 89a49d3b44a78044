"""Augmented Lagrangian method with semismooth Newton steps, for the consistent top-k hinge and few weights.

The dual is maximised less a proximal term, sum_i N_i/2 ||a_i - c_i||^2 with N_i = weight ||x_i||^2 and c the dual
of the round before; this problem is itself dual to

    minimise over V  1/2 ||V||^2 + sum_i max over a_i of -<a_i,V x_i> - r_i L*(-a_i/r_i) - N_i/2 ||a_i - c_i||^2,

smooth and piecewise quadratic: its gradient is V - X'A, a_i the update of the loss with norm N_i, its Hessian
I + sum_i T_i (x) x_i x_i'/N_i, T_i the projection on the tangent space of the face that a_i lies in. Small weights
make rounds few and each of them hard. Li, Sun and Toh 2018, "A highly efficient semismooth Newton augmented
Lagrangian method for solving Lasso problems", do so for another problem.

Steps on faces that stay what they are (`fast.solvers.face_ascent`) win where few examples matter for the number of
weights; where many share a kink of the loss they creep.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast._numba import REORDER, kernel
from fast.kernels.rows import UPDATE

from .active_face_newton import FIXED, FREE
from .face_ascent import NEGLIGIBLE, TIED, FaceAscentSolver, faces
from .kronecker import Factor
from .rows import TINY, is_sparse, scores, squared_norms
from .state import TrainingState, block_length

Array = np.ndarray[Any, Any]
WIDEST, AMPLE = 1500, 8  # weights up to which the Hessian is factorised, and examples for each of them
LARGE = 3.0  # mean r_i ||x_i||^2 from which on coordinate ascent creeps
WEIGHTS = 1e-8, 0.1, 10.0  # least weight of the proximal term, the first, and the largest
SHRINK, RAISE = 0.3, 2.0  # what it is multiplied by after an easy round, and a hard one
INNER, EASY = 12, 5  # Newton steps of a round at most, and of an easy one
SOLVED = 1.0  # what is left of the gradient, in parts of the proximal term
FLAT, TRIES = 0.3, 10  # part of the slope that a line search leaves, and its looks
FIRST, PASSES = 4, 2  # of coordinate ascent, before all rounds and after each


@kernel(fastmath=REORDER | {"contract"})
def add_curvature(X, kinds, weight, sums, product, place):
    """Add weight_i T_i (x) x_i x_i', T_i as in `face_ascent.to_tangent`, to the lower triangles (g <= e) of
    the d x d blocks of each pair of classes a <= b, row after row: sums (m(m+1)/2, d(d+1)/2).
    """
    m = kinds.shape[1]
    for i in range(X.shape[0]):
        count, tied, at = 0, 0, 0
        for j in range(m):
            if kinds[i, j] != FIXED:
                place[count] = j
                count += 1
            tied += kinds[i, j] == TIED
        for e in range(X.shape[1]):
            part = weight[i] * X[i, e]
            for g in range(e + 1):
                product[at] = part * X[i, g]
                at += 1
        for s in range(count):
            a = place[s]
            for t in range(s, count):
                b = place[t]
                share = -1.0 / count
                if kinds[i, a] == TIED and kinds[i, b] == TIED:
                    share += 1.0 / tied
                elif a == b and kinds[i, a] == FREE:
                    share += 1.0
                block = sums[a * m - a * (a + 1) // 2 + b]
                for g in range(at):
                    block[g] += share * product[g]


@kernel
def unpack(sums, H):
    """Write the blocks of classes a <= b into H (m, d, m, d), plus the identity."""
    m, d = H.shape[:2]
    pair = 0
    for a in range(m):
        for b in range(a, m):
            at = 0
            for e in range(d):
                for g in range(e + 1):
                    H[a, e, b, g] = H[a, g, b, e] = sums[pair, at]
                    at += 1
                H[a, e, b, e] += a == b
            pair += 1


def hessian(X: Array, kinds: Array, weight: Array) -> Array:
    """I + sum_i weight_i T_i (x) x_i x_i', (md, md), of which only the upper triangle is written."""
    m, d = kinds.shape[1], X.shape[1]
    sums, H = np.zeros((m * (m + 1) // 2, d * (d + 1) // 2)), np.empty((m, d, m, d))
    add_curvature(X, kinds, weight, sums, np.empty(sums.shape[1]), np.empty(m, np.int64))
    unpack(sums, H)
    return H.reshape(m * d, m * d)


class AugmentedLagrangianSolver(FaceAscentSolver):
    """Trains one model; see :func:`fast.models.multiclass_erm.train`."""

    def __init__(self, X: Any, y: Array, r: Array, m: int, loss: Any, seed: int) -> None:
        super().__init__(X.astype(np.float64, copy=False), y, r, m, loss, seed)
        self.paid = np.zeros(len(y))  # conjugates of the blocks
        self.weight, self.cold = WEIGHTS[1], True
        self.V, self.best, self.dual = self.W, self.blocks, -np.inf

    @staticmethod
    def pays(X: Any, r: Array, m: int) -> bool:
        """Whether the Hessian is cheap beside the examples, and coordinate ascent is slow."""
        few = not is_sparse(X) and m * X.shape[1] <= min(WIDEST, X.shape[0] / AMPLE)
        return few and float(np.mean(r * squared_norms(X))) >= LARGE

    def start_warm(self, dual: Any) -> None:
        """Begin at a feasible dual: dual variables of the other classes (n, m)."""
        super().start_warm(dual)
        self.cold, self.V = False, self.W.copy()

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Rounds until state.gap <= tol, or max_iter, or the callback stops."""
        matter = np.flatnonzero(self.r > 0.0)
        active, now = matter, np.zeros(len(self.y), bool)
        for _ in range(FIRST if self.cold else 0):
            self.epoch(active)
        if self.cold:
            self.cold, self.V = False, self.W.copy()
        self._pay(matter)
        for iteration in range(state.n_iter + 1, max_iter + 1):
            with np.errstate(all="ignore"):  # what is not finite is not taken
                steps = self._round(active)
            for _ in range(PASSES):
                self.epoch(active)
            self._pay(active)
            primal, dual = self.check()
            if dual > self.dual:
                self.best, self.dual = self.blocks.copy(), dual
            state.record(iteration, primal, self.dual, self.V)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return
            least = NEGLIGIBLE * tol * abs(state.primal) / len(self.y)
            before, now = now, self.gaps > least
            active = matter[(now | before)[matter]]  # what comes and goes stays
            if not len(active):  # every gap is rounding, the certificate is not there yet
                active = matter
            if steps <= EASY:
                self.weight = max(self.weight * SHRINK, WEIGHTS[0])
            elif steps >= INNER:
                self.weight = min(self.weight * RAISE, WEIGHTS[2])

    def _pay(self, examples: Array) -> None:
        """Conjugates of these blocks anew."""
        x = 0.0 - self.blocks[examples]
        x[np.arange(len(x)), self.y[examples]] = 0.0
        self.paid[examples] = self.loss.conjugates(x, self.r[examples])

    def dual_variables(self) -> Any:
        """The best dual: mass of each example on the other classes, (n, m)."""
        self.blocks = self.best
        return super().dual_variables()

    def check(self) -> tuple[float, float]:
        """P at V and D at the blocks, W = X'A summed anew, and the Fenchel-Young gap of every example."""
        self.W = self._primal_of_dual()
        size, n, risk = block_length(self.m), len(self.y), 0.0
        for first in range(0, n, size):
            part = slice(first, min(n, first + size))
            f = np.ascontiguousarray(scores(self.X, self.V, part.start, part.stop))
            losses = self.r[part] * self.loss.values(f, self.y[part])
            inner = np.einsum("ij,ij->i", self.blocks[part], f)
            self.gaps[part] = losses + self.paid[part] + inner
            risk += float(losses.sum())
        primal = 0.5 * float(np.vdot(self.V, self.V)) + risk
        return primal, -float(self.paid.sum()) - 0.5 * float(np.vdot(self.W, self.W))

    def _round(self, examples: Array) -> int:
        """Newton steps in V around the dual of these examples, which moves; how many."""
        X, y, r, centre = (part[examples] for part in (self.X, self.y, self.r, self.blocks))
        numbers = np.empty((len(y), 2))
        numbers[:, 0] = norms = self.weight * self.squares[examples]
        loop, given, found = self.loss.kernels.loops[UPDATE], np.empty_like(centre), np.empty_like(centre)

        def move(out: Array) -> None:
            """Write the change of the dual that belongs to the scores ``given``, less norms times the centre."""
            if loop(self.parameters, 1.0, given, y, self.costs, r, numbers, out, self.space) < len(y):
                out[:] = np.nan
            np.subtract(out, centre, out=out)

        start, change = self.W.copy(), np.empty_like(centre)
        f = X @ self.V.T
        f -= np.multiply(norms[:, None], centre, out=given)
        np.copyto(given, f)
        move(change)
        left = self.V - start - change.T @ X
        for step in range(1, INNER + 1):
            D = self._direction(X, centre + change, y, r, norms, left)
            first = float(np.vdot(left, D))
            if not -np.inf < first < 0.0:
                return step
            along, length = X @ D.T, 1.0
            for _ in range(TRIES):
                np.add(f, np.multiply(length, along, out=given), out=given)
                move(found)
                new = float(np.vdot(self.V - start + length * D, D)) - float(np.vdot(found, along))
                if not new > FLAT * abs(first):
                    break
                length *= max(first / (first - new), 0.1)
            if not np.isfinite(new):
                return step
            self.V += length * D
            np.copyto(f, given)
            change, found = found, change
            left = self.V - start - change.T @ X
            apart = float(norms @ np.einsum("ij,ij->i", change, change))
            if float(np.vdot(left, left)) < SOLVED * apart:
                break
        self.blocks[examples] = centre + change
        self.W = start + change.T @ X
        return step

    def _direction(self, X: Array, A: Array, y: Array, r: Array, norms: Array, left: Array) -> Array:
        """The Newton step where the gradient is ``left`` and the dual A."""
        kinds, slopes = np.empty(A.shape, np.int8), np.empty(A.shape)
        dimensions, work = np.empty(len(A)), np.empty((2, self.m))
        faces(A, y, r, self.parameters[0], kinds, slopes, dimensions, work)
        curved = (dimensions > 0) & (norms > TINY)
        H = hessian(X[curved], kinds[curved], 1.0 / norms[curved])
        return np.asarray(Factor(H).solve(-left))
