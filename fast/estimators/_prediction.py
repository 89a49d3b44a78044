"""Predictions from one score per class."""

from typing import Any

import numpy as np

from fast._largest import largest
from fast._validation import check_k
from fast.estimators._blocks import row_by_row


def best_classes(f: np.ndarray, k: Any, classes: np.ndarray) -> np.ndarray:
    """The k classes with the largest scores f (n, m), best first, of equal ones the first, (n, k)."""
    k = check_k(k, len(classes), " (the number of classes)")
    return np.asarray(classes[largest(f, k)])


class ClassScores:
    """What follows from ``_scores(X)``, (n, m)."""

    k: int = 1
    classes_: np.ndarray

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores W x, (n, n_classes); for two classes their difference, (n,)."""
        f = self._scores(X)
        return f[:, 1] - f[:, 0] if len(self.classes_) == 2 else f

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        f = self._scores(X)
        return self.classes_[f.argmax(axis=1)]

    @row_by_row
    def predict_topk(self, X: Any, k: int | None = None) -> np.ndarray:
        """The k classes with the largest scores, best first, (n, k).

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
        k : int, optional
            1 <= k <= n_classes; default: the model's own k.
        """
        return best_classes(self._scores(X), self.k if k is None else k, self.classes_)
