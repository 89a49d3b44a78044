"""The paper's speed-up (Xu et al. 2016, Tables 3 and 4) on its shapes, with the SVM1+ solver named.

The paper divides the seconds of SVM1+, trained as a general quadratic program in 2n variables, by
those of SVM2+ by LIBSVM on the deformed kernel. Here Clarabel is the general solver. Both run on a
few classes, and their seconds are multiplied up. Ours train all classes. Kernel matrices are given.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks import svmplus_data as data
from verification.benchmarks.records import Record
from verification.benchmarks.svmplus_training import (
    LIBSVM_TOL,
    WIDTHS,
    libsvm_each,
    printed_deformed,
    quiet,
)
from verification.benchmarks.timing import timed
from verification.certificates import plus_model

#: Ratios as printed in Table 4.
PRINTED = {"n = 1020, 102 classes": 110.6, "n = 760, 76 classes": 92.5}
GENERAL, OURS, LIBSVM = "Clarabel, dual in 2n variables", "ours", "LIBSVM, a Q per class"
GAP = 1e-6
LIBSVM_CLASSES, GENERAL_CLASSES = 5, 1


def general_solver(
    K: np.ndarray, Kz: np.ndarray, y: np.ndarray, C: float, lam: float
) -> np.ndarray:
    """Multipliers (alpha, beta) (2, n) of dual (2) of SVM1+, by Clarabel on its 2n variables.

    min 1/2 (a.y)'K(a.y) + 1/(2 lam) (a+b-C)'Kz(a+b-C) - 1'a, sum(a+b-C) = 0, a'y = 0, a, b >= 0.
    """
    import clarabel
    import scipy.sparse as sp

    n = len(y)
    block = Kz / lam
    P = np.block([[K * y * y[:, None] + block, block], [block, block]])
    pull = -C * block.sum(axis=1)
    q = np.concatenate([pull - 1.0, pull])
    equal = np.vstack([np.concatenate([y, np.zeros(n)]), np.ones(2 * n)])
    A = sp.vstack([sp.csc_matrix(equal), -sp.eye(2 * n)], format="csc")
    b = np.concatenate([[0.0, C * n], np.zeros(2 * n)])
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(2 * n)]
    upper = sp.csc_matrix(np.triu(P))
    found = clarabel.DefaultSolver(upper, q, A, b, cones, quiet(GAP)).solve()
    return np.asarray(found.x).reshape(2, n)


def hinge_gap(
    K: np.ndarray, Kz: np.ndarray, y: np.ndarray, C: float, lam: float, model: Any, dual: Any
) -> float:
    """Relative gap of a trained model of SVM1+, whose rho may be raised, and of multipliers (alpha, beta)."""
    alpha, beta = dual
    judge = plus_model.problem(y, loss="hinge", C=C, lam=lam, K=K, Kz=Kz)
    given = {"v": model.correction_coef, "rho": model.rho, "beta": beta}
    return plus_model.certificate(judge, model.coef, model.b, alpha, **given).relative_gap


def measure(
    n: int,
    classes: int,
    C: float = 1.0,
    lam: float = 1.0,
    say: Callable[[str], None] = lambda text: None,
) -> list[Record]:
    """CPU seconds of all four for all classes of one shape, and certified gaps of what was timed."""
    from fast.models import svm_plus_hinge, svm_plus_squared_hinge

    cpu = partial(timed, now=process_time)

    X, Z, label = data.classes(n, classes, *WIDTHS)
    labels = data.one_against_rest(label)
    K, Kz = X @ X.T, Z @ Z.T
    part, small, few_labels = K[:40, :40], Kz[:40, :40], labels[:40, 0]
    for module in (svm_plus_hinge, svm_plus_squared_hinge):  # compiles and imports
        module.train_kernel(part, few_labels, C, lam, Kz=small, tol=1e-2)
    data.libsvm(part, printed_deformed(small, C, lam), few_labels, C, lam, LIBSVM_TOL)
    general_solver(part, small, few_labels, C, lam)
    say(f"{classes} classes: SVM2+ by ours")
    squared, squared_seconds = cpu(
        lambda: svm_plus_squared_hinge.train_kernel(K, labels, C, lam, Kz=Kz, tol=GAP)
    )
    say(f"{classes} classes: SVM1+ by ours")
    hinge, hinge_seconds = cpu(
        lambda: svm_plus_hinge.train_kernel(K, labels, C, lam, Kz=Kz, tol=GAP)
    )
    say(f"{classes} classes: SVM2+ by LIBSVM")
    few = labels.T[: min(LIBSVM_CLASSES, classes)]
    by_libsvm, libsvm_seconds = cpu(lambda: libsvm_each(K, Kz, few, C, lam))
    say(f"{classes} classes: SVM1+ by Clarabel")
    fewer = labels.T[: min(GENERAL_CLASSES, classes)]
    general, general_seconds = cpu(lambda: [general_solver(K, Kz, y, C, lam) for y in fewer])
    say(f"{classes} classes: certificates")

    def worst(pairs: Iterable[Any]) -> float:
        """Against our models: a certificate of both."""
        both = zip(labels.T, hinge, pairs, strict=False)
        return max(hinge_gap(K, Kz, y, C, lam, model, pair) for y, model, pair in both)

    squared_gap = partial(data.worst_gap, labels, C=C, lam=lam, K=K, Kz=Kz)
    shape = f"n = {n}, {classes} classes"
    return [
        Record(
            {"shape": shape, "model": model, "solver": solver},
            {"classes_timed": timed, "seconds": seconds * classes / timed, "gap": gap},
            most={} if limit is None else {"gap": limit},
        )
        for model, solver, timed, seconds, gap, limit in (
            ("SVM1+", GENERAL, len(fewer), general_seconds, worst(general), 1e-3),
            ("SVM1+", OURS, classes, hinge_seconds, worst((r.alpha, r.beta) for r in hinge), GAP),
            ("SVM2+", LIBSVM, len(few), libsvm_seconds, squared_gap(by_libsvm), None),
            ("SVM2+", OURS, classes, squared_seconds, squared_gap(r.alpha for r in squared), GAP),
        )
    ]  # fmt: skip


def ratios(found: Sequence[Record]) -> Record:
    """The paper's ratio as printed and as found, and with a good solver of SVM1+ in the place of the general one."""
    seconds = {(r["model"], r["solver"]): r["seconds"] for r in found}
    general, hinge, libsvm, squared = (
        seconds[key]
        for key in (("SVM1+", GENERAL), ("SVM1+", OURS), ("SVM2+", LIBSVM), ("SVM2+", OURS))
    )
    shape = found[0]["shape"]
    figures = {
        "paper": PRINTED.get(shape),
        "Clarabel, SVM1+ / LIBSVM, SVM2+": general / libsvm,
        "ours, SVM1+ / LIBSVM, SVM2+": hinge / libsvm,
        "ours, SVM1+ / ours, SVM2+": hinge / squared,
    }
    return Record({"shape": shape}, figures)
