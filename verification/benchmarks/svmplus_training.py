"""Seconds of training SVM2+ to a certified gap, against what one would take instead."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks import svmplus_data as data
from verification.benchmarks.timing import median_ratio

GAP = 1e-6
#: LIBSVM's default tolerance, and one at which its kernel in float32 has no more digits to give.
LIBSVM_TOL, LIBSVM_FINEST = 1e-3, 1e-5
MAX_STEPS = 1_000_000
LIBSVM_SIZES, CLARABEL_SIZE, LINEAR_SVC_SIZE = (500, 2000), 10_000, 200_000
KERNEL_SIZE, KERNEL_CS = 2000, (1.0, 100.0)
#: n, classes; d = 4096, s = 2000 (Xu et al. 2016, Table 1), LIBSVM timed on the first few classes.
SHAPES, WIDTHS, TIMED = ((1020, 102), (760, 76)), (4096, 2000), 5


@dataclass(frozen=True)
class Timing:
    """One problem: median CPU seconds of both, the median ratio, certified gaps.

    Attributes
    ----------
    ratio : seconds of the peer over ours.
    peer_gap : certified relative gap of the peer, None where its problem is another.
    target : of the ratio; 0 where none was agreed.
    """

    problem: str
    peer: str
    seconds: float
    peer_seconds: float
    ratio: float
    gap: float
    peer_gap: float | None
    target: float

    @property
    def reached(self) -> bool:
        """Certified, and as many times faster as agreed."""
        return self.gap <= GAP and self.ratio >= self.target


def compare(
    problem: str,
    peer: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    gap: Callable[[Any], float],
    peer_gap: Callable[[Any], float] | None,
    target: float,
    repeats: int,
    times: float = 1.0,
) -> Timing:
    """Both in turns; the peer's seconds count ``times`` fold (where it did a part of the work)."""
    ours()  # compiles
    import_module("sklearn.svm")  # outside the clock, as is the compiling
    mine, other, gaps, peer_gaps = [], [], [], []
    for _ in range(repeats):
        result, seconds = data.cpu(ours)
        answer, peer_seconds = data.cpu(theirs)
        mine.append(seconds)
        other.append(times * peer_seconds)
        gaps.append(gap(result))
        if peer_gap is not None:
            peer_gaps.append(peer_gap(answer))
    worst = max(peer_gaps) if peer_gaps else None
    ratio = median_ratio(other, mine)
    return Timing(problem, peer, median(mine), median(other), ratio, max(gaps), worst, target)


