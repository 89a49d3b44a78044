"""One-vs-all beside LinearSVC and LogisticRegression in one-vs-rest, at an equal certified gap.

``python -m verification.benchmarks.one_vs_all`` prints the table of docs/which_loss.md: CPU seconds, medians.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks.records import Record, stream
from verification.benchmarks.timing import one_thread, timed

GAP, SHARP = 1e-3, 1e-7
CS = (0.01, 0.1, 1.0, 10.0, 100.0)
TOLERANCES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)


def data() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What is measured."""
    from fast.datasets import load_letter, make_gaussian_mixture

    X, y = load_letter("train")
    yield "Letter, 10 500 rows", X / 7.5 - 1.0, y
    for n, m, d, apart in ((10_000, 10, 100, 4.0), (20_000, 20, 20, 2.0)):
        X, y = make_gaussian_mixture(n, m, d, separation=apart, random_state=0)
        yield f"mixture, n = {n}, d = {d}, {m} classes", X, y


def rivals(loss: str, C: float) -> Iterator[Callable[[], Any]]:
    """scikit-learn's estimators, at the tolerances that a user may know to be enough."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    for tol in TOLERANCES:
        if loss == "hinge":
            yield partial(
                LinearSVC, loss=loss, C=C, fit_intercept=False, tol=tol, max_iter=20_000, random_state=0
            )  # fmt: skip
            continue
        for solver in ("newton-cholesky", "lbfgs"):
            own = LogisticRegression(
                solver=solver, C=C, fit_intercept=False, tol=tol, max_iter=1000
            )
            yield partial(OneVsRestClassifier, own)


def measure(loss: str, X: np.ndarray, y: np.ndarray, C: float, repeats: int) -> Record:
    """Seconds of ours, and of the fastest rival that reaches the gap; None if none does."""
    from fast import OneVsAllClassifier
    from fast.families import named

    make = partial(OneVsAllClassifier, loss, C=C, random_state=0)
    lower = make(tol=SHARP, max_iter=200).fit(X, y).dual_objective_
    entry = named(OneVsAllClassifier.stems[loss])

    def seconds(model: Callable[[], Any]) -> tuple[float, bool]:
        found, spent = timed(lambda: model().fit(X, y), process_time)
        parts = getattr(found, "estimators_", [found])
        W = np.vstack([part.coef_ for part in parts])
        risk = 0.5 * float(np.vdot(W, W)) + C * float(entry.values(X @ W.T, y).sum())
        return spent, risk - lower <= GAP * risk

    times = [(*seconds(model), model) for model in rivals(loss, C)]
    good = sorted((spent, at) for at, (spent, right, _) in enumerate(times) if right)
    ours = median(seconds(partial(make, tol=GAP))[0] for _ in range(repeats))
    best = times[good[0][1]][2] if good else None
    theirs = None if best is None else median(seconds(best)[0] for _ in range(repeats))
    ratio = None if theirs is None else theirs / ours
    return Record({"loss": loss, "C": C}, {"seconds": ours, "peer_seconds": theirs, "ratio": ratio})


def table(repeats: int = 5) -> Iterator[Record]:
    """Every data set, loss and C."""
    for name, X, y in data():
        for loss in ("hinge", "logistic"):
            measure(loss, X[:500], y[:500], 1.0, 1)  # compiles
            for C in CS:
                found = measure(loss, X, y, C, repeats)
                yield replace(found, names={"data": name, **found.names})


if __name__ == "__main__":
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream(table())
