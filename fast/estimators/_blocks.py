"""Rows in blocks as what an estimator is fitted to and predicts from."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from fast._validation import check_classes, refuse_masked
from fast.data import Source, groups_ahead, rows
from fast.errors import InvalidParameterError
from fast.estimators._settings import check_data, encode
from fast.solvers.first_pass import examined
from fast.solvers.passes import AT_ONCE


def checked(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels, and the classes' numbers; sets ``classes_`` and ``n_features_in_``.

    Rows in blocks are read once here: nothing is trained on what cannot be read to the end.
    """
    X = rows(X) if hasattr(X, "__dask_graph__") else X
    y = y.compute() if hasattr(y, "__dask_graph__") else y
    if isinstance(X, Source):
        y = X.labels if y is None else y
        X = X[:] if X.in_memory else X
    if not isinstance(X, Source):
        X, y = check_data(estimator, X, y)
        estimator.classes_, encoded = encode(y)
        return X, y, encoded
    if y is None:
        raise InvalidParameterError(
            "y", f"None, and {X.name} has no labels", "one label per row", "pass y"
        )
    refuse_masked("y", y)
    y = column_or_1d(y)
    estimator.classes_, encoded = encode(y)
    check_classes(encoded, len(X), len(estimator.classes_))
    examined(X)
    estimator.n_features_in_ = X.shape[1]
    return X, y, encoded


def row_by_row(method: Callable) -> Callable:
    """A method of predictions that takes rows in blocks, too, and never holds all their scores."""

    @functools.wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        X = rows(X) if hasattr(X, "__dask_graph__") else X
        if not isinstance(X, Source) or not len(X):  # no rows are refused as those of an array
            return method(self, X[:] if isinstance(X, Source) else X, *args, **kwargs)
        size = max(1, AT_ONCE // len(self.classes_))
        parts = []
        for _, some in groups_ahead(X):
            starts = range(0, some.shape[0], size)
            parts += [method(self, some[at : at + size], *args, **kwargs) for at in starts]
        return np.concatenate(parts)

    return predict
