"""Rows in blocks as what an estimator is fitted to and predicts from."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from fast._validation import check_classes, label_array
from fast.data import Source, groups_ahead, rows
from fast.data.in_memory import InMemory
from fast.errors import InvalidParameterError
from fast.estimators._settings import by_name, check_data, encode
from fast.solvers.first_pass import examined
from fast.solvers.passes import AT_ONCE


def checked(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels, and the classes' numbers; sets ``classes_`` and ``n_features_in_``.

    Rows in blocks are read once here: nothing is trained on what cannot be read to the end.
    """
    X = rows(X) if hasattr(X, "__dask_graph__") else X
    if not isinstance(X, Source) or X.in_memory:
        X, y = check_data(estimator, X, y)
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


def blocks(X: Source, size: int, names: Any = None) -> Iterator[tuple[slice, Source]]:
    """Rows in order, at most so many at a time, and where they are; every group is read once."""
    columns = None if names is None else [*names]
    for group, part in groups_ahead(X):
        for at in range(0, part.shape[0], size):
            some = InMemory(part[at : at + size], name=X.name, columns=columns)
            yield slice(group.start + at, group.start + at + len(some)), some


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
