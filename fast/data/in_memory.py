"""Arrays, CSR matrices and data frames as sources: one group, read without a copy."""

from typing import Any

import numpy as np

from fast._validation import data_frame, real_array
from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError


class InMemory(Source):
    """X (n, d) as a C-contiguous array or canonical CSR, float32 or float64; a data frame names columns."""

    in_memory = True

    def __init__(
        self, X: Any, labels: Any = None, name: str = "X", columns: list[str] | None = None
    ) -> None:
        frame = data_frame(name, X)
        if frame is not None:
            X, columns = _of_frame(name, frame)
        if hasattr(X, "tocsr"):
            X = _canonical(X, name)
        else:
            half = isinstance(X, np.ndarray) and X.dtype == np.float16
            X = np.ascontiguousarray(real_array(name, X.astype(np.float32) if half else X, (2,)))
        self.X, self.name, self.labels, self.columns = X, name, labels, columns
        self.shape, self.dtype = X.shape, np.dtype(X.dtype)
        self.groups = (slice(0, X.shape[0]),)

    def read(self, rows: slice) -> Any:
        """A view of an array, a copy of a part of CSR."""
        whole = rows.start == 0 and rows.stop == self.shape[0]
        return self.X if whole else self.X[rows]

    def select(self, columns: list[str]) -> Source:
        """Copied once."""
        if columns == self.columns:
            return self
        places = [(self.columns or []).index(column) for column in columns]
        return InMemory(self.X[:, places], self.labels, self.name, [*columns])


def _of_frame(name: str, frame: Any) -> tuple[Any, list[str] | None]:
    """Numbers, and the columns' names where these are texts."""
    from sklearn.utils import check_array
    from sklearn.utils.validation import _get_feature_names

    names = _get_feature_names(frame)
    kinds = (np.float64, np.float32)
    try:
        X = check_array(
            frame, accept_sparse="csr", dtype=kinds, ensure_all_finite=False,
            ensure_min_samples=0, ensure_min_features=0,
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        fix = "leave out columns of text, or encode them: sklearn.preprocessing.OneHotEncoder"
        raise InvalidTypeError(name, str(error)[:200], "columns of numbers", fix) from None
    return X, None if names is None else names.tolist()


def _canonical(X: Any, name: str) -> Any:
    """CSR, which shares what it can with X."""
    import scipy.sparse as sp

    if len(X.shape) != 2:
        raise InvalidParameterError(name, f"shape {X.shape}", "a matrix", f"reshape {name}")
    X = sp.csr_array(X, dtype=np.float64 if X.dtype.kind in "iub" else None)
    if X.dtype not in (np.float32, np.float64):
        fix = f"{name}.astype(np.float32)"
        raise InvalidTypeError(name, f"dtype {X.dtype}", "float32 or float64", fix)
    if not X.has_canonical_format:
        X = X.copy()  # duplicates are summed in place
        X.sum_duplicates()
    return X
