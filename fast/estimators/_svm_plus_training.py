"""Trains one SVM+ or SVM-2K per class against the rest, on whatever the classes can share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fast._interrupts import hold_back, keep_trained, let_through
from fast.estimators._svm_plus_bounds import Claims
from fast.models import svm, svm_2k, svm_plus_hinge, svm_plus_squared_hinge
from fast.solvers.kernel_rows import KernelRows
from fast.solvers.state import TrainingState
from fast.svm_plus import hinge, working_set
from fast.svm_plus.deformed_kernel import check_definite, check_kernel_matrix, check_shifted
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.problem import CheckedInput, finished
from fast.svm_plus.squared_hinge import SquaredHingeData

Trainer = Callable[[np.ndarray, int, Any], list[Any]]
LARGEST_GRAM = 20_000  # examples up to which a kernel matrix is worth its memory


@dataclass
class Problem:
    """What the binary problems have in common; rows of weight zero are gone.

    X or K, and Z or Kz, or neither for the ordinary SVM; labels (n, m), costs omega (n,).
    ``definite``: the kernels are positive semidefinite by what they are.
    """

    squared: bool
    labels: np.ndarray
    omega: np.ndarray
    C: float
    lam: float
    nonneg: bool
    free_slack: float
    tol: float
    max_iter: int
    signed: bool = False
    X: Any = None
    K: Any = None
    Z: Any = None
    Kz: Any = None
    definite: bool = False
    tie: tuple[float, float, float] | None = None  # CB, D and eps of an SVM-2K

    @property
    def plain(self) -> bool:
        """No privileged information."""
        return self.Z is None and self.Kz is None


@dataclass
class Solution:
    """One certified binary model: w (d,) or coef (n,), b, v (s,) or correction_coef (n,), rho.

    ``beta`` of an SVM-2K are alpha_B and beta, (2, n).
    """

    w: np.ndarray | None
    coef: np.ndarray | None
    b: float
    v: np.ndarray | None
    correction_coef: np.ndarray | None
    rho: float
    alpha: np.ndarray
    beta: np.ndarray
    collapsed: bool
    result: Any

    @classmethod
    def of(cls, result: Any) -> Solution:
        """From any trainer's result."""

        def get(name: str, default: Any = None) -> Any:
            return getattr(result, name, default)

        return cls(
            get("w"), get("coef"), float(result.b), get("v"), get("correction_coef"),
            float(get("rho", 0.0)), result.alpha, get("beta", np.zeros(len(result.alpha))),
            bool(get("collapsed", False)), result,
        )  # fmt: skip


class Reporter:
    """Counts the iterations of all binary problems on and passes them to the monitor."""

    def __init__(self, monitor: Callable[[TrainingState], bool], problem: Problem) -> None:
        self.monitor, self.problem = monitor, problem
        self.goal = problem.tol
        if is_linear(problem):
            self.goal = min(problem.tol, working_set.ROUGHEST)
        self.states: list[Any] = []  # of the problems begun
        self.n_before = self.n_last = 0

    def __call__(self, state: Any) -> bool:
        """Whether to stop."""
        if not self.states or state is not self.states[-1]:
            self.states.append(state)
            self.n_before = self.n_last
        self.n_last = self.n_before + state.n_iter
        done = state.done or state.gap <= self.goal or state.n_iter >= self.problem.max_iter
        last = len(self.states) == self.problem.labels.shape[1]
        seen = replace(state, n_iter=self.n_last, done=done and last)
        seen.models = [getattr(each, "model", None) for each in self.states]
        return bool(self.monitor(seen))


