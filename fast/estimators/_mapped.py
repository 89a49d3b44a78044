"""Rankers of two classes that take more of them by the map Phi_y."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fast.errors import InvalidParameterError
from fast.estimators._prediction import best_classes
from fast.estimators._ranking import LinearRanker
from fast.estimators._settings import Classifier, encode
from fast.solvers.rounding import MappedRows, Rows


class MappedRanker(LinearRanker):
    """A linear ranker; of m > 2 classes it ranks the mn rows Phi_y(x_i), positive at their own class.

    Phi_y(x) has x in the y-th of m blocks and 0 elsewhere, so that scores are XW' (Lapin, Hein, Schiele,
    "Top-k Multiclass SVM", NIPS 2015, section 2.3). No such row is built.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    def _encode(self, y: Any) -> np.ndarray:
        """Whether each label is the positive one, (n,), or which class it is, (n, m) of bool."""
        self.classes_, encoded = encode(y)
        m = len(self.classes_)
        return encoded == 1 if m == 2 else encoded[:, None] == np.arange(m)

    def _begun(self, shape: tuple[int, ...], problem: Any) -> Any:
        """With ``warm_start`` the last result if it was of this problem, of another its weights."""
        last = getattr(self, "_last", None) if self.warm_start else None
        if last is None or last[0].w.shape != shape:
            return None
        return last[0] if last[1] == problem else last[0].w

    @staticmethod
    def _rows(X: Any, positive: np.ndarray, real: Any) -> Rows:
        """What is ranked, for claims."""
        return Rows(X, real) if positive.ndim == 1 else MappedRows(X, positive.shape[1], real)

    def _weights(
        self, w: np.ndarray, scores: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return (w.copy(), np.zeros(len(w))) if w.ndim > 1 else super()._weights(w, scores, positive)

    def _shaped(self, w: np.ndarray) -> np.ndarray:
        return w.reshape((len(self.classes_), -1) if len(self.classes_) > 2 else -1)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score; of two, ``classes_[1]`` where the score is positive."""
        return self.predict_topk(X)[:, 0]

    def predict_topk(self, X: Any, k: int = 1) -> np.ndarray:
        """The k classes with the largest scores, best first, (n, k); 1 <= k <= n_classes."""
        f = self.decision_function(X)
        f = np.column_stack([np.zeros(len(f)), f]) if f.ndim == 1 else f
        return best_classes(f, k, self.classes_)

    def score(  # type: ignore[override]
        self, X: Any, y: Any, groups: Any = None, sample_weight: None = None
    ) -> float:
        """Average precision of the ranking by score as of `APSVM`; of more than two classes the accuracy."""
        check_is_fitted(self)
        if len(self.coef_) == 1:
            return super().score(X, y, groups, sample_weight)
        if groups is not None:
            raise InvalidParameterError(
                "groups", "given", "None: classes, no queries", "leave it out"
            )
        return Classifier.score(self, X, y, sample_weight)
