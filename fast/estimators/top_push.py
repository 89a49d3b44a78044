"""Positives above the best negative: TopPush."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import moderate
from fast.estimators._mapped import MappedRanker
from fast.estimators._progress import Monitor
from fast.estimators._settings import check_data, check_settings, in_range, transaction
from fast.models import top_push
from fast.solvers.rounding import Rows, confirmed, down, precisions, up


@dataclass(eq=False, repr=False)
class TopPush(MappedRanker):
    """Linear ranker that pushes positives above the best negative, with a certified duality gap.

    Minimises P(w) = 1/2 ||w||^2 + C sum over positives i of
    max(0, 1 + max_j <x_j, w> - <x_i, w>)^2, j over the negatives: convex. It looks at the top of the
    ranking only, and one negative that lies among the positives decides: where none of them can be
    ranked above all negatives, w = 0 is about as good as any other.

    Of m > 2 classes the ranked are the pairs (i, y) by the scores <w_y, x_i>: the n pairs of an example
    and its own class are to stand above all n(m - 1) others, whichever example these are of. P is then that
    of W (m, d). One-vs-all is scikit-learn's ``OneVsRestClassifier(TopPush())``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum of the losses, > 0; the authors' lambda is 1/(2 C P) of P positives.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol.
    max_iter : int, default=1000
        Bound on the Newton steps; each ends with a certificate. 5 to 30 are usual.
    warm_start : bool, default=False
        Begin at the last weights, and at the last multipliers if the labels are the same.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    coef_ : ndarray (1, n_features), or (n_classes, n_features) for more than two classes
        w, or W.
    intercept_ : ndarray (1,) or (n_classes,)
        Minus the threshold of ``predict``, as in :class:`fast.APSVM`: the ranking does not depend on it.
        Zeros for more than two classes.
    classes_ : ndarray (n_classes,)
        Of two, ``classes_[1]`` is the positive class, to be ranked first.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded outwards:
        no claim is better than the truth.
    dual_coef_ : ndarray (n_samples,) or (n_samples, n_classes)
        Multipliers >= 0: alpha of the positives, beta of the negatives, with equal sums;
        w = sum of alpha_i x_i less sum of beta_j x_j at the optimum.
    n_iter_ : int
        Newton steps.
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap" and "active" (negatives with a
        multiplier) at each certificate.
    solver_ : str
        The algorithm that ran.

    Notes
    -----
    There are no sample weights: the largest of weighted scores is not what a copy of an example changes.
    A step factorises a matrix of as many rows as there are features or positives, whichever is less, for each
    class where there are more than two.

    References
    ----------
    Li, Jin, Zhou, "Top Rank Optimization in Linear Time", NIPS 2014. More than two classes: Lapin, Hein,
    Schiele, "Top-k Multiclass SVM", NIPS 2015, section 2.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import TopPush
    >>> X, y = load_digits(return_X_y=True)
    >>> model = TopPush(C=10.0, tol=1e-6).fit(X / 16, y == 3)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> scores = model.decision_function(X / 16)
    >>> bool((scores[y == 3] > scores[y != 3].max()).mean() > 0.9)
    True
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    @transaction
    def fit(self, X: Any, y: Any) -> Any:
        """Train until the duality gap is certified.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            float64 or float32, computed with in float64; CSR stays CSR.
        y : array (n_samples,)
            At least two classes; of two the second one in sorted order is positive.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range, or there is one class only (the message says the fix).
        ValueError
            From scikit-learn: nan, inf, wrong shapes, mismatched rows.

        Warns
        -----
        ConvergenceWarning
            Stopped by ``max_iter``, a callback, Ctrl-C or rounding before ``tol``; the best certified
            model is kept.
        """
        C, tol, max_iter = check_settings(self, ("warm_start",), {})
        C = moderate("C", C)
        X, y = check_data(self, X, y)
        X = in_range(X, C)
        positive = self._encode(y)
        problem = positive.tobytes()
        start = self._begun(positive.shape[1:] + X.shape[1:], problem)
        with Monitor(self, X, y, tol, max_iter) as monitor:
            result = top_push.train(
                X, positive, C, tol=tol, max_iter=max_iter, start=start, report=monitor
            )
        self._store_model(result, self._products(X, result.w), positive)
        self.dual_coef_ = result.multipliers
        self._claim(*claims(self._rows, X, positive, C, result, tol))
        self._last = (result, problem) if self.warm_start else None
        return self._concerns(tol, result)


def claims(
    form: Callable[..., Rows], X: Any, positive: np.ndarray, C: float, result: Any, tol: float
) -> tuple[float, float]:
    """Bounds on P and D at the weights and multipliers of a result, rounding included."""
    up, w, multipliers = positive.ravel(), result.w.ravel(), result.multipliers.ravel()

    def bounds(real: Any) -> tuple[float, float]:
        rows = form(X, positive, real)
        return _primal(rows, up, C, w), _dual(rows, up, C, multipliers)

    levels = precisions(positive.size * X.shape[1])
    return confirmed(levels, bounds, (result.primal, result.dual), tol)


def _primal(rows: Rows, positive: np.ndarray, C: float, w: np.ndarray) -> float:
    """Upper bound on P."""
    w = w.astype(rows.real)
    scores, slip = rows.values(w), rows.slip(w)
    top = (scores + slip)[~positive].max()
    hinges = 1 + top - (scores - slip)[positive]
    hinges += 4 * rows.eps * (1 + abs(top) + abs(scores[positive]))
    square, more = rows.square(w)
    loss = rows.real(C) * (np.maximum(hinges, 0) ** 2).sum()
    return up((square + more) / 2 + loss + (rows.n + 16) * rows.eps * (loss + square))


def _dual(rows: Rows, positive: np.ndarray, C: float, multipliers: np.ndarray) -> float:
    """Lower bound on D at the multipliers made feasible: the heavier class is scaled down."""
    a = np.maximum(multipliers.astype(rows.real), 0)
    sums = a[positive].sum(), a[~positive].sum()
    least = min(sums)
    for own, total in zip((positive, ~positive), sums, strict=True):
        a[own] *= least / total if total > 0 else 0
    alpha, price = a[positive], rows.real(C)
    own = (alpha * alpha).sum() / (4 * price)
    square = rows.pulled_square(np.where(positive, a, -a), a)
    rounding = 4 * (rows.n + 16) * rows.eps * (least + own + square)
    return down(alpha.sum() - own - square / 2 - rounding)