def solve(problem: Problem, report: Callable[[Any], bool]) -> list[Solution]:
    """One model per column of labels; after an interruption one round for each of the others."""
    train = trainer(problem)
    results = train(problem.labels, problem.max_iter, report)
    stopped = any(result.stopped for result in results)
    both = not (problem.X is None or problem.Z is None or problem.tie)
    if both and not (is_linear(problem) or stopped):
        try:
            for j, result in enumerate(results):
                results[j] = improved(problem, j, result, report)
        except KeyboardInterrupt:  # between two of them
            results[-1].interrupted = True
    hold_back()
    while len(results) < problem.labels.shape[1]:
        results += train(problem.labels[:, len(results) :], 1, None)
    solutions, claims = [Solution.of(result) for result in results], Claims(problem)
    for solution, y in zip(solutions, problem.labels.T, strict=True):
        claims.finalize(solution, y)
    return solutions


def trainer(problem: Problem) -> Trainer:
    """The trainer for all columns of labels, up to the one at which it was stopped."""
    if problem.plain:
        return plain(problem)
    if problem.tie:
        return two_views(problem)
    return linear(problem) if is_linear(problem) else kernels(problem)


def improved(problem: Problem, j: int, result: Any, report: Any) -> Any:
    """Where kernel matrices have lost too many digits, working sets of features may not have."""
    if result.gap <= problem.tol or result.n_iter >= problem.max_iter:
        return result
    left = problem.max_iter - result.n_iter
    [other] = linear(problem)(problem.labels[:, j : j + 1], left, report)
    return other if other.gap < result.gap else result


def is_linear(problem: Problem) -> bool:
    """More examples than features, of both kinds: working sets; else kernel matrices are smaller."""
    if problem.X is None or problem.Z is None or problem.tie:
        return False
    p = problem.X.shape[1] + problem.Z.shape[1] + 1
    return len(problem.omega) > min(p, LARGEST_GRAM)


def one_by_one(train: Callable[[np.ndarray, int, Any], Any]) -> Trainer:
    """A trainer of columns from one of labels (n,)."""

    def columns(labels: np.ndarray, max_iter: int, report: Any) -> list[Any]:
        results: list[Any] = []
        try:
            for y in labels.T:
                if results:
                    let_through()
                results.append(train(y, max_iter, report))
                if results[-1].stopped:
                    break
        except KeyboardInterrupt:  # between two of them
            hold_back()
            keep_trained(results)
        return results

    return columns


def checked(name: str, K: Any) -> Any:
    """A kernel matrix, if it is given, that is one."""
    if K is not None:
        K = check_kernel_matrix(name, K)
        check_definite(name, K)
    return K


def two_views(problem: Problem) -> Trainer:
    """SVM-2K."""
    assert problem.tie is not None
    CB, D, eps = problem.tie
    K, Kz = checked("K", problem.K), checked("Kz", problem.Kz)
    bounds = np.outer([problem.C, CB, D], problem.omega)
    machine = svm_2k.TwoViewMachine(problem.X, K, problem.Z, Kz, bounds, eps)

    def train(y: np.ndarray, max_iter: int, report: Any) -> Any:
        result: Any = machine.train(y, problem.tol, max_iter, report)
        result.alpha, result.beta = result.alpha[0], result.alpha[1:]
        return result

    return one_by_one(train)


def plain(problem: Problem) -> Trainer:
    """The ordinary SVM."""
    K = problem.K
    if not (K is None or isinstance(K, KernelRows)):
        K = check_kernel_matrix("K", K)
        check_shifted("K", K)
    machine = svm.Machine(problem.X, K, problem.C * problem.omega, problem.squared)
    return one_by_one(lambda y, rounds, report: machine.one(y, problem.tol, rounds, report))


def linear(problem: Problem) -> Trainer:
    """Working sets; the factor of lam I + C Zt'Zt is the same for all labels."""
    n = len(problem.omega)
    kind = SquaredHingeData if problem.squared else HingeData
    base = kind(
        problem.X, problem.labels[:, 0], problem.Z, problem.omega, problem.C, problem.lam,
        problem.nonneg, problem.free_slack / problem.omega, problem.signed,
    )  # fmt: skip

    def train(y: np.ndarray, max_iter: int, report: Any) -> Any:
        data = copy.copy(base)
        data.relabel(y)
        given = CheckedInput(
            data.X, y, data.Z, data.omega, data.C, data.lam, problem.tol, problem.free_slack,
            np.arange(n), n, max_iter,
        )  # fmt: skip
        solve: Any = working_set.train if problem.squared else hinge.solve
        return finished(data, given, *solve(data, problem.tol, max_iter, report))

    return one_by_one(train)


