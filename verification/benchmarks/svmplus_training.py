"""SVM2+: seconds of training to a certified gap, against what one would take instead."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks import svmplus_data as data
from verification.benchmarks.records import Record, Section, Side, contest
from verification.certificates import plus_model

GAP = 1e-6
#: LIBSVM's default tolerance, and one at which its kernel in float32 has no more digits to give.
LIBSVM_TOL, LIBSVM_FINEST = 1e-3, 1e-5
MAX_STEPS = 1_000_000
LIBSVM_SIZES, CLARABEL_SIZE, LINEAR_SVC_SIZE = (500, 2000), 10_000, 200_000
KERNEL_SIZE, KERNEL_CS = 2000, (1.0, 100.0)
#: n, classes; d = 4096, s = 2000 (Xu et al. 2016, Table 1), LIBSVM timed on the first few classes.
SHAPES, WIDTHS, TIMED = ((1020, 102), (760, 76)), (4096, 2000), 5
SECTIONS = {
    "training": Section(
        f"SVM2+ to a certified relative gap of {GAP:g}",
        "CPU seconds, medians; ratios: medians over pairs of runs in turns. Gaps: largest relative duality gap, "
        "recomputed outside the clock by formulas. C = lam = 1 unless it says otherwise; linear: d = 50, s = 20; "
        "classes: d = 4096, s = 2000, Z the same within a class, kernels made inside the clock, and LIBSVM timed on "
        f"{TIMED} classes, its seconds multiplied up. LIBSVM stops after {MAX_STEPS:,} steps; its kernel is float32. "
        "LinearSVC solves another problem, without Z.",
    ),
}


def compare(
    problem: str,
    peer: str,
    ours: Side,
    theirs: Side,
    target: float,
    repeats: int,
    times: float = 1.0,
) -> Record:
    """A contest by CPU time; ``target``: times as fast as the peer, 0 where none was agreed."""
    ours.fit()  # compiles
    import_module("sklearn.svm")  # outside the clock, as is the compiling
    names, least = {"problem": problem, "against": peer}, {"ratio": target} if target else {}
    return contest(
        names, ours, theirs, repeats, process_time, times, least=least, most={"gap": GAP}
    )


def factor(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """F (n, s + 1) with Q = F F', F = Zt L^-T, L L' = lam I + C Zt'Zt."""
    from scipy.linalg import cholesky, solve_triangular

    Zt = np.column_stack([Z, np.ones(len(Z))])
    L = cholesky(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt, lower=True)
    return np.asarray(solve_triangular(L, Zt.T, lower=True).T)


def primal_gap(problem: data.Problem, C: float, lam: float, result: Any) -> float:
    """Relative gap of a trained model, by formulas that the trainer has no part in."""
    X, Z, y = problem
    judge = plus_model.problem(y, loss="squared_hinge", C=C, lam=lam, X=X, Z=Z)
    both = {"v": result.v, "rho": result.rho}
    return plus_model.certificate(judge, result.w, result.b, result.alpha, **both).relative_gap


def linear(
    n: int,
    peer: str,
    theirs: Callable[[data.Problem, float, float], Any],
    target: float,
    repeats: int,
    C: float = 1.0,
    lam: float = 1.0,
) -> Record:
    """Our linear trainer beside a peer; its multipliers are judged, if it returns any."""
    from fast.models.svm_plus_squared_hinge import train

    problem = data.linear(n)
    X, Z, y = problem
    gap = partial(data.multipliers_gap, y, C=C, lam=lam, X=X, Z=Z)
    return compare(
        f"linear, n = {n}",
        peer,
        Side(partial(train, X, y, Z, C, lam, tol=GAP), partial(primal_gap, problem, C, lam)),
        Side(partial(theirs, problem, C, lam), None if theirs is linear_svc else gap),
        target,
        repeats,
    )


def libsvm_on_kernels(tol: float, problem: data.Problem, C: float, lam: float) -> Any:
    """Multipliers of LIBSVM on the deformed kernel, the making of its kernels included."""
    F, K = factor(problem.Z, C, lam), problem.X @ problem.X.T
    return data.libsvm(K, F @ F.T, problem.y, C, lam, tol, MAX_STEPS)


def clarabel_factor(problem: data.Problem, C: float, lam: float, gap: float = GAP) -> Any:
    """Multipliers (n,) of the hard-margin form on the rows (y_i x_i, F_i) by Clarabel."""
    import clarabel
    import scipy.sparse as sp

    X, Z, y = problem
    n, F = len(y), factor(Z, C, lam)
    rows = np.hstack([X * y[:, None], F, y[:, None]])
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


