"""Parquet files: features in one column of lists or in a column each; row groups are the groups."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast.data.files import reading, stamp
from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError

PIECE = 512  # rows that columns are written to at a time: they stay in the cache
NAMED = "name what to take: fast.data.rows(path, features=..., label=...)"


class Parquet(Source):
    """Rows of a Parquet file, a row group at a time: write groups of 16 to 64 MB.

    Decoding lists takes 7 (columns without nulls by schema) to 10 ns a number, of float16 25: an ``.npy``
    file is read 10 times as fast.

    Parameters
    ----------
    name : str
        The file.
    label : str or None
        The column of labels.
    features : str, list of str or None
        The column of lists, or those of numbers; None: all but ``label``.

    Notes
    -----
    float16 and integers of at most 16 bits are read as float32, longer ones as float64, as are columns
    of which one is float64. Every row of a column of lists has as many entries as the first.
    """

    columns: list[str]

    def __init__(self, name: str, label: str | None, features: str | Sequence[str] | None) -> None:
        self.name, self.stamp, self.metadata = name, stamp(name), None
        with self._file() as file:
            self.metadata = file.metadata
            schema = file.schema_arrow
            wanted = [features] if isinstance(features, str) else features
            self.columns = [c for c in schema.names if c != label] if wanted is None else [*wanted]
            for column in [*self.columns, *([] if label is None else [label])]:
                if schema.names.count(column) != 1:
                    expected = f"one of {', '.join(schema.names)}"[:300]
                    raise InvalidParameterError(name, f"no column {column!r}", expected, NAMED)
            if len({*self.columns}) < len(self.columns):
                given = f"features={self.columns}"[:300]
                raise InvalidParameterError(name, given, "every column once", NAMED)
            kinds = [schema.field(column).type for column in self.columns]
            self.listed = len(kinds) == 1 and hasattr(kinds[0], "value_type")
            d = self._width(file, kinds[0]) if self.listed else len(kinds)
            self.dtype = self._common([kinds[0].value_type] if self.listed else kinds)
            if label is not None:
                self.labels = self._labels(file, label)
        n, groups = self.metadata.num_rows, range(self.metadata.num_row_groups)
        counts = [self.metadata.row_group(i).num_rows for i in groups]
        if min(counts, default=0) < 0 or sum(counts) != n:
            raise self._spoilt(f"{n} rows, where its groups have {sum(counts)}")
        self.shape, ends = (n, d), [0, *accumulate(counts)]
        self.groups = tuple(slice(a, b) for a, b in pairwise(ends))

    def select(self, columns: list[str]) -> Source:
        """The others are not read."""
        if self.listed or columns == self.columns:
            return super().select(columns)
        found = copy(self)
        found.columns, found.shape = [*columns], (self.shape[0], len(columns))
        found.__dict__.pop("_facts", None)
        return found

    def read(self, rows: slice) -> NDArray[Any]:
        """Rows of one row group, all of which is decoded."""
        if rows.start >= rows.stop:
            return np.empty((0, self.shape[1]), self.dtype)
        index = next(i for i, g in enumerate(self.groups) if g.start <= rows.start < g.stop)
        first, last = self.groups[index].start, self.groups[index].stop
        stamp(self.name, self.stamp)
        with self._file() as file:
            table = file.read_row_group(index, columns=self.columns, use_threads=False)
        if len(table) != last - first:
            raise self._spoilt(f"group {index} of {len(table)} rows, not {last - first}")
        table = table.slice(rows.start - first, rows.stop - rows.start)
        if self.listed:
            return self._lists(table.column(0), rows.start)
        found = []
        for column, values in zip(self.columns, table.columns, strict=True):
            self._no_nulls(values, rows.start, column)
            found.append(values.to_numpy())
        out = np.empty((len(table), self.shape[1]), self.dtype)
        for i in range(0, len(out), PIECE):
            for j, numbers in enumerate(found):
                out[i : i + PIECE, j] = numbers[i : i + PIECE]
        return out

    @contextmanager
    def _file(self) -> Iterator[Any]:
        """The open file; its errors with name and fix."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            fix = "pip install 'refsolve[parquet]'"
            raise InvalidParameterError(self.name, "Parquet", "pyarrow installed", fix) from None
        try:
            with (
                reading(self.name),
                pq.ParquetFile(self.name, metadata=self.metadata, memory_map=False) as file,
            ):
                yield file
        except InvalidParameterError:
            raise
        except (pa.ArrowException, ValueError) as error:  # names that are no text, too
            raise self._spoilt(f"not readable as Parquet ({error})"[:300]) from error

    def _spoilt(self, given: str) -> InvalidParameterError:
        fix = "write or copy it again"
        return InvalidParameterError(self.name, given, "a whole Parquet file", fix)

    def _common(self, kinds: list[Any]) -> Any:
        """float32 or float64, for columns of these types."""
        import pyarrow.types as kind_of

        for column, kind in zip(self.columns, kinds, strict=True):
            if not (kind_of.is_integer(kind) or kind_of.is_floating(kind)):
                given = f"column {column!r} of type {kind}"
                raise InvalidTypeError(self.name, given, "one column of lists, or numbers", NAMED)
        if not kinds:
            raise InvalidParameterError(self.name, "no features", "at least one column", NAMED)
        return np.result_type(np.float32, *{kind.to_pandas_dtype() for kind in kinds})

    def _width(self, file: Any, kind: Any) -> int:
        """Entries of the first row's list."""
        size = getattr(kind, "list_size", 0)
        if size or not file.metadata.num_rows:
            return int(size)
        batch = next(file.iter_batches(1, columns=self.columns), None)
        if batch is None or not len(batch):
            raise self._spoilt(f"none of its {file.metadata.num_rows} rows")
        first = batch.column(0)[0]
        if not first.is_valid or not len(first):
            raise self._wrong(0, self.columns[0], "null" if not first.is_valid else "no entries")
        return len(first)

    def _labels(self, file: Any, label: str) -> NDArray[Any]:
        column = file.read(columns=[label], use_threads=False).column(0)
        self._no_nulls(column, 0, label)
        found = np.asarray(column.to_pylist())
        if found.ndim != 1 or found.dtype.kind not in "iubfU":
            given = f"column {label!r} of type {column.type}"
            raise InvalidTypeError(self.name, given, "labels: numbers or texts", NAMED)
        return found

    def _lists(self, column: Any, first: int) -> NDArray[Any]:
        """The lists of a column as rows."""
        d, row, blocks = self.shape[1], first, []
        self._no_nulls(column, first, self.columns[0])
        for chunk in column.chunks:
            lengths = np.asarray(chunk.value_lengths())
            if (wrong := np.flatnonzero(lengths != d)).size:
                i = int(wrong[0])
                raise self._wrong(row + i, self.columns[0], f"{lengths[i]} entries, not {d}")
            values = chunk.flatten()
            if values.null_count:
                i = int(np.flatnonzero(np.asarray(values.is_null()))[0]) // d
                raise self._wrong(row + i, self.columns[0], "a null in its list")
            blocks.append(self._typed(values.to_numpy()).reshape(-1, d))
            row += len(chunk)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _typed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        if numbers.dtype != np.float16:
            return numbers.astype(self.dtype, copy=False)
        from fast.kernels.blocks import widen

        out = np.empty(numbers.shape, np.float32)
        widen(np.ascontiguousarray(numbers).view(np.uint16), out)
        return out

    def _no_nulls(self, column: Any, first: int, name: str) -> None:
        if column.null_count:
            i = int(np.flatnonzero(np.asarray(column.is_null()))[0])
            raise self._wrong(first + i, name, "null")

    def _wrong(self, row: int, column: str, found: str) -> InvalidParameterError:
        given = f"row {row}, column {column!r}: {found}"
        fix = "drop or mend this row, and write the file again"
        return InvalidParameterError(self.name, given, "a number for every feature", fix)
