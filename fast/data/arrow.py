"""Parquet and Arrow IPC (feather) files: features in one column of lists or in a column each."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from copy import copy
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast.data.files import reading, stamp
from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError

PARQUET = (".parquet", ".pq")
PIECE = 512  # rows that columns are written to at a time: they stay in the cache
NAMED = "name what to take: fast.data.rows(path, features=..., label=...), --features and --label"
#: Columns that pandas and Dask store for an index, also where a later writer dropped their metadata.
INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")


class Arrow(Source):
    """Rows of a Parquet or Arrow IPC file, a row group or record batch at a time: write 16 to 64 MB each.

    Decoding lists of Parquet takes 7 (columns without nulls by schema) to 10 ns a number, of float16 25:
    an ``.npy`` file is read 10 times as fast. An IPC stream is read as a whole.

    Parameters
    ----------
    name : str
        The file.
    label : str or None
        The column of labels.
    features : str, list of str or None
        The column of lists (or of tensors of fixed shape), or those of numbers; None: all but ``label``
        and what pandas stored as the index of its rows.

    Attributes
    ----------
    chosen : list of str
        The columns that are read. `columns` has the same names, or is None for a column of lists.

    Notes
    -----
    float16, booleans and integers of at most 16 bits are read as float32, longer ones as float64, as are
    columns of which one is float64. Every row of a column of lists has as many entries as the first.
    """

    def __init__(self, name: str, label: str | None, features: str | Sequence[str] | None) -> None:
        self.name, self.stamp = name, stamp(name)
        with opened(name) as file:
            self.known = file.known
            names = file.schema.names
            stored = index_columns(file.schema)
            wanted = [features] if isinstance(features, str) else features
            if wanted is None:
                wanted = [c for c in names if c != label and c not in stored]
                self.left_out = tuple(c for c in stored if c != label)
            self.chosen = [*wanted]
            for column in [*self.chosen, *([] if label is None else [label])]:
                if names.count(column) != 1:
                    expected = f"one of {', '.join(names)}"[:300]
                    raise InvalidParameterError(name, f"no column {column!r}", expected, NAMED)
            if len({*self.chosen, label}) <= len(self.chosen):
                given = f"features={self.chosen}, label={label!r}"[:300]
                raise InvalidParameterError(name, given, "every column once", NAMED)
            kinds = [_storage(file.schema.field(column).type) for column in self.chosen]
            self.listed = len(kinds) == 1 and is_listed(kinds[0])
            self.columns = None if self.listed else self.chosen
            d = self._width(file, kinds[0]) if self.listed else len(kinds)
            self.dtype = self._common([kinds[0].value_type] if self.listed else kinds)
            if label is not None:
                self.labels = self._labels(file.read([label]).column(0), label)
            counts = file.counts
        n = sum(counts)
        if min(counts, default=0) < 0 or file.rows not in (None, n):
            raise _spoilt(name, f"{file.rows} rows, where its groups have {n}")
        self.shape, ends = (n, d), [0, *accumulate(counts)]
        self.groups = tuple(slice(a, b) for a, b in pairwise(ends))

    def select(self, columns: list[str]) -> Source:
        """The others are not read."""
        if self.listed or columns == self.columns:
            return super().select(columns)
        found = copy(self)
        found.chosen = found.columns = [*columns]
        found.shape = self.shape[0], len(columns)
        found.__dict__.pop("_path_cache", None)
        return found

    def read(self, rows: slice) -> NDArray[Any]:
        """Rows of one row group, all of which is decoded."""
        if rows.start >= rows.stop:
            return np.empty((0, self.shape[1]), self.dtype)
        index = next(i for i, g in enumerate(self.groups) if g.start <= rows.start < g.stop)
        first, last = self.groups[index].start, self.groups[index].stop
        stamp(self.name, self.stamp)
        with opened(self.name, self.known) as file:
            table = file.group(index, self.chosen)
        if len(table) != last - first:
            raise _spoilt(self.name, f"group {index} of {len(table)} rows, not {last - first}")
        table = table.slice(rows.start - first, rows.stop - rows.start)
        if self.listed:
            return self._lists(table.column(0), rows.start)
        found = []
        for column, values in zip(self.chosen, table.columns, strict=True):
            self._no_nulls(values, rows.start, column)
            found.append(values.to_numpy())
        out = np.empty((len(table), self.shape[1]), self.dtype)
        for i in range(0, len(out), PIECE):
            for j, numbers in enumerate(found):
                out[i : i + PIECE, j] = numbers[i : i + PIECE]
        return out

    def _common(self, kinds: list[Any]) -> Any:
        """float32 or float64, for columns of these types."""
        import pyarrow.types as kind_of

        for column, kind in zip(self.chosen, kinds, strict=True):
            if not any(
                is_(kind) for is_ in (kind_of.is_integer, kind_of.is_floating, kind_of.is_boolean)
            ):
                given = f"column {column!r} of type {kind}"
                raise InvalidTypeError(self.name, given, "one column of lists, or numbers", NAMED)
        if not kinds:
            raise InvalidParameterError(self.name, "no features", "at least one column", NAMED)
        return np.result_type(np.float32, *{kind.to_pandas_dtype() for kind in kinds})

    def _width(self, file: Any, kind: Any) -> int:
        """Entries of the first row's list."""
        size = getattr(kind, "list_size", 0)
        if size or not sum(file.counts):
            return int(size)
        at = next(i for i, count in enumerate(file.counts) if count)
        table = file.group(at, self.chosen)
        if not len(table):
            raise _spoilt(self.name, f"none of its {sum(file.counts)} rows")
        first = table.column(0)[0]
        if not first.is_valid or not len(first):
            raise self._wrong(0, self.chosen[0], "null" if not first.is_valid else "no entries")
        return len(first)

    def _labels(self, column: Any, label: str) -> NDArray[Any]:
        self._no_nulls(column, 0, label)
        found = np.asarray(column.to_pylist())
        if found.ndim != 1 or found.dtype.kind not in "iubfU":
            given = f"column {label!r} of type {column.type}"
            raise InvalidTypeError(self.name, given, "labels: numbers or texts", NAMED)
        return found

    def _lists(self, column: Any, first: int) -> NDArray[Any]:
        """The lists of a column as rows."""
        d, row, blocks = self.shape[1], first, []
        self._no_nulls(column, first, self.chosen[0])
        for chunk in column.chunks:
            chunk = getattr(chunk, "storage", chunk)
            lengths = np.asarray(chunk.value_lengths())
            if (wrong := np.flatnonzero(lengths != d)).size:
                i = int(wrong[0])
                raise self._wrong(row + i, self.chosen[0], f"{lengths[i]} entries, not {d}")
            values = chunk.flatten()
            if values.null_count:
                i = int(np.flatnonzero(np.asarray(values.is_null()))[0]) // d
                raise self._wrong(row + i, self.chosen[0], "a null in its list")
            blocks.append(self._typed(values.to_numpy(zero_copy_only=False)).reshape(-1, d))
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


