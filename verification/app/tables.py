"""Tables with columns: CSV, Parquet and Arrow files, and what a column holds: numbers, or text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verification.app.labels import MISSING, is_number, listed
from verification.errors import DataFileError

SEPARATED = "rows of one length, separated by commas (no semicolons or tabs), with decimal points"
#: Rows below the first that tell a column of numbers from one of text.
LOOKED_AT = 200
#: First cells of a column of labels that no class is called.
LABELS = ("label", "labels", "class", "target", "y", "category", "group")


@dataclass(frozen=True)
class Table:
    """A table: ``columns`` has an array by name; ``place`` says where an entry stands.

    Columns are numbers (nan where one is missing), or objects: text, None where it is missing, or what nobody
    can train on. Columns of a file without a header are named by their position. ``typed``: the file says
    which columns are text; in a CSV file text may be a number, or stand for a value that is missing.
    ``notes`` say what was taken for what.
    """

    source: Path
    columns: Mapping[str, np.ndarray]
    named: bool
    place: Callable[[int, str], str]
    typed: bool = True
    notes: tuple[str, ...] = ()

    def find(self, column: str) -> str:
        """The name of a column that is given by name or position."""
        names = list(self.columns)
        if column in names and (self.named or is_number(column)):
            return column
        try:
            position = int(column)
        except ValueError:
            raise DataFileError(
                f"{self.source} has no column {column!r}"
                + (f"; its columns are {listed(names)}" if self.named else ": it has no header")
            ) from None
        if not -len(names) <= position < len(names):
            raise DataFileError(
                f"{self.source} has no column {column}; expected -{len(names)}..{len(names) - 1}"
            )
        return str(names[position])

    def text(self, name: str) -> np.ndarray:
        """A column as it stands in the file, without spaces around text; None where a value is missing."""
        column = self.columns[name]
        if column.dtype != object or self.typed:
            return column
        return np.array([entry.strip() for entry in column], object)

    def values(self, name: str) -> np.ndarray:
        """A column as float64, nan where it is missing; or as text (dtype object), None where it is missing."""
        column = self.columns[name]
        if column.dtype.kind in "fiub":
            return column.astype(np.float64)
        if self.typed:
            odd = next((e for e in column if not (e is None or isinstance(e, str))), None)
            if odd is not None:
                raise DataFileError(
                    f"{self.source}, column {name!r} holds {type(odd).__name__}; expected numbers or text: "
                    f"convert it, or leave it out with --ignore {name}"
                )
            return column
        joined = "".join(column)
        if (
            joined.isascii() and "_" not in joined
        ):  # of which Python makes numbers, and pandas does not
            try:  # at once, where every entry is a number
                with np.errstate(over="ignore"):
                    return column.astype(np.float64)
            except ValueError:
                pass
        texts = self.text(name)
        texts[[text.lower() in MISSING for text in texts]] = None
        if not all(text is None or is_number(text) for text in texts):
            return texts
        with np.errstate(over="ignore"):
            return np.where(texts == None, "nan", texts).astype(np.float64)  # noqa: E711


# -- CSV ------------------------------------------------------------------------------------------


def read_csv(
    source: Path, label: str | None, header: bool | None = None, known: Sequence[str] = ()
) -> Table:
    """A CSV file, all of it text.

    Parameters
    ----------
    source : of the file.
    label : the column of labels, "-1" for the last one, or None.
    header : whether the first row has the names of the columns; None: by `_is_header`.
    known : columns of a model; a first row that has them all is a header.
    """
    lines = _rows(source)
    if not lines:
        raise DataFileError(f"{source} is empty; expected one example per row")
    width = len(lines[0][1])
    for i, row in lines:
        if len(row) != width:
            raise DataFileError(
                f"{source}, line {i}: {len(row)} fields where line {lines[0][0]} has {width}; expected "
                f"{SEPARATED}"
            )
    first = [field.strip() for field in lines[0][1]]
    numbers, body = [i for i, _ in lines], list(zip(*(row for _, row in lines), strict=True))
    asked = label is not None and label in first and not is_number(label)
    if header is not None:
        named = header
        if asked and not named:
            raise DataFileError(
                f"{source}: column {label!r} is asked for by name, but the first row is no header: {first}"
            )
    else:
        named = asked or (bool(known) and set(known) <= set(first))
        named = named or _is_header(source, first, body, _position(label, first))
    if named:
        if len(lines) == 1:
            raise DataFileError(f"{source} has a header and no examples")
        twice = [name for name in first if first.count(name) > 1]
        if twice:
            raise DataFileError(
                f"{source}, line 1: two columns are named {twice[0]!r}; expected names that tell them "
                "apart, or --no-header"
            )
    names = first if named else [str(j) for j in range(width)]
    columns = {
        name: np.array(column[named:], object) for name, column in zip(names, body, strict=True)
    }

    def place(i: int, name: str) -> str:
        return (
            f"line {numbers[i + named]}, column {name!r}"
            if named
            else f"line {numbers[i]}, column {name}"
        )

    note = f"{'header in line' if named else 'no header: examples from line'} {lines[0][0]}"
    return Table(source, columns, named, place, False, (note,))


def _position(column: str | None, first: Sequence[str]) -> int:
    """Where a column stands; the last one where it is not said, -1 if nowhere, which is complained of later."""
    if column in first:
        return first.index(column)
    try:
        return int(column or -1) % len(first)
    except ValueError:
        return -1


def _is_header(
    source: Path, first: Sequence[str], columns: Sequence[Sequence[str]], label: int
) -> bool:
    """Whether a first row has names.

    A cell that is text over a column of numbers is a name. So is one of a row of text that does not occur
    again in its column, and a label that no other row has beside names that are numbers in even steps
    (years, wavelengths, the positions that pandas writes). Rows of numbers in even steps alone are refused
    if nothing tells them from examples.
    """
    texts = [j for j, cell in enumerate(first) if not _may_be_number(cell)]
    below = [[cell.strip() for cell in column[1 : 1 + LOOKED_AT]] for column in columns]
    over = [
        j for j in texts if below[j] and all(map(_may_be_number, below[j]))
    ]  # text over numbers
    again = [j for j in texts if columns[j][0] in columns[j][1:]]
    numbers = [float(first[j]) for j in range(len(first)) if j not in texts and is_number(first[j])]
    steps = np.diff(numbers)
    rising = len(steps) > 0 and bool((steps > 0).all())
    even = rising and bool(np.allclose(steps, steps[0], rtol=1e-6, atol=0.0))
    if not numbers:
        return bool(over) or 2 * len(again) < len(texts)
    if label in over:
        return True
    if over:
        return rising
    if label in texts and label not in again:
        enough = len(numbers) > (2 if even else 4) and rising
        return enough or (first[label].lower() in LABELS and (rising or len(numbers) == 1))
    if texts or not even or len(numbers) < 3 or any(n != int(n) for n in numbers):
        return False
    counted = numbers[0] in (0.0, 1.0) and steps[0] == 1.0
    fractions = any(is_number(cell) and float(cell) % 1 for cells in below for cell in cells)
    if counted and (fractions or len(numbers) > 4):
        return True
    raise DataFileError(
        f"{source}, line 1: {', '.join(first)[:80]} may be an example or a header of numbers; expected "
        "--header or --no-header, which says so"
    )


def _may_be_number(cell: str) -> bool:
    return is_number(cell) or cell.lower() in MISSING


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


# -- Parquet and Arrow ----------------------------------------------------------------------------


def read_columns(source: Path, wanted: Sequence[str | None] = ()) -> Table:
    """A Parquet or Arrow file, its columns as they are typed.

    What pandas stored as the index is no column, unless it is ``wanted``. Columns of lists stay lists.
    """
    from fast.data.arrow import index_columns, opened
    from fast.errors import InvalidParameterError

    try:
        with opened(str(source)) as file:
            stored = [c for c in index_columns(file.schema) if c not in wanted]
            names = [name for name in file.schema.names if name not in stored]
            held = file.read(names)
    except InvalidParameterError as error:
        raise DataFileError(str(error)) from error
    if not len(held) or len(set(names)) < len(names):
        said = "two columns of one name" if len(held) else "no examples"
        raise DataFileError(f"{source} has {said}; expected one example per row, names that differ")
    notes = tuple(f"{name!r} left out: the index of a data frame" for name in stored)
    columns = {name: _array(held.column(name)) for name in names}
    return Table(
        source, columns, True, lambda i, name: f"row {i + 1}, column {name!r}", True, notes
    )


def _array(column: Any) -> np.ndarray:
    """A column of Arrow as numbers, or as objects: text, None, lists."""
    import pyarrow as pa
    import pyarrow.types as kind_of

    if kind_of.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if kind_of.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (kind_of.is_integer(kind) or kind_of.is_floating(kind) or kind_of.is_boolean(kind)):
        return np.fromiter(column.to_pylist(), object, len(column))
    if column.null_count:
        return np.array([np.nan if e is None else e for e in column.to_pylist()], np.float64)
    return np.asarray(column.to_numpy())


# -- data frames ----------------------------------------------------------------------------------


def of_frame(frame: Any) -> Table:
    """A data frame of pandas, Polars, Arrow or whatever narwhals knows; its text is untyped."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(frame, eager_only=True)
    columns = {}
    for series in held.iter_columns():
        number = series.dtype.is_numeric() or series.dtype == nw.Boolean
        kind, make, gap = (np.float64, float, np.nan) if number else (object, str, "")
        pairs = zip(series.to_list(), series.is_null().to_list(), strict=True)
        entries = [gap if missing else make(entry) for entry, missing in pairs]
        columns[str(series.name)] = np.array(entries, kind)
    return Table(Path("X"), columns, True, lambda i, name: f"row {i}, column {name!r}", False)
