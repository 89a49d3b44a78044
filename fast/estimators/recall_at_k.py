"""Structural support vector machine for recall at k."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import moderate
from fast.estimators._mapped import MappedRanker
from fast.estimators._progress import Monitor
from fast.estimators._ranking_bounds import Dual, claims
from fast.estimators._settings import check_data, check_settings, in_range, transaction
from fast.models import recall_at_k
from fast.solvers.structured import SOLVERS


@dataclass(eq=False, repr=False)
class RecallAtK(MappedRanker):
    """Linear ranker for recall among its k best, with a certified duality gap.

    Minimises P(w) = 1/2 ||w||^2 + C L(X w), L(s) = max(0, max over sets T of k samples of
    1 - |T and positives|/P + 2 (sum_T s - sum_positives s)), P positives: convex, and at least 1 - recall
    at k for k = P. For other k it bounds nothing, and where all scores of positives can be made
    positive (k < P), or all of negatives negative (k > P), almost any w will do: see the lesson.

    Of m > 2 classes the ranked are the nm pairs (i, y) by the scores <w_y, x_i>, the n pairs of an example
    and its own class being positive, and T has kn of them: k guesses for an example, were T to take as many of
    each. P is then that of W (m, d). One-vs-all is scikit-learn's ``OneVsRestClassifier(RecallAtK())``.

    Parameters
    ----------
    k : int or None, default=None
        Size of the sets, 1 <= k < n_samples. None: the number of positives, where recall is precision.
        For more than two classes k n_samples is, 1 <= k < n_classes; None: 1.
    C : float, default=1.0
        Weight of the loss against the regulariser, > 0; not divided by n, the loss is one number.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol.
    max_iter : int, default=1000
        Bound on the iterations; each ends with a certificate.
    solver : {"auto", "bundle", "cutting_plane"}, default="auto"
        See :mod:`fast.solvers.structured`; "auto" is "cutting_plane", the slower reference elsewhere, for
        ``tol`` <= 1e-5 and no fewer features than examples, else "bundle".
    warm_start : bool, default=False
        Begin at the last weights, and at the last sets if the labels and k are the same.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    coef_ : ndarray (1, n_features), or (n_classes, n_features) for more than two classes
        w, or W.
    intercept_ : ndarray (1,) or (n_classes,)
        Minus the threshold of ``predict``, as in :class:`fast.APSVM`; zeros for more than two classes.
    classes_ : ndarray (n_classes,)
        Of two, ``classes_[1]`` is the positive class.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded outwards:
        no claim is better than the truth.
    dual_coef_ : ndarray (m,)
        Weights >= 0 of m sets, with sum at most C.
    sets_ : ndarray of bool (m, n_samples), or (m, n_samples, n_classes)
        These sets.
    n_iter_, n_oracle_calls_ : int
        Iterations, and most violated sets that were computed.
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap", "oracle_calls" and "active"
        (negatives in the last set) at each certificate.
    solver_ : str
        The algorithm that ran.

    Notes
    -----
    There are no sample weights: sets have sizes, samples have none.

    References
    ----------
    Joachims, "A Support Vector Method for Multivariate Performance Measures", ICML 2005. More than two
    classes: Lapin, Hein, Schiele, "Top-k Multiclass SVM", NIPS 2015, section 2.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import RecallAtK
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RecallAtK(C=10.0, tol=1e-4).fit(X / 16, y == 3)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> best = model.decision_function(X / 16).argsort()[-183:]
    >>> bool((y[best] == 3).mean() > 0.9)
    True
    """

    k: int | None = None
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    solver: str = "auto"
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    @transaction
    def fit(self, X: Any, y: Any) -> Any:
        """Train until the duality gap is certified.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            float64 or float32; CSR stays CSR.
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
            Stopped by ``max_iter``, a callback or Ctrl-C before ``tol``; the best certified model is kept.
        """
        choices = {"solver": ("auto", *sorted(SOLVERS))}
        C, tol, max_iter = check_settings(self, ("warm_start",), choices)
        C = moderate("C", C)
        X, y = check_data(self, X, y)
        X = in_range(X, C)
        positive = self._encode(y)
        k = int(positive.sum())
        if self.k is not None:  # of more than two classes for each example
            k = recall_at_k.check_k(self.k, positive.shape[-1])
            k *= len(y) if positive.ndim == 2 else 1
        problem = positive.tobytes(), k
        start = self._begun(positive.shape[1:] + X.shape[1:], problem)
        with Monitor(self, X, y, tol, max_iter) as monitor:
            result = recall_at_k.train(
                X, positive, C, k, tol=tol, max_iter=max_iter, solver=self.solver, start=start,
                report=monitor,
            )  # fmt: skip
        self._store_model(result, self._products(X, result.w), positive)
        self.n_oracle_calls_ = result.n_oracle
        self.dual_coef_, self.sets_ = result.weights, result.sets
        oracle = recall_at_k.SetOracle(positive.ravel(), k)
        cuts = [oracle.cut(members.ravel()) for members in result.sets]
        dual = Dual(
            result.weights,
            np.array([offset for offset, _ in cuts]),
            np.array([row for _, row in cuts]).reshape(-1, positive.size),
            None,
            None,
            2.0 * (k + positive.sum()),
        )
        claimed = result.primal, result.dual
        self._claim(
            *claims(
                X, result.w.ravel(), C, lambda s: float(oracle(s).value), dual, claimed, tol,
                lambda real: self._rows(X, positive, real),
            )
        )  # fmt: skip
        self._last = (result, problem) if self.warm_start else None
        return self._concerns(tol, result)
