"""Others' trainers, stopped at a true suboptimality that we measure ourselves.

The tolerances of liblinear and lbfgs bound a violation of the optimality conditions, which says
little about P(W) - P*. The search below finds the loosest tolerance whose result is good enough, so
that the peer is charged for exactly the accuracy asked of everybody.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import SimpleNamespace
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


@dataclass(frozen=True)
class Trainer:
    """A peer: ``fit(X, y, C, tol)`` returns a model with ``coef_`` (m, d), ``objective`` its P."""

    fit: Callable[[np.ndarray, np.ndarray, float, float], Any]
    objective: Callable[[np.ndarray, np.ndarray, np.ndarray, float], float]


def classifier(
    X: np.ndarray, y: np.ndarray, C: float, tol: float, *, name: str, rest: bool, package: str = "sklearn",
    **options: Any,
) -> Any:  # fmt: skip
    """A fitted classifier without bias of scikit-learn, or of a ``package`` that has its names.

    ``rest``: one for each class, weights as rows of ``coef_``.
    """
    from sklearn.multiclass import OneVsRestClassifier

    where = import_module(f"{package}.{'svm' if name.endswith('SVC') else 'linear_model'}")
    make = getattr(where, name)
    model = make(C=C, tol=tol, fit_intercept=False, random_state=0, **options)
    if not rest:
        return fit_quietly(model, X, y)
    model = fit_quietly(OneVsRestClassifier(model), X, y)
    model.coef_ = np.vstack([part.coef_ for part in model.estimators_])
    return model


def objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, *, loss: str) -> float:
    """P = 1/2 ||W||^2 + C sum_i L(y_i, W x_i) with a loss of `fast.families`; W is (m, d)."""
    from fast.families import named

    labels = np.unique(y, return_inverse=True)[1]
    losses = named(loss).values(np.ascontiguousarray(X @ W.T), labels)
    return 0.5 * float(np.sum(W * W)) + C * float(losses.sum())


def trainer(object_name: str, name: str, /, rest: bool = False, **options: Any) -> Trainer:
    """A classifier of scikit-learn by its name, which minimises that loss."""
    fit = partial(classifier, name=name, rest=rest, **options)
    return Trainer(fit, partial(objective, loss=object_name))


def logistic(solver: str = "lbfgs", max_iter: int = 100_000) -> Trainer:
    """Softmax by one of scikit-learn's solvers."""
    return trainer("softmax", "LogisticRegression", solver=solver, max_iter=max_iter)


def cyanure(
    X: np.ndarray, y: np.ndarray, C: float, tol: float, loss: str = "multiclass-logistic"
) -> Any:
    """A fitted classifier of cyanure without bias, whose weights are those of its ``coef_``."""
    from cyanure.estimators import Classifier

    model = Classifier(
        loss=loss, penalty="l2", lambda_1=1.0 / (C * len(y)), tol=tol,
        fit_intercept=False, max_iter=100_000, n_threads=1, verbose=False,
    )  # fmt: skip
    model = fit_quietly(model, X, y)
    model.coef_ = np.ascontiguousarray(model.coef_.T)  # a column per class there
    return model