def index_columns(schema: Any) -> tuple[str, ...]:
    """Columns of an Arrow schema that are no columns of the data frame that was stored, but its index."""
    try:
        told = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        told = []
    return tuple(c for c in schema.names if c in told or INDEX.fullmatch(c))


@contextmanager
def opened(name: str, known: Any = None) -> Iterator[Any]:
    """A Parquet or Arrow IPC file: ``schema``, ``counts`` of rows, ``group(i, columns)``, ``read(columns)``.

    What it has to read to know these is ``known``, which the next opening need not read again. Its errors
    have the file's name and a fix.
    """
    try:
        import pyarrow as pa
    except ImportError:
        fix = "in a clone of refsolve, pip install '.[parquet]'"
        raise InvalidParameterError(name, "Parquet or Arrow", "pyarrow installed", fix) from None
    kind: Any = _Parquet if name.lower().endswith(PARQUET) else _Ipc
    try:
        with reading(name):
            file = kind(name, known)
            with closing(file.file):
                yield file
    except InvalidParameterError:
        raise
    except (pa.ArrowException, ValueError) as error:  # names that are no text, too
        raise _spoilt(name, f"not readable as {kind.said} ({error})"[:300]) from error


class _Parquet:
    said = "Parquet"

    def __init__(self, name: str, known: Any) -> None:
        import pyarrow.parquet as pq

        self.file = pq.ParquetFile(name, metadata=known, memory_map=False)
        self.known, self.schema = self.file.metadata, self.file.schema_arrow
        groups = range(self.known.num_row_groups)
        self.counts = [self.known.row_group(i).num_rows for i in groups]
        self.rows = self.known.num_rows

    def group(self, i: int, columns: list[str]) -> Any:
        return self.file.read_row_group(i, columns=columns, use_threads=False)

    def read(self, columns: list[str]) -> Any:
        return self.file.read(columns=columns, use_threads=False)


class _Ipc:
    """The file format that pandas and Polars write, or the stream that others put under the same name.

    A stream has no index of its batches: it is read once, and kept.
    """

    said, rows = "Arrow IPC", None

    def __init__(self, name: str, known: Any) -> None:
        import pyarrow as pa

        self.file, self.name = pa.OSFile(name), name
        try:
            reader = pa.ipc.open_file(self.file)
        except pa.ArrowInvalid:
            self.file.seek(0)
            batches = known or list(pa.ipc.open_stream(self.file))
            self.schema = batches[0].schema if batches else pa.schema([])
            self.known = self.batches = batches
        else:
            self.schema, self.batches = reader.schema, None
            self.known = known or range(reader.num_record_batches)
        first, count = self.schema.names[:1], len(self.known) if known is None else 0
        self.counts = [self._batch(i, first).num_rows for i in range(count)]

    def _batch(self, i: int, columns: list[str]) -> Any:
        import pyarrow as pa

        if self.batches is not None:
            return self.batches[i].select(columns)
        fields = [self.schema.get_field_index(column) for column in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(self.file, options=options).get_batch(i).select(columns)

    def group(self, i: int, columns: list[str]) -> Any:
        import pyarrow as pa

        return pa.Table.from_batches([self._batch(i, columns)])

    def read(self, columns: list[str]) -> Any:
        import pyarrow as pa

        batches = [self._batch(i, columns) for i in range(len(self.known))]
        return pa.Table.from_batches(batches, None if batches else self.schema)


def _spoilt(name: str, given: str) -> InvalidParameterError:
    return InvalidParameterError(name, given, "a whole file", "write or copy it again")


def _storage(kind: Any) -> Any:
    """Of an extension type, such as tensors of fixed shape, what is stored."""
    return getattr(kind, "storage_type", kind)


def is_listed(kind: Any) -> bool:
    """Whether a column of this type has several numbers in a row."""
    import pyarrow.types as kind_of

    kind = _storage(kind)

    tests = (kind_of.is_list, kind_of.is_large_list, kind_of.is_fixed_size_list)
    return any(is_(kind) for is_ in tests)
