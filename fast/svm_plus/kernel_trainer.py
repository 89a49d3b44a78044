"""SVM+ on kernel matrices, trained to a certified gap; one-vs-rest classes share all matrices.

Squared hinge: SMO on K_y + Q, then Newton on the active set, then an interior point method. Hinge,
or xi >= 0 kept: the same with alternating SMO. Where rounding ends that too early (C/lam of 1e6 and
more) the linear trainers take over, on factors of the matrices. K, Q and Kz do not depend on y.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fast._interrupts import hold_back, keep_trained, let_through
from fast._validation import finite_array, number, per_row
from fast.solvers.rows import expanded
from fast.solvers.state import Solution, TrainingRun, TrainingState
from fast.svm_plus import alternating_smo, factored, kernel_newton, smo
from fast.svm_plus.correction import Correction, SignedCorrection
from fast.svm_plus.data import Bound
from fast.svm_plus.deformed_kernel import (
    check_correction,
    check_definite,
    check_kernel_matrix,
    deformed_kernel,
)
from fast.svm_plus.kernel_losses import (
    Hinge,
    KernelLoss,
    KernelModel,
    SquaredHinge,
)
from fast.svm_plus.problem import (
    AS_GOOD,
    MEETING,
    check_labels,
    check_prices,
    check_rounds,
    check_signed,
    check_two_classes,
    infeasible,
)

__all__ = ["SVMPlusKernelResult", "deformed_kernel", "train_kernel"]

FIRST, MOST = 10, 80  # SMO steps per example before the first Newton steps, and in all
FINEST = 1e-13
LOOSE = 1e-3  # accuracy of an interior point to begin with
CHEAP, ROUNDED = 1000, 1e-3  # multipliers up to which everything is tried; else this gap will do
RESOLVED = 1e6  # condition number up to which a kernel matrix itself is good enough


@dataclass
class SVMPlusKernelResult(Solution):
    """A certified model f(x) = sum_i coef_i k(x_i, x) + b.

    coef (n,), b; the correcting function g(z) = sum_i correction_coef_i kz(z_i, z) + rho, or
    v'z + rho where Z was given (v is None otherwise; correction_coef and v are None if only Q was);
    slack (n,): g at the training examples (Q alpha, own slacks included, if only Q was given), y_i times
    it for ``label_signed``.
    Multipliers alpha, beta (n,), objectives primal and dual at these very points, relative gap,
    rounds (n_iter) and their history, ``solver``: the method that came to the end ("smo",
    "newton", "interior_point", "features"). interrupted, stopped, collapsed as for the linear trainers.
    """

    coef: np.ndarray
    b: float
    correction_coef: np.ndarray | None
    v: np.ndarray | None
    rho: float
    slack: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    collapsed: bool


@dataclass
class KernelState(TrainingState):
    """Best model and bound of one class so far; W is coef."""

    model: Any = None
    bound: Any = None
    solver: str = "smo"
    seen: list[Any] = field(default_factory=list)

    def take(self, loss: KernelLoss, alpha: np.ndarray, beta: np.ndarray, solver: str) -> float:
        """Certify multipliers; the gap that is known then."""
        return self.keep(*loss.look(alpha, beta), solver)

    def keep(self, bound: Bound, model: KernelModel, solver: str) -> float:
        """Keep what is better; the gap that is known then."""
        if bound.dual > self.dual or self.bound is None:
            self.bound, self.dual, self.solver = bound, bound.dual, solver
        if model.primal < self.primal or self.model is None:
            self.model, self.solver = model, solver
        self.record(self.n_iter + 1, min(model.primal, self.primal), self.dual, self.model.coef)
        return self.gap


def train_kernel(
    squared: bool,
    K: Any,
    Y: Any,
    C: float,
    lam: float,
    *,
    Kz: Any = None,
    Z: Any = None,
    Q: Any = None,
    sample_weight: Any = None,
    nonneg_slack: bool = False,
    free_slack: float = 0.0,
    label_signed: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
    definite: bool = True,
) -> Any:
    """``train_kernel`` of both losses; see there."""
    C, lam, delta = check_prices(C, lam, free_slack)
    tol, max_iter = number("tol", tol), check_rounds(max_iter)
    signed = check_signed(label_signed, squared, nonneg_slack, delta)
    labels = finite_array("y", Y, (1, 2))
    K = check_kernel_matrix("K", K, len(labels))
    n = len(K)
    columns = labels[:, None] if labels.ndim == 1 else labels
    signs = [check_labels(column, n) for column in columns.T]
    matrix, linear = check_correction(Kz, Z, Q, n, squared)
    Q = None if Q is None else check_kernel_matrix("Q", Q, n)
    omega = np.ones(n) if sample_weight is None else per_row("sample_weight", sample_weight, n)
    short = factored_kernel(matrix, linear, Q, K, C, lam, omega, definite)
    kept = np.flatnonzero(omega > 0.0)
    for y in signs:
        check_two_classes(y[kept], len(kept) < n)
    if len(kept) < n:
        part = np.ix_(kept, kept)
        K, omega = K[part], omega[kept]
        Q = None if Q is None else Q[part]
        if matrix is not None:
            matrix = matrix[kept] if linear else matrix[part]
    correction = Correction(matrix, linear, C * omega, lam, delta / omega, short)
    if Q is not None:
        correction.take(Q)
    results: list[SVMPlusKernelResult] = []
    kind = SquaredHinge if squared else Hinge
    try:
        for y in signs:
            if results:
                let_through()
            space = SignedCorrection(correction, y[kept]) if signed else correction
            loss: KernelLoss = kind(K, y[kept], space, bool(nonneg_slack))
            state = KernelState(started=time.perf_counter())
            turn = Methods(loss, state, tol, max_iter, report)
            turn.in_turn(len(signs) == 1)
            results.append(finished(loss, state, kept, n, turn))
            if turn.stopped:
                break
    except KeyboardInterrupt:  # between two of them
        hold_back()
        keep_trained(results)
    if linear:
        take_back(results, correction, kept)
    return results[0] if labels.ndim == 1 else results


def factored_kernel(
    matrix: Any, linear: bool, Q: Any, K: np.ndarray, C: float, lam: float, omega: np.ndarray,
    definite: bool,
) -> bool:  # fmt: skip
    """Whether Kz may have a factor with few columns, which huge C/lam needs; definite matrices pass."""
    short, kernel = True, matrix is not None and not linear
    if kernel:
        trace = float(omega.sum()) * (float(matrix.diagonal().max()) + 1.0)
        short = C * trace > RESOLVED * lam
    if definite:
        check_definite("K", K)
        if kernel:
            short = not check_definite("Kz", matrix)
        elif Q is not None:
            check_definite("Q", Q)
    return short


def take_back(results: list[SVMPlusKernelResult], correction: Correction, kept: np.ndarray) -> None:
    """The weights v of linear correcting functions, for all results at once."""
    coefs = [np.asarray(result.correction_coef)[kept] for result in results]
    for result, v in zip(results, correction.back(coefs), strict=True):
        result.v = v


class Methods(TrainingRun):
    """What is tried on a kernel problem: SMO with Newton's method, the interior point, features."""

    def __init__(
        self, loss: KernelLoss, state: KernelState, tol: float, max_iter: int,
        report: Callable[[Any], bool] | None,
    ) -> None:  # fmt: skip
        super().__init__(report)
        self.loss, self.state, self.tol, self.max_iter = loss, state, tol, max_iter
        self.nothing, self.over = np.zeros(loss.n), False
        self.qp: Any = None

    def in_turn(self, alone: bool) -> None:
        """One after the other until the gap is at most ``tol``."""
        with self:
            self.active_set(first_method(self.loss, alone))
            self.others()
        if not self.state.history:
            self.state.take(self.loss, self.loss.uniform(1.0), self.nothing, "smo")

    def settled(self) -> bool:
        """Whether there is nothing left to do."""
        state = self.state
        return self.stopped or state.gap <= self.tol or state.n_iter >= self.max_iter

    def look(self, alpha: np.ndarray, beta: np.ndarray, solver: str) -> bool:
        """Take in a point; whether there is nothing left to do."""
        self.state.take(self.loss, alpha, beta, solver)
        self.ask(self.state)
        return self.settled()

    def active_set(self, path: SquaredSMO | HingeSMO | SignedStart) -> None:
        """SMO, and Newton's method from where it is, with a growing budget of steps."""
        n, state, budget = self.loss.n, self.state, FIRST * self.loss.n
        while budget <= MOST * n:
            while True:
                before, rough = state.gap, path.rough > 0.0
                alpha, beta = path(budget, self.tol)
                if self.look(alpha, beta, path.solver):
                    self.over = True
                    return
                if not rough:
                    break
                if state.n_iter > 1 and not state.gap <= 0.2 * before:
                    path.refine()
            self.qp = self.loss.qp() if self.qp is None else self.qp
            u = np.concatenate([alpha, beta])[: self.qp.size]

            def accept(u: np.ndarray, iteration: int) -> bool:
                return self.look(u[:n], u[n:] if len(u) > n else self.nothing, "newton")

            if kernel_newton.newton(self.qp, u, accept):
                # a large problem is at its optimum, as far as rounding lets it be seen
                rounded = self.qp.size > CHEAP and state.gap <= ROUNDED
                self.over = self.settled() or rounded
                return
            budget *= 2

    def others(self) -> None:
        """The interior point, a hard margin, and features, where they are cheap."""
        if self.over:
            return
        loss, state, n = self.loss, self.state, self.loss.n
        self.qp = qp = loss.qp() if self.qp is None else self.qp
        inner = 0.1 * self.tol
        while True:
            before = state.gap
            u = kernel_newton.interior_point(qp, max(inner, FINEST))
            if self.look(u[:n], u[n:] if qp.paired else self.nothing, "interior_point"):
                break
            if inner <= FINEST or (qp.size > CHEAP and state.gap > 0.5 * before):
                break
            inner *= 1e-3
        if not self.settled() and n <= CHEAP:
            hard = loss.hard_margin()
            if hard is not None:
                kernel_newton.newton(
                    hard, state.bound.alpha, lambda u, _: self.look(u, self.nothing, "newton")
                )
        if self.settled() or qp.size > CHEAP or not loss.correction.known:
            return
        found, self.interrupted = factored.train(loss, self.tol, self.max_iter - state.n_iter)
        for bound, model in found:
            state.keep(bound, model, "features")
        self.stopped = self.interrupted or self.ask(state)


