"""Newton's method in the primal, for smooth losses: entropies and smooth top-k hinges.

The gradient of P(W) = 1/2||W||^2 + sum_i r_i L_i is W - X'A with a_i = -r_i g_i, g_i the gradient of
L_i in the scores. Directions come from conjugate gradients on I + sum_i r_i H_i (x) x_i x_i', whose
products are two matrix products in float32. They are preconditioned by I + S (x) X'RX, S the mean of the
H_i, and by the Hessian itself, both factorised, as soon as products have cost as much as that would.
Losses whose rows allow it go through float32 altogether until the gap seems small enough.

The certificate is free, and always float64: A is dual feasible, every Fenchel-Young residual is zero,
and P(W) - D(A) = ||W - X'A||^2 / 2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .kronecker import Factor, assemble
from .rows import blocks_of, dense, is_sparse, squared_norms
from .state import TrainingState

CERTIFY_EVERY = 8  # float32 steps between two certificates
SINGLE_GAP = 1e-7  # relative gap that float32 is trusted with
ONE_STEP_GAP = 0.05  # relative gap at W = 0 from which one Newton step may reach 1e-6
NEAR = 100.0  # a step from within this multiple of the aim may reach it: float64 from there on
CRAWLING = 12  # iterations that leave more than SLOW of the gap
STEEP = 0.01  # a step that leaves this part of the gap: the preconditioner alone is good enough
CG_STEPS = 100
SLOW = 0.5  # a step that leaves this part of the gap calls for directions in float64
AT_ONCE = 8.0  # products of the Hessian that X'RX may cost before any was taken
CALL = 1e6  # multiplications that take as long as the calls of one product
WIDE = 4  # times that a multiplication in float64 takes as long as one of a product
SAMPLE, SAMPLED, ENOUGH = (
    4096,
    20,
    3,
)  # rows, also by weights, that directions are from, where many times as many
FALL, LOCAL = (
    0.25,
    10.0,
)  # a step that leaves this part of such a gap calls for directions from all rows
WIDEST = 1500  # weights up to which the Hessian may be factorised
FULL = 1 << 23  # numbers of CSR rows written out for that


class PrimalNewtonSolver:
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "curvature"

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m = X, y, r, m
        n, d = X.shape
        self.rows = loss.rows(y, r, m)
        size = float(max(X.max(), -X.min()))
        steep = size * size / loss.gamma if loss.gamma > 0.0 else size * size
        fits = max(steep, size, 1.0) * float(r.max()) * n < 1e25
        self.X64 = X.astype(np.float64, copy=False)
        self.X32 = X.astype(np.float32, copy=False) if fits else self.X64
        self.single = fits and self.rows.single
        self.W = np.zeros((m, d))
        self.A: Any = None  # the best dual so far, as blocks -a_i
        self.spare: Any = None
        self.A32: Any = None
        self.basis: Any = None  # eigenvalues and eigenvectors of X'RX
        self.spent = 0.0  # products of the Hessian so far
        self.solves = 0  # of them, those of the last direction
        self.mass_at_zero = 0.0  # x_j/r_i of all examples in the best dual, while A is None
        self.stepped = False  # the preconditioner alone took the last step
        self.fine = False  # directions in float64
        self.whole = False  # directions from all rows
        self.rng = np.random.default_rng(seed)
        self.reached = 0  # iteration that W belongs to
        self.started = False  # W is somewhere else than 0
        self.patient = True  # goes on where gaps hardly fall
        self.squares = squared_norms(X)

    @staticmethod
    def nanoseconds(X: Any, m: int) -> float:
        """What it is expected to take: 12 steps of 10 products each."""
        n, d = X.shape
        width = 4.0 * X.nnz / n if is_sparse(X) else 0.2 * d
        return 12.0 * n * m * (60.0 + 20.0 * width)

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual."""
        self.W = self._transposed(self.X64, blocks_of(dual, self.y))
        self.started = True

    def resume(self, dual: Any) -> None:
        """The best dual of the run so far; without other weights W = 0."""
        self.A = -blocks_of(dual, self.y)

    def start_at(self, W: np.ndarray) -> None:
        """Begin at given weights (m, d)."""
        self.W = np.array(W, dtype=np.float64)
        self.started = True

    @staticmethod
    def _transposed(X: Any, A: np.ndarray) -> np.ndarray:
        """A'X, (m, d)."""
        product = (X.T @ A).T if is_sparse(X) else A.T @ X
        return np.ascontiguousarray(product, np.float64)

    def _at(self, W: np.ndarray, double: bool) -> tuple[float, np.ndarray]:
        """P(W) and -A, in float64 or in the precision of the directions."""
        n = len(self.y)
        if double:
            f = np.ascontiguousarray(self.X64 @ W.T)
            if self.spare is None:
                self.spare = np.empty((n, self.m))
            A = self.spare
        else:
            f = np.ascontiguousarray(self.X32 @ W.T.astype(np.float32))
            if self.A32 is None:
                self.A32 = np.empty((n, self.m), np.float32)
            A = self.A32
        risk = self.rows.evaluate(f, A)
        return 0.5 * float(np.vdot(W, W)) + risk, A

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Newton steps until state.gap <= tol, or max_iter, or the callback stops."""
        if state.n_iter >= max_iter:
            return
        double = not self.single or tol < SINGLE_GAP
        iteration = state.n_iter + 1
        if not self.started and self._first_step(state, iteration):
            if self._over(state, tol, max_iter, report):
                return
            iteration += 1
            double |= state.gap <= ONE_STEP_GAP
        last = np.inf
        mark = iteration, np.inf
        before = state.absolute_gap
        primal, A = self._at(self.W, double)
        while True:
            self.reached = iteration
            gradient = self.W + self._transposed(self.X64 if double else self.X32, A)
            gap = 0.5 * float(np.vdot(gradient, gradient))
            small = gap <= max(tol, SINGLE_GAP) * abs(primal)
            certified = double
            if not double and (small or iteration % CERTIFY_EVERY == 0 or iteration == max_iter):
                double, certified = small, True
                primal, A = self._at(self.W, True)
                gradient = self.W + self._transposed(self.X64, A)
                gap = 0.5 * float(np.vdot(gradient, gradient))
            if certified:
                self._record(state, iteration, primal, gap)
                if self._over(state, tol, max_iter, report):
                    return
                if state.gap < SLOW * mark[1]:
                    mark = iteration, state.gap
                elif iteration - mark[0] >= CRAWLING and not self.patient:
                    return
            self.fine |= double and gap > SLOW * last
            last = gap if double else np.inf
            self.whole |= FALL * before < gap < LOCAL * primal
            self.stepped &= gap <= STEEP * before and not self.fine
            before = gap
            direction = self._direction(gradient, primal, tol, self.stepped)
            noise = (1e-15 if double else 1e-6) * abs(primal)
            double |= gap <= NEAR * max(tol, SINGLE_GAP) * abs(primal)
            found = self._search(direction, gradient, primal, double, noise)
            if found is None and not double:  # float32 cannot go on
                double = True
                primal, A = self._at(self.W, True)
            elif found is None and not self.fine:
                self.fine = True
                primal, A = self._at(self.W, True)
            elif found is None:
                return
            else:
                primal, A = found
            iteration += 1

    def _over(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> bool:
        state.done = state.gap <= tol
        return bool(report(state)) or state.done or state.n_iter >= max_iter

    def _record(self, state: TrainingState, iteration: int, primal: float, gap: float) -> None:
        """Take in a point evaluated in float64, whose blocks are in ``spare``."""
        dual = state.dual
        if primal - gap > dual:
            dual = primal - gap
            self.A, self.spare = self.spare, self.A
        state.record(iteration, primal, dual, self.W)

    def finalize(self, state: TrainingState) -> None:
        """Certify the point reached, after an interruption."""
        if self.reached <= state.n_iter:
            return
        primal, A = self._at(self.W, True)
        gradient = self.W + self._transposed(self.X64, A)
        self._record(state, self.reached, primal, 0.5 * float(np.vdot(gradient, gradient)))

    # -- directions ---------------------------------------------------------------------------
    def _first_step(self, state: TrainingState, iteration: int) -> bool:
        """From W = 0, where all examples look alike, without a product of the size of the data.

        There H = c (I - 11'/m) for every example, and the Newton step solves (I + c X'RX) D = G.
        """
        alike = self.rows.at_zero()
        if alike is None:
            return False
        loss, x = alike
        own = sp.csr_array((self.r, (self.y, np.arange(len(self.y)))), shape=(self.m, len(self.y)))
        sums = np.asarray((own @ self.X64).toarray() if is_sparse(self.X) else own @ self.X64)
        gradient = x * sums.sum(axis=0) - (x * self.m) * sums
        primal = float(self.r.sum()) * loss
        gap = 0.5 * float(np.vdot(gradient, gradient))
        if primal - gap > state.dual:
            self.mass_at_zero, self.A = x, None
        state.record(iteration, primal, max(state.dual, primal - gap), self.W)
        step = -gradient
        self._decompose()
        if self.basis is not None:
            step = self._in_basis(step, x).astype(np.float64)
        elif gap > 0.0:  # the length that is best for curvature x X'RX along the gradient
            along = self.X64 @ gradient.T
            bend = x * float(self.r @ (along * along).sum(axis=1))
            step *= 2.0 * gap / (2.0 * gap + bend)
        self.W = step
        self.started = True
        self.stepped = self.basis is not None
        return True

    def _product(self, rows: float) -> float:
        """Multiplications of one product of the Hessian with so many rows, and what its calls cost."""
        return CALL + 2.0 * rows * self.m * self.X.shape[1]

    def _decompose(self) -> None:
        """X'RX = Q diag(sizes) Q', as soon as it costs no more than the products so far."""
        n, d = self.X.shape
        cost = float(n) * d * d + 10.0 * d**3
        allowed = max(AT_ONCE, self.spent) * self._product(n)
        if self.basis is not None or is_sparse(self.X) or d > n or cost > allowed:
            return
        rows = self.X32
        if self.r.min() != self.r.max():
            rows = rows * np.sqrt(self.r / self.r.max()).astype(rows.dtype)[:, None]
        sizes, Q = np.linalg.eigh(rows.T @ rows)
        self.basis = np.maximum(sizes, 0.0) * rows.dtype.type(self.r.max()), Q

    def _in_basis(self, V: np.ndarray, bends: Any, U: Any = None) -> np.ndarray:
        """The inverse of I + S (x) X'RX times V (m, d); S = U diag(bends) U', or a number times I."""
        sizes, Q = self.basis
        inside = V.astype(Q.dtype) @ Q
        if np.ndim(bends) == 0:
            inside /= 1.0 + bends * sizes
        else:
            inside = U @ ((U.T @ inside) / (1.0 + bends[:, None] * sizes))
        return np.asarray(inside @ Q.T, Q.dtype)

    def _members(self) -> tuple[np.ndarray, float]:
        """Rows that a direction is computed from, and what their part of the Hessian is multiplied by."""
        members = self.rows.members(self.squares)
        least = max(SAMPLE, SAMPLED * self.W.size)
        if self.whole or self.fine or len(members) < ENOUGH * least:
            return members, 1.0
        some = np.sort(self.rng.choice(members, least, replace=False))
        return some, float(self.r[members].sum() / self.r[some].sum())

    def _preconditioner(self, members: np.ndarray, scale: float) -> tuple[Callable | None, bool]:
        """The inverse of a matrix near the Hessian, as a function, and whether that is the Hessian."""
        d, m = self.X.shape[1], self.m
        p = (m - 1) * d
        cost = WIDE * (0.25 * len(members) * m * (m - 1) * d * d + p**3 / 6.0)
        if self.solves * self._product(len(members)) > cost and self._small(members):
            pairs = self.rows.pairs()
            if pairs is not None:
                return self._hessian(pairs, members, scale), True
        self._decompose()
        if self.basis is None:
            return None, False
        S, U = self.rows.summed(), None
        if S is None:
            bends: Any = self.rows.mean_curvature()
        else:
            kind = self.basis[1].dtype
            bends, U = np.linalg.eigh((S / float(self.r.sum())).astype(kind))
            bends = np.maximum(bends, 0.0)
        return lambda V: self._in_basis(V, bends, U), False

    def _small(self, members: np.ndarray) -> bool:
        """Whether the Hessian, and these rows in full, take little memory."""
        m, d = self.W.shape
        return (m - 1) * d <= WIDEST and not (is_sparse(self.X) and len(members) * d > FULL)

    def _hessian(self, pairs: Callable, members: np.ndarray, scale: float) -> Callable:
        """The inverse of the Hessian; rows of W are relative to the last, and of sum 0."""
        d, m = self.X.shape[1], self.m
        rows, y = dense(self.X64[members]), self.y[members]
        H = assemble(np.eye(d) / scale, lambda a, b: pairs(members[a:b]), rows, y, m)
        factor = Factor(H)

        def solved(V: np.ndarray) -> np.ndarray:
            mean = V.mean(axis=0)
            D = np.zeros(V.shape)
            D[:-1] = factor.solve((V[:-1].astype(np.float64) - mean) / scale)
            return (D - D.mean(axis=0) + mean).astype(V.dtype)

        return solved

    def _direction(
        self, gradient: np.ndarray, primal: float, tol: float, steep: bool
    ) -> np.ndarray:
        """Conjugate gradients on (I + X'HX) d = -gradient, in float32.

        ``steep``: the preconditioner is so near the Hessian that its own step is taken.

        The right side is brought to length 1, so that products of large numbers do not overflow.
        """
        norm = float(np.linalg.norm(gradient))
        if norm == 0.0:
            return -gradient
        members, scale = self._members()
        rows = self.X64 if self.fine else self.X32
        if len(members) < len(self.y):
            rows = rows[members]
        inverse, near = self._preconditioner(members, scale)

        def conditioned(v: np.ndarray) -> np.ndarray:
            return v if inverse is None else np.ascontiguousarray(inverse(v), v.dtype)

        residual = (gradient / -norm).astype(rows.dtype)
        d = np.zeros_like(residual)
        z = conditioned(residual)
        if (steep and inverse is not None) or near:
            return norm * z.astype(np.float64)
        search = z.copy()
        rho = float(np.vdot(residual, z))
        start = norm * norm
        forcing = min(0.01, max(1e-8, start / (1.0 + start)))
        target = max(forcing, 0.5 * tol * abs(primal) / start)
        self.solves = 0
        for _ in range(5 * CG_STEPS if self.fine else CG_STEPS):
            self.solves += 1
            self.spent += 1.0
            V = np.ascontiguousarray(rows @ search.T)
            self.rows.curve(V, members)
            image = (rows.T @ V).T if is_sparse(rows) else V.T @ rows
            image *= rows.dtype.type(scale)
            image += search
            curvature = float(np.vdot(search, image))
            if not 0.0 < curvature < np.inf:
                break
            length = rho / curvature
            d += length * search
            residual -= length * image
            if float(np.vdot(residual, residual)) <= target:
                break
            z = conditioned(residual)
            new = float(np.vdot(residual, z))
            search = z + (new / rho) * search
            rho = new
        return norm * d.astype(np.float64) if d.any() else -gradient

    def _search(
        self,
        direction: np.ndarray,
        gradient: np.ndarray,
        primal: float,
        double: bool,
        noise: float,
    ) -> tuple[float, np.ndarray] | None:
        """Armijo backtracking on P(W + t d); moves W and returns P and -A there."""
        slope = float(np.vdot(gradient, direction))
        start = self.W
        length = 1.0
        for _ in range(40):
            W = start + length * direction
            with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
                value, A = self._at(W, double)
            if value <= primal + 1e-4 * length * slope + noise:
                self.W = W
                return value, A
            length *= 0.5
        return None

    def dual_variables(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it is 0."""
        if self.A is None:
            x = np.repeat(self.mass_at_zero * self.r[:, None], self.m, axis=1)
        else:
            x = self.A.copy()
        x[np.arange(len(self.y)), self.y] = 0.0
        return sp.csr_array(x) if not self.rows.single else x
