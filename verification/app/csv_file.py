"""The cells of a CSV file as text: by pyarrow where it is installed, else, and where a file is wrong, by Python."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from verification.app.labels import MISSING, PADDED, is_number
from verification.errors import DataFileError

SEPARATED = "rows of one length, separated by commas (no semicolons or tabs), with decimal points"
#: A quoted field without quotes and line breaks in it; others are left to Python's reader.
QUOTED = re.compile(rb'"(?<=[,\r\n]")[^"\r\n]*"(?=[,\r\n]|$)')
FIRST = re.compile(rb"[^\r\n]+")
#: Bytes that are looked at, and read, at once; rows that tell columns of numbers.
BLOCK, AT_ONCE, LOOKED_AT = 1 << 20, 1 << 18, 200
#: Most spellings of `MISSING`; a column with another one, or nothing else, is read more slowly.
BLANKS = sorted({form(text) for text in MISSING for form in (str, str.upper, str.capitalize)} | {"NaN", "<NA>"})


class Cells(Protocol):
    """Rows of cells, the first of which may be a header; ``len`` is their number."""

    width: int

    def __len__(self) -> int: ...

    def head(self, j: int, n: int) -> list[str]:
        """The first n cells of a column."""

    def again(self, j: int) -> bool:
        """Whether the first cell of a column occurs in it again."""

    def text(self, j: int, first: int) -> np.ndarray:
        """A column from row ``first`` on, as objects."""

    def numbers(self, j: int, first: int) -> np.ndarray | None:
        """The column as float64, nan where it is missing, where that is known at once and the rest is finite."""

    def padded(self, j: int, first: int) -> str | None:
        """The first number of a column that begins with a zero and another digit."""

    def line(self, i: int) -> int:
        """The line in which row i ends."""


class Columns(Mapping[str, np.ndarray]):
    """Columns by name, made when they are asked for."""

    def __init__(self, names: Sequence[str], made: Callable[[str], np.ndarray]) -> None:
        self.names, self.made = dict.fromkeys(names), made

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise KeyError(name)
        return self.made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Texts(Columns):
    """Columns of cells, without the first rows."""

    def __init__(self, cells: Cells, names: Sequence[str], first: int) -> None:
        at = {name: j for j, name in enumerate(names)}
        super().__init__(names, lambda name: cells.text(at[name], first))
        self.numbers: Callable[[str], np.ndarray | None]
        self.numbers = lambda name: cells.numbers(at[name], first)
        self.padded: Callable[[str], str | None]
        self.padded = lambda name: cells.padded(at[name], first)


def read(source: Path) -> Cells:
    """The cells of the rows that are not blank.

    Raises
    ------
    DataFileError
        No rows, rows of different lengths, stray quotes, no UTF-8.
    """
    return _arrow(source) or _Python(source)


class _Python:
    """Cells that Python's reader found."""

    def __init__(self, source: Path) -> None:
        lines = _rows(source)
        if not lines:
            raise DataFileError(f"{source} is empty; expected one example per row")
        self.width = len(lines[0][1])
        for i, row in lines:
            if len(row) != self.width:
                raise DataFileError(
                    f"{source}, line {i}: {len(row)} fields where line {lines[0][0]} has {self.width}; "
                    f"expected {SEPARATED}"
                )
        self.lines, self.columns = (
            [i for i, _ in lines],
            list(zip(*(r for _, r in lines), strict=True)),
        )

    def __len__(self) -> int:
        return len(self.lines)

    def head(self, j: int, n: int) -> list[str]:
        return list(self.columns[j][:n])

    def again(self, j: int) -> bool:
        return self.columns[j][0] in self.columns[j][1:]

    def text(self, j: int, first: int) -> np.ndarray:
        return np.array(self.columns[j][first:], object)

    def numbers(self, j: int, first: int) -> np.ndarray | None:
        return None

    def padded(self, j: int, first: int) -> str | None:
        return next(filter(PADDED.match, self.columns[j][first:]), None)

    def line(self, i: int) -> int:
        return self.lines[i]


class _Arrow:
    """Cells that pyarrow found in a file of plain fields: no line break lies within a field.

    Of a large file columns of numbers may be read as such, without the row above them.
    """

    def __init__(self, source: Path, table: Any, top: Any = None, above: int = 0) -> None:
        self.table, self.width = table, table.num_columns
        self.top, self.above = table if top is None else top, above  # the first rows; those that table lacks
        self.source = source
        self.line = partial(_line, source)  # without the table, which whoever asks for lines need not keep

    def __len__(self) -> int:
        return int(self.table.num_rows) + self.above

    def head(self, j: int, n: int) -> list[str]:
        column = self.top.column(j) if n <= len(self.top) else self._strings(j)
        return list(column.slice(0, n).to_pylist())

    def again(self, j: int) -> bool:
        from pyarrow.compute import equal

        if self.above and self._typed(j):  # the first is no number
            return False
        column = self._strings(j)
        return bool(np.any(equal(column.slice(1), column[0]).to_numpy()))

    def text(self, j: int, first: int) -> np.ndarray:
        return np.array(self._strings(j).slice(first).to_pylist(), object)

    def numbers(self, j: int, first: int) -> np.ndarray | None:
        import pyarrow as pa

        if self._typed(j):
            column = self.table.column(j).slice(max(first - self.above, 0))
            return _finite(column) if first >= self.above else None
        column = self._strings(j).slice(first)
        for gaps in (False, True):
            try:
                found = _finite(_filled(column) if gaps else column.cast(pa.float64()))
            except pa.ArrowInvalid:
                continue
            if found is not None:
                return found
        return None

    def padded(self, j: int, first: int) -> str | None:
        import pyarrow.compute as pc

        column = self._strings(j).slice(first)
        at = pc.index(pc.match_substring_regex(column, f"^{PADDED.pattern}"), True).as_py()
        return None if at < 0 else str(column[at])

    def _typed(self, j: int) -> bool:
        return str(self.table.schema.types[j]) == "double"

    def _strings(self, j: int) -> Any:
        """A column as text, read again where it was read as numbers."""
        import pyarrow as pa

        if self._typed(j):
            return _table(self.source, self.width, only=j).column(0)
        if not self.above:
            return self.table.column(j)
        return pa.chunked_array([*self.top.column(j).slice(0, 1).chunks, *self.table.column(j).chunks])