def skglm(X: Any, y: np.ndarray, C: float, tol: float) -> Any:
    """A fitted logistic regression of two classes of skglm, by its L-BFGS."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS

    solver = LBFGS(max_iter=2000, tol=tol)
    solver.fit_intercept = solver.warm_start = False  # which the estimator asks of it
    return fit_quietly(GeneralizedLinearEstimator(Logistic(), L2(1.0 / (C * len(y))), solver), X, y)


def snapml(X: Any, y: np.ndarray, C: float, tol: float, name: str) -> Any:
    """A fitted model of two classes of snapml, by its dual coordinate ascent."""
    with warnings.catch_warnings(action="ignore"):  # where a deprecation is an error it loads slower code
        package = import_module("snapml")
    model = getattr(package, name)(
        regularizer=1.0 / C, fit_intercept=False, tol=tol, max_iter=20_000, n_jobs=1, random_state=0
    )
    return fit_quietly(model, X, 2.0 * y - 1.0)


def _two_rows(
    X: Any, y: np.ndarray, C: float, tol: float, *, fit: Any, part: float, **options: Any
) -> Any:
    """A peer's row w of two classes as -w and w, the one-vs-all model that it is.

    ``part`` 1/2: of twice the C, -w/2 and w/2, the multiclass model.
    """
    model = fit(X, y, C / part, tol, **options)
    w = part * np.reshape(model.coef_, (1, -1))
    model.coef_ = np.vstack([-w, w])
    return model


def two_classes(loss: str, fit: Any = classifier, /, part: float = 1.0, **options: Any) -> Trainer:
    """A peer of two classes, labels 0 and 1, that minimises 1/2 ||w||^2 + C sum_i L."""
    return Trainer(partial(_two_rows, fit=fit, part=part, **options), partial(objective, loss=loss))


def libsvm(
    X: np.ndarray, y: np.ndarray, C: float, tol: float, package: str = "sklearn", gamma: Any = "scale"
) -> Any:
    """A fitted SVM with a Gaussian kernel; ``coef_`` is b of all examples, and the offset."""
    make = import_module(f"{package}.svm").SVC
    model = fit_quietly(make(C=C, gamma=gamma, tol=tol), X, y)
    b = np.zeros(len(y) + 1)
    b[model.support_], b[-1] = np.ravel(model.dual_coef_[0]), np.ravel(model.intercept_)[0]
    return SimpleNamespace(coef_=b)


def kernel_objective(
    b: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, gamma: float | None = None
) -> float:
    """P = 1/2 b'Kb + C sum_i hinge, of b and the offset; the second label is 1; gamma by default 1/(d Var X)."""
    from sklearn.metrics.pairwise import rbf_kernel

    f = rbf_kernel(X, gamma=1.0 / (X.shape[1] * X.var()) if gamma is None else gamma) @ b[:-1]
    z = 1.0 - np.where(y == y.max(), 1.0, -1.0) * (f + b[-1])
    return 0.5 * float(b[:-1] @ f) + C * float(np.maximum(z, 0.0).sum())


CRAMMER_SINGER = trainer(
    "multiclass_hinge", "LinearSVC", multi_class="crammer_singer", max_iter=100_000
)
LOGISTIC = logistic()
CYANURE = Trainer(cyanure, LOGISTIC.objective)
OVR_HINGE = trainer("ova_hinge", "LinearSVC", loss="hinge", max_iter=20_000)
OVR_LOGISTIC = {
    f"sklearn {solver}": trainer(
        "ova_logistic", "LogisticRegression", rest=True, solver=solver, max_iter=1000
    )
    for solver in ("newton-cholesky", "lbfgs")
}
_LOGISTIC: dict[str, Any] = {"name": "LogisticRegression", "rest": False, "max_iter": 2000}
_HINGE: dict[str, Any] = {"name": "LinearSVC", "rest": False, "loss": "hinge", "max_iter": 20_000}
TWO_LOGISTIC = {
    **{
        f"sklearn {solver}": two_classes("ova_logistic", **_LOGISTIC, solver=solver)
        for solver in ("lbfgs", "newton-cholesky", "liblinear")
    },
    "sklearnex": two_classes("ova_logistic", **_LOGISTIC, package="sklearnex"),
    "skglm": two_classes("ova_logistic", skglm),
    "snapml": two_classes("ova_logistic", snapml, name="LogisticRegression"),
    "cyanure": two_classes("ova_logistic", cyanure, loss="logistic"),
}
TWO_HINGE = {
    "liblinear": two_classes("ova_hinge", **_HINGE),
    "snapml": two_classes("ova_hinge", snapml, name="SupportVectorMachine"),
}
TWO_MULTICLASS = two_classes("multiclass_hinge", part=0.5, **_HINGE)
RBF = {
    "LIBSVM": Trainer(libsvm, kernel_objective),
    "sklearnex": Trainer(partial(libsvm, package="sklearnex"), kernel_objective),
}


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
    """The setting that `match` finds, and a fit with it."""
    found = match(X, y, C, lower, target, trainer)
    return found, partial(trainer.fit, X, y, C, found.tol)
