"""The ordinary SVM, hinge or squared hinge, with a free bias, trained to a certified gap.

P(w, b) = 1/2 ||w||^2 + C sum_i omega_i l(1 - y_i (w'x_i + b)),   l(t) = max(0, t) or 1/2 max(0, t)^2
D(alpha) = 1'alpha - 1/2 <alpha y, K (alpha y)> over alpha >= 0, alpha'y = 0, for the hinge with
    alpha_i <= C omega_i, for its square less 1/2 sum_i alpha_i^2/(C omega_i);   w = sum_i alpha_i y_i x_i

(Cortes and Vapnik 1995.) K = XX', or any positive semidefinite kernel matrix. C multiplies the sum, not
the mean. It is what SVM+ is without privileged features, and `fast.SVMPlusClassifier` without Z trains it.
"""

from collections.abc import Callable
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fast._validation import moderate, number, per_row
from fast.errors import InvalidParameterError
from fast.solvers import kernel_smo, plain_svm
from fast.solvers.box_interior_point import FactorGram, MatrixGram
from fast.solvers.kernel_rows import KernelRows
from fast.solvers.plain_svm import PlainResult, PlainState
from fast.solvers.rows import expanded, is_sparse
from fast.solvers.state import Solution
from fast.svm_plus.deformed_kernel import check_kernel_matrix, check_shifted
from fast.svm_plus.problem import check_labels, check_matrix, check_rounds, check_two_classes

__all__ = ["Centred", "Machine", "PlainResult", "View", "train", "train_kernel"]

FEW = 150  # examples up to which an interior point method takes no time, and goes on to rounding
WHOLE = 6000  # examples up to which it may take over from SMO
SHARE, LEAST = 0.2, 100  # steps: of n^2, and per example
LOSSES = ("hinge", "squared_hinge")


class Centred:
    """K = XX' of X without its mean, which b absorbs: without a digit lost to a common offset."""

    def __init__(self, X: Any) -> None:
        if is_sparse(X):
            self.X = X.astype(np.float64)
            self.mean = np.asarray(self.X.mean(axis=0)).ravel()
            K, r = (self.X @ self.X.T).toarray(), self.X @ self.mean
            self.K = K - (r + r[:, None]) + float(self.mean @ self.mean)
        else:
            self.X, self.mean = plain_svm.centred_factor(X)
            self.K = self.X @ self.X.T

    def in_features(self, result: Any) -> Any:
        """Adds w to a kernel trainer's result, and what the mean takes from b."""
        result.w = np.asarray(self.X.T @ result.coef)
        if is_sparse(self.X):
            result.w -= float(result.coef.sum()) * self.mean
        result.b -= float(self.mean @ result.w)
        return result


class View:
    """Examples by X or by K, in the form that makes steps short; ``mean`` is what X lost there."""

    def __init__(self, X: Any, K: Any) -> None:
        self.mean, self.centred = None, None
        self.gram: Any
        if X is None:
            self.gram = K if isinstance(K, KernelRows) else MatrixGram(K)
        elif X.shape[0] > X.shape[1]:
            factor, self.mean = plain_svm.centred_factor(X)
            self.gram = FactorGram(factor)
        else:
            self.centred = Centred(X)
            self.gram = MatrixGram(self.centred.K)

    def model(self, coef: np.ndarray, b: float) -> tuple[np.ndarray | None, float]:
        """The w of coefficients, None of a kernel matrix, and the b that goes with it."""
        found = SimpleNamespace(coef=coef, b=b, w=None)
        if isinstance(self.gram, FactorGram):
            found.w = np.asarray(self.gram.X.T @ coef)
            found.b -= float(self.mean @ found.w)
        elif self.centred is not None:
            self.centred.in_features(found)
        return found.w, float(found.b)


def budget(n: int) -> float:
    """Steps of SMO that cost about half as much as the interior point, which takes over then."""
    return max(SHARE * n, LEAST) * n if n <= WHOLE else np.inf


