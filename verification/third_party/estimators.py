"""Estimators of scikit-learn and others, and trainers made of general parts, as trained models of the kit."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from verification.adapters import trained
from verification.adapters.estimators import class_rows, support_values
from verification.third_party._making import fitted

ERM = "multiclass_erm.primal"


def linear_svc(**options: Any) -> Callable[..., Any]:
    """``LinearSVC`` with some options; its intercept, which is penalised, is left out unless asked for."""

    def make(C: float) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=C, random_state=0, **{"fit_intercept": False, **options})

    return make


def logistic(**options: Any) -> Callable[..., Any]:
    """``LogisticRegression`` as a softmax, without intercept.

    Two classes have one w there, with 1/2 ||w||^2: twice the penalty of two rows.
    """

    def make(C: float, m: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=C if m > 2 else 2 * C, fit_intercept=False, **options)

    return make


def _cyanure_logistic_rows(model: Any, m: int) -> np.ndarray:
    """A column per class, or one vector."""
    coef = np.asarray(model.coef_, dtype=float)
    return coef.reshape(-1, m).T if m > 2 else np.vstack([-coef.ravel(), coef.ravel()]) / 2


@fitted(read={"W": _cyanure_logistic_rows})
def cyanure_logistic(C: float, n: int, m: int) -> Any:
    """The mean, plus lambda_1/2 ||W||^2; two classes have one w, and twice the penalty of two rows."""
    from cyanure.estimators import Classifier

    loss, share = ("multiclass-logistic", 1.0) if m > 2 else ("logistic", 0.5)
    return Classifier(
        loss=loss,
        lambda_1=share / (C * n),
        fit_intercept=False,
        tol=1e-3,
        verbose=False,
        n_threads=1,
    )


def scipy_lbfgsb_softmax(X: Any, y: Any, C: float) -> dict[str, Any]:
    """From the origin; ``ftol`` is 2.2e-9, relative to the objective."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    n, m = len(y), int(y.max()) + 1
    truth = np.eye(m)[y]

    def objective(flat: Any) -> tuple[float, Any]:
        W = flat.reshape(m, -1)
        scores = X @ W.T
        losses = logsumexp(scores, axis=1) - scores[np.arange(n), y]
        slope = W + C * (softmax(scores, axis=1) - truth).T @ X
        return (W**2).sum() / 2 + C * losses.sum(), slope.ravel()

    found = minimize(objective, np.zeros(m * X.shape[1]), jac=True, method="L-BFGS-B")
    return {"W": found.x.reshape(m, -1)}


@fitted(read={"w": lambda model: model.coef_.ravel()})
def skglm_linear_svc(C: float, n: int) -> Any:
    """Their C sums over the examples."""
    from skglm import LinearSVC

    return LinearSVC(C=C / n, fit_intercept=False)


@fitted()
def sklearn_linear_svc_binary(C: float, n: int) -> Any:
    """Our C multiplies the mean."""
    return linear_svc(loss="hinge", fit_intercept=True)(C / n)


def _sklearn_linear_svc_ovr_rows(model: Any) -> np.ndarray:
    """Of two classes, each has a problem of its own."""
    return class_rows(model, of_two=1.0)


sklearn_linear_svc_ovr = trained(
    linear_svc(loss="hinge"), ERM, read={"W": _sklearn_linear_svc_ovr_rows}
)
sklearn_linear_svc_crammer_singer = trained(linear_svc(multi_class="crammer_singer"), ERM)
sklearn_linear_svc_intercept = trained(
    linear_svc(loss="hinge", tol=1e-08, max_iter=100000, fit_intercept=True), "svm.primal"
)
sklearn_logistic_lbfgs = trained(logistic(solver="lbfgs"), ERM)
sklearn_logistic_lbfgs_tight = trained(logistic(solver="lbfgs", tol=1e-08, max_iter=100000), ERM)
sklearn_logistic_newton_cg = trained(logistic(solver="newton-cg"), ERM)
sklearn_logistic_newton_cholesky = trained(logistic(solver="newton-cholesky"), ERM)
sklearn_logistic_sag = trained(logistic(solver="sag", random_state=0), ERM)
sklearn_logistic_saga = trained(logistic(solver="saga", random_state=0), ERM)


def _sklearn_logistic_liblinear_rows(model: Any) -> np.ndarray:
    """One row per class; two classes have one model, and its negative."""
    W = np.vstack([each.coef_ for each in model.estimators_])
    return W if len(W) > 1 else np.vstack([-W, W])


@fitted(read={"W": _sklearn_logistic_liblinear_rows})
def sklearn_logistic_liblinear(C: float) -> Any:
    """One binary model per class, without its (penalised) intercept."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(
        LogisticRegression(C=C, solver="liblinear", fit_intercept=False, random_state=0)
    )


@fitted(read={"w": lambda model: model.coef_[0]})
def sklearn_sgd_hinge(C: float) -> Any:
    """alpha/2 ||w||^2 plus the mean."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=1 / C, fit_intercept=False, random_state=0)


#: Without a limit, which is the default, some instances never end.
STEPS = 1_000_000


def sklearn_svc_deformed(
    X: Any = None, *, y: Any, Z: Any = None, C: float, lam: float, K: Any = None, Kz: Any = None
) -> dict[str, Any]:
    """The dual has no box; half of C n + lambda is one that is never active."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    from refsolve.models.svm_plus_squared_hinge import deformed_kernel

    Q = deformed_kernel(Z=Z, Kz=Kz, C=C, lam=lam)
    gram = X @ X.T if K is None else K
    deformed = gram + np.outer(y, y) * Q
    box = (C * len(y) + lam) / 2
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = SVC(C=box, kernel="precomputed", max_iter=STEPS).fit(deformed, y)
    return {"alpha": support_values(model, len(y))}


def _svc(C: float) -> Any:
    """C sums over the examples, the intercept is free, as here."""
    from sklearn.svm import SVC

    return SVC(C=C, kernel="linear")


sklearn_svc_dual = trained(_svc, "svm.dual")
sklearn_svc_primal = trained(_svc, "svm.primal")
sklearn_svc_weighted = trained(_svc, "svm.dual", weights=True)


def statsmodels_ridge_logit(X: Any, y: Any, C: float) -> dict[str, Any]:
    """Minus the mean log-likelihood, plus alpha/2 ||w||^2, for each class against the others."""
    import statsmodels.api as sm

    def fit(label: int) -> np.ndarray:
        model = sm.GLM((y == label).astype(float), X, family=sm.families.Binomial())
        return np.asarray(model.fit_regularized(alpha=1 / (C * len(y)), L1_wt=0.0).params)

    return {"W": np.vstack([fit(label) for label in range(int(y.max()) + 1)])}