def first_method(loss: KernelLoss, alone: bool) -> SquaredSMO | HingeSMO | SignedStart:
    """SMO for this loss: a call takes more steps, at most so many, and returns alpha and beta."""
    if isinstance(loss, SquaredHinge):
        return SquaredSMO(loss, alone)
    assert isinstance(loss, Hinge)
    return SignedStart(loss) if loss.signed else HingeSMO(loss)


class SquaredSMO:
    """SMO without multipliers of xi >= 0, that goes on where it was.

    ``rough``: the error of a Q in float32 that directions are taken from, 0 for the exact one. The
    residual at the start of every call is exact either way.
    """

    solver = "smo"

    def __init__(self, loss: SquaredHinge, alone: bool) -> None:
        n = loss.n
        self.loss = loss
        self.M, self.ready = np.empty((n, n)), np.zeros(n, np.bool_)
        self.a, self.work = np.zeros(n), np.empty((4, n))
        found = loss.correction.rough() if alone else None
        self.Q, self.rough = (loss.correction.Q, 0.0) if found is None else found

    def refine(self) -> None:
        """Take the exact Q from now on."""
        self.Q, self.rough = self.loss.correction.Q, 0.0
        self.ready[:] = False

    def __call__(self, budget: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        loss, a, y = self.loss, self.a, self.loss.y
        v = y.copy()
        aim = max(0.5 * tol, 0.01 * self.rough)
        if a.any():
            aim = 0.5 * tol
            v -= loss.K @ a + y * loss.correction.deformed_product(a * y)
        smo.steps(loss.K, self.Q, self.M, self.ready, y, a, v, aim, budget, self.work)
        return a * y, np.zeros(loss.n)


class HingeSMO:
    """Alternating SMO that goes on where it was."""

    rough, solver = 0.0, "smo"

    def __init__(self, loss: Hinge) -> None:
        start = loss.uniform(loss.total)
        self.loss, self.R = loss, loss.correction.centred
        self.alpha = 0.5 * start if loss.nonneg else start
        self.beta = 0.5 * loss.cost if loss.nonneg else np.zeros(loss.n)

    def refine(self) -> None:
        """Nothing is rough here."""

    def __call__(self, budget: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        loss, y, alpha, beta = self.loss, self.loss.y, self.alpha, self.beta
        p = 1.0 - y * (loss.K @ (alpha * y))
        r = -(self.R @ (alpha + beta - loss.cost))
        alternating_smo.steps(loss.K, self.R, y, alpha, beta, p, r, 0.1 * tol, budget, loss.nonneg)
        return alpha, beta


class SignedStart:
    """The interior point in the place of alternating SMO, whose steps keep 1'(alpha + beta)."""

    rough, solver = 0.0, "interior_point"

    def __init__(self, loss: Hinge) -> None:
        self.qp, self.n, self.tol = loss.qp(), loss.n, LOOSE

    def refine(self) -> None:
        """Nothing is rough here."""

    def __call__(self, budget: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        u = kernel_newton.interior_point(self.qp, self.tol)
        self.tol *= LOOSE
        return u[: self.n], u[self.n :]


def finished(
    loss: KernelLoss, state: KernelState, kept: np.ndarray, n: int, run: Methods
) -> SVMPlusKernelResult:
    """The result, on all rows."""
    model, bound = state.model, state.bound
    if not (np.isfinite(model.primal) or run.stopped or state.n_iter >= run.max_iter):
        raise infeasible()
    # P is 1-strongly convex in w: where ||w|| is larger than this, w = 0 is worse
    open_ = max(model.primal - bound.dual, 0.0)
    least = (2.0 * max(AS_GOOD * abs(model.primal), open_)) ** 0.5 + (2.0 * open_) ** 0.5
    bare = loss.bare(model) if model.square <= least * least else None
    if bare is not None and bare.primal <= model.primal:
        model = bare
        state.claim(bare.primal, state.dual)
    values = model.coef, loss.sign * model.c, model.g, bound.alpha, bound.beta
    coef, own, g, alpha, beta = (expanded(value, kept, n) for value in values)
    c, zero = own if loss.correction.known else None, collapsed(loss, model, bare, bound)
    found = coef, model.b, c, None, model.rho, g, alpha, beta, zero
    return SVMPlusKernelResult(*found, **run.outcome(state, state.solver))


def collapsed(loss: KernelLoss, model: KernelModel, bare: KernelModel | None, bound: Bound) -> bool:
    """As for the linear trainers: w = 0 is as good, and w small against the spread of the data."""
    if bare is None:
        return False
    size = model.square**0.5
    if size > 0.0 and bare.primal - bound.dual > AS_GOOD * abs(model.primal):
        return False
    spread = max(float(loss.K.diagonal().mean() - loss.K.mean()), 0.0) ** 0.5
    return size <= MEETING * 0.5 * float(bound.alpha.sum()) * spread