class Machine(View):
    """Trains any labels of the same examples of costs c_i = C omega_i > 0, by X or by K."""

    def __init__(self, X: Any, K: Any, cost: np.ndarray, squared: bool) -> None:
        super().__init__(X, K)
        self.cost, self.squared = cost, squared

    def one(self, y: np.ndarray, tol: float, max_iter: int, report: Any) -> Any:
        """The result for labels (n,), by SMO on K or an interior point method."""
        gram, state = self.gram, PlainState()
        limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
        if not (isinstance(gram, FactorGram) or gram.n <= FEW):
            result = kernel_smo.train(
                gram, y, self.cost, self.squared, most=budget(gram.n), report=report, state=state,
                **limits,
            )  # fmt: skip
            if result.stopped or state.done or gram.n > WHOLE:
                return self._in_features(result)
        result = plain_svm.train(
            gram if isinstance(gram, FactorGram) else gram.whole(), y, self.cost, self.squared,
            mean=self.mean, report=report, state=state, **limits,
        )  # fmt: skip
        return self._in_features(result)

    def _in_features(self, result: Any) -> Any:
        return result if self.centred is None else self.centred.in_features(result)


def train(
    X: Any,
    y: ArrayLike,
    C: float,
    *,
    loss: str = "hinge",
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
) -> PlainResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    y : (n,) labels -1 and 1
        Both among the rows of positive weight.
    C : float
        Weight of the loss (a sum, not a mean), > 0.
    loss : {"hinge", "squared_hinge"}
    sample_weight : (n,) array, optional
        omega_i >= 0; rows of weight zero are taken out.
    tol : float
    max_iter : int
        Bound on the rounds.
    report : callable, optional
        Called after every round with the state (n_iter, primal, dual, gap, W = coef); true stops.

    Returns
    -------
    PlainResult
        w (d,), b, coef (n,) with w = sum_i coef_i x_i, and the multipliers alpha (n,), with their
        certificate; the best met, also after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        If only one class is there, or shapes and ranges do not fit.
    """
    return _trained(check_matrix("X", X), None, y, C, loss, sample_weight, tol, max_iter, report)


def train_kernel(
    K: ArrayLike,
    y: ArrayLike,
    C: float,
    *,
    loss: str = "hinge",
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
    definite: bool = False,
) -> PlainResult:
    """``train`` on a kernel matrix: f(x) = sum_i coef_i k(x_i, x) + b, and w is None.

    Parameters
    ----------
    K : (n, n) array
        Positive semidefinite, such as ``sklearn.metrics.pairwise.rbf_kernel(X)``.
    definite : bool
        True where K is known to be positive semidefinite, and need not be checked: no certificate
        shows it, and with another matrix the gap means nothing.
    y, C, loss, sample_weight, tol, max_iter, report
        As for ``train``.

    Returns
    -------
    PlainResult

    Raises
    ------
    InvalidParameterError
        Also for a matrix that is not symmetric, or not positive semidefinite.
    """
    K = check_kernel_matrix("K", K)
    if not definite:
        check_shifted("K", K)
    return _trained(None, K, y, C, loss, sample_weight, tol, max_iter, report)


def _trained(
    X: Any, K: Any, y: ArrayLike, C: float, loss: str, sample_weight: ArrayLike | None, tol: float,
    max_iter: int, report: Callable[[Any], bool] | None,
) -> PlainResult:  # fmt: skip
    n = (K if X is None else X).shape[0]
    labels, C = check_labels(y, n), moderate("C", number("C", C, positive=True))
    if loss not in LOSSES:
        raise InvalidParameterError("loss", repr(loss), " or ".join(LOSSES), "use 'hinge'")
    tol, rounds = number("tol", tol), check_rounds(max_iter)
    cost = C * (np.ones(n) if sample_weight is None else per_row("sample_weight", sample_weight, n))
    kept = np.flatnonzero(cost > 0.0)
    check_two_classes(labels[kept], len(kept) < n)
    if len(kept) < n:
        X, K = None if X is None else X[kept], None if K is None else K[np.ix_(kept, kept)]
        labels, cost = labels[kept], cost[kept]
    machine = Machine(X, K, cost, loss == "squared_hinge")
    result = machine.one(labels, tol, rounds, report)
    coef, alpha = (expanded(values, kept, n) for values in (result.coef, result.alpha))
    own = {field.name: getattr(result, field.name) for field in fields(Solution)}
    return PlainResult(coef, result.w, float(result.b), alpha, **own)
