"""What the estimators that rank share: two classes, queries, the threshold, average precision."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d

from fast._validation import is_missing, label_array, moderate
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.estimators._settings import CertifiedClassifier, arrays_of, check_settings, encode
from fast.estimators._threshold import best_threshold
from fast.metrics import average_precision
from fast.ranking.labels import group_codes
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss
from fast.solvers.state import Counted, TrainingState, certified_gap
from fast.solvers.structured import SOLVERS


class RankingModel(CertifiedClassifier):
    """Base of the linear rankers of two classes; a subclass supplies the scores."""

    measure: ClassVar[Callable[..., float]] = staticmethod(average_precision)  # of `score`
    loss: ClassVar[RankLoss] = AVERAGE_PRECISION
    # parameters and attributes of the subclasses
    method: str
    solver: str
    warm_start: bool
    intercept_: np.ndarray

    def _products(self, X: Any, w: np.ndarray) -> np.ndarray:
        """Scores (n,) of the training data with the weights w (d,)."""
        raise NotImplementedError

    def _scores(self, X: Any) -> np.ndarray:
        """Scores (n,) of new data, without the intercept."""
        raise NotImplementedError

    def _check_settings(self, flags: tuple[str, ...]) -> tuple[float, float, int]:
        choices = {
            "method": self.loss.methods,
            "solver": ("auto", *sorted(SOLVERS)),
        }
        C, tol, max_iter = check_settings(self, flags, choices)
        return moderate("C", C), tol, max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encode(self, y: Any) -> np.ndarray:
        """Whether each label is the positive one; sets ``classes_``."""
        classes, encoded = encode(y)
        if len(classes) > 2:
            raise InvalidParameterError(
                "y",
                f"{len(classes)} classes",
                "two classes, of which the second one is to be ranked first. "
                "Only binary classification is supported",
                "rank one class against the rest, for example fit(X, y == label)",
            )
        self.classes_ = classes
        return encoded == 1

    def _store(self, result: Any, scores: np.ndarray, positive: np.ndarray) -> None:
        """The certified model, and its threshold from the scores X w of the training data."""
        self._store_model(result, scores, positive)
        self.n_oracle_calls_ = result.n_oracle
        self.dual_coef_, self.rankings_ = result.weights, result.rankings

    def _shaped(self, w: np.ndarray) -> np.ndarray:
        """The weights of a training state, (d,)."""
        return w.ravel()

    def _weights(
        self, w: np.ndarray, scores: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """``coef_`` and ``intercept_`` from the scores X w of the training data."""
        return w[np.newaxis].copy(), np.array([-best_threshold(scores, positive)])

    def _store_model(self, result: Any, scores: np.ndarray, positive: np.ndarray) -> None:
        """What all rankers keep of a result."""
        self.coef_, self.intercept_ = self._weights(result.w, scores, positive)
        self.primal_objective_, self.dual_objective_ = result.primal, result.dual
        self.dual_gap_ = max(result.gap, 0.0)  # rounding
        self.n_iter_ = result.n_iter
        self.history_ = arrays_of(result.history)
        self.solver_ = result.solver

    def _claim(self, primal: float, dual: float) -> None:
        """Objectives and gap of what is kept, with the rounding in them."""
        self.primal_objective_, self.dual_objective_ = primal, dual
        self.dual_gap_ = certified_gap(primal, dual)
        for name, value in (("primal", primal), ("dual", dual), ("gap", self.dual_gap_)):
            self.history_[name][-1] = value

    def _store_rounds(self, result: Any) -> None:
        """What the convex steps did to the objective that is not convex."""
        self.objectives_ = np.array(result.objectives)
        self.n_rounds_ = int(self.history_["round"][-1])

    def _concerns(self, tol: float, result: Any, X: Any = None) -> list[Warning]:
        """Also if convex steps, all certified, ended before the objective settled."""
        concerns = super()._concerns(tol, result, X)
        if concerns or getattr(result, "converged", True):
            return concerns
        reason = "interrupted" if result.interrupted else f"after {self.n_rounds_} convex steps"
        message = (
            f"{type(self).__name__} was stopped {reason}, before its objective settled; "
            "the last convex step is certified."
        )
        return [ConvergenceWarning(message)]

    def _reconstruction(self, state: TrainingState, X: Any, y: Any) -> dict[str, np.ndarray]:
        """Attributes of a model with the best weights so far, for callbacks."""
        w, positive = self._shaped(state.W), np.asarray(y) == self.classes_[1]
        coef, intercept = self._weights(w, self._products(X, w), positive)
        return {"coef_": coef, "intercept_": intercept}

    # -- prediction ---------------------------------------------------------------------------
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores X w + intercept, (n,): the larger, the more likely ``classes_[1]``."""
        return self._scores(X) + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """``classes_[1]`` where the score is positive, else ``classes_[0]``."""
        positive = self.decision_function(X) > 0.0
        return self.classes_[positive.astype(int)]

    def score(  # type: ignore[override]
        self, X: Any, y: Any, groups: Any = None, sample_weight: None = None
    ) -> float:
        """Average precision (NDCG of `NDCGSVM`) of the ranking by score, the worst one if scores are tied.

        Parameters
        ----------
        X : as in ``fit``
        y : array (n_samples,)
        groups : array (n_samples,), optional
            Query of each example; the result is then the mean over queries.
        sample_weight : None
            Only here because pipelines with metadata routing pass it on: ranks have no weights.

        Returns
        -------
        float
            Between 0 and 1.

        Raises
        ------
        InvalidParameterError
            Labels that were not fitted; data, or a query, without a positive.
        """
        scores = self._scores(X)
        if sample_weight is not None:
            raise InvalidParameterError(
                "sample_weight", "given", "None: ranks have no weights", "leave it out"
            )
        labels = column_or_1d(label_array("y", y))
        if len(labels) != len(scores):
            raise InvalidParameterError(
                "y", f"{len(labels)} labels for {len(scores)} rows", "one label per row", "match y"
            )
        unknown = labels[~np.isin(labels, self.classes_)]
        if unknown.size:
            raise InvalidParameterError(
                "y",
                f"label {unknown[0]!r}",
                f"one of {self.classes_.tolist()}",
                "leave these examples out",
            )
        positive = labels == self.classes_[1]
        names, codes = check_groups(groups, len(labels))
        values = []
        for q, members in enumerate(np.split(np.argsort(codes, kind="stable"), _ends(codes))):
            if not positive[members].any():
                where = "" if groups is None else f" in query {names[q]!r}"
                raise InvalidParameterError(
                    "y" if groups is None else "groups",
                    f"no example of class {self.classes_[1]!r}{where}",
                    "a positive example, else no ranking is better than another",
                    "leave such queries out, or split the data by whole queries",
                )
            values.append(self.measure(positive[members], scores[members]))
        return float(np.mean(values))


