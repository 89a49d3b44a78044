"""Regularised multiclass risk: which algorithm trains it, and what a training run returns.

P(W) = 1/2 ||W||_F^2 + sum_i r_i L(y_i, W x_i), r_i = C * weight_i, W (m, d)
D(A) = sum_i (<1,x_i> - gamma/(2 r_i) ||x_i||^2) - 1/2 ||A'X||_F^2, x_i in Delta_k(r_i)

with a_i = s_i e_{y_i} - x_i the i-th row of A (n, m) and W = A'X at the optimum. With
C = 1/(lambda n) this is the problem of Lapin et al. 2015, Theorem 1, divided by lambda.

| solver   | algorithm                                          | for                         |
|----------|----------------------------------------------------|-----------------------------|
| "active" | coordinate ascent on class lists + face Newton     | nearly everything           |
| "newton" | semismooth Newton in the primal                    | strong smoothing            |
| "sdca"   | blocked SDCA, the papers' Algorithm 1              | reference, teaching         |
| "auto"   | "newton" if mean r_i ||x_i||^2 <= 0.02 gamma, else "active", followed by         |
|          | "newton" if gamma > 0 and 150 iterations did not suffice                         |

Problems with n*m*d <= 20 000 are solved to rounding (at most 100 iterations more), whatever
``tol``: it costs less than the call, and makes weights and repeated rows agree to 7 digits.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.models._losses import VARIANTS, Loss, TopKEntropy, TopKHinge, TruncatedEntropy
from fast.solvers.rows import is_sparse, squared_norms
from fast.solvers.state import TrainingState

__all__ = [
    "SOLVERS",
    "VARIANTS",
    "TopKEntropy",
    "TopKHinge",
    "TrainingResult",
    "TruncatedEntropy",
    "train",
]

SOLVERS = {
    "active": ("active_set", "ActiveSetSolver"),
    "newton": ("primal_newton", "PrimalNewtonSolver"),
    "sdca": ("blocked_sdca", "BlockedSDCASolver"),
}
WEAK = 0.02  # mean r_i ||x_i||^2 / gamma from which on the class lists win
CONTINUED = 30.0  # mean r_i ||x_i||^2 from which on the weights are raised in steps of ten
LONGEST = 3  # such steps
ROUGH_GAP, ROUGH_ITERATIONS = 5e-3, 60
PATIENT = 150  # iterations that class lists get on a smooth loss before Newton takes over
POLISHED_SIZE, POLISHED_GAP, POLISH_ITERATIONS = 20_000, 1e-16, 100


@dataclass
class TrainingResult:
    """A certified model: W (m, d), masses (n, m), objectives, relative gap, history.

    The masses are dense for entropies, where none is 0, else CSR. ``interrupted``: by Ctrl-C;
    ``stopped``: by that or by ``report``.
    """

    W: np.ndarray
    masses: Any
    primal: float
    dual: float
    gap: float
    n_iter: int
    history: list[dict[str, float]]
    interrupted: bool
    solver: str
    stopped: bool


def choose_solver(solver: str, X: Any, r: np.ndarray, loss: Loss) -> str:
    """Resolve "auto".

    Measured on digits, Letter and Gaussian mixtures: the class lists win by up to 30x, unless the
    smoothing outweighs the data, mean r_i ||x_i||^2 <= 0.02 gamma. Then nearly every class carries
    mass, the Hessian is close to the identity, and Newton's matrix products win by up to 2.5x.
    """
    if solver != "auto":
        return solver
    if len(loss.solvers) == 1:
        return loss.solvers[0]
    smooth = loss.gamma > 0.0 and float(np.mean(r * squared_norms(X))) <= WEAK * loss.gamma
    return "newton" if smooth else "active"


def train(
    X: Any,
    y: np.ndarray,
    r: np.ndarray,
    n_classes: int,
    loss: Loss,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    solver: str = "auto",
    start: Any = None,
    weights: np.ndarray | None = None,
    report: Callable[[TrainingState], bool] | None = None,
) -> TrainingResult:
    """Minimise P(W) until the relative duality gap is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64, C-contiguous
    y : (n,) int64 labels 0, ..., n_classes - 1
    r : (n,) float64, C times the sample weight; zero takes an example out
    n_classes : int
    loss : TopKHinge or TopKEntropy
    tol : float
        Bound on (P - D)/max(|P|, |D|), computed in float64 from the formulas.
    max_iter : int
        Bound on iterations (a check and the work until the next one).
    seed : int
    solver : {"auto", "active", "newton", "sdca"}
    start : (n, m) CSR or array, optional
        Masses of a feasible dual to begin with.
    weights : (m, d) array, optional
        W to begin with, instead of ``start``; for the solver "newton".
    report : callable, optional
        Called after every check; true stops the training.

    Returns
    -------
    TrainingResult
        The best W seen, with its certificate; also after KeyboardInterrupt.
    """

    def make(name: str, r: np.ndarray = r) -> Any:
        module, cls = SOLVERS[name]
        found = getattr(importlib.import_module(f"fast.solvers.{module}"), cls)
        return found(X, y, r, n_classes, loss, seed)

    name = choose_solver(solver, X, r, loss)
    state = TrainingState(started=time.perf_counter())
    algorithm = make(name)
    state.record(0, float(r.sum()) * loss.at_zero(n_classes), 0.0, algorithm.W)
    interrupted = stopped = False
    small = n_classes * X.shape[1] * len(y) <= POLISHED_SIZE
    polish = min(max_iter, POLISH_ITERATIONS) if small else 0

    def ask(state: TrainingState) -> bool:
        nonlocal stopped
        state.done |= state.n_iter == polish and state.gap <= tol
        stopped = report is not None and report(state)
        return stopped

    try:
        if weights is not None and name == "newton":
            algorithm.start_at(weights)
        else:
            if start is None and name == "active":
                start = dual_of_smaller_weights(make, squared_norms(X), r, loss.at_zero(n_classes))
            if start is None:
                algorithm.start_cold()
            else:
                algorithm.start_warm(start)
        if polish:  # costs less than a call: solve to rounding
            algorithm.run(state, min(tol, POLISHED_GAP), polish, ask)
        hybrid = solver == "auto" and name == "active" and loss.gamma > 0.0
        if state.gap > tol and not stopped:
            algorithm.run(state, tol, min(max_iter, PATIENT) if hybrid else max_iter, ask)
        if hybrid and state.gap > tol and not stopped and state.n_iter < max_iter:  # it crawls
            dual, name = algorithm.masses(), "newton"
            algorithm = make(name)
            algorithm.resume(dual)
            algorithm.run(state, tol, max_iter, ask)
    except KeyboardInterrupt:
        interrupted = True
        if name == "newton":
            algorithm.settle(state)
    masses = algorithm.masses()
    if interrupted:  # the dual may have moved since the last certificate
        state.set_dual(dual_objective(X, y, r, masses, loss))
    return TrainingResult(
        state.W,
        masses,
        state.primal,
        state.dual,
        state.gap,
        state.n_iter,
        state.history,
        interrupted,
        name,
        interrupted or stopped,
    )


def dual_of_smaller_weights(
    make: Callable, squares: np.ndarray, r: np.ndarray, at_zero: float
) -> Any:
    """A dual to begin a weakly regularised problem with, None where a cold start is as good.

    The problem is solved roughly for r/10^q, ..., r/10: coordinate ascent needs many more passes
    when it finds the large weights by itself (Letter, C = 1000: 20 times longer).
    """
    size = float(np.mean(r * squares))
    masses = None
    steps = min(int(np.ceil(np.log10(max(size / CONTINUED, 1.0)))), LONGEST)
    for q in range(steps, 0, -1):
        smaller = r * 10.0**-q
        algorithm = make("active", smaller)
        if masses is None:
            algorithm.start_cold()
        else:
            algorithm.start_warm(rescaled_dual(masses, smaller / 10.0, smaller))
        state = TrainingState()
        state.record(0, float(smaller.sum()) * at_zero, 0.0, algorithm.W)
        algorithm.run(state, ROUGH_GAP, ROUGH_ITERATIONS, lambda state: False)
        masses = algorithm.masses()
    return None if masses is None else rescaled_dual(masses, r / 10.0, r)


def dual_objective(X: Any, y: np.ndarray, r: np.ndarray, masses: Any, loss: Loss) -> float:
    """D(A) of a dual given as masses on the other classes, from the formula, in float64."""
    masses = sp.csr_array(masses)
    sums = np.asarray(masses.sum(axis=1)).ravel()
    own = sp.csr_array((sums, (np.arange(len(y)), y)), shape=masses.shape)
    W = (own - masses).T @ X
    W = W.toarray() if is_sparse(W) else np.asarray(W, dtype=np.float64)
    return -float(loss.conjugates(masses, r).sum()) - 0.5 * float(np.vdot(W, W))


def kernel_objectives(
    K: np.ndarray, A: np.ndarray, y: np.ndarray, r: np.ndarray, loss: Loss
) -> tuple[float, float]:
    """P and D of the model W = sum_i a_i phi(x_i)' whose dual is A (n, m), from the Gram matrix."""
    f = K @ A
    half = 0.5 * float(np.vdot(A, f))
    masses = -A
    masses[np.arange(len(y)), y] = 0.0
    dual = -float(loss.conjugates(masses, r).sum()) - half
    return half + float(r @ loss.values(f, y)), dual


