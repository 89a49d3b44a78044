"""Blocked SDCA with Newton steps on faces, for the consistent top-k hinge.

The conjugate is S_k(p) - 1 on the simplex, linear where the entries that are 0, and those that are tied at the
k-th largest, stay what they are: on such a face the dual is a concave quadratic. Its maximiser, regularised by
a proximal term, is found by preconditioned conjugate gradients, as in `fast.solvers.active_face_newton`, but
of a dense dual and with products of matrices. The update of the loss itself leads back into the domain: at
scores (slopes of S_k) - K_i (a_i + d_i) it is a_i + d_i where this is on the face, else near it.

Passes and steps leave out examples whose Fenchel-Young gap was negligible at the last check.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast._numba import kernel
from fast.kernels.projections import kth_largest
from fast.kernels.rows import UPDATE

from .active_face_newton import AT_BOUND, FIXED, FREE
from .blocked_sdca import BlockedSDCASolver
from .rows import is_sparse, scores, squared_norms
from .state import TrainingState, block_length

Array = np.ndarray[Any, Any]
TIED = 1  # a kind of entries, beside FREE and FIXED
FIRST, PASSES = 2, 5  # rounds of passes before the first step, and passes of each
STEPS, SHARE = 100, 0.05  # of conjugate gradients; what one takes, in parts of a pass
CALLS = 20  # examples whose update takes as long as the calls of a pass or of such a step
LENGTHS = 1.0, 0.5, 0.25, 0.1
PROXIMAL = 1e-7, 0.1, 1.0  # least weight of the proximal term, the first, and the largest
NEGLIGIBLE = 0.1  # of tol P/n


@kernel
def faces(blocks, y, r, k, kinds, slopes, dimensions, work):
    """Kinds of the entries of p_i = e_y - a_i/r_i, slopes of S_k there, dimensions of the faces.

    TIED are the entries at the k-th largest if not all of them are among the k largest: they have one slope.
    """
    m = blocks.shape[1]
    p, scratch = work[0], work[1]
    for i in range(blocks.shape[0]):
        for j in range(m):
            p[j] = -blocks[i, j] / r[i]
        p[y[i]] += 1.0
        at = kth_largest(p, k, np.inf, scratch)[0]
        above, tied, below = 0, 0, 0
        for j in range(m):
            kinds[i, j], slopes[i, j] = FREE, 0.0
            if p[j] <= AT_BOUND:
                kinds[i, j] = FIXED
            elif p[j] > at + AT_BOUND:
                slopes[i, j] = 1.0
                above += 1
            elif p[j] >= at - AT_BOUND:
                kinds[i, j] = TIED
                tied += 1
            else:
                below += 1
        whole = tied <= k - above
        for j in range(m):
            if kinds[i, j] == TIED:
                kinds[i, j] = FREE if whole else TIED
                slopes[i, j] = 1.0 if whole else (k - above) / tied
        dimensions[i] = above + below + (tied if whole else 1) - 1


@kernel
def to_tangent(V, kinds):
    """Project the rows of V on the tangent spaces of faces: 0 if FIXED, equal if TIED, of sum 0."""
    for i in range(V.shape[0]):
        total, level, count, tied = 0.0, 0.0, 0, 0
        for j in range(V.shape[1]):
            if kinds[i, j] != FIXED:
                total += V[i, j]
                count += 1
            if kinds[i, j] == TIED:
                level += V[i, j]
                tied += 1
        mean = total / max(count, 1)
        level = level / max(tied, 1) - mean
        for j in range(V.shape[1]):
            if kinds[i, j] == FREE:
                V[i, j] -= mean
            else:
                V[i, j] = level if kinds[i, j] == TIED else 0.0


class FaceAscentSolver(BlockedSDCASolver):
    """Trains one model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "faces"

    def __init__(self, X: Any, y: Array, r: Array, m: int, loss: Any, seed: int) -> None:
        super().__init__(X, y, r, m, loss, seed)
        self.squares, self.gaps = squared_norms(X), np.zeros(len(y))
        self.proximal = PROXIMAL[1]

    def check(self) -> tuple[float, float]:
        """Primal and dual objective, with W = X'A summed anew, and the gap of every example."""
        self.W = self._primal_of_dual()
        half = 0.5 * float(np.vdot(self.W, self.W))
        size, n, risk, paid = block_length(self.m), len(self.y), 0.0, 0.0
        for first in range(0, n, size):
            part = slice(first, min(n, first + size))
            y, r = self.y[part], self.r[part]
            f = np.ascontiguousarray(scores(self.X, self.W, part.start, part.stop))
            losses = r * self.loss.values(f, y)
            conjugates = self.loss.conjugates(self._dual_variables(part), r)
            self.gaps[part] = losses + conjugates + np.einsum("ij,ij->i", self.blocks[part], f)
            risk += float(losses.sum())
            paid += float(conjugates.sum())
        return half + risk, -paid - half

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps and passes until state.gap <= tol, or max_iter, or the callback stops."""
        matter = np.flatnonzero(self.r > 0.0)
        active, wait, failures = matter, FIRST, 0
        for iteration in range(state.n_iter + 1, max_iter + 1):
            left = float(len(self.y))  # updates until a check is due
            while left > 0.0:
                if wait:
                    wait -= 1
                else:
                    with np.errstate(all="ignore"):  # what is not finite is not taken
                        gain, spent = self.step(active)
                    failures = 0 if gain > 0.0 else failures + 1
                    wait = min(failures, 3)
                    left -= spent
                for _ in range(PASSES):
                    self.epoch(active)
                left -= PASSES * (len(active) + CALLS)
            state.record(iteration, *self.check(), self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return
            least = NEGLIGIBLE * tol * abs(state.primal) / len(self.y)
            active = matter[self.gaps[matter] > least]
            if not len(active):  # every gap is rounding, the certificate is not there yet
                active = matter

    def step(self, examples: Array) -> tuple[float, float]:
        """One Newton step on the faces of these examples, taken if it helps; the dual gain, and updates it took."""
        y, r, shape = self.y[examples], self.r[examples], (len(examples), self.m)
        kinds, slopes, dimensions = np.empty(shape, np.int8), np.empty(shape), np.empty(shape[0])
        k, work = self.parameters[0], np.empty((2, self.m))
        faces(self.blocks[examples], y, r, k, kinds, slopes, dimensions, work)
        moving = (dimensions > 0) & (self.squares[examples] > 0.0)
        if not moving.any():
            return 0.0, 0.0
        members, y, r = examples[moving], y[moving], r[moving]
        kinds, slopes = kinds[moving], slopes[moving]
        X, start = self.X[members].astype(np.float64, copy=False), self.blocks[members]
        K = self.squares[members][:, None]
        residual = slopes - np.asarray(X @ self.W.T)
        to_tangent(residual, kinds)
        change, predicted, steps = self._maximised(X, K, kinds, residual)
        paid, trial, numbers = self._paid(start, y, r), np.empty_like(start), np.empty((len(y), 2))
        numbers[:, 0] = K[:, 0]
        for length in LENGTHS:
            given = slopes - K * (start + length * change)
            done = self.loss.kernels.loops[UPDATE](
                self.parameters, 1.0, given, y, self.costs, r, numbers, trial, self.space
            )
            if done < len(y):  # an entry is not finite
                gain = 0.0
                break
            V = _pulled(X, trial - start)
            gain = paid - self._paid(trial, y, r)
            gain -= float(np.vdot(self.W, V)) + 0.5 * float(np.vdot(V, V))
            if gain > 0.0:
                self.blocks[members] = trial
                self.W += V
                break
        if gain > 0.5 * predicted and length == 1.0:
            self.proximal = max(self.proximal / 3.0, PROXIMAL[0])
        elif length < 1.0 or gain < 0.2 * predicted:
            self.proximal = min(self.proximal * 4.0, PROXIMAL[2])
        return max(gain, 0.0), steps * (SHARE * len(examples) + CALLS)

    def _maximised(
        self, X: Any, K: Array, kinds: Array, residual: Array
    ) -> tuple[Array, float, int]:
        """The change that maximises the quadratic on the faces, less proximal/2 sum_i K_i ||d_i||^2.

        Returns it, the gain that the quadratic predicts, and steps; ``residual`` is overwritten.
        """
        change, scale = np.zeros_like(residual), 1.0 / (K * (1.0 + self.proximal))
        search = scale * residual
        first = before = float(np.vdot(residual, search))
        predicted, steps = 0.0, 0
        while steps < STEPS and before > 0.0:
            image = np.ascontiguousarray(X @ _pulled(X, search).T)
            to_tangent(image, kinds)
            image += self.proximal * K * search
            curvature = float(np.vdot(search, image))
            if not 0.0 < curvature < np.inf:
                break
            length, steps = before / curvature, steps + 1
            change += length * search
            residual -= length * image
            gain = 0.5 * length * before
            predicted += gain
            z = scale * residual
            after = float(np.vdot(residual, z))
            if gain < 0.003 * predicted or after < 1e-3 * first:
                break
            search = z + (after / before) * search
            before = after
        return change, predicted, steps

    def _paid(self, blocks: Array, y: Array, r: Array) -> float:
        """Sum of the conjugates."""
        x = 0.0 - blocks
        x[np.arange(len(x)), y] = 0.0
        return float(self.loss.conjugates(x, r).sum())


def _pulled(X: Any, A: Array) -> Array:
    """A'X, (m, d)."""
    return np.ascontiguousarray((X.T @ A).T) if is_sparse(X) else np.asarray(A.T @ X)
