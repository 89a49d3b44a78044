"""An interior point of the dual of hinges and entropies, for few weights and badly scaled features.

Maximise -sum_i r_i L*(x_i) - 1/2 ||A'X||^2, x_i in the unit top-k simplex, a_i =
r_i (<1,x_i> e_{y_i} - x_i), by Mehrotra's predictor and corrector with corrections of centrality
(Gondzio 1996). The scores are Q U' with orthonormal columns Q (`fast.solvers.orthonormal`), so that
nothing but the metric G of U knows how features are scaled. A step solves

    dU G + sum_i r_i (B_i'M_i^-1 B_i) dU q_i q_i' = A'Q - U G + ...

with B_i the differences of scores and M_i^-1 of `fast.solvers.simplex_rows`. U is a variable of its
own: A'X loses the digits of weights on large features. No number of iterations grows much with C.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from fast.errors import InvalidParameterError

from .kronecker import PACKED, Factor, assemble
from .orthonormal import Orthonormal, dense
from .rows import as_csr, blocks_of, is_sparse
from .simplex_loop import BOUNDARY, CENTRINGS, SHORT, advance
from .simplex_rows import Aims, SimplexRows, Step
from .state import TrainingState

ENTRY, ENTRY_CAPPED = 165.0, 235.0  # nanoseconds per mass
USUAL, GROWTH = 20, 0.27  # iterations to 1e-6 for k > 1, more for more than 1000 rows
WEIGHTS, SPARSE = 8000, 5000  # m * min(n, d); beyond the second CSR rows are better left sparse
NUMBERS = 50_000_000  # n * max(m, d)
ROOMY, MEETING = 4, 1500  # rows per weight, and weights, of a QR factorisation
QUICK = 1_000_000  # multiplications of a step up to which it is compiled as a whole
EARLY, ROUGH = 20, 1e-7  # such steps before the first check, and part of the first products that is left then
LEAST, FINISHED = 1e-12, 1e-9  # gaps that are rounding, the second if it hardly falls
RESTORATIONS = 4
APART = 0.1  # of the gap: what distance between A'X and W makes of it where they are to be brought together
NOISE = 1e-11  # part of P up to which that is rounding
NEGLIGIBLE = 0.01  # distance between A'X and W, in parts of what is left
NEAR = 0.1  # of P: when it may matter
MET = 0.1  # of the gap before: no need to meet
SETTLED = 1e-14  # products of this part of P leave nothing to gain
SLOW, PATIENCE = 0.9, 12  # iterations that leave so much of gap and products


class SimplexInteriorSolver:
    """Trains one model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "simplex"
    offset: Any = None  # scores (m, n) that examples have besides W x_i
    enough = 0.0  # gap that was asked for, where one is to go on to rounding

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        n, d = X.shape
        if m * min(n, d) > WEIGHTS:
            raise InvalidParameterError(
                "solver", f"'interior' for {m} x {min(n, d)} weights",
                f"at most {WEIGHTS}", "use 'active'",
            )  # fmt: skip
        self.X, self.y, self.r, self.m, self.loss = dense(X), y, r, m, loss
        self.W = np.zeros((m, d))
        self.best = np.zeros((m, n))  # the dual A'
        order = np.flatnonzero(r > 0.0)
        self.order = order[np.argsort(y[order], kind="stable")]
        self.space = Orthonormal(self.X[self.order])
        self.Q, self.metric = self.space.Q, self.space.metric
        self.U = np.zeros((m, self.Q.shape[1]))
        entropy, dropped = int("lists" not in loss.capabilities), getattr(loss, "dropped", None)
        kind = *loss.parameters(m - 1)[:2], loss.gamma
        self.rows = SimplexRows(
            y[self.order], r[self.order], m, kind, entropy,
            None if dropped is None else dropped[self.order],
        )  # fmt: skip
        self.exhausted = not len(self.order)
        self.weight = self.rows.products * float(r.sum())
        self.primal = self.left = self.apart = np.inf
        self.looped = not entropy and self.Q.size > 0 and self.quick(self.X, m)
        self.loop: Any = None  # what `advance` works on

    @staticmethod
    def quick(X: Any, m: int) -> bool:
        """Whether steps have so few multiplications that they are compiled as a whole."""
        n, p = X.shape[0], min(X.shape)
        return n * m * m * p * p / 4.0 + (m * p) ** 3 / 3.0 <= QUICK

    @staticmethod
    def affordable(X: Any, m: int) -> bool:
        """Whether there are few weights, and matrices of the size of the data fit into memory."""
        n, d = X.shape
        return m * min(n, d) <= (SPARSE if is_sparse(X) else WEIGHTS) and n * max(m, d) <= NUMBERS

    @staticmethod
    def nanoseconds(X: Any, m: int, loss: Any, tol: float) -> float:
        """What it is expected to take."""
        n, p = X.shape[0], min(X.shape)
        k = loss.parameters(m - 1)[1]
        rows = n * m * (ENTRY_CAPPED if 1 < k < m - 1 else ENTRY)
        products = n * (m * (m - 1) * p * (p + 1) / 45.0 + 2.5 * p * (p if p <= PACKED else m * m))
        step = 1e6 + rows + products + ((m - 1) * p) ** 3 / 60.0
        steps = 12 + 2 * min(m, 25) if k == 1 else USUAL * max(n / 1000.0, 1.0) ** GROWTH
        return steps * (0.6 - np.log10(max(tol, 1e-12)) / 15.0) * step + n * p * p / 3.0

    def start_cold(self) -> None:
        """W = 0, as it is."""

    def start_warm(self, dual: Any) -> None:
        """W = 0 too: an interior point gains nothing from a vertex."""

    def resume(self, dual: Any) -> None:
        """W = 0, and a dual that is the best so far."""
        self.best = np.ascontiguousarray(blocks_of(dual, self.y).T)

    def dual_variables(self) -> Any:
        """The best dual: mass of each example on the other classes; dense where none is 0."""
        x = np.maximum(-self.best.T, 0.0)
        x[np.arange(len(self.y)), self.y] = 0.0
        return x if self.rows.entropy else as_csr(x)

    # ---- a step

    def _scores(self, U: np.ndarray) -> np.ndarray:
        """(m, examples)."""
        return np.asarray(U @ self.Q.T)

    def _factor(self) -> Factor:
        """Of the matrix of a step, in scores relative to the last class: rows of U sum to 0."""
        return Factor(assemble(self.metric, self.rows.curvature, self.Q, self.rows.y, self.m))

    def _solve(self, factor: Factor, right: np.ndarray) -> np.ndarray:
        u = np.zeros_like(self.U)
        if u.size:
            u[:-1] = factor.solve(right[:-1])
        return np.asarray(u - u.mean(axis=0))

    def _towards(
        self, factor: Factor, f: np.ndarray, aims: Aims, at: int = 0
    ) -> tuple[np.ndarray, Step, float]:
        """A step to products ``aims``, and how much of it can be taken."""
        dU = self._solve(factor, self.rows.pull(f, aims) @ self.Q - self.U @ self.metric)
        step, longest = self.rows.step(self._scores(dU), aims, at)
        return dU, step, min(1.0, BOUNDARY * longest)

    def _tau(self, step: Any, length: float) -> float:
        """Mean product after a part of a step."""
        return self.rows.total(step, length) / self.weight

    def _advance(self) -> None:
        """One step."""
        rows = self.rows
        rows.centre()
        f, factor = self._scores(self.U), self._factor()
        f = f if self.offset is None else f + self.offset[:, self.order]
        tau = self._tau(None, 0.0)
        _, step, length = self._towards(factor, f, rows.fixed)
        share = min(max(self._tau(step, length) / tau, 0.0), 1.0)
        target = tau * share**3
        aims = rows.second_order(step, target, tau)
        dU, step, length = self._towards(factor, f, aims)
        if length < SHORT:  # the corrections were made for a step of length 1
            target = 0.5 * tau
            aims = rows.even(target)
            dU, step, length = self._towards(factor, f, aims)
        for i in range(CENTRINGS):
            if length > BOUNDARY - SHORT:
                break
            aims = rows.centred(step, min(1.0, 1.1 * length + 0.1), target, aims)
            found = self._towards(factor, f, aims, 1 - i % 2)
            if not found[2] > 1.01 * length:
                break
            dU, step, length = found
        self.U += length * dU
        rows.advance(step, length)
        self.left = self._tau(None, 0.0) * self.weight
        if self.left < NEAR * self.primal:
            self._restore(factor)

    def _looped(self, count: int, until: float) -> None:
        """Up to so many steps, until products are so small."""
        rows, (m, n, p) = self.rows, (self.m, len(self.order), len(self.metric))
        if self.loop is None:
            size, q = (m - 1) * p, len(rows.x)
            g, h = np.tril_indices(p)
            pairs = np.ascontiguousarray((self.Q[:, g] * self.Q[:, h]).T)
            walls, aims = tuple(rows.variables()), [tuple(a) for a in (rows.fixed, *rows.aims)]
            flat = [tuple(map(np.atleast_2d, v)) for v in (walls, *rows.steps, *aims)]
            numbers = rows.sums, rows.v, rows.moved, np.empty((m, n)), np.empty((m, n))
            self.loop = (
                rows.pieces, rows.r, rows.kind, float(rows.cost), self.weight, walls, flat[0], np.empty((q, n)),
                tuple(aims), tuple(flat[3:]), rows.matrix, tuple(map(tuple, rows.steps)), tuple(flat[1:3]),
                (self.U, self.Q, self.metric), pairs, np.empty((m * (m - 1) // 2, n)), np.empty((m, n)),
                numbers, np.empty((size, size)), np.empty(size), np.empty((2, m, p)),
            )  # fmt: skip
        _, self.left = advance(count, until, *self.loop)

    def _apart(self, U: np.ndarray) -> np.ndarray:
        """What the dual variables make of U, less it."""
        return np.asarray(self.rows.blocks(self.rows.x) @ self.Q - U @ self.metric)

    def _restore(self, factor: Factor) -> None:
        """Move dual variables so that A'X meets W, where rounding on large features keeps them apart."""
        U, last = self.U, np.inf
        for _ in range(RESTORATIONS):
            apart = self._apart(U)
            size = 0.5 * float(np.square(apart @ self.space.R).sum())
            if not NEGLIGIBLE * self.left < size < 0.5 * last:
                return
            dU, last = self._solve(factor, apart), size
            step = self.rows.moves(self._scores(dU))
            share = self.rows.relative(step)
            if not share < 1.0 / BOUNDARY:
                return
            length = min(1.0, 0.5 / max(share, 0.5))
            U = U + length * dU
            self.rows.shift(step, length)

    def _meet(self) -> None:
        """Masses so that A'X meets W as nearly as float64 can, by a QR factorisation.

        Where walls are near the matrix of a step has condition numbers beyond 1e16, those of its root
        are 1e8. The examples with most room take part.
        """
        rows = self.rows
        b, p, q = self.m - 1, len(self.metric), len(rows.x)
        rows.centre()
        room = rows.matrix[2].sum(axis=0) * rows.r
        taken = np.sort(np.argsort(-room)[: max(ROOMY * b * p // q, 1)])
        T, C = rows.root(taken)
        weight = np.sqrt(rows.r[taken])[:, None, None]
        tall = np.einsum("nqb,np->nqbp", weight * C[:, :, :b], self.Q[taken])
        tall = tall.reshape(len(taken) * q, b * p)
        shares = np.linalg.cholesky(np.eye(b) - 1.0 / self.m).T
        tall = np.concatenate([tall, np.kron(shares, np.linalg.cholesky(self.metric).T)])
        scale = np.sqrt(np.square(tall).sum(axis=0))
        tall /= scale
        order = np.argsort(-np.abs(tall).max(axis=1))
        basis, triangle = qr(tall[order], mode="economic", overwrite_a=True, check_finite=False)
        still = rows.fixed
        for _ in range(2):
            apart = self._apart(self.U)
            y = solve_triangular(triangle, apart[:-1].ravel() / scale, trans=1, check_finite=False)
            u = np.empty(len(order))
            u[order] = basis @ y
            dx = np.zeros_like(rows.x)
            part = u[: len(taken) * q].reshape(len(taken), q, 1)
            dx[:, taken] = np.linalg.solve(T * weight, part)[:, :, 0].T
            flat = rows.flat(dx) if rows.caps else still.t
            step = Step(dx, still.x, -dx.sum(axis=0), still.s0, -flat, still.t)
            share = rows.relative(step)
            rows.shift(step, 1.0 if share <= 0.9 else 0.9 / share)

    def _met(self) -> tuple[float, np.ndarray]:
        """D and A' at dual variables that meet W; the present ones stay."""
        rows = self.rows
        kept = rows.x.copy(), rows.t.copy(), rows.s0.copy()
        try:
            self._meet()
            _, dual, A = self._check()
        except np.linalg.LinAlgError:
            dual, A = -np.inf, self.best
        rows.x[:], rows.t[:], rows.s0[:] = kept  # the loop has these arrays
        return dual, A

    def _check(self) -> tuple[float, float, np.ndarray]:
        """P at the present U, D at the present dual variables, and these as A'."""
        if not np.isfinite(self.U).all():
            return np.nan, np.nan, self.best
        self.W = self.space.weights(self.U)
        f = np.ascontiguousarray(self.X @ self.W.T)
        f = f if self.offset is None else f + self.offset.T
        primal = 0.5 * float(np.vdot(self.W, self.W)) + float(self.r @ self.loss.values(f, self.y))
        A = np.zeros_like(self.best)
        A[:, self.order] = self.rows.dual_variables()
        V = A @ self.X
        dual_variables = np.maximum(-A.T, 0.0)
        dual = -float(self.loss.conjugates(dual_variables, self.r).sum()) - 0.5 * float(
            np.vdot(V, V)
        )
        dual -= 0.0 if self.offset is None else float(np.vdot(A, self.offset))
        return primal, dual, A

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops, or rounding rules."""
        mark, waited, before = (np.inf, np.inf), 0, np.inf
        self.looped = self.looped and self.offset is None
        for iteration in range(state.n_iter + 1, max_iter + 1):
            if self.exhausted:
                return None
            with np.errstate(all="ignore"):  # what is not finite is not taken
                if not self.looped:
                    self._advance()
                elif self.left == np.inf:  # where a certificate would say nothing
                    self._looped(max(min(EARLY, max_iter - iteration), 1), self.weight * ROUGH)
                else:
                    self._looped(1, 0.0)
                primal, dual, A = self._check()
                matters = primal - dual > min(NOISE, self.enough) * abs(primal)
                off = (1.0 - APART) * (primal - dual) > self.left
                if self.looped and matters and off and self.left < NEAR * abs(primal):
                    self._restore(Factor.of(*self.loop[-3:-1]))
                    primal, dual, A = self._check()
            if not np.isfinite(primal + dual):
                if self.looped and not state.n_iter:  # once more, with a certificate of every step
                    again = SimplexInteriorSolver(self.X, self.y, self.r, self.m, self.loss, 0)
                    vars(self).update(vars(again), looped=False)
                    return self.run(state, tol, max_iter, report)
                self.exhausted = True
                return None
            aim, apart = tol * abs(primal), primal - dual
            stuck = self.left < aim < apart and apart > MET * self.apart
            if stuck and 0 < self.U.size <= MEETING:
                with np.errstate(all="ignore"):
                    other, B = self._met()
                if other > dual:
                    dual, A = other, B
            self.apart = apart
            if dual > state.dual:
                self.best = A
            self.primal = abs(primal)
            state.record(iteration, primal, max(dual, state.dual), self.W)
            progress = state.gap < SLOW * mark[0] or self.left < SLOW * mark[1]
            mark, waited = ((state.gap, self.left), 0) if progress else (mark, waited + 1)
            rounding = self.looped and (state.gap <= LEAST or FINISHED >= state.gap > MET * before)
            over, before = rounding and state.gap <= self.enough, state.gap
            self.exhausted = over or waited >= PATIENCE or self.left < SETTLED * self.primal
            state.done = state.gap <= tol or self.exhausted
            if report(state) or state.done:
                return None
        return None
