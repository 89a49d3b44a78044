"""Tables with columns: CSV, Parquet and Arrow files, and what a column holds: numbers, or text."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

import numpy as np

from verification.app import csv_file
from verification.app.labels import MISSING, PADDED, UNKNOWN, is_number, listed
from verification.errors import DataFileError, InvalidArgumentError

#: Rows below the first that tell a column of numbers from one of text.
LOOKED_AT = 200
#: Columns of Parquet that are read at once: at least these, and all of them in this many passes.
AT_ONCE, PASSES = 8, 16
#: What is raised for compressed bytes that are damaged.
BROKEN = (zlib.error, lzma.LZMAError, zipfile.BadZipFile)
#: What pandas calls the first columns where it wrote an index without a name, and read it again.
UNNAMED = re.compile(r"|Unnamed: \d+(\.\d+)*")
LEFT_OUT = "{!r} left out: the index of a data frame"
#: Numbers that only one text stands for, but for zeros at its end.
PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)
#: First cells of a column of labels that no class is called.
LABELS = ("label", "labels", "class", "target", "y", "category", "group")
#: Suffixes of tables in text, which may be compressed, and what separates their fields where nothing else is said.
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
SEPARATORS = {kind + how: sign for how in ("", *COMPRESSED) for kind, sign in ((".csv", ","), (".tsv", "\t"))}


@dataclass(frozen=True)
class Table:
    """A table: ``columns`` has an array by name; ``place`` says where an entry stands.

    Columns are numbers (nan where one is missing), or objects: text, None where it is missing, or what nobody
    can train on. Columns of a file without a header are named by their position. ``typed``: the file says
    which columns are text; in a CSV file text may be a number, or stand for a value that is missing.
    ``notes`` say what was taken for what; ``stored`` are the columns of the index of a data frame,
    ``counts`` the files and their numbers of rows. ``booleans`` are columns of True and False, in text those
    among the columns whose `values` were asked for.
    """

    source: Path
    columns: Mapping[str, np.ndarray]
    named: bool
    place: Callable[[int, str], str]
    typed: bool = True
    notes: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    booleans: set[str] = field(default_factory=set)

    @property
    def own(self) -> list[str]:
        """The columns that are no stored index."""
        return [name for name in self.columns if name not in self.stored]

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
        if isinstance(self.columns, csv_file.Texts):
            numbers = self.columns.numbers(name)
            if numbers is not None:
                return numbers
        column = self.columns[name]
        if column.dtype.kind in "fiub":
            return column.astype(np.float64, copy=False)
        if self.typed:
            odd = next((e for e in column if not (e is None or isinstance(e, str))), None)
            if odd is not None:
                raise DataFileError(
                    f"{self.source}, column {name!r} holds {type(odd).__name__}; expected numbers or text: "
                    f"convert it, leave it out with --ignore {name}, or take lists alone with --features {name}"
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
        said = {text.lower() for text in texts if text is not None}
        if said and said <= {"true", "false"}:
            self.booleans.add(name)
            truth = {"true": 1.0, "false": 0.0}
            return np.array([np.nan if text is None else truth[text.lower()] for text in texts])
        if not all(text is None or is_number(text) for text in texts):
            return texts
        with np.errstate(over="ignore"):
            return np.where(texts == None, "nan", texts).astype(np.float64)  # noqa: E711

    def words(self, name: str, known: Collection[str] | None = None) -> np.ndarray:
        """A column as names of categories (dtype object), None where one is missing.

        Text stays as it stands: ``01`` is not ``1``. Only where all of it are numbers without such zeros, 1.0
        is 1. ``known`` names of a model are none that are missing, whatever they are.
        """
        known, new = known or (), known is None
        column = self.columns[name]
        if column.dtype != object:
            if column.dtype.kind == "f" and (np.abs(column) >= 2.0**53).any():
                raise DataFileError(
                    f"{self.source}, column {name!r} has numbers beyond 2**53, which are not told apart; expected "
                    "names of categories: write them as text"
                )
            entries = [None if v != v else f"{v:.17g}" if isinstance(v, float) else str(v) for v in column.tolist()]
            return np.array(entries, object)
        column = self.text(name) if not self.typed else self.values(name)
        lost = MISSING if not self.typed or UNKNOWN in known else ()
        entries = [None if e is None or (e.lower() in lost and e not in known) else e for e in column]
        if new and not self.typed and all(e is None or PLAIN.fullmatch(e) for e in entries):
            entries = [plain(e) for e in entries]
        return np.array(entries, object)

    def padded(self, name: str, column: np.ndarray) -> str | None:
        """Of a column of text, which are the numbers ``column``, the first that has zeros before its digits."""
        if self.typed or not _whole(column[:LOOKED_AT]) or not _whole(column):
            return None
        if isinstance(self.columns, csv_file.Texts):
            return self.columns.padded(name)
        return next(filter(PADDED.match, self.columns[name]), None)


def _whole(column: np.ndarray) -> bool:
    return bool((np.isnan(column) | (column == np.trunc(column))).all())


def plain(text: str | None) -> str | None:
    """A number without zeros at the end of its decimals; other text, and a missing one, as it is."""
    if text is None or not PLAIN.fullmatch(text):
        return text
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


# -- text of any separator -------------------------------------------------------------------


def kind_of(path: Path) -> str:
    """The suffix in lower case, of a compressed table both, as in .csv.gz."""
    two = "".join(path.suffixes[-2:]).lower()
    return two if two in SEPARATORS else path.suffix.lower()


def is_text(path: Path) -> bool:
    """Whether it is a table in text."""
    return kind_of(path) in SEPARATORS


class Commas(type(Path())):  # type: ignore[misc]
    """A path whose text is read with commas between the fields; its name, and its lines, are those of the file."""

    separator = ","
    text: bytes | None = None

    def read_bytes(self) -> bytes:
        """The whole text."""
        if self.text is None:
            self.text = _commas(Path(self), self.separator)
        return self.text

    def open(self, mode: str = "r", *rest: Any, **options: Any) -> IO[Any]:
        """The same to be read line by line."""
        stream = io.BytesIO(self.read_bytes())
        if "b" in mode:
            return stream
        return io.TextIOWrapper(stream, options.get("encoding"), newline=options.get("newline"))


def as_csv(source: Path, separator: str | None) -> Path:
    """The file itself, or as one with commas.

    Raises
    ------
    InvalidArgumentError
        A separator that is no single character.
    """
    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise InvalidArgumentError(
            f"separator is {separator!r}; expected one character, or tab: --separator ';'"
        )
    own = separator or SEPARATORS.get(kind_of(source), ",")
    if own == "," and not kind_of(source).endswith(COMPRESSED):
        return source
    found = Commas(source)
    found.separator = own
    return found


def _decompressed(data: bytes, suffix: str) -> bytes:
    """The bytes of the one file that is compressed."""
    if suffix != ".zip":
        return {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[suffix](data)
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        names = [name for name in held.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(f"it holds {len(names)} files")
        return held.read(names[0])


def _commas(source: Path, separator: str) -> bytes:
    text = source.read_bytes()
    if kind_of(source).endswith(COMPRESSED):
        try:
            text = _decompressed(text, source.suffix.lower())
        except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, *BROKEN) as error:
            raise DataFileError(
                f"cannot read {source}: {error}; expected one table, compressed as its suffix says"
            ) from None
    if separator == ",":
        return text
    written = io.StringIO(newline="")
    try:
        rows = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), delimiter=separator)
        csv.writer(written, lineterminator="\n").writerows(rows)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataFileError(
            f"cannot read {source}: {error}; expected text in UTF-8, with {separator!r} between the fields"
        ) from None
    return written.getvalue().encode()


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
    cells = csv_file.read(source)
    width = cells.width
    first = [cell.strip() for j in range(width) for cell in cells.head(j, 1)]
    asked = label is not None and label in first and not is_number(label)
    if header is not None:
        named = header
        if asked and not named:
            raise DataFileError(
                f"{source}: column {label!r} is asked for by name, but the first row is no header: {first}"
            )
    else:
        named = asked or (bool(known) and set(known) <= set(first))
        named = named or _is_header(source, first, cells, _position(label, first))
    names, stored = [str(j) for j in range(width)], tuple[str, ...]()
    if named:
        if len(cells) == 1:
            raise DataFileError(
                f"{source} has a header and no examples; if its only line is an example, --no-header says so"
            )
        names = [name if name or not j else f"Unnamed: {j}" for j, name in enumerate(first)]
        stored = tuple(name for name in takewhile(UNNAMED.fullmatch, names) if name not in known)
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataFileError(
                f"{source}, line 1: two columns are named {twice[0]!r}; expected names that tell them "
                "apart: rename one, or --no-header, if these are no names"
            )

    line = cells.line

    def place(i: int, name: str) -> str:
        said = repr(name) if named else name
        return f"line {line(i + named)}, column {said}"

    note = f"{'header in line' if named else 'no header: examples from line'} {cells.line(0)}"
    columns = csv_file.Texts(cells, names, int(named))
    return Table(source, columns, named, place, False, (note,), stored)


def _position(column: str | None, first: Sequence[str]) -> int:
    """Where a column stands; the last one where it is not said, -1 if nowhere, which is complained of later."""
    if column in first:
        return first.index(column)
    try:
        return int(column or -1) % len(first)
    except ValueError:
        return -1


def _is_header(source: Path, first: Sequence[str], cells: csv_file.Cells, label: int) -> bool:
    """Whether a first row has names; refused where it may be either.

    A cell that is text over a column of numbers is a name. So is one of a row of text that does not occur
    again in its column, and a label that no other row has beside names that are numbers in order (years,
    wavelengths, the positions that pandas writes).
    """
    texts = [j for j, cell in enumerate(first) if not _may_be_number(cell)]
    heads = [cells.head(j, 1 + LOOKED_AT)[1:] for j in range(cells.width)]
    below = [[cell.strip() for cell in column] for column in heads]
    digits = [[cell for cell in cells if is_number(cell)] for cells in below]
    over = [j for j in texts if digits[j] and all(map(_may_be_number, below[j]))]
    numbers = [float(cell) for cell in first if is_number(cell) and cell.lower() not in MISSING]
    if not numbers:
        return bool(over) or 2 * sum(map(cells.again, texts)) < len(texts)
    if label in over:
        return True
    steps = np.diff(numbers)
    rising, ordered = bool((steps > 0).all()), bool((steps > 0).all() or (steps < 0).all())
    even = ordered and bool(np.allclose(steps, steps[:1], rtol=1e-6, atol=0.0))
    whole = all(n == int(n) for n in numbers if np.isfinite(n))
    if texts:
        if any(map(cells.again, texts)) or len(set(first)) < len(first):
            return False
        if over:
            sure, likely = ordered, True
        else:
            word = label in texts and first[label].lower() in LABELS
            repeats = all(len(set(below[j])) < len(below[j]) for j in {label} & {*texts} or texts)
            enough = label in texts and repeats and len(numbers) > (2 if even else 4)
            sure, likely = ordered and (word or enough), word or (ordered and repeats and whole)
    else:
        counted = numbers[0] in (0.0, 1.0) and even and (steps == 1.0).all()
        point = [cells and all(set(cell.lower()) & set(".e") for cell in cells) for cells in digits]
        unlike = any(p and cell.isdigit() for p, cell in zip(point, first, strict=True))
        fractions = any(float(cell) % 1 for cells in digits for cell in cells)
        enough = len(numbers) + fractions > 4 or (unlike and len(numbers) > 2) or not first[0]
        sure = bool(counted and enough)
        likely = even and whole and (len(numbers) > (2 if rising else 4) or unlike)
    if likely and not sure:
        raise DataFileError(
            f"{source}, line 1: {', '.join(first)[:80]} may be an example or a header; expected --header or "
            "--no-header, which says so"
        )
    return sure


def _may_be_number(cell: str) -> bool:
    return is_number(cell) or cell.lower() in MISSING


# -- Parquet and Arrow ----------------------------------------------------------------------------


def read_columns(source: Path, wanted: Sequence[str | None] = ()) -> Table:
    """A Parquet or Arrow file, or a folder of such, its columns as they are typed.

    What pandas stored as the index is no column, unless it is ``wanted``. Of columns of lists it is only said
    that they are.
    """
    from fast.data import parts
    from fast.data.arrow import index_columns, is_listed, opened
    from fast.errors import InvalidParameterError

    files = parts(source) if source.is_dir() else [str(source)]
    empty, counts, first, booleans = list[Any](), list[int](), list[str](), set[str]()
    try:
        for name in files:
            with opened(name) as file:
                stored = [c for c in index_columns(file.schema) if c not in wanted]
                names = [c for c in file.schema.names if c not in stored]
                counts.append(sum(file.counts))
            flat = [f for f in map(file.schema.field, names) if not is_listed(f.type)]
            empty.append(file.schema.empty_table().select([f.name for f in flat]))
            booleans |= {f.name for f in flat if str(f.type) == "bool"}
            first = first or names
            if {*names} != {*first} or len({*names}) < len(names):
                raise DataFileError(f"{name} has the columns {listed(names)}; expected names that differ, and "
                                    f"the same in every part: {listed(first)}")  # fmt: skip
    except InvalidParameterError as error:
        raise DataFileError(str(error)) from error
    import pyarrow as pa  # which is there: files were opened

    def joined(tables: Sequence[Any]) -> Any:
        try:
            return pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowException as error:
            raise DataFileError(
                f"{source}: its parts differ ({error}); write them with one schema"
            ) from None

    kept = joined(empty).column_names
    if not sum(counts):
        raise DataFileError(f"{source} has no examples; expected one example per row")
    ends, size = np.cumsum(counts), max(AT_ONCE, -(-len(kept) // PASSES))

    @lru_cache(1)  # columns are asked for in their order
    def group(start: int) -> Any:
        try:
            tables = []
            for name, own in zip(files, empty, strict=True):
                with opened(name) as file:
                    tables.append(
                        file.read([c for c in kept[start : start + size] if c in own.column_names])
                    )
        except InvalidParameterError as error:
            raise DataFileError(str(error)) from error
        return joined(tables)

    def made(name: str) -> np.ndarray:
        if name in kept:
            return _array(group(kept.index(name) // size * size).column(name))
        lists = np.full(sum(counts), None)
        lists[:] = [[]] * len(lists)
        return lists

    columns = csv_file.Columns(first, made)

    def place(i: int, name: str) -> str:
        part = int(np.searchsorted(ends, i, "right"))
        where = f"{Path(files[part]).name}, " if len(files) > 1 else ""
        return f"{where}row {i - int(ends[part]) + counts[part]}, column {name!r}"

    notes = tuple(map(LEFT_OUT.format, stored))
    return Table(
        source, columns, True, place, True, notes, counts=tuple(zip(files, counts, strict=True)),
        booleans=booleans,
    )  # fmt: skip


def _array(column: Any) -> np.ndarray:
    """A column of Arrow as numbers, or as objects: text, None."""
    import pyarrow as pa
    import pyarrow.types as kind_of

    kind = column.type.value_type if kind_of.is_dictionary(column.type) else column.type
    tests = (kind_of.is_integer, kind_of.is_floating, kind_of.is_boolean, kind_of.is_decimal)
    if not any(is_(kind) for is_ in tests):
        return np.fromiter(column.to_pylist(), object, len(column))
    if kind != column.type:  # of text it may not be cast
        column = column.cast(kind)
    if kind_of.is_decimal(kind):
        column = column.cast(pa.float64())
    if column.null_count:
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())
    return np.asarray(column.to_numpy())


# -- data frames ----------------------------------------------------------------------------------


def of_frame(frame: object) -> Table:
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