def factor(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """F (n, s + 1) with Q = F F', F = Zt L^-T, L L' = lam I + C Zt'Zt."""
    from scipy.linalg import cholesky, solve_triangular

    Zt = np.column_stack([Z, np.ones(len(Z))])
    L = cholesky(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt, lower=True)
    return np.asarray(solve_triangular(L, Zt.T, lower=True).T)


def primal_gap(problem: data.Problem, C: float, lam: float, result: Any) -> float:
    """Relative gap of a trained model, by formulas that the trainer has no part in."""
    from verification.certificates.plus_model import Problem

    X, Z, y = problem
    judge = Problem(y, loss="squared_hinge", C=C, lam=lam, X=X, Z=Z)
    found = judge.certificate(result.w, result.b, result.alpha, v=result.v, rho=result.rho)
    return float(found.relative_gap)


def against_libsvm(
    n: int, repeats: int, tol: float, target: float, C: float = 1.0, lam: float = 1.0
) -> Timing:
    """Linear; LIBSVM on the deformed kernel, the making of its kernels included."""
    from fast.models.svm_plus_squared_hinge import train

    problem = data.linear(n)
    X, Z, y = problem

    def peer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        F = factor(Z, C, lam)
        K, Q = X @ X.T, F @ F.T
        return K, Q, data.libsvm(K, Q, y, C, lam, tol, MAX_STEPS)

    return compare(
        f"linear, n = {n}", f"LIBSVM, tol {tol:g}", lambda: train(X, y, Z, C, lam, tol=GAP), peer,
        lambda r: primal_gap(problem, C, lam, r), lambda r: data.deformed_gap(r[0], r[1], y, r[2]), target, repeats,
    )  # fmt: skip


def clarabel_factor(problem: data.Problem, C: float, lam: float, gap: float = GAP) -> np.ndarray:
    """Multipliers (n,) of the hard-margin form on the rows (y_i x_i, F_i) by Clarabel."""
    import clarabel
    import scipy.sparse as sp

    X, Z, y = problem
    n = len(y)
    rows = np.hstack([X * y[:, None], factor(Z, C, lam), y[:, None]])
    p = rows.shape[1]
    squares = sp.diags([1.0] * (p - 1) + [0.0]).tocsc()
    cones = [clarabel.NonnegativeConeT(n)]
    A = sp.csc_matrix(-rows)
    settings = quiet(gap)
    found = clarabel.DefaultSolver(squares, np.zeros(p), A, -np.ones(n), cones, settings).solve()
    return np.asarray(found.z)


def quiet(gap: float) -> Any:
    """Settings of Clarabel: one thread, no output, this relative gap."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_rel = settings.tol_gap_abs = gap
    settings.tol_feas = 0.1 * gap
    return settings


def against_clarabel(n: int, repeats: int, C: float = 1.0, lam: float = 1.0) -> Timing:
    """Linear; Clarabel on the factor form of the primal, n rows and d + s + 2 variables."""
    from fast.models.svm_plus_squared_hinge import train

    problem = data.linear(n)
    X, Z, y = problem
    F = factor(Z, C, lam)

    def peer_gap(alpha: np.ndarray) -> float:
        alpha = data.balanced(alpha, y)
        w, t = X.T @ (alpha * y), F.T @ alpha
        g = y * (X @ w) + F @ t
        q, margin = float(alpha @ g), 0.5 * float(g[y > 0].min() + g[y < 0].min())
        return 1.0 - (float(alpha.sum()) * margin / q) ** 2 if margin > 0.0 else float("inf")

    return compare(
        f"linear, n = {n}", "Clarabel, factor form", lambda: train(X, y, Z, C, lam, tol=GAP),
        lambda: clarabel_factor(problem, C, lam), lambda r: primal_gap(problem, C, lam, r), peer_gap, 100.0, repeats,
    )  # fmt: skip


def against_linear_svc(n: int, repeats: int, C: float = 1.0, lam: float = 1.0) -> Timing:
    """Linear; scikit-learn's LinearSVC on X alone, another and smaller problem."""
    from sklearn.svm import LinearSVC

    from fast.models.svm_plus_squared_hinge import train

    problem = data.linear(n)
    X, Z, y = problem
    svc = LinearSVC(C=C, tol=1e-4, random_state=0)
    return compare(
        f"linear, n = {n}", "LinearSVC on X alone, tol 0.0001", lambda: train(X, y, Z, C, lam, tol=GAP),
        lambda: svc.fit(X, y), lambda r: primal_gap(problem, C, lam, r), None, 1.0, repeats,
    )  # fmt: skip


def printed_deformed(Kz: np.ndarray, C: float, lam: float) -> np.ndarray:
    """Q (n, n) as a user gets it: one solve with lam I + C Kt."""
    Kt = Kz + 1.0
    A = C * Kt
    A[np.diag_indices_from(A)] += lam
    return np.asarray(np.linalg.solve(A, Kt))


def against_kernels(C: float, repeats: int, n: int | None = None, lam: float = 1.0) -> Timing:
    """RBF kernels; LIBSVM at the tolerance of the gap, its deformed kernel included.

    RBF kernels are known to be definite: neither checks it.
    """
    from fast.models.svm_plus_squared_hinge import train_kernel

    K, Kz, y = data.curved(n or KERNEL_SIZE)
    exact = printed_deformed(Kz, C, lam)

    def peer() -> np.ndarray:
        return data.libsvm(K, printed_deformed(Kz, C, lam), y, C, lam, GAP, MAX_STEPS)

    return compare(
        f"RBF, n = {len(y)}, C = {C:g}", f"LIBSVM, tol {GAP:g}",
        lambda: train_kernel(K, y, C, lam, Kz=Kz, tol=GAP, check_definite=False), peer,
        lambda r: data.deformed_gap(K, exact, y, r.alpha), lambda a: data.deformed_gap(K, exact, y, a), 2.0, repeats,
    )  # fmt: skip


def against_one_by_one(
    n: int, m: int, repeats: int, C: float = 1.0, lam: float = 1.0, timed: int | None = None
) -> Timing:
    """All classes of the paper's shapes; LIBSVM with a Q per class on a few, times their share."""
    from fast.models.svm_plus_squared_hinge import train_kernel

    X, Z, label = data.classes(n, m, *WIDTHS)
    labels = data.one_against_rest(label)
    few = min(timed or TIMED, m)
    K, exact = X @ X.T, printed_deformed(Z @ Z.T, C, lam)

    def peer() -> list[np.ndarray]:
        found = []
        for y in labels.T[:few]:
            Q = printed_deformed(Z @ Z.T, C, lam)
            found.append(data.libsvm(K, Q, y, C, lam, LIBSVM_TOL, MAX_STEPS))
        return found

    def worst(alphas: list[np.ndarray]) -> float:
        return max(
            data.deformed_gap(K, exact, y, a) for y, a in zip(labels.T, alphas, strict=False)
        )

    return compare(
        f"n = {n}, {m} classes", f"LIBSVM, tol {LIBSVM_TOL:g}, a Q each (x {m}/{few})",
        lambda: train_kernel(X @ X.T, labels, C, lam, Z=Z, tol=GAP), peer,
        lambda rs: worst([r.alpha for r in rs]), worst, 20.0, repeats, m / few,
    )  # fmt: skip


def cases(repeats: int, parts: tuple[str, ...]) -> dict[str, Callable[[], Timing]]:
    """What is measured, by name, for some of ``linear``, ``kernel`` and ``classes``."""
    found: dict[str, Callable[[], Timing]] = {}
    if "linear" in parts:
        for n in LIBSVM_SIZES:
            for tol, target in ((LIBSVM_TOL, 0.0), (LIBSVM_FINEST, 50.0)):
                found[f"linear, n = {n}, LIBSVM, tol {tol:g}"] = partial(
                    against_libsvm, n, repeats, tol, target
                )
        n = CLARABEL_SIZE
        found[f"linear, n = {n}"] = partial(against_clarabel, n, repeats)
        n = LINEAR_SVC_SIZE
        found[f"linear, n = {n}"] = partial(against_linear_svc, n, repeats)
    if "kernel" in parts:
        for C in KERNEL_CS:
            found[f"RBF, C = {C:g}"] = partial(against_kernels, C, repeats)
    if "classes" in parts:
        for n, m in SHAPES:
            found[f"{m} classes"] = partial(against_one_by_one, n, m, repeats)
    return found
