"""Rows with a constant feature more: an intercept as the weight of one."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.data.dask_rows import DaskRows
from fast.data.source import Source


class WithOnes(Source):
    """A source with a last column of ones, or of another number."""

    def __init__(self, source: Source, value: float = 1.0) -> None:
        self.value, self.known = value, "with ones" if value == 1.0 else f"with {value}"
        self.source, self.name, self.labels = source, source.name, source.labels
        self.dtype, self.groups = source.dtype, source.groups
        self.shape = source.shape[0], source.shape[1] + 1

    @property
    def path_cache(self) -> dict[Any, Any]:
        """Kept with the source, which the next fit is given, too."""
        held = self.source.path_cache
        found: dict[Any, Any] = held.setdefault(self.known, {"examined": held.get("examined")})
        return found

    def read(self, rows: slice) -> Any:
        """As of the source."""
        return with_ones(self.source.read(rows), self.value)

    def place(self, row: int) -> tuple[str, int]:
        """As of the source."""
        return self.source.place(row)


def with_room(n: int, d: int) -> Any:
    """An (n, d) array to be filled, of which `with_ones` makes no copy: its ones stand beside it."""
    held = np.empty((n, d + 1))
    held[:, d] = 1.0
    return held[:, :d]


def whole(X: Any) -> Any:
    """The array of which X is all but a last column of ones, None where there is none."""
    held = getattr(X, "base", None)
    if type(X) is not np.ndarray or type(held) is not np.ndarray or X.ndim != 2:
        return None
    beside = held.shape == (len(X), X.shape[1] + 1) and held.flags.c_contiguous
    beside = beside and (X.ctypes.data, X.strides, X.dtype) == (held.ctypes.data, held.strides, held.dtype)
    return held if beside and (held[:, -1] == 1.0).all() else None


def with_ones(X: Any, value: float = 1.0) -> Any:
    """X with a last column of ones, or another number; of a source in blocks another source."""
    if isinstance(X, DaskRows) and value == 1.0:
        chunks = X.array.chunks[0], (X.shape[1] + 1,)
        found = DaskRows(X.array.map_blocks(with_ones, chunks=chunks, dtype=X.array.dtype), X.name)
        found.__dict__ |= {
            "labels": X.labels,
            "_path_cache": X.path_cache.setdefault("with ones", {}),
        }
        found.path_cache["examined"] = X.path_cache.get("examined")
        return found
    if isinstance(X, Source):
        return WithOnes(X, value)
    if value == 1.0 and (held := whole(X)) is not None:
        return held
    ones = np.full((X.shape[0], 1), value, X.dtype)
    if hasattr(X, "tocsr"):
        return sp.csr_array(sp.hstack([X, sp.csr_array(ones)], format="csr"))
    return np.hstack([X, ones])
