"""Regularised risk of one-vs-all and multilabel losses: one signed score per class.

P(W) = 1/2 ||W||_F^2 + sum_i r_i L(y_i, W x_i), r_i = C * weight_i, W (m, d)
D(A) = -sum_i r_i L*(x_i/r_i) - 1/2 ||A'X||_F^2, a_ij = -x_ij on N, x_ij on P (the entropy: -x_ij)

with W = A'X at the optimum. N are the wrong labels of an example and P the right ones; one-vs-all losses
have one right label, and their problem is one for each class.

| solver     | algorithm                                                       | for                   |
|------------|-----------------------------------------------------------------|-----------------------|
| "newton"   | Newton's method: of the logistic loss a row of weights for each  | one-vs-all, hinges up |
|            | class, of a hinge all classes at once inside the proximal point | to 400 features       |
|            | method, after a few passes of "sdca"                            |                       |
| "proximal" | a few passes of "sdca", then the proximal point method whose    | hinges                |
|            | inner problems are solved as by "lbfgs"                         |                       |
| "lbfgs"    | quasi-Newton steps with a homotopy in C                         | smooth losses         |
| "sdca"     | coordinate ascent over rows, exact updates of all their classes | hinges, also smooth;  |
|            | at once; of two classes one row of weights; of few dense rows   | first for two classes |
|            | then over their products, class by class                        | and for few examples  |
| "auto"     | the first of these that fits                                    |                       |

Problems with n*m*d <= 20 000 are solved to rounding (at most 100 iterations more), whatever ``tol``.
"""

import functools
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from fast._threads import one_blas_thread, resolve
from fast.errors import InvalidParameterError
from fast.families import named
from fast.families.signed import Signed
from fast.kernels.signed import BOX, ENTROPY, LOGISTIC
from fast.models.multiclass_erm import (
    POLISH_ITERATIONS,
    POLISHED_SIZE,
    TrainingResult,
)
from fast.solvers.binary_hinge import OneVsAllHinge, fits
from fast.solvers.binary_logistic import OneVsAllNewtonSolver
from fast.solvers.class_newton import ClassNewtonSolver
from fast.solvers.one_vs_rest_ascent import ProductAscent, SignedAscent
from fast.solvers.one_vs_rest_proximal import SignedProximal
from fast.solvers.one_vs_rest_quasi_newton import SignedQuasiNewton
from fast.solvers.state import TrainingRun, TrainingState

FINISHED = 1e-12  # gap of small problems: to rounding takes four times as long
SOLVERS: dict[str, Any] = {
    "newton": ClassNewtonSolver, "proximal": SignedProximal, "sdca": SignedAscent, "lbfgs": SignedQuasiNewton
}  # fmt: skip


def fitting(loss: Signed, X: Any, m: int) -> list[str]:
    """The solvers that can train a loss of m classes on these rows, the best first."""
    if loss.variant == LOGISTIC:
        return ["newton", "lbfgs"]
    found = ["newton"] if loss.variant == BOX and ClassNewtonSolver.fits(X) else []
    if not loss.smooth:
        ascent = fits(X, m, loss) or ProductAscent.fits(X, loss)
        first, second = ("sdca", "proximal") if ascent else ("proximal", "sdca")
        return [*found, first, second]
    return [*found, "lbfgs", *(["sdca"] if loss.variant < LOGISTIC else [])]


def train(
    X: Any,
    y: np.ndarray,
    own: np.ndarray,
    r: np.ndarray,
    loss: Signed,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    solver: str = "auto",
    start: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    report: Callable[[TrainingState], bool] | None = None,
    n_jobs: int | None = None,
) -> TrainingResult:
    """Minimise P(W) until the relative duality gap is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64, C-contiguous
    y : (n,) int64 classes for a one-vs-all loss, (n, m) bool for a multilabel one
    own : (n, m) bool
        The right labels P of every row.
    r : (n,) float64
        C times the sample weight; zero takes an example out.
    loss : fast.families.signed.Signed
    tol, max_iter, seed, report, n_jobs
        As of :func:`fast.models.multiclass_erm.train`.
    solver : {"auto", "newton", "proximal", "sdca", "lbfgs"}
    start : (n, m) array, optional
        A of a feasible dual point to begin with, for hinges.
    weights : (m, d) array, optional
        W to begin with, for methods in the primal.

    Returns
    -------
    TrainingResult
        The best W seen, with its certificate, also after KeyboardInterrupt; ``dual variables`` is A.

    Raises
    ------
    fast.errors.InvalidParameterError
        The solver cannot train this loss on these rows.
    """
    known = fitting(loss, X, own.shape[1])
    if solver != "auto" and solver not in known:
        object_name = type(loss).__module__.rpartition(".")[2]
        given = f"{solver!r} for {object_name} on {X.shape[1]} features"
        raise InvalidParameterError("solver", given, f"one of {('auto', *known)}", "use 'auto'")
    name = known[0] if solver == "auto" else solver
    run, state = TrainingRun(report), TrainingState(started=time.perf_counter())
    n, m = own.shape
    with nullcontext() if n_jobs is None else one_blas_thread():
        cls: Any = SOLVERS[name]
        if name == "newton" and loss.variant == LOGISTIC:
            cls = OneVsAllNewtonSolver
        elif name == "sdca" and fits(X, m, loss):
            cls = OneVsAllHinge
        elif name == "sdca" and ProductAscent.fits(X, loss):
            cls = ProductAscent
        algorithm = cls(X, y, own, r, loss, seed)
        if name == "lbfgs":
            algorithm.passes.n_jobs = resolve(n_jobs)
        one = y.ndim == 1  # right label: all rows have the same loss
        at_zero = np.full(n, _at_zero(loss, m)) if one else loss.values(np.zeros((n, m)), y)
        entropy = float(r @ at_zero) if loss.variant == ENTROPY else 0.0
        dual = float(r @ np.log(np.maximum(own.sum(axis=1), 1))) if entropy else 0.0
        state.record(0, float(r @ at_zero), dual, np.zeros((m, X.shape[1])))
        stages = [(tol, max_iter)]
        if n * m * X.shape[1] <= POLISHED_SIZE:
            aim = -1.0 if name == "lbfgs" else min(tol, FINISHED)  # until no step is left
            stages.insert(0, (aim, min(max_iter, POLISH_ITERATIONS)))

        def ask(state: TrainingState) -> bool:
            last = state.n_iter == POLISH_ITERATIONS and len(stages) == 2
            state.done |= last and state.gap <= tol
            return run.ask(state)

        with run:
            algorithm.start_at(weights, start)
            for aim, limit in stages:
                if state.gap > aim and not run.stopped and state.n_iter < limit:
                    algorithm.run(state, aim, limit, ask)
        bounds = getattr(algorithm, "bounds", None)
        return TrainingResult(
            state.W, algorithm.dual_variables(), bounds, **run.outcome(state, name)
        )


@functools.cache
def _at_zero(loss: Signed, m: int) -> float:
    """The loss of one right label at W = 0."""
    return loss.at_zero(m)


def _warmup() -> None:
    """Train every loss once on a few dense examples with every solver that can."""
    y = np.arange(12) % 3
    X = np.random.default_rng(0).standard_normal((12, 2)) + y[:, None]
    own = y[:, None] == np.arange(3)
    for object_name in ("ova_hinge", "ova_logistic", "multilabel_hinge", "multilabel_entropy"):
        loss: Any = named(object_name)
        labels = own if loss.indicated else y
        for solver in fitting(loss, X, 3):
            train(X, labels, own, np.full(12, 9.0), loss, max_iter=4, solver=solver)
