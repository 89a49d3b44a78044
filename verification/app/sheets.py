"""Tables with columns: CSV and Parquet as data frames, and what a column holds: numbers, or text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verification.app.labels import is_number, listed
from verification.errors import DataFileError

if TYPE_CHECKING:
    import pandas as pd

SEPARATED = "rows of one length, separated by commas (no semicolons or tabs), with decimal points"
#: What stands for a value that is not known, in any case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "?"})


@dataclass(frozen=True)
class Sheet:
    """A table: ``frame`` has one string per column for a name; ``place`` says where an entry stands.

    Columns of a file without a header are named by their position.
    """

    source: Path
    frame: pd.DataFrame
    named: bool
    place: Callable[[int, str], str]

    def find(self, column: str) -> str:
        """The name of a column that is given by name or position."""
        names = list(self.frame.columns)
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


def read_csv(source: Path, special: Sequence[str | None]) -> Sheet:
    """A CSV file, all of it text. ``special``: columns that may hold text also without a header."""
    import pandas as pd

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
    apart = {_position(column, first) for column in special}
    # A header is a first row in which no feature is a number.
    named = not any(is_number(f) for j, f in enumerate(first) if j not in apart)
    if named:
        lines = lines[1:]
        if not lines:
            raise DataFileError(f"{source} has a header and no examples")
        twice = [name for name in first if first.count(name) > 1]
        if twice:
            raise DataFileError(
                f"{source}, line 1: two columns are named {twice[0]!r}; expected names that tell them apart"
            )
    for column in special:
        if not named and column is not None and column in first and not is_number(column):
            raise DataFileError(
                f"{source}: column {column!r} is asked for by name, but the first row is no header: {first}"
            )
    numbers = [i for i, _ in lines]
    names = first if named else [str(j) for j in range(width)]
    columns = {name: [row[j] for _, row in lines] for j, name in enumerate(names)}
    frame = pd.DataFrame(columns, dtype=object)

    def place(i: int, name: str) -> str:
        return (
            f"line {numbers[i]}, column {name!r}" if named else f"line {numbers[i]}, column {name}"
        )

    return Sheet(source, frame, named, place)


def _position(column: str | None, first: Sequence[str]) -> int:
    """Where a column stands; -1 if nowhere, which is complained of later."""
    if column is None:
        return len(first) - 1
    if column in first:
        return first.index(column)
    try:
        return int(column) % len(first)
    except ValueError:
        return -1


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


def read_parquet(source: Path) -> Sheet:
    """A Parquet file, its columns as they are stored."""
    import pandas as pd

    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataFileError(
            f"{source}: Parquet needs pyarrow; install refsolve[parquet], or write a .csv"
        ) from None
    try:
        frame = pd.read_parquet(source, engine="pyarrow")
    except OSError:
        raise
    except Exception as error:  # pyarrow raises many kinds
        raise DataFileError(
            f"{source} is not a readable Parquet file: {str(error)[:200]}; write it again"
        ) from error
    frame.columns = [str(name) for name in frame.columns]
    if not frame.shape[0] or frame.columns.has_duplicates:
        said = "two columns of one name" if frame.shape[0] else "no examples"
        raise DataFileError(f"{source} has {said}; expected one example per row, names that differ")
    frame = frame.reset_index(drop=True)
    return Sheet(source, frame, True, lambda i, name: f"row {i + 1}, column {name!r}")


def values(sheet: Sheet, name: str) -> np.ndarray:
    """A column as float64, nan where it is missing; or as text (dtype object), None where it is missing."""
    import pandas as pd

    column = sheet.frame[name]
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    if isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype) or column.dtype == object:
        given = column.astype(object).to_numpy()
    else:
        raise _unknown(sheet, name, str(column.dtype))
    if pd.api.types.infer_dtype(given, skipna=False) == "string":
        try:  # at once, where every entry is a number
            with np.errstate(over="ignore"):
                return given.astype(np.float64)
        except ValueError:
            pass
    texts = np.empty(len(given), object)
    for i, entry in enumerate(given):
        if entry is None or entry is pd.NA or (isinstance(entry, float) and entry != entry):
            texts[i] = None
        elif isinstance(entry, str | int | float | np.number | np.bool_):
            text = str(entry).strip()
            texts[i] = None if text.lower() in MISSING else text
        else:
            raise _unknown(sheet, name, type(entry).__name__)
    try:
        with np.errstate(over="ignore"):
            return np.where(texts == None, "nan", texts).astype(np.float64)  # noqa: E711
    except ValueError:
        return texts


def _unknown(sheet: Sheet, name: str, kind: str) -> DataFileError:
    return DataFileError(
        f"{sheet.source}, column {name!r} holds {kind}; expected numbers or text: convert it, or leave "
        f"it out with --ignore {name}"
    )


def as_text(sheet: Sheet, name: str) -> list[Any]:
    """A column as it stands in the file, without spaces around it."""
    return [entry.strip() if isinstance(entry, str) else entry for entry in sheet.frame[name]]
