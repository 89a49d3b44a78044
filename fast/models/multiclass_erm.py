"""Regularised multiclass risk: which algorithm trains it, and what a training run returns.

P(W) = 1/2 ||W||_F^2 + sum_i r_i L(y_i, W x_i), r_i = C * weight_i, W (m, d)
D(A) = sum_i (<1,x_i> - gamma/(2 r_i) ||x_i||^2) - 1/2 ||A'X||_F^2, x_i in Delta_k(r_i)

with a_i = s_i e_{y_i} - x_i the i-th row of A (n, m) and W = A'X at the optimum. With
C = 1/(lambda n) this is the problem of Lapin et al. 2015, Theorem 1, divided by lambda.

| solver     | algorithm                                          | for                         |
|------------|----------------------------------------------------|-----------------------------|
| "active"   | coordinate ascent on class lists + face Newton     | nearly everything           |
| "newton"   | semismooth Newton in the primal                    | strong smoothing            |
| "interior" | interior point of the dual                         | few weights, X badly scaled |
| "lbfgs"    | quasi-Newton in the primal, with a homotopy in C   | many features, any smooth   |
| "sdca"     | blocked SDCA, the papers' Algorithm 1              | any loss; the reference     |
| "fista"    | FISTA in the primal, what the papers compare with  | any smooth; a baseline      |
| "auto"     | where features are badly scaled and weights few, or numbers few and losses not weak |
|            | (`fast.solvers.solver_selection`), "interior"; otherwise "newton" if                |
|            | mean r_i ||x_i||^2 <= 0.02 gamma, else "active"; for entropies "lbfgs" for 100      |
|            | features or more, else "newton", which for softmax of two classes, where it is      |
|            | always taken, has one row of weights. What "active" would take longer for than      |
|            | "interior" (or, gamma > 0, "newton" where weights are many, or examples 50 times as |
|            | many, also after 150 iterations) is left to it, what stalls "lbfgs" to "newton",    |
|            | what stalls that to "interior" if weights are few, else "active"                    |

The hinge of two classes with more than 400 features is one of one row of weights to "active", whose
coordinate ascent is that of `fast.solvers.binary_hinge`. "sdca" takes Newton steps for the consistent top-k
hinge: `fast.solvers.face_ascent`, or `fast.solvers.augmented_lagrangian` for many examples beside few weights.

How long they take is counted, not timed: see `fast.solvers.active_set.Race`.

Problems with n*m*d <= 20 000 are solved to rounding (at most 100 iterations more), whatever
``tol``: it costs less than the call, and makes weights and repeated rows agree to 7 digits.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._threads import one_blas_thread, resolve
from fast.data.in_memory import InMemory
from fast.data.source import Source
from fast.errors import InvalidParameterError
from fast.families import Loss, named
from fast.families.entropies import Entropy as TopKEntropy
from fast.families.hinges import Hinge as TopKHinge
from fast.kernels.hinges import ALPHA, BETA
from fast.losses.truncated_topk_entropy import TruncatedTopKEntropy as TruncatedEntropy
from fast.solvers.active_set import Race
from fast.solvers.checkpoint import Checkpoint
from fast.solvers.orthonormal import badly_scaled
from fast.solvers.rows import is_sparse
from fast.solvers.solver_selection import AMPLE, POLISHED_SIZE, SOLVERS, choose_solver, solver_class
from fast.solvers.state import Solution, TrainingRun, TrainingState

__all__ = [
    "SOLVERS",
    "VARIANTS",
    "TopKEntropy",
    "TopKHinge",
    "TrainingResult",
    "TruncatedEntropy",
    "choose_solver",
    "solver_class",
    "train",
]

VARIANTS = {"alpha": ALPHA, "beta": BETA}
CONTINUED = 30.0  # mean r_i ||x_i||^2 from which on the weights are raised in steps of ten
LONGEST, LATE = 3, 1e11  # such steps; nanoseconds of a rival who is no matter
ROUGH_GAP, ROUGH_ITERATIONS = 5e-3, 60
DEARER = 2.0  # times the work that weights of a tenth took, at least
PATIENT = 150  # iterations that others get on a smooth loss before Newton takes over
POLISHED_GAP, POLISH_ITERATIONS = 1e-16, 100


@dataclass
class TrainingResult(Solution):
    """A certified model: W (m, d), dual variables (n, m), objectives, relative gap, history.

    The dual variables are dense for entropies, where none is 0, else CSR; None for entropies whose rows are
    not in memory, and if they are in files and not wanted.
    """

    W: np.ndarray
    dual_variables: Any
    bounds: tuple[float, float] | None = None  # P and D of both, rounded outwards


def train(
    X: Any,
    y: np.ndarray,
    r: np.ndarray | float = 1.0,
    n_classes: int | None = None,
    loss: Loss | str = "multiclass_hinge",
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    solver: str = "auto",
    start: Any = None,
    weights: np.ndarray | None = None,
    report: Callable[[TrainingState], bool] | None = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    path_cache: dict[Any, Any] | None = None,
    dual_variables: bool | None = True,
) -> TrainingResult:
    """Minimise P(W) until the relative duality gap is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64, C-contiguous; or fast.data.Source
    y : (n,) int64 labels 0, ..., n_classes - 1
    r : (n,) float64, or float
        C times the sample weight; zero takes an example out.
    n_classes : int, optional
        By default the largest label plus 1.
    loss : fast.families.Loss or str
        A loss with its parameters, or the object or file of one (see `fast.families.named`).
    tol : float
        Bound on (P - D)/max(|P|, |D|), computed in float64 from the formulas.
    max_iter : int
        Bound on iterations (a check and the work until the next one).
    seed : int
    solver : {"auto", "active", "newton", "interior", "lbfgs", "sdca", "fista"}
    start : (n, m) CSR or array, optional
        Masses of a feasible dual to begin with.
    weights : (m, d) array, optional
        W to begin with, instead of ``start``; for methods in the primal.
    report : callable, optional
        Called after every check; true stops the training.
    n_jobs : int, optional
        Threads of passes over blocks of rows, with BLAS on one thread each; results do not depend on
        their number. None: one thread, and BLAS as it is.
    checkpoint : path-like, optional
        File to which solver "lbfgs" writes its state, at most a twentieth of the time, whole or not at
        all. If it is there, the run goes on from it, to the same bits.
    path_cache : dict, optional
        What fits of the same rows with other C found of them, for this one and the next; sources
        keep their own.
    dual_variables : bool
        False: none are returned where they are in files; None: nor where they are a function of W.

    Returns
    -------
    TrainingResult
        The best W seen, with its certificate; also after KeyboardInterrupt.

    Raises
    ------
    fast.errors.InvalidParameterError
        A loss that does not exist, or a solver that cannot train it.
    """
    loss = named(loss) if isinstance(loss, str) else loss
    r = r if isinstance(r, np.ndarray) else np.full(len(y), float(r))
    m = int(np.max(y)) + 1 if n_classes is None else n_classes
    X = X.X if isinstance(X, InMemory) else X
    with nullcontext() if n_jobs is None else one_blas_thread():
        run = _Run(X, y, r, m, loss, seed, solver, tol, max_iter, report, resolve(n_jobs))
        if path_cache is not None and run.name == "lbfgs" and not isinstance(X, Source):
            path_cache |= run.algorithm.path_cache  # which has drawn its sample
            run.algorithm.path_cache = path_cache
        if dual_variables is None and run.name == "lbfgs":
            run.algorithm.kept = False
        if checkpoint is not None:
            run.keep(checkpoint)
        run.whole = bool(dual_variables)
        return run.from_start(start, weights)


class _Run(TrainingRun):
    """A training run: the algorithm, or one after the other, and what is certified so far."""

    def __init__(
        self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Loss, seed: int, solver: str,
        tol: float, max_iter: int, report: Callable[[TrainingState], bool] | None, n_jobs: int,
    ) -> None:  # fmt: skip
        super().__init__(report)
        self.X, self.y, self.r, self.m, self.loss, self.seed = X, y, r, m, loss, seed
        self.tol, self.max_iter, self.n_jobs = tol, max_iter, n_jobs
        self.name, self.race = choose_solver(solver, X, r, loss, m), Race()
        self.pair = m == 2 and solver_class("pair").fits(X, m, loss)
        pulse = getattr(report, "pulse", None)
        self.state = TrainingState(started=time.perf_counter(), pulse=pulse)
        self.algorithm = self.make(self.name, r)
        self.state.record(0, float(r.sum()) * loss.at_zero(m), 0.0, self.algorithm.W)
        self.whole, blocks = True, isinstance(X, Source)
        small = m * X.shape[1] * len(y) <= POLISHED_SIZE and not blocks
        self.polish = min(max_iter, POLISH_ITERATIONS) if small else 0
        self.aim = min(tol, POLISHED_GAP) if small else tol
        smooth, auto = "curvature" in loss.capabilities, solver == "auto"
        self.hybrid = auto and self.name in ("active", "lbfgs") and smooth
        interior = solver_class("interior")
        few = interior.NEEDS in loss.capabilities and interior.affordable(X, m)
        last = ["interior"] if few else ["active"] if "lists" in loss.capabilities else []
        self.tiny = auto and small and self.name == "interior"
        self.then: list[str] = []  # algorithms that take over where steps fail, or take too long
        if blocks:
            return
        if self.name == "newton":
            self.then = last if auto or not badly_scaled(X) else []
        elif self.hybrid and (self.name == "lbfgs" or not few or len(y) >= AMPLE * m * X.shape[1]):
            self.then = ["newton", *last]
            self.race.rival = solver_class("newton").nanoseconds(X, m)
        elif auto and self.name == "active" and few:
            self.then, self.hybrid = last, False
            self.race.rival = interior.nanoseconds(X, m, loss, self.aim)
        if self.then and (few or self.name == "newton"):
            self.algorithm.patient = False

    def make(self, name: str, r: np.ndarray) -> Any:
        """An algorithm, at the beginning."""
        wide = is_sparse(self.X) and name == "active" and isinstance(self.loss, TopKHinge)
        wide = wide and not solver_class("interior").affordable(self.X, self.m)
        blocks = name == "active" and isinstance(self.X, Source)
        binary = name == "newton" and self.m == 2 and "logistic" in self.loss.capabilities
        pair = name == "active" and self.pair
        within = "binary" if binary else "pair" if pair else "sparse" if wide else name
        if name == "sdca" and "faces" in self.loss.capabilities:
            many = solver_class("lagrangian").pays(self.X, r, self.m)
            within = "lagrangian" if many else "faces"
        within = "blocks" if blocks else within
        cls = solver_class(within)
        found = cls(self.X, self.y, r, self.m, self.loss, self.seed)
        if name == "active":
            found.race, found.n_jobs = self.race, self.n_jobs
        if name == "interior":
            found.enough = self.tol
        if hasattr(found, "passes"):
            found.passes.n_jobs = self.n_jobs
        return found

    def keep(self, checkpoint: str | PathLike[str]) -> None:
        """Write the state of the run to a file, or go on from there."""
        if self.name != "lbfgs":
            raise InvalidParameterError(
                "checkpoint", f"{checkpoint} for solver {self.name!r}", "solver 'lbfgs'",
                "take a smooth loss and solver='lbfgs', or leave it out",
            )  # fmt: skip
        self.algorithm.checkpoint = Checkpoint(checkpoint)

    def ask(self, state: TrainingState) -> bool:
        """Whether to stop, after a check."""
        state.done |= state.n_iter == self.polish and state.gap <= self.tol
        return super().ask(state)

    def from_start(self, start: Any, weights: np.ndarray | None) -> TrainingResult:
        """The whole run; Ctrl-C ends it."""
        with self:
            self.begin(start, weights)
            self.go_on()
        if self.interrupted and hasattr(self.algorithm, "finalize"):
            self.algorithm.finalize(self.state)
        return self.result()

    def begin(self, start: Any, weights: np.ndarray | None) -> None:
        """The starting point, and small problems to the end."""
        rival = self.race.rival
        if self.polish and self.then[:1] != ["interior"]:  # others cannot go on to rounding
            self.race.rival = np.inf
        if weights is not None and hasattr(self.algorithm, "start_at"):
            self.algorithm.start_at(weights)
        else:
            self.set_off(start)
        if self.polish and not self.race.lost:  # costs less than a call: solve to rounding
            self.algorithm.run(self.state, self.aim, self.polish, self.ask)
            self.race.rival = rival
            self.race.begin()

    def set_off(self, start: Any) -> None:
        """The algorithm at a dual, or where it begins without one."""
        if start is None and self.name == "active" and not self.pair:
            at_zero = self.loss.at_zero(self.m)
            most = LONGEST if self.race.rival > LATE else 1  # who needs more loses
            self.race.further = DEARER * max(np.log(max(self.tol, 1e-12)) / np.log(ROUGH_GAP), 1.0)
            start = dual_of_smaller_weights(
                self.make, self.algorithm.squares, self.r, at_zero, most
            )
            if not self.race.lost:
                self.race.lost_with(0.0)
            self.race.further = 0.0
        if start is None:
            self.algorithm.start_cold()
        else:
            self.algorithm.start_warm(start)

    def go_on(self) -> None:
        """Run until the gap is certified; others take over where steps fail or take too long."""
        lists = self.hybrid and self.name == "active"
        limit = min(self.max_iter, PATIENT) if lists else self.max_iter
        if self._left() and not self.race.lost:
            self.algorithm.run(self.state, self.tol, limit, self.ask)
        if self.tiny and self._left() and not badly_scaled(self.X):
            self.then = ["active"]
        for at, name in enumerate(self.then):
            if not self._left():
                return
            self.hand_over(name)
            if at + 1 < len(self.then):
                self.algorithm.patient = False
            self.algorithm.run(
                self.state, self.aim if name == "interior" else self.tol, self.max_iter, self.ask
            )

    def _left(self) -> bool:
        """Whether there is something to do."""
        state, aim = self.state, self.aim if self.race.lost else self.tol
        return state.gap > aim and not self.stopped and state.n_iter < self.max_iter

    def hand_over(self, name: str) -> None:
        """Another algorithm, from the dual reached."""
        if self.name == "lbfgs":
            self.algorithm.kept = True
        dual = self.algorithm.dual_variables()
        self.name, self.race = name, Race()  # whoever is last
        self.algorithm = self.make(name, self.r)
        self.algorithm.resume(dual)
        if name == "newton" and self.state.W.any():  # else weights of 0 are better
            self.algorithm.start_warm(dual)

    def result(self) -> TrainingResult:
        """The best model, with its certificate."""
        filed = getattr(self.algorithm, "folder", None) is not None
        state, known = self.state, self.whole or not filed
        dual_variables = self.algorithm.dual_variables() if known else None
        bounds = getattr(self.algorithm, "bounds", None)
        if hasattr(self.algorithm, "bounds_at"):
            bounds = self.algorithm.bounds_at(state.W)
        # the dual may have moved since the last certificate
        if self.interrupted and dual_variables is not None and not isinstance(self.X, Source):
            dual = dual_objective(self.X, self.y, self.r, dual_variables, self.loss)
            state.claim(state.primal, dual)
        return TrainingResult(state.W, dual_variables, bounds, **self.outcome(state, self.name))


def dual_of_smaller_weights(
    make: Callable, squares: np.ndarray, r: np.ndarray, at_zero: float, most: int = LONGEST
) -> Any:
    """A dual to begin a weakly regularised problem with, None where a cold start is as good.

    The problem is solved roughly for r/10^q, ..., r/10: coordinate ascent needs many more passes
    when it finds the large weights by itself (Letter, C = 1000: 20 times longer).
    """
    size = float(np.mean(r * squares))
    dual_variables = None
    steps = min(int(np.ceil(np.log10(max(size / CONTINUED, 1.0)))), most)
    for q in range(steps, 0, -1):
        smaller = r * 10.0**-q
        algorithm = make("active", smaller)
        if dual_variables is None:
            algorithm.start_cold()
        else:
            algorithm.start_warm(rescaled_dual(dual_variables, smaller / 10.0, smaller))
        state = TrainingState()
        state.record(0, float(smaller.sum()) * at_zero, 0.0, algorithm.W)
        algorithm.run(state, ROUGH_GAP, ROUGH_ITERATIONS, lambda state: False)
        dual_variables = algorithm.dual_variables()
        if algorithm.race.lost:
            return rescaled_dual(dual_variables, smaller, r)
        algorithm.race.begin()
    return None if dual_variables is None else rescaled_dual(dual_variables, r / 10.0, r)


def dual_objective(X: Any, y: np.ndarray, r: np.ndarray, dual_variables: Any, loss: Loss) -> float:
    """D(A) of a dual given as dual variables on the other classes, from the formula, in float64."""
    dual_variables = sp.csr_array(dual_variables)
    sums = np.asarray(dual_variables.sum(axis=1)).ravel()
    own = sp.csr_array((sums, (np.arange(len(y)), y)), shape=dual_variables.shape)
    W = (own - dual_variables).T @ X
    W = W.toarray() if is_sparse(W) else np.asarray(W, dtype=np.float64)
    return -float(loss.conjugates(dual_variables, r).sum()) - 0.5 * float(np.vdot(W, W))


def rescaled_dual(dual_variables: Any, r_old: np.ndarray, r_new: np.ndarray) -> Any:
    """A feasible dual for new radii: every block scaled by r_new/r_old."""
    factor = np.divide(r_new, r_old, out=np.zeros_like(r_new), where=r_old > 0.0)
    if not is_sparse(dual_variables):
        return dual_variables * factor[:, None]
    scaled = sp.csr_array(dual_variables.multiply(factor[:, None]))
    scaled.eliminate_zeros()
    scaled.sort_indices()
    return scaled


def _warmup() -> None:
    """Train every solver once on a few dense examples, and where it matters on more than a few."""
    rng, y = np.random.default_rng(0), np.arange(2000) % 4  # beyond POLISHED_SIZE: float32 too
    X = rng.standard_normal((4, 3))[y] + 0.3 * rng.standard_normal((2000, 3))
    X.flags.writeable = False  # kernels take read-only and writable arrays for two types
    few = np.full(12, 100.0)  # reached in steps
    smoothed = ("active", 0.0), ("active", 1.0), ("newton", 1.0), ("sdca", 0.0), ("sdca", 1.0)
    for solver, gamma in smoothed:
        for variant, k in (("alpha", 1), ("alpha", 2), ("beta", 2)):
            loss = TopKHinge.named(variant, k, gamma)
            for data in (X[:12], X[:12].copy()):
                train(data, y[:12], few, 4, loss, max_iter=8, solver=solver)
    train(X[:12], y[:12], few, 4, TopKHinge.named("alpha", 2, 0.0), max_iter=8, solver="interior")
    train(X[:12], y[:12], few, 4, TopKEntropy.named("alpha", 2), max_iter=8, solver="sdca")
    for k in (1, 2):
        for tol, size in ((1e-3, 1.0), (1e-9, 1.0), (1e-6, 100.0)):
            train(X, y, np.full(2000, size), 4, TopKEntropy.named("alpha", k), max_iter=8, tol=tol)