def rescaled_dual(masses: Any, r_old: np.ndarray, r_new: np.ndarray) -> Any:
    """A feasible dual for new radii: every block scaled by r_new/r_old."""
    factor = np.divide(r_new, r_old, out=np.zeros_like(r_new), where=r_old > 0.0)
    if not is_sparse(masses):
        return masses * factor[:, None]
    scaled = sp.csr_array(masses.multiply(factor[:, None]))
    scaled.eliminate_zeros()
    scaled.sort_indices()
    return scaled


def _warmup() -> None:
    """Train every solver once on a few dense examples, and where it matters on more than a few."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 4  # beyond POLISHED_SIZE: float32 too
    X = rng.standard_normal((4, 3))[y] + 0.3 * rng.standard_normal((2000, 3))
    X.flags.writeable = False  # kernels take read-only and writable arrays for two types
    few = np.full(12, 100.0)  # reached in steps
    for solver in SOLVERS:
        for gamma in (1.0,) if solver == "newton" else (0.0, 1.0):
            loss = TopKHinge(0, 2, gamma)
            for data in (X[:12], X[:12].copy()):
                train(data, y[:12], few, 4, loss, max_iter=8, solver=solver)
    for k in (1, 2):
        for tol, size in ((1e-3, 1.0), (1e-9, 1.0), (1e-6, 100.0)):
            train(X, y, np.full(2000, size), 4, TopKEntropy(0, k), max_iter=8, tol=tol)