class LinearRanker(RankingModel):
    """A ranker whose scores are products of rows, dense or CSR, with ``coef_``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _products(self, X: Any, w: np.ndarray) -> np.ndarray:
        return np.asarray(X @ w.T, dtype=np.float64)

    def _scores(self, X: Any) -> np.ndarray:
        X, one = self._new(X), len(self.coef_) == 1
        return self._products(X, self.coef_[0] if one else self.coef_)


def _ends(codes: np.ndarray) -> np.ndarray:
    """Where each query but the last ends in the sorted codes."""
    return np.cumsum(np.bincount(codes))[:-1]


class CountedThrough(Counted):
    """That of convex steps which do not say when they are finished."""

    last = 0

    def __call__(self, state: TrainingState) -> bool:
        if state.n_iter <= self.last:  # another step
            self.before += self.last
        self.last = state.n_iter
        return super().__call__(state)


def check_groups(groups: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Names of the queries, and the number of each example's query; one query for None."""
    if groups is None:
        return np.zeros(1, np.int64), np.zeros(n, np.int64)
    array = np.asarray(groups)
    if array.dtype.kind in "fO" and any(is_missing(g) for g in array.ravel()):
        raise InvalidParameterError(
            "groups", "a missing label", "the query of each row of X", "fill it or drop the row"
        )
    try:
        codes, names = group_codes(array, n)
    except TypeError as error:
        if isinstance(error, InvalidTypeError):
            raise
        raise InvalidTypeError(  # such labels have no order
            "groups", f"labels of several types ({error})", "labels of one type", "convert groups"
        ) from None
    return names, codes
