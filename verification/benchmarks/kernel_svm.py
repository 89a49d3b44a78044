"""Kernel SVMs of two classes beside LIBSVM, at an equal true suboptimality.

``python -m verification.benchmarks.kernel_svm`` prints the table of docs/figures.md: CPU seconds, medians. LIBSVM is
charged for the loosest of its tolerances that reaches the gap. It has no SVM without an offset: beside `TopKSVC`
it solves its own.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks import peers
from verification.benchmarks.records import Record, Side, contest, stream
from verification.benchmarks.timing import one_thread

GAPS, SHARP, REPEATS = (1e-3, 1e-6), 1e-9, 5
SIZES = ((500, 10), (1000, 54), (2000, 10), (5000, 54))
WIDTHS, CS = (0.1, 1.0), (0.1, 1.0, 100.0)  # gamma in units of 1/(d Var X)
TOLERANCES = 10.0 ** np.arange(0.0, -6.5, -0.5)


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    shift = 1.2 * rng.standard_normal(d) / np.sqrt(d)
    return rng.standard_normal((n, d)) + y[:, None] * shift, y


def ours(name: str, X: np.ndarray, y: np.ndarray, gamma: float, C: float, tol: float) -> Any:
    """A fitted classifier of `fast`."""
    import fast

    if name == "TopKSVC":  # its two rows of W are -w/2 and w/2
        model: Any = fast.TopKSVC(C=C / 2, kernel="rbf", kernel_params={"gamma": gamma}, tol=tol)
    else:
        model = fast.SVMPlusClassifier(loss="hinge", C=C, kernel="rbf", gamma=gamma, tol=tol)
    return model.fit(X, y)


def table() -> Iterator[Record]:
    """Every size, width and C: both estimators against LIBSVM; nothing where it reaches no gap."""
    few = data(300, 3)
    for name in ("SVMPlusClassifier", "TopKSVC"):
        ours(name, *few, 0.3, 1.0, SHARP)  # compiles
    for (n, d), width, C in product(SIZES, WIDTHS, CS):
        X, y = data(n, d)
        gamma = width / (d * float(X.var()))
        lower = float(ours("SVMPlusClassifier", X, y, gamma, C, SHARP).dual_objective_[0])
        for gap in GAPS:
            judge = partial(peers.kernel_objective, X=X, y=y, C=C, gamma=gamma)

            def measure(model: Any, judge: Any = judge, lower: float = lower) -> float:
                return (judge(model.coef_) - lower) / judge(model.coef_)

            theirs = partial(peers.libsvm, X, y, C, gamma=gamma)
            reached = (t for t in TOLERANCES if measure(theirs(t)) <= gap)
            tol = next(reached, np.nan)
            for name in ("SVMPlusClassifier", "TopKSVC") if tol > 0.0 else ():
                yield contest(
                    {"estimator": name, "n": n, "d": d, "width": width, "C": C, "to": gap},
                    Side(partial(ours, name, X, y, gamma, C, gap), lambda m: float(m.dual_gap_)),
                    Side(partial(theirs, tol), measure),
                    REPEATS,
                    process_time,
                )


if __name__ == "__main__":
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream(table())
