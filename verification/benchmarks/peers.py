"""scikit-learn's trainers, stopped at a true suboptimality that we measure ourselves.

The tolerances of liblinear and lbfgs bound a violation of the optimality conditions, which says
little about P(W) - P*. The search below finds the loosest tolerance whose result is good enough, so
that the peer is charged for exactly the accuracy asked of everybody.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Peer:
    """The loosest setting found, and what it attains: (P(W) - D) / P with D a certified bound."""

    tol: float
    suboptimality: float
    reached: bool


def fit_quietly(model: Any, X: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    """The model fitted; that it stopped at max_iter, or that w is 0, is for a certificate to say."""
    from sklearn.exceptions import ConvergenceWarning

    from fast.errors import CollapseWarning

    with warnings.catch_warnings():
        for said in (ConvergenceWarning, CollapseWarning):
            warnings.simplefilter("ignore", said)
        model.fit(X, y, **options)
    if getattr(model, "_interrupted", False):  # what it kept nobody asked for here
        raise KeyboardInterrupt
    return model


def crammer_singer(
    X: np.ndarray, y: np.ndarray, C: float, tol: float, max_iter: int = 100_000
) -> Any:
    """A fitted LinearSVC without bias; that it stopped at max_iter is judged by the suboptimality."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        multi_class="crammer_singer",
        fit_intercept=False,
        C=C,
        tol=tol,
        max_iter=max_iter,
        random_state=0,
    )
    return fit_quietly(model, X, y)


def hinge_objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """P = 1/2 ||W||^2 + C sum_i max(0, 1 + max_{j != y_i} f_j - f_{y_i}); W is (m, d), y in 0..m-1."""
    scores = X @ W.T
    rows = np.arange(len(y))
    own = scores[rows, y].copy()
    scores[rows, y] = -np.inf
    return 0.5 * float(np.sum(W * W)) + C * float(
        np.maximum(0.0, 1.0 + scores.max(axis=1) - own).sum()
    )


def logistic(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    tol: float,
    max_iter: int = 100_000,
    solver: str = "lbfgs",
) -> Any:
    """A fitted LogisticRegression without bias: 1/2 ||W||^2 + C sum of softmax losses."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        solver=solver, fit_intercept=False, C=C, tol=tol, max_iter=max_iter, random_state=0
    )
    return fit_quietly(model, X, y)


def softmax_objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """P = 1/2 ||W||^2 + C sum_i log sum_j exp(f_j - f_{y_i}); W is (m, d), y in 0..m-1."""
    from scipy.special import logsumexp

    scores = X @ W.T
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    return 0.5 * float(np.sum(W * W)) + C * float(losses.sum())


@dataclass(frozen=True)
class Trainer:
    """A peer: ``fit(X, y, C, tol)`` returns a model with ``coef_`` (m, d), ``objective`` its P."""

    fit: Callable[[np.ndarray, np.ndarray, float, float], Any]
    objective: Callable[[np.ndarray, np.ndarray, np.ndarray, float], float]


def cyanure(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Any:
    """A fitted classifier of cyanure without bias, whose weights are those of its ``coef_``."""
    from cyanure.estimators import Classifier

    model = Classifier(
        loss="multiclass-logistic", penalty="l2", lambda_1=1.0 / (C * len(y)), tol=tol,
        fit_intercept=False, max_iter=100_000, n_threads=1, verbose=False,
    )  # fmt: skip
    model = fit_quietly(model, X, y)
    model.coef_ = np.ascontiguousarray(model.coef_.T)  # a column per class there
    return model


def one_vs_rest(
    make: Callable[..., Any], X: np.ndarray, y: np.ndarray, C: float, tol: float
) -> Any:
    """A two-class estimator for each class, its weights as rows of ``coef_``."""
    from sklearn.multiclass import OneVsRestClassifier

    model = fit_quietly(OneVsRestClassifier(make(C=C, tol=tol, fit_intercept=False)), X, y)
    model.coef_ = np.vstack([part.coef_ for part in model.estimators_])
    return model


def linear_svc(**options: Any) -> Any:
    """The hinge of two classes by liblinear."""
    from sklearn.svm import LinearSVC

    return LinearSVC(loss="hinge", max_iter=20_000, random_state=0, **options)


def two_classes(solver: str, **options: Any) -> Any:
    """Logistic regression of two classes."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver=solver, max_iter=1000, **options)


def one_vs_rest_objective(
    name: str, W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float
) -> float:
    """P = 1/2 ||W||^2 + C times the sum over rows and classes of a loss of `fast.families`."""
    from fast.families import named

    losses = named(name).values(np.ascontiguousarray(X @ W.T), np.unique(y, return_inverse=True)[1])
    return 0.5 * float(np.sum(W * W)) + C * float(losses.sum())


OVR_HINGE = Trainer(partial(one_vs_rest, linear_svc), partial(one_vs_rest_objective, "ova_hinge"))
OVR_LOGISTIC = {
    f"sklearn {solver}": Trainer(
        partial(one_vs_rest, partial(two_classes, solver)),
        partial(one_vs_rest_objective, "ova_logistic"),
    )
    for solver in ("newton-cholesky", "lbfgs")
}
CRAMMER_SINGER = Trainer(crammer_singer, hinge_objective)
LOGISTIC = Trainer(logistic, softmax_objective)
CYANURE = Trainer(cyanure, softmax_objective)


def suboptimality(
    W: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    lower: float,
    trainer: Trainer = CRAMMER_SINGER,
) -> float:
    """(P(W) - lower) / P(W), an upper bound on the relative suboptimality if ``lower`` <= P*."""
    value = trainer.objective(W, X, y, C)
    return (value - lower) / value


def match(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    lower: float,
    target: float,
    trainer: Trainer = CRAMMER_SINGER,
) -> Peer:
    """Find the loosest tolerance of the trainer that attains the target suboptimality.

    Powers of 10^(1/2) downwards from 1, then one bisection step in the exponent between the last
    failure and the first success.
    """

    def at(exponent: float) -> Peer:
        tol = 10.0**exponent
        attained = suboptimality(trainer.fit(X, y, C, tol).coef_, X, y, C, lower, trainer)
        return Peer(tol, attained, attained <= target)

    exponent, best = 0.0, Peer(float("nan"), float("inf"), False)
    while exponent >= -8.0:
        found = at(exponent)
        if found.reached:
            best = found
            if exponent < 0.0:
                looser = at(exponent + 0.25)
                best = looser if looser.reached else found
            return best
        best = min(best, found, key=lambda p: p.suboptimality)
        exponent -= 0.5
    return best


def matched(
    trainer: Trainer, X: np.ndarray, y: np.ndarray, C: float, lower: float, target: float
) -> tuple[Peer, Callable[[], Any]]:
    """The setting that `match` finds, and a fit with it; with the tightest, where none is good enough."""
    found = match(X, y, C, lower, target, trainer)
    return found, partial(trainer.fit, X, y, C, found.tol if found.reached else 1e-8)
