"""Rows in blocks as what an estimator is fitted to and predicts from."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from fast._validation import check_classes, label_array
from fast.data import Source, rows
from fast.data.columns import blocks, by_name
from fast.data.constant import whole
from fast.errors import InvalidParameterError
from fast.estimators._settings import check_data, encode
from fast.solvers.first_pass import examined
from fast.solvers.passes import AT_ONCE


def checked(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels, and the classes' numbers; sets ``classes_`` and ``n_features_in_``.

    Rows in blocks are read once here: nothing is trained on what cannot be read to the end.
    """
    X = rows(X) if hasattr(X, "__dask_graph__") else X
    if not isinstance(X, Source) or X.in_memory:
        room = estimator.fit_intercept and estimator.kernel == "linear" and whole(X) is not None
        X, y = check_data(estimator, X, y, order=None if room else "C")
        estimator.classes_, encoded = encode(y)
        return X, y, encoded
    y = X.labels if y is None else y
    if y is None:
        raise InvalidParameterError(
            "y", f"None, and {X.name} has no labels", "one label per row", "pass y"
        )
    y = column_or_1d(label_array("y", y))
    estimator.classes_, encoded = encode(y)
    check_classes(encoded, len(X), len(estimator.classes_))
    examined(X)
    by_name(estimator, X, reset=True)
    estimator.n_features_in_ = X.shape[1]
    return X, y, encoded


def row_by_row(method: Callable) -> Callable:
    """A method of predictions that takes rows in blocks, too, and never holds all their scores."""

    @functools.wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        X = rows(X) if hasattr(X, "__dask_graph__") else X
        if not isinstance(X, Source) or not len(X):  # no rows are refused as those of an array
            return method(self, X, *args, **kwargs)
        check_is_fitted(self)
        size = max(1, AT_ONCE // len(self.classes_))
        parts = []
        for _, some in blocks(by_name(self, X), size, getattr(self, "feature_names_in_", None)):
            parts.append(method(self, some, *args, **kwargs))
        return np.concatenate(parts)

    return predict
