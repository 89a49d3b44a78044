"""Labels of examples in files of their own, and labels as columns of a table."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fast.data import COLUMNS, parts
from verification.app.dataset import Examples, Roles
from verification.app.labels import UNLABELLED, classes_of, listed
from verification.app.multilabel import indicator
from verification.app.tables import Table, as_csv, is_text, read_columns, read_csv
from verification.errors import DataFileError


def read_labels(
    source: Path, roles: Roles, counts: Sequence[tuple[str, int]],
    known: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Labels of rows of features: an .npy file, a column of a table, or a folder of such, part by part.

    Parameters
    ----------
    source : of the labels.
    roles : the column of a table, which may be left out where there is only one; whether CSV has a header.
    counts : names and numbers of rows of the files, or parts, of features.
    known : see `classes_of`.
    """
    files = [Path(part) for part in parts(source)] if source.is_dir() else [source]
    found = [_label_array(file, roles.label, roles.header, roles.separator) for file in files]
    if len(files) > 1 and len(counts) > 1 and len(files) != len(counts):
        raise DataFileError(
            f"{source} has {len(files)} parts, the features have {len(counts)}; expected a part of labels for "
            "each part of features"
        )
    if len(files) == len(counts):
        for (name, n), file, part in zip(counts, files, found, strict=True):
            _check_length(file, part, name, n)
            ours, theirs = (re.findall(r"\d+", Path(each).stem)[-1:] for each in (name, file))
            if len(files) > 1 and ours and theirs and int(ours[0]) != int(theirs[0]):
                raise DataFileError(
                    f"{file} would be the labels of {name}; expected parts of the same numbers: a part is missing"
                )
    whole = found[0] if len(found) == 1 else np.concatenate(found)
    _check_length(source, whole, counts[0][0], sum(n for _, n in counts))
    return classes_of(source, whole, "row {}".format, known)


def with_indicator(examples: Examples, source: Path, roles: Roles) -> Examples:
    """Several labels of an example: a matrix (n, m) of 0 and 1 in a .npy file, or columns of a table."""
    if source.suffix.lower() == ".npy":
        held = npy_file(source)
        names = tuple(map(str, range(held.shape[-1])))
    else:
        csv = is_text(source)
        table = read_csv(as_csv(source, roles.separator), None, roles.header) if csv else read_columns(source)
        names = roles.labels or ()
        names = tuple(map(table.find, names or table.own))
        held = np.column_stack([table.values(name) for name in names])
    y = indicator(source, held, names, lambda i, name: f"row {i}, {name}")
    _check_length(source, y[:, 0], str(examples.source), examples.X.shape[0])
    return replace(examples, y=y, labels=names)


def _check_length(source: Path, y: np.ndarray, name: str, n: int) -> None:
    if y.ndim != 1 or len(y) != n:
        raise DataFileError(
            f"{source} holds labels of shape {y.shape}; expected {n}, one for each row of {name}"
            f"{'; --header or --no-header says whether its first row has a name' * is_text(source)}"
        )


def _label_array(
    source: Path, column: str | None, header: bool | None, separator: str | None
) -> np.ndarray:  # fmt: skip
    suffix = source.suffix.lower()
    if suffix == ".npy":
        if column is not None:
            raise DataFileError(
                f"--label {column} names a column; expected a table of labels, not {source}"
            )
        y = npy_file(source)
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if not is_text(source) and suffix not in COLUMNS:
        raise DataFileError(
            f"cannot read labels from {source}; expected .npy, or a table (.csv, {', '.join(COLUMNS)}) of them"
        )
    csv = is_text(source)
    table = read_csv(as_csv(source, separator), column or "-1", header) if csv else read_columns(source, [column])
    if column is None and len(table.own) > 1:
        raise DataFileError(
            f"{source} has the columns {listed(table.own)}; expected --label with the one of labels"
        )
    return typed_labels(table, table.find(column or "-1"))


def typed_labels(table: Table, name: str, rows: np.ndarray | None = None) -> np.ndarray:
    """A column of labels, or some rows of it: text that is typed as dtype U, text that is not as objects."""
    column = table.text(name)
    column = column if rows is None else column[rows]
    if not table.typed or column.dtype != object:
        return column
    if gaps := [i for i, entry in enumerate(column) if entry is None or entry == ""]:
        raise DataFileError(
            f"{table.source}, {table.place(gaps[0], name).partition(',')[0]}: the label is missing; expected "
            f"the name or number of a class: {UNLABELLED}"
        )
    if (odd := next((e for e in column if not isinstance(e, str)), None)) is not None:
        raise DataFileError(
            f"{table.source}: the column of labels {name!r} holds {type(odd).__name__}; expected integers or "
            "text: convert it, or name another one with --label"
        )
    return column.astype(str)


def npy_file(source: Path) -> np.ndarray:
    """The array of a .npy file; objects are refused."""
    try:
        return np.asarray(np.load(source, allow_pickle=False))
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataFileError(
            f"cannot read {source}: {why}; expected a .npy file of numbers or text, not of objects"
        ) from None
