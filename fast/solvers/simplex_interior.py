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
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular

from fast.errors import InvalidParameterError

from .kronecker import Factor, assemble
from .orthonormal import Orthonormal, dense
from .simplex_rows import SimplexRows, Step
from .state import TrainingState

WEIGHTS = 5000  # m * min(n, d)
NUMBERS = 50_000_000  # n * max(m, d)
ROOMY, MEETING = 4, 1500  # rows per weight, and weights, of a QR factorisation
ENTRIES = 16384  # numbers per array: fits in the cache
BOUNDARY = 0.995  # part of the way to the first wall
SHORT = 0.1  # a step so short is replaced by one that centres
CENTRINGS = 2
RESTORATIONS = 4
NEGLIGIBLE = 0.01  # distance between A'X and W, in parts of what is left
NEAR = 0.1  # of P: when it may matter
MET = 0.1  # of the gap before: no need to meet
SETTLED = 1e-14  # products of this part of P leave nothing to gain
SLOW, PATIENCE = 0.9, 12  # iterations that leave so much of gap and products


class SimplexInteriorSolver:
    """Trains one model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "simplex"

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
        self.order = np.flatnonzero(r > 0.0)
        self.space = Orthonormal(self.X[self.order])
        self.Q, self.metric = self.space.Q, self.space.metric
        self.U = np.zeros((m, self.Q.shape[1]))
        size, last = max(ENTRIES // m, 64), len(self.order)
        self.parts = [slice(i, min(i + size, last)) for i in range(0, last, size)]
        entropy, dropped = int("lists" not in loss.capabilities), getattr(loss, "dropped", None)
        kind = *loss.parameters(m - 1)[:2], loss.gamma
        self.rows = [
            SimplexRows(y[own], r[own], m, kind, entropy, None if dropped is None else dropped[own])
            for own in (self.order[part] for part in self.parts)
        ]
        self.exhausted = not self.rows
        self.weight = 0.0 if self.exhausted else self.rows[0].products * float(r.sum())
        self.primal = self.left = self.apart = np.inf

    @staticmethod
    def affordable(X: Any, m: int) -> bool:
        """Whether there are few weights, and matrices of the size of the data fit into memory."""
        n, d = X.shape
        return m * min(n, d) <= WEIGHTS and n * max(m, d) <= NUMBERS

    def start_cold(self) -> None:
        """W = 0, as it is."""

    def start_warm(self, dual: Any) -> None:
        """W = 0 too: an interior point gains nothing from a vertex."""

    def masses(self) -> sp.csr_array:
        """The best dual: mass of each example on the other classes."""
        x = np.maximum(-self.best.T, 0.0)
        x[np.arange(len(self.y)), self.y] = 0.0
        return sp.csr_array(x)

    # ---- a step

    def _scores(self, U: np.ndarray) -> list[np.ndarray]:
        """(m, examples) of every part."""
        return [U @ self.Q[part].T for part in self.parts]

    def _pulled(self, blocks: list[np.ndarray]) -> np.ndarray:
        """A'Q of rows of the dual."""
        return np.asarray(
            sum(block @ self.Q[part] for block, part in zip(blocks, self.parts, strict=True))
        )

    def _curvature(self, first: int, last: int) -> np.ndarray:
        """Blocks of rows first:last, as `assemble` wants them."""
        out = np.empty((self.m * (self.m - 1) // 2, last - first))
        for rows, part in zip(self.rows, self.parts, strict=True):
            low, high = max(part.start, first), min(part.stop, last)
            if low < high:
                rows.curvature(low - part.start, high - part.start, out, low - first)
        return out.T

    def _factor(self) -> Factor:
        """Of the matrix of a step, in scores relative to the last class: rows of U sum to 0."""
        y = self.y[self.order]
        return Factor(assemble(self.metric, self._curvature, self.Q, y, self.m))

    def _solve(self, factor: Factor, right: np.ndarray) -> np.ndarray:
        u = np.zeros_like(self.U)
        if u.size:
            u[:-1] = factor.solve(right[:-1])
        return np.asarray(u - u.mean(axis=0))

    def _towards(
        self, factor: Factor, f: list[np.ndarray], target: float, second: list[Any]
    ) -> tuple[np.ndarray, list[Step], float]:
        """A step to products ``target``, less ``second``, and how much of it can be taken."""
        pulls = [
            rows.pull(f, target, less) for rows, f, less in zip(self.rows, f, second, strict=True)
        ]
        moved = [
            rows.blocks(rows.x + rows.solve(v)[0]) for rows, v in zip(self.rows, pulls, strict=True)
        ]
        dU = self._solve(factor, self._pulled(moved) - self.U @ self.metric)
        steps = [
            rows.step(v + rows.margins(df), target, less)
            for rows, v, df, less in zip(self.rows, pulls, self._scores(dU), second, strict=True)
        ]
        pairs = zip(self.rows, steps, strict=True)
        return dU, steps, min(1.0, BOUNDARY * min(rows.longest(step) for rows, step in pairs))

    def _tau(self, steps: list[Any], length: float) -> float:
        """Mean product after a part of a step."""
        pairs = zip(self.rows, steps, strict=True)
        return sum(rows.total(step, length) for rows, step in pairs) / self.weight

    def _advance(self) -> None:
        """One step."""
        for rows in self.rows:
            rows.centre()
        f, none = self._scores(self.U), [None] * len(self.rows)
        tau, factor = self._tau(none, 0.0), self._factor()
        _, steps, length = self._towards(factor, f, 0.0, none)
        share = min(max(self._tau(steps, length) / tau, 0.0), 1.0)
        target = tau * share**3
        pairs = zip(self.rows, steps, strict=True)
        second = [rows.second_order(step, tau) for rows, step in pairs]
        dU, steps, length = self._towards(factor, f, target, second)
        if length < SHORT:  # the corrections were made for a step of length 1
            target = 0.5 * tau
            second = [Step(*[np.zeros_like(v) for v in s if v is not None]) for s in second]
            dU, steps, length = self._towards(factor, f, target, second)
        for _ in range(CENTRINGS):
            if length > BOUNDARY - SHORT:
                break
            triples = zip(self.rows, steps, second, strict=True)
            aim = min(1.0, 1.1 * length + 0.1)
            more = [rows.centred(step, aim, target, less) for rows, step, less in triples]
            found = self._towards(factor, f, target, more)
            if not found[2] > 1.01 * length:
                break
            (dU, steps, length), second = found, more
        self.U += length * dU
        for rows, step in zip(self.rows, steps, strict=True):
            rows.advance(step, length)
        self.left = self._tau(none, 0.0) * self.weight
        if self.left < NEAR * self.primal:
            self._restore(factor)

    def _restore(self, factor: Factor) -> None:
        """Move masses so that A'X meets W, where rounding on large features keeps them apart."""
        U, last = self.U, np.inf
        for _ in range(RESTORATIONS):
            apart = self._pulled([rows.blocks(rows.x) for rows in self.rows]) - U @ self.metric
            size = 0.5 * float(np.square(apart @ self.space.R).sum())
            if not NEGLIGIBLE * self.left < size < 0.5 * last:
                return
            dU, last = self._solve(factor, apart), size
            pairs = zip(self.rows, self._scores(dU), strict=True)
            steps = [rows.solve(rows.margins(f)) for rows, f in pairs]
            share = max(rows.relative(step) for rows, step in zip(self.rows, steps, strict=True))
            if not share < 1.0 / BOUNDARY:
                return
            length = min(1.0, 0.5 / max(share, 0.5))
            U = U + length * dU
            for rows, step in zip(self.rows, steps, strict=True):
                rows.shift(step, length)

    def _meet(self) -> None:
        """Masses so that A'X meets W as nearly as float64 can, by a QR factorisation.

        Where walls are near the matrix of a step has condition numbers beyond 1e16, those of its root
        are 1e8. The examples with most room take part.
        """
        b, p, q = self.m - 1, len(self.metric), len(self.rows[0].x)
        for rows in self.rows:
            rows.centre()
        room = np.concatenate([rows.g.sum(axis=0) * rows.r for rows in self.rows])
        taken = np.sort(np.argsort(-room)[: max(ROOMY * b * p // q, 1)])
        roots, chosen = [], [taken[(taken >= c.start) & (taken < c.stop)] for c in self.parts]
        blocks = []
        for rows, part, own in zip(self.rows, self.parts, chosen, strict=True):
            T, C = rows.root(own - part.start)
            weight = np.sqrt(rows.r[own - part.start])[:, None, None]
            roots.append(T * weight)
            blocks.append(np.einsum("nqb,np->nqbp", weight * C[:, :, :b], self.Q[own]))
        tall = np.concatenate([block.reshape(len(block) * q, b * p) for block in blocks])
        shares = np.linalg.cholesky(np.eye(b) - 1.0 / self.m).T
        tall = np.concatenate([tall, np.kron(shares, np.linalg.cholesky(self.metric).T)])
        scale = np.sqrt(np.square(tall).sum(axis=0))
        tall /= scale
        order = np.argsort(-np.abs(tall).max(axis=1))
        basis, triangle = qr(tall[order], mode="economic", overwrite_a=True, check_finite=False)
        for _ in range(2):
            apart = self._pulled([rows.blocks(rows.x) for rows in self.rows]) - self.U @ self.metric
            y = solve_triangular(triangle, apart[:-1].ravel() / scale, trans=1, check_finite=False)
            u = np.empty(len(order))
            u[order] = basis @ y
            steps, share, at = [], 0.0, 0
            for rows, part, own, T in zip(self.rows, self.parts, chosen, roots, strict=True):
                dx = np.zeros_like(rows.x)
                size = len(own) * q
                part_of = u[at : at + size].reshape(len(own), q, 1)
                dx[:, own - part.start] = np.linalg.solve(T, part_of)[:, :, 0].T
                at += size
                steps.append((dx, dx.sum(axis=0), rows.flat(dx)))
                share = max(share, rows.relative(steps[-1]))
            length = 1.0 if share <= 0.9 else 0.9 / share
            for rows, step in zip(self.rows, steps, strict=True):
                rows.shift(step, length)

    def _met(self) -> tuple[float, np.ndarray]:
        """D and A' at masses that meet W; the present ones stay."""
        kept = [(rows.x.copy(), rows.t.copy(), rows.s0.copy()) for rows in self.rows]
        try:
            self._meet()
            _, dual, A = self._check()
        except np.linalg.LinAlgError:
            dual, A = -np.inf, self.best
        for rows, (x, t, s0) in zip(self.rows, kept, strict=True):
            rows.x, rows.t, rows.s0 = x, t, s0
        return dual, A

    def _check(self) -> tuple[float, float, np.ndarray]:
        """P at the present U, D at the present masses, and these as A'."""
        if not np.isfinite(self.U).all():
            return np.nan, np.nan, self.best
        self.W = self.space.weights(self.U)
        f = np.ascontiguousarray(self.X @ self.W.T)
        primal = 0.5 * float(np.vdot(self.W, self.W)) + float(self.r @ self.loss.values(f, self.y))
        A = np.zeros_like(self.best)
        A[:, self.order] = np.concatenate([rows.masses() for rows in self.rows], axis=1)
        V = A @ self.X
        masses = np.maximum(-A.T, 0.0)
        dual = -float(self.loss.conjugates(masses, self.r).sum()) - 0.5 * float(np.vdot(V, V))
        return primal, dual, A

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops, or rounding rules."""
        mark, waited = (np.inf, np.inf), 0
        for iteration in range(state.n_iter + 1, max_iter + 1):
            if self.exhausted:
                return
            with np.errstate(all="ignore"):  # what is not finite is not taken
                self._advance()
                primal, dual, A = self._check()
            if not np.isfinite(primal + dual):
                self.exhausted = True
                return
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
            self.exhausted = waited >= PATIENCE or self.left < SETTLED * self.primal
            state.done = state.gap <= tol or self.exhausted
            if report(state) or state.done:
                return