def _finite(column: Any) -> np.ndarray | None:
    """Numbers of Arrow, nan where one is missing; None if others are not finite."""
    found = np.asarray(column.to_numpy())
    return found if np.isfinite(found).sum() == len(found) - column.null_count else None


def _filled(column: Any) -> Any:
    """Text as numbers, missing ones as nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_in(column, pa.array(BLANKS)), None, column).cast(pa.float64())


def _line(source: Path, i: int) -> int:
    with source.open("rb") as lines:
        full = (n for n, line in enumerate(lines, 1) if line.strip(b"\r\n"))
        return next(islice(full, i, None))


def _arrow(source: Path) -> _Arrow | None:
    """None where pyarrow is missing, or the file is one that Python's reader has to judge."""
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    top, more = b"", False
    with source.open("rb") as file:
        for part in iter(lambda: file.read(BLOCK) + file.readline(), b""):
            if not _plain(part):
                return None
            top, more = top or part, bool(top)
    found = FIRST.search(top)
    line = found.group() if found else b""
    width = line.count(b",") + 1
    if width == 1:
        return None
    if b'"' in line:  # which may hold commas
        width = len(next(csv.reader([line.decode("utf-8-sig", "replace")])))
    try:
        if not more:
            return _Arrow(source, _table(io.BytesIO(top), width))
        first = _table(io.BytesIO(top), width)
        floats, above = _fractions(first)
        if floats:
            assert found is not None
            with suppress(pa.ArrowInvalid):
                return _Arrow(source, _table(source, width, floats, found.end() if above else 0), first, above)
        return _Arrow(source, _table(source, width), first)
    except pa.ArrowInvalid:
        return None


def _plain(text: bytes) -> bool:
    """Whether lines, all of them whole, end as usual and no field has a line break or a stray quote in it."""
    plain = b"\0" not in text and (b"\r" not in text or text.count(b"\r") == text.count(b"\r\n"))
    if plain and b'"' in text:
        plain = len(QUOTED.findall(b"\n" + text)) * 2 == text.count(b'"')
    return plain


def _table(
    source: Path | io.BytesIO, width: int, floats: Sequence[int] = (), start: int = 0, only: int | None = None
) -> Any:
    """The cells from byte ``start`` on, as text or, of some columns, as numbers.

    Raises
    ------
    pyarrow.ArrowInvalid
        Rows of other widths, no UTF-8, no numbers.
    """
    import pyarrow as pa
    from pyarrow import csv as reader

    names = [f"f{j}" for j in range(width)]
    kinds = {name: pa.float64() if j in floats else pa.string() for j, name in enumerate(names)}
    stream = source.open("rb") if isinstance(source, Path) else source
    with stream:
        longest = len(stream.readline()) + len(stream.readline())
        stream.seek(start)
        return reader.read_csv(
            stream,
            reader.ReadOptions(use_threads=False, block_size=max(AT_ONCE, 4 * longest), column_names=names),
            convert_options=reader.ConvertOptions(
                column_types=kinds, strings_can_be_null=False, null_values=BLANKS,
                include_columns=None if only is None else [names[only]],
            ),
        )  # fmt: skip


def _fractions(top: Any) -> tuple[list[int], int]:
    """Columns of numbers some of which have decimals, and whether what stands above them are no numbers."""
    import pyarrow as pa

    found, texts = list[int](), list[bool]()
    for j, column in enumerate(top.columns):
        with suppress(pa.ArrowInvalid):
            numbers = _finite(_filled(column.slice(1, LOOKED_AT)))
            if numbers is not None and (np.nan_to_num(numbers) % 1 != 0).any():
                found.append(j)
                texts.append(not is_number(column[0].as_py().strip()))
    return (found, int(texts[0])) if len(set(texts)) == 1 else ([], 0)


def _rows(source: Path) -> list[tuple[int, list[str]]]:
    """Rows that are not blank, with the line in which each ends."""
    lines: list[tuple[int, list[str]]] = []
    last = 0
    try:
        with source.open(newline="", encoding="utf-8-sig") as handle:
            reader = csv.reader(handle, strict=True)
            for row in reader:
                last = reader.line_num
                if row:
                    lines.append((last, row))
    except csv.Error as error:
        raise DataFileError(
            f"{source}, row that starts in line {last + 1}: {error}; expected fields that are separated "
            f'by commas and shorter than {csv.field_size_limit()} characters: look for a stray quote (")'
        ) from error
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{source} is not UTF-8 text ({error.reason}); convert it first"
        ) from error
    return lines