def linear_svc(problem: data.Problem, C: float, lam: float) -> Any:
    """scikit-learn's LinearSVC on X alone, another and smaller problem."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, tol=1e-4, random_state=0).fit(problem.X, problem.y)


def printed_deformed(Kz: np.ndarray, C: float, lam: float) -> np.ndarray:
    """Q (n, n) as a user gets it: one solve with lam I + C Kt."""
    Kt = Kz + 1.0
    A = C * Kt
    A[np.diag_indices_from(A)] += lam
    return np.asarray(np.linalg.solve(A, Kt))


def against_kernels(C: float, repeats: int, n: int | None = None, lam: float = 1.0) -> Record:
    """RBF kernels; LIBSVM at the tolerance of the gap, its deformed kernel included.

    RBF kernels are known to be definite: neither checks it.
    """
    from fast.models.svm_plus_squared_hinge import train_kernel

    K, Kz, y = data.curved(n or KERNEL_SIZE)
    gap = partial(data.multipliers_gap, y, C=C, lam=lam, K=K, Kz=Kz)
    return compare(
        f"RBF, n = {len(y)}, C = {C:g}",
        f"LIBSVM, tol {GAP:g}",
        Side(
            partial(train_kernel, K, y, C, lam, Kz=Kz, tol=GAP, check_definite=False),
            lambda result: gap(result.alpha),
        ),
        Side(lambda: data.libsvm(K, printed_deformed(Kz, C, lam), y, C, lam, GAP, MAX_STEPS), gap),
        2.0,
        repeats,
    )


def against_one_by_one(n: int, m: int, repeats: int, C: float = 1.0, lam: float = 1.0) -> Record:
    """All classes of the paper's shapes; LIBSVM with a Q per class on a few, times their share."""
    from fast.models.svm_plus_squared_hinge import train_kernel

    X, Z, label = data.classes(n, m, *WIDTHS)
    labels = data.one_against_rest(label)
    few = min(TIMED, m)
    K, Kz = X @ X.T, Z @ Z.T
    gap = partial(data.worst_gap, labels, C=C, lam=lam, K=K, Kz=Kz)
    return compare(
        f"n = {n}, {m} classes",
        f"LIBSVM, tol {LIBSVM_TOL:g}, a Q each (x {m}/{few})",
        Side(
            lambda: train_kernel(X @ X.T, labels, C, lam, Z=Z, tol=GAP),
            lambda results: gap(r.alpha for r in results),
        ),
        Side(lambda: libsvm_each(K, Z @ Z.T, labels.T[:few], C, lam), gap),
        20.0,
        repeats,
        m / few,
    )


def libsvm_each(K: np.ndarray, Kz: np.ndarray, labels: Any, C: float, lam: float) -> list[Any]:
    """Multipliers of LIBSVM, with a deformed kernel made anew for each class."""
    return [
        data.libsvm(K, printed_deformed(Kz, C, lam), y, C, lam, LIBSVM_TOL, MAX_STEPS)
        for y in labels
    ]


def cases(repeats: int, parts: Iterable[str]) -> dict[str, Callable[[], Record]]:
    """What is measured, by name, for some of ``linear``, ``kernel`` and ``classes``."""
    found: dict[str, Callable[[], Record]] = {}
    if "linear" in parts:
        for n in LIBSVM_SIZES:
            for tol, target in ((LIBSVM_TOL, 0.0), (LIBSVM_FINEST, 50.0)):
                who, theirs = f"LIBSVM, tol {tol:g}", partial(libsvm_on_kernels, tol)
                found[f"linear, n = {n}, {who}"] = partial(linear, n, who, theirs, target, repeats)
        who = "Clarabel, factor form"
        found[who] = partial(linear, CLARABEL_SIZE, who, clarabel_factor, 100.0, repeats)
        who = "LinearSVC on X alone, tol 0.0001"
        found[who] = partial(linear, LINEAR_SVC_SIZE, who, linear_svc, 1.0, repeats)
    if "kernel" in parts:
        found |= {f"RBF, C = {C:g}": partial(against_kernels, C, repeats) for C in KERNEL_CS}
    if "classes" in parts:
        found |= {f"{m} classes": partial(against_one_by_one, n, m, repeats) for n, m in SHAPES}
    return found
