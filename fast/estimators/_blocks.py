"""Rows in blocks as what an estimator is fitted to and predicts from."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d

from fast._validation import check_classes, refuse_masked
from fast.data import Source, groups_ahead, rows
from fast.data.dask_rows import DaskRows
from fast.errors import InvalidParameterError
from fast.estimators._settings import check_data, encode
from fast.solvers.first_pass import examined
from fast.solvers.passes import AT_ONCE
from fast.solvers.rows import is_sparse


class WithOnes(Source):
    """A source with a last column of ones."""

    def __init__(self, source: Source) -> None:
        self.source, self.name, self.labels = source, source.name, source.labels
        self.dtype, self.groups = source.dtype, source.groups
        self.shape = source.shape[0], source.shape[1] + 1

    @property
    def facts(self) -> dict[Any, Any]:
        """Kept with the source, which the next fit is given, too."""
        held = self.source.facts
        found: dict[Any, Any] = held.setdefault("with ones", {"examined": held.get("examined")})
        return found

    def read(self, rows: slice) -> Any:
        """As of the source."""
        return with_ones(self.source.read(rows))

    def place(self, row: int) -> tuple[str, int]:
        """As of the source."""
        return self.source.place(row)


def with_ones(X: Any) -> Any:
    """X with a last column of ones; of a source in blocks another source."""
    if isinstance(X, DaskRows):
        chunks = X.array.chunks[0], (X.shape[1] + 1,)
        found = DaskRows(X.array.map_blocks(with_ones, chunks=chunks, dtype=X.array.dtype), X.name)
        found.__dict__ |= {"labels": X.labels, "_facts": X.facts.setdefault("with ones", {})}
        found.facts["examined"] = X.facts.get("examined")
        return found
    if isinstance(X, Source):
        return WithOnes(X)
    ones = np.ones((X.shape[0], 1), X.dtype)
    if is_sparse(X):
        return sp.csr_array(sp.hstack([X, sp.csr_array(ones)], format="csr"))
    return np.hstack([X, ones])


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