def kernels(problem: Problem) -> Trainer:
    """Kernel matrices: K and Q (or Kz) are the same for all labels."""
    train_kernel = (
        svm_plus_squared_hinge.train_kernel if problem.squared else svm_plus_hinge.train_kernel
    )
    centred = svm.Centred(problem.X) if problem.K is None else None
    K = problem.K if centred is None else centred.K
    options: dict[str, Any] = {
        "Z": problem.Z,
        "Kz": problem.Kz,
        "sample_weight": problem.omega,
        "nonneg_slack": problem.nonneg,
        "free_slack": problem.free_slack,
        "label_signed": problem.signed,
        "tol": problem.tol,
        "check_definite": not problem.definite,
    }

    def columns(labels: np.ndarray, max_iter: int, report: Any) -> list[Any]:
        results = train_kernel(
            K, labels, problem.C, problem.lam, max_iter=max_iter, report=report, **options
        )
        for result, y in zip(results, labels.T, strict=False):
            if centred is not None:
                centred.in_features(result)
            recertify(problem, result, y)
        return list(results)

    return columns


def recertify(problem: Problem, result: Any, y: np.ndarray) -> None:
    """P once more at the attributes that are kept: w, v have been rounded since the trainer's P.

    Without own slacks b and rho become feasible for these very f and g.
    """
    cost, lam = problem.C * problem.omega, problem.lam
    if problem.X is not None:
        f, w2 = np.asarray(problem.X @ result.w), float(result.w @ result.w)
    else:
        f = problem.K @ result.coef
        w2 = max(float(result.coef @ f), 0.0)
    if problem.Z is not None:
        g, v2 = np.asarray(problem.Z @ result.v), float(result.v @ result.v)
    else:
        g = problem.Kz @ result.correction_coef
        v2 = max(float(result.correction_coef @ g), 0.0)
    if problem.free_slack == 0.0 and problem.signed:
        plus, minus = float((f + g)[y > 0.0].min()), float((-g - f)[y < 0.0].min())
        offset, least = 0.5 * (minus - plus), 0.5 * (plus + minus)
        if not least > 0.0:
            result.claim(np.inf, result.dual)
            return
        # rho keeps its part of the best b + rho
        for name in ("w", "coef", "v", "correction_coef", "rho"):
            if getattr(result, name, None) is not None:
                setattr(result, name, getattr(result, name) / least)
        result.b = offset / least - result.rho
        w2, v2, g = w2 / least**2, v2 / least**2, g / least
        xi, own = y * (g + result.rho), 0.0
    elif problem.free_slack == 0.0:
        plus, minus = float((f + g)[y > 0.0].min()), float((g - f)[y < 0.0].min())
        result.b = 0.5 * (minus - plus)
        least = max(1.0 - 0.5 * (plus + minus), -float(g.min()) if problem.nonneg else -np.inf)
        result.rho = max(result.rho, least)
        xi, own = g + result.rho, 0.0
    else:
        kappa = lam / problem.free_slack * problem.omega
        asked = g + result.rho
        asked = y * asked if problem.signed else asked
        xi = kappa * asked / (cost + kappa) if problem.squared else asked - cost / kappa
        xi = np.maximum(xi, 1.0 - y * (f + result.b))
        xi = np.maximum(xi, 0.0) if problem.nonneg else xi
        own = 0.5 * float((kappa * (xi - asked) ** 2).sum())
    P = 0.5 * (w2 + lam * v2) + own
    if problem.squared:
        P += 0.5 * (lam * result.rho**2 + float(cost @ (xi * xi)))
    else:
        P += float(cost @ xi)
    result.claim(P, result.dual)
