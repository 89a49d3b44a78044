"""Latent AP-SVM: bags of candidates, ranked by the score of their best candidate."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from fast._validation import label_array
from fast.errors import InvalidParameterError
from fast.estimators._bags import Bags, stack
from fast.estimators._progress import Monitor
from fast.estimators._ranking import CountedThrough, RankingModel, check_groups
from fast.estimators._ranking_bounds import Dual, claims
from fast.estimators._settings import check_count, in_range, transaction
from fast.models import latent_ap_svm
from fast.ranking.queries import Queries


@dataclass(eq=False, repr=False)
class LatentAPSVM(RankingModel):
    """Linear ranker of bags by their best candidate, trained for average precision (not convex).

    The score of bag i is s_i = max over its candidates x of <w, x>. Lowers
    J(w) = 1/2 ||w||^2 + C L(s), L as in :class:`fast.APSVM`, by convex steps: for negative bags the
    maximum stays in L, for positive bags each step fixes the candidate that was best before it. J
    never rises; it ends at a stationary point that depends on the start.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser, > 0.
    method : str, default="divide_and_conquer"
        How the most violated ranking is found; see
        :func:`fast.losses.average_precision.loss_augmented_inference`.
    tol : float, default=1e-3
        Each step stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol; the last step is the
        one that keeps its candidates, or lowers J by less than a tenth of tol, relatively.
    max_iter : int, default=1000
        Bound on the iterations of each step.
    max_rounds : int, default=50
        Bound on the steps.
    solver : {"auto", "bundle", "cutting_plane"}, default="auto"
        See :mod:`fast.solvers.structured`; "cutting_plane" is the slower reference.
    warm_start : bool, default=False
        Begin at the last weights, instead of at those that rank the means of the bags.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    coef_ : ndarray (1, n_features)
        w.
    intercept_ : ndarray (1,)
        Minus the threshold of ``predict``, as in :class:`fast.APSVM`.
    classes_ : ndarray (2,)
        ``classes_[1]`` is the positive class, to be ranked first.
    latent_ : ndarray of int (n_bags,)
        Best candidate of each training bag at ``coef_`` (ties: the first).
    objectives_ : ndarray
        J at the start and after each step; it never rises.
    n_rounds_ : int
        Steps that were taken.
    primal_objective_, dual_objective_, dual_gap_ : float
        P and D of the last step, and their relative difference, rounded outwards; P >= J, and
        no lower bound on J is claimed.
    dual_coef_ : ndarray (m,)
        Weights >= 0 of m rankings of the last step, with sum at most C.
    rankings_ : ndarray of int32 (m, n_bags)
        These rankings of the bags by inversions, as in :class:`fast.APSVM`.
    candidates_ : ndarray of int (m, n_bags)
        The candidate by which each of these rankings scores a bag; for positive bags the one that
        the last step fixed.
    n_iter_, n_oracle_calls_ : int
        Iterations, and most violated rankings that were computed, of all steps.
    history_ : dict of ndarray
        As in :class:`fast.APSVM`, of all steps, with their "round".
    n_features_in_ : int
    solver_ : str
        The algorithm that ran.

    References
    ----------
    Behl, Jawahar, Kumar, "Optimizing Average Precision using Weakly Supervised Data", CVPR 2014;
    Mohapatra, Jawahar, Kumar, NIPS 2014, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from fast import LatentAPSVM
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 4 == 0
    >>> bags = [rng.standard_normal((rng.integers(1, 6), 3)) for _ in y]
    >>> for bag, positive in zip(bags, y):
    ...     bag[-1] += 3.0 * positive  # one candidate shows the object
    >>> model = LatentAPSVM(C=10.0).fit(bags, y)
    >>> bool(model.score(bags, y) > 0.9)
    True
    """

    C: float = 1.0
    method: str = "divide_and_conquer"
    tol: float = 1e-3
    max_iter: int = 1000
    max_rounds: int = 50
    solver: str = "auto"
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    @transaction
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Any:
        """Take convex steps until the candidates of the positive bags settle.

        Parameters
        ----------
        X : sequence of arrays (n_candidates_i, n_features), or array (n_bags, n_candidates, n_features)
            Bags; every bag has a candidate. float64 or float32; bags that are sparse matrices, even
            one of them, are kept as CSR.
        y : array (n_bags,)
            Two classes; the second one in sorted order is positive.
        groups : array (n_bags,), optional
            Query of each bag: bags are ranked within their query, and L is the mean over queries.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range, a bag is empty or has other features, nan or inf (the
            message says which bag, and the fix).

        Warns
        -----
        ConvergenceWarning
            Stopped by ``max_iter``, ``max_rounds``, a callback or Ctrl-C; the last certified model
            is kept.
        """
        C, tol, max_iter = self._check_settings(("warm_start",))
        max_rounds = check_count("max_rounds", self.max_rounds, "pass 50")
        bags = stack(X)
        bags = bags._replace(rows=in_range(bags.rows, C))
        positive = self._encode(self._labels(y, bags))
        check_groups(groups, len(positive))
        old = getattr(self, "_last", None) if self.warm_start else None
        start = old if old is not None and len(old) == bags.rows.shape[1] else None
        self.n_features_in_ = bags.rows.shape[1]
        if bags.names is not None:
            self.feature_names_in_ = np.array(bags.names, dtype=object)
        monitor = Monitor(self, X, y, tol, None)
        with monitor:
            result = latent_ap_svm.train(
                bags.rows,
                bags.bag,
                positive,
                C,
                tol=tol,
                max_iter=max_iter,
                max_rounds=max_rounds,
                method=self.method,
                solver=self.solver,
                start=start,
                groups=groups,
                report=CountedThrough(monitor),
            )
        self._store(result, self._best_scores(bags, result.w), positive)
        self._claim(*self._claims(result, bags, Queries(positive, groups), C))
        self._store_rounds(result)
        self.latent_ = result.latent - bags.first
        self.candidates_ = result.candidates - bags.first
        self._last = result.w
        return self._concerns(tol, result)

    def _claims(self, result: Any, bags: Bags, queries: Queries, C: float) -> tuple[float, float]:
        """P and D of the last convex step, rounding included."""
        positive, chosen = queries.positives, result.candidates
        fixed = chosen[0] if len(chosen) else result.chosen
        coefficients = np.zeros((len(chosen), bags.rows.shape[0]))
        for row, own, inversions in zip(coefficients, chosen, result.rankings, strict=True):
            row[own] = queries.coefficients(inversions)

        def loss(scores: np.ndarray) -> float:
            best = np.maximum.reduceat(scores, bags.first)
            return queries.infer(np.where(positive, scores[fixed], best), self.method).value

        deltas = np.array([queries.delta(inversions) for inversions in result.rankings])
        dual = Dual(result.weights, deltas, coefficients, None, None)
        claimed = result.primal, result.dual
        return claims(bags.rows, result.w, C, loss, dual, claimed, float(self.tol))

    @staticmethod
    def _labels(y: Any, bags: Bags) -> np.ndarray:
        if y is None:
            raise InvalidParameterError("y", "None", "one label per bag", "pass y")
        labels = label_array("y", y)
        labels = check_array(
            labels, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y"
        )
        labels = column_or_1d(labels, warn=True)
        if len(labels) != len(bags.first):
            raise InvalidParameterError(
                "y", f"{len(labels)} labels for {len(bags.first)} bags", "one per bag", "match y"
            )
        return np.asarray(labels)

    @staticmethod
    def _best_scores(bags: Bags, w: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum.reduceat(bags.rows @ w, bags.first), dtype=np.float64)

    def _products(self, X: Any, w: np.ndarray) -> np.ndarray:
        return self._best_scores(stack(X), w)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self._best_scores(stack(X, self.n_features_in_, names), self.coef_[0])
