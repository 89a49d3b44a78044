"""Support vector machine for average precision."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import number
from fast.errors import InseparableError, InvalidParameterError, InvalidTypeError
from fast.estimators._privileged import named
from fast.estimators._progress import Monitor
from fast.estimators._ranking import (
    CountedThrough,
    LinearRanker,
    check_groups,
)
from fast.estimators._ranking_bounds import Dual, Easy, claims
from fast.estimators._settings import check_data, in_range, transaction
from fast.models import ap_ramp, ap_svm, ap_svm_appx
from fast.ranking.queries import Queries


@dataclass(eq=False, repr=False)
class APSVM(LinearRanker):
    """Linear ranker of two classes that maximises average precision, with a certified duality gap.

    Minimises P(w) = 1/2 ||w||^2 + C L(X w), L(s) = max over rankings R of
    1 - AP(R) + <s, Psi(R) - Psi(R*)>, Psi(R) = 1/(P N) sum over positives i and negatives j of
    +-(s_i - s_j), + where R puts i above j: convex, and at least 1 - AP of the worst ranking of
    the scores. With ``groups``, L is the mean over queries, weighted with ``query_weight``. Examples
    have no weights: average precision is that of a list, and no convex loss of it knows what half
    an example is.

    Compare it with logistic regression, which was as good or better in test AP, averaged over the
    classes of every data set tried.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser, > 0; not divided by n, the loss is one number.
    method : str, default="divide_and_conquer"
        How the most violated ranking is found; see
        :func:`fast.losses.average_precision.loss_augmented_inference`. All are exact and agree.
    easy_fraction : float, default=0.0
        0 <= easy_fraction <= 1. If positive (AP-SVM-APPX), a binary SVM with the same C is trained
        first; of the examples that it separates with margin >= 1, this fraction with the largest
        margins becomes linear constraints y_i (w x_i + b) >= 1, and L is that of the others.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol.
    max_iter : int, default=1000
        Bound on iterations, for ``ramp`` of each convex step; each ends with a certificate.
    solver : {"auto", "bundle", "cutting_plane"}, default="auto"
        See :mod:`fast.solvers.structured`; "cutting_plane" is the slower reference.
    ramp : bool, default=False
        Minimise the structured ramp loss instead, max_R [1 - AP(R) + <s, Psi(R)>] -
        max_R <s, Psi(R)>, which is not convex: convex steps (CCCP) from logistic regression on,
        each certified, at most 50. It reaches a stationary point.
    warm_start : bool, default=False
        Begin at the last weights, also with ``ramp``, and at the last rankings if the labels and
        queries are the same.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    coef_ : ndarray (1, n_features)
        w.
    intercept_ : ndarray (1,)
        Minus the threshold of ``predict``, which maximises accuracy on the training data: average
        precision does not depend on it. Among equally good ones the middle of the widest gap
        between two scores, then the lowest; with ``groups`` one threshold for all queries.
    classes_ : ndarray (2,)
        ``classes_[1]`` is the positive class, to be ranked first.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded outwards:
        no claim is better than the truth. For ``ramp`` they belong to the last convex step.
    dual_coef_ : ndarray (m,)
        Weights >= 0 of m rankings, with sum at most C (the rest is R*'s).
    rankings_ : ndarray of int32 (m, n_samples)
        These rankings by inversions within the query: for a positive the negatives above it, for
        a negative the positives below it.
    n_iter_, n_oracle_calls_ : int
        Iterations, and most violated rankings that were computed.
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap", "oracle_calls" and "active"
        (negatives above some positive in the last ranking) at each certificate.
    solver_ : str
        The algorithm that ran.
    easy_mask_ : ndarray of bool (n_samples,)
        With easy examples: which they are.
    easy_dual_coef_ : ndarray (n_samples,)
        With easy examples: multipliers >= 0 of their constraints, 0 at the others.
    easy_intercept_ : float
        With easy examples: b of their constraints, which scores do not contain.
    objectives_ : ndarray
        For ``ramp``: 1/2 ||w||^2 + C times the ramp loss, at the start and after each convex step;
        it never increases. ``n_rounds_`` is the number of steps, and ``history_`` has their "round".
    reference_ranking_ : ndarray of int32 (n_samples,)
        For ``ramp``: inversions of the ranking at which the last step's second maximum was fixed.

    References
    ----------
    Mohapatra, Jawahar, Kumar, "Efficient Optimization for Average Precision SVM", NIPS 2014;
    Yue, Finley, Radlinski, Joachims, "A Support Vector Method for Optimizing Average Precision",
    SIGIR 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import APSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> model = APSVM(C=10.0, tol=1e-4).fit(X / 16, y == 3)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> bool(model.score(X / 16, y == 3) > 0.9)
    True
    """

    C: float = 1.0
    method: str = "divide_and_conquer"
    easy_fraction: float = 0.0
    tol: float = 1e-3
    max_iter: int = 1000
    solver: str = "auto"
    ramp: bool = False
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    @transaction
    def fit(
        self, X: Any, y: Any, *, groups: Any = None, easy_mask: Any = None, query_weight: Any = None
    ) -> Any:
        """Train until the duality gap is certified.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            float64 or float32; CSR stays CSR.
        y : array (n_samples,)
            Two classes; the second one in sorted order is positive.
        groups : array (n_samples,), optional
            Query of each example (integers or strings, in any order): examples are ranked within
            their query, and the loss is the mean over queries.
        easy_mask : array of bool (n_samples,), optional
            The easy examples, instead of those that ``easy_fraction`` would choose.
        query_weight : array (n_samples,), optional
            Weight >= 0 of the query of each example, the same within a query: L is the weighted mean,
            so that an integer counts as copies of the query, and zero removes it from L (its rankings
            are R*, and it still counts for the threshold). A common factor changes nothing.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range, a query has one class only, or weights differ within a
            query (the message says which, and the fix).
        InseparableError
            The easy examples are not separable; the error carries the proof.
        ValueError
            From scikit-learn: nan, inf, wrong shapes, mismatched rows.

        Warns
        -----
        ConvergenceWarning
            Stopped by ``max_iter``, a callback or Ctrl-C before ``tol``; the best certified model
            is kept.
        """
        C, tol, max_iter = self._check_settings(("ramp", "warm_start"))
        fraction = self._check_fraction(groups, easy_mask)
        X, y = check_data(self, X, y)
        X = in_range(X, C)
        positive = self._encode(y)
        _, codes = check_groups(groups, len(y))
        with named(weights="query_weight"):
            queries = Queries(positive, groups, query_weight)
        easy = self._easy(X, positive, C, fraction, easy_mask, tol, max_iter)
        monitor = Monitor(self, X, y, tol, None if self.ramp else max_iter)
        options: dict[str, Any] = {
            "tol": tol,
            "max_iter": max_iter,
            "method": self.method,
            "solver": self.solver,
            "report": CountedThrough(monitor) if self.ramp else monitor,
        }
        start = self._start(X.shape[1], positive, codes)
        with monitor:
            result = self._train(X, positive, queries, C, easy, easy_mask, start, options)
        self._keep(result, X, positive, queries, C, easy, (positive, codes))
        return self._concerns(tol, result)

    def _train(
        self, X: Any, positive: np.ndarray, queries: Queries, C: float, easy: np.ndarray | None,
        easy_mask: Any, start: Any, options: dict[str, Any],
    ) -> Any:  # fmt: skip
        """The result of the trainer of this model."""
        w = getattr(start, "w", start)
        if self.ramp and easy is None:
            return ap_ramp.train(X, queries, C, start=w, **options)
        if easy is None:
            return ap_svm.train(X, queries, C, start=start, **options)
        try:
            return ap_svm_appx.train(X, positive, C, easy, start=w, **options)
        except InseparableError as error:
            name = "easy_fraction" if easy_mask is None else "easy_mask"
            raise InseparableError(error.mu, error.norm, name) from None

    def _keep(
        self, result: Any, X: Any, positive: np.ndarray, queries: Queries, C: float,
        easy: np.ndarray | None, problem: tuple[Any, ...],
    ) -> None:  # fmt: skip
        """Attributes of the fit."""
        self._store(result, self._products(X, result.w), positive)
        self._claim(*self._claims(result, X, queries, C, easy))
        if easy is not None:
            self.easy_mask_, self.easy_dual_coef_ = easy, result.mu
            self.easy_intercept_ = float(result.b)
        elif self.ramp:
            self.reference_ranking_ = result.reference
            self._store_rounds(result)
        self._last = (result, *problem) if self.warm_start else None

    def _claims(
        self, result: Any, X: Any, queries: Queries, C: float, easy: np.ndarray | None
    ) -> tuple[float, float]:
        """P and D of the result, rounding included."""
        rankings, n = result.rankings, queries.n
        rows, constraints = np.arange(n), None
        ranked: Queries | None = queries
        if easy is not None:
            rows, positives = np.flatnonzero(~easy), queries.positives
            hard = positives[rows]
            ranked = Queries(hard) if hard.any() and not hard.all() else None
            signs = np.where(easy, np.where(positives, 1.0, -1.0), 0.0)
            constraints = Easy(signs, result.mu)
        coefficients, reference = np.zeros((len(rankings), n)), None
        deltas = np.zeros(len(rankings))
        if self.ramp:
            reference = queries.coefficients(result.reference)
        if ranked is not None:
            oracle = ap_svm.RankingOracle(ranked, self.method, reference)
            coefficients[:, rows] = [ranked.coefficients(row[rows]) for row in rankings]
            deltas[:] = [ranked.delta(row[rows]) for row in rankings]

        def value(scores: np.ndarray) -> float:
            return float(oracle(scores[rows]).value)

        loss = None if ranked is None else value
        dual = Dual(result.weights, deltas, coefficients, reference, constraints)
        return claims(X, result.w, C, loss, dual, (result.primal, result.dual), float(self.tol))

    def _start(self, d: int, positive: np.ndarray, codes: np.ndarray) -> Any:
        """What the last fit knows: its rankings if the labels are the same, or its weights."""
        last = getattr(self, "_last", None)
        if not self.warm_start or last is None:
            return None
        result, old_positive, old_codes = last
        if len(result.w) != d:
            return None
        same = np.array_equal(positive, old_positive) and np.array_equal(codes, old_codes)
        return result if same else result.w

    def _easy(
        self,
        X: Any,
        positive: np.ndarray,
        C: float,
        fraction: float,
        easy_mask: Any,
        tol: float,
        max_iter: int,
    ) -> np.ndarray | None:
        """The easy examples, if there are to be any."""
        if easy_mask is None:
            if fraction == 0.0:
                return None
            return ap_svm_appx.easy_examples(X, positive, C, fraction, tol=tol, max_iter=max_iter)
        easy = np.asarray(easy_mask)
        if easy.dtype != np.bool_:
            raise InvalidTypeError(
                "easy_mask", f"dtype {easy.dtype}", "True or False per row of X", "pass booleans"
            )
        if easy.shape != positive.shape:
            raise InvalidParameterError(
                "easy_mask",
                f"shape {easy.shape}",
                f"{len(positive)} booleans, one per row of X",
                "match easy_mask to the rows",
            )
        return easy.copy()

    def _check_fraction(self, groups: Any, easy_mask: Any) -> float:
        """easy_fraction, and whether what was asked for goes together."""
        fraction = number("easy_fraction", self.easy_fraction)
        if fraction > 1.0:
            raise InvalidParameterError(
                "easy_fraction",
                f"{fraction:g}",
                "a number between 0 and 1",
                "0 is AP-SVM, 0.5 fixes half of the examples that a binary SVM separates",
            )
        if fraction == 0.0 and easy_mask is None:
            return fraction
        name = "easy_fraction" if easy_mask is None else "easy_mask"
        given = f"{fraction:g}" if easy_mask is None else "given"
        if self.ramp:
            raise InvalidParameterError(
                name, f"{given}, with ramp=True", "one of the two", "leave one of them out"
            )
        if groups is not None:
            raise InvalidParameterError(
                name,
                f"{given}, with groups",
                "one of the two: easy examples are those of a single query",
                "leave groups out, or set easy_fraction=0",
            )
        return fraction
