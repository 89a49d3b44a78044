"""What the support vector machines for losses over rankings share: all but the loss."""

from dataclasses import dataclass
from typing import Any, ClassVar

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
from fast.ranking.losses import RankLoss
from fast.ranking.queries import Queries
from fast.solvers.rounding import EPS


@dataclass(eq=False, repr=False)
class RankingSVM(LinearRanker):
    """1/2 ||w||^2 + C times the structured hinge of a loss over rankings, certified; a subclass says of which."""

    object_name: ClassVar[str]
    loss: ClassVar[RankLoss]

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
            queries = Queries(positive, groups, query_weight, self.loss)
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
            return ap_svm_appx.train(X, positive, C, easy, start=w, loss=self.loss, **options)
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
            ranked = Queries(hard, loss=self.loss) if hard.any() and not hard.all() else None
            signs = np.where(easy, np.where(positives, 1.0, -1.0), 0.0)
            constraints = Easy(signs, result.mu)
        coefficients, reference = np.zeros((len(rankings), n)), None
        deltas = np.zeros(len(rankings))
        if self.ramp:
            reference = queries.coefficients(result.reference)
        if ranked is not None:
            # where ties are of rounded sums, only ranks that were chosen one by one have errors that add up
            method = "greedy" if self.loss.doubt else self.method
            oracle = ap_svm.RankingOracle(ranked, method, reference)
            coefficients[:, rows] = [ranked.coefficients(row[rows]) for row in rankings]
            deltas[:] = [ranked.delta(row[rows]) for row in rankings]

        def value(scores: np.ndarray) -> float:
            found = float(oracle(scores[rows]).value)
            return found + self.loss.doubt * (n + 16) * EPS * (1.0 + 4.0 * float(abs(scores).max()))

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
