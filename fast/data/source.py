"""Examples that need not fit in memory: rows in groups, of which one or two are there at a time.

A trainer reads in *passes*: every group in turn, each in blocks, whose partial sums are added in
the order of the rows. Groups and blocks depend on the data alone, so that the sums have the same
bits on any number of threads or workers.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Source(ABC):
    """Rows x_i of n examples with d features, read a group at a time.

    Attributes
    ----------
    name : str
        What errors call it: a file, or "X".
    shape : tuple of int
        (n, d).
    dtype : numpy.dtype
        float32 or float64: of what `read` returns. What is stored may be narrower.
    groups : tuple of slice
        Of rows, in order; together they are all rows. Some may be empty.
    labels : array (n,) or None
        Labels that came with the rows, as they are stored.
    columns : list of str or None
        Names of the features, where they have any.
    left_out : tuple of str
        Columns that are not read, as they are the stored index of a pandas data frame.
    in_memory : bool
        Reading costs nothing.
    """

    name: str = "X"
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    groups: tuple[slice, ...]
    labels: NDArray[Any] | None = None
    columns: list[str] | None = None
    left_out: tuple[str, ...] = ()
    in_memory = False

    @abstractmethod
    def read(self, rows: slice) -> Any:
        """Rows within one group, in order: a C-contiguous array (rows, d) or CSR, of `dtype`.

        May be called from several threads at once. Callers do not write to what they get.
        """

    def place(self, row: int) -> tuple[str, int]:
        """What errors call a row: the file, and the row's number in it, from 0."""
        return self.name, row

    def select(self, columns: list[str]) -> "Source":
        """The same rows with some of the named columns, in this order."""
        return self if columns == self.columns else Selected(self, columns)

    @property
    def path_cache(self) -> dict[Any, Any]:
        """What passes over all rows found, for the next fit: a path of C reads them once."""
        found: dict[Any, Any] = self.__dict__.setdefault("_path_cache", {})
        return found

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        """Any rows in order, also of several groups."""
        first, last, step = rows.indices(self.shape[0])
        if step != 1:
            raise IndexError("rows are read in order: the step of a slice has to be 1")
        parts = [
            self.read(slice(max(first, group.start), min(last, group.stop)))
            for group in self.groups
            if max(first, group.start) < min(last, group.stop)
        ]
        if len(parts) == 1:
            return parts[0]
        if parts and hasattr(parts[0], "tocsr"):
            import scipy.sparse as sp

            return sp.csr_array(sp.vstack(parts, format="csr"))
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)


class Selected(Source):
    """A source seen through some of its columns."""

    def __init__(self, source: Source, columns: list[str]) -> None:
        place = {name: j for j, name in enumerate(source.columns or ())}
        self.source, self.columns = source, [*columns]
        self.places = [place[name] for name in columns]
        self.name, self.labels = source.name, source.labels
        self.dtype, self.groups, self.in_memory = source.dtype, source.groups, source.in_memory
        self.shape = source.shape[0], len(columns)

    def read(self, rows: slice) -> Any:
        """As of the source; a copy."""
        block = self.source.read(rows)[:, self.places]
        return block if hasattr(block, "indptr") else np.ascontiguousarray(block)

    def place(self, row: int) -> tuple[str, int]:
        """As of the source."""
        return self.source.place(row)
