"""Reads labelled examples from .csv, .npz and .svm files; every complaint names file, row and fix."""

import csv
import math
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import DataFileError
from verification.instances import npz
from verification.instances.files import check_regular

SUFFIXES = (".csv", ".npz", ".svm", ".svmlight", ".libsvm")


#: A label is a number or a name; one that is longer is a part of the file that went astray.
LONGEST_LABEL = 1000
#: More classes than this are believed of numbers only where each has two examples on average.
MANY_CLASSES = 100


def read_examples(
    path: str | Path, label: str | None = None, n_features: int | None = None
) -> tuple[Any, np.ndarray]:
    """Read features and labels.

    Parameters
    ----------
    path : path to a ``.csv`` (comma separated, an optional header row), ``.npz`` (arrays ``X`` and
        ``y``) or ``.svm`` / ``.svmlight`` / ``.libsvm`` file.
    label : csv: name or zero-based position of the label column (default: the last);
        npz: name of the label array (default ``y``); svm files have their own place for it.
    n_features : svm only: number of features, where the file may lack the last ones.

    Returns
    -------
    X : (n, d) float64 array, or CSR matrix for svm files; all entries are finite.
    y : (n,) labels: integers where all are whole numbers, else strings.

    Raises
    ------
    DataFileError
        Unknown suffix, missing file or column, text or nothing where a number is expected, labels
        that are missing or no classes; it names the file, the place, what was expected and the fix.
    """
    source = Path(path)
    if source.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"cannot read {source}: the suffix {source.suffix!r} is not one of {', '.join(SUFFIXES)}"
        )
    try:
        check_regular(source)
        if source.suffix.lower() == ".csv":
            return _read_csv(source, label)
        if source.suffix.lower() == ".npz":
            return _read_npz(source, label or "y")
        return _read_svm(source, label, n_features)
    except OSError as error:
        raise DataFileError(
            f"cannot read {source}: {error.strerror or error}; expected a file that may be read"
        ) from error
    except MemoryError:
        raise DataFileError(
            f"{source} holds more than the memory of this machine; train on a part of it"
        ) from None


def feature_names(path: str | Path, label: str | None = None) -> tuple[str, ...] | None:
    """Names of the features in the order of `read_examples`; None where the file has none."""
    source = Path(path)
    if source.suffix.lower() != ".csv":
        return None
    with source.open(newline="", encoding="utf-8-sig") as handle:
        first = [field.strip() for field in next(filter(None, csv.reader(handle, strict=True)))]
    column = _label_column(source, label, first, len(first))
    names = tuple(first[:column] + first[column + 1 :])
    return None if any(map(_is_number, names)) else names


def _read_csv(source: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    lines = _csv_rows(source)
    if not lines:
        raise DataFileError(f"{source} is empty; expected one example per row")
    width = len(lines[0][1])
    for i, row in lines:
        if len(row) != width:
            raise DataFileError(
                f"{source}, line {i}: {len(row)} fields where line {lines[0][0]} has {width}"
            )
    if width < 2:
        raise DataFileError(
            f"{source} has one column; expected features and a label, separated by commas"
        )
    first = [field.strip() for field in lines[0][1]]
    column = _label_column(source, label, first, width)
    # A header is a first row in which no feature is a number.
    has_header = not any(_is_number(f) for j, f in enumerate(first) if j != column)
    if has_header:
        lines = lines[1:]
        if not lines:
            raise DataFileError(f"{source} has a header and no examples")
    elif label is not None and label in first and not _is_number(label):
        raise DataFileError(
            f"{source}: label column {label!r} asked for by name, but the first row is no header: {first}"
        )
    others = [j for j in range(width) if j != column]
    try:
        X = np.array([[row[j] for j in others] for _, row in lines], dtype=np.float64)
    except ValueError:
        i, j, text = next(
            (i, j, row[j]) for i, row in lines for j in others if not _is_number(row[j])
        )
        name = repr(first[j]) if has_header else str(j)
        raise DataFileError(
            f"{source}, line {i}, column {name}: expected a number, got {text!r}; "
            "encode categories and fill gaps first, or name the label column with --label"
        ) from None
    numbers = [i for i, _ in lines]
    _check_finite(source, X, lambda i, j: f"line {numbers[i]}, column {others[j]}")
    labels = [row[column].strip() for _, row in lines]
    return X, _text_classes(source, labels, lambda i: f"line {numbers[i]}")


def _csv_rows(source: Path) -> list[tuple[int, list[str]]]:
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


def _label_column(source: Path, label: str | None, first: list[str], width: int) -> int:
    if label is None:
        return width - 1
    if label in first and not _is_number(label):
        return first.index(label)
    try:
        column = int(label)
    except ValueError:
        raise DataFileError(f"{source} has no column {label!r}; its first row is {first}") from None
    if not -width <= column < width:
        raise DataFileError(f"{source} has no column {column}; expected -{width}..{width - 1}")
    return column % width


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_finite(source: Path, X: Any, place: Callable[[int, int], str]) -> None:
    sparse = hasattr(X, "indptr")
    bad = np.flatnonzero(~np.isfinite(X.data if sparse else X))
    if not bad.size:
        return
    if sparse:
        i, j = int(np.searchsorted(X.indptr, bad[0], "right")) - 1, int(X.indices[bad[0]])
        value = X.data[bad[0]]
    else:
        i, j = (int(k) for k in np.unravel_index(bad[0], X.shape))
        value = X[i, j]
    kind = "NaN" if np.isnan(value) else "inf"
    raise DataFileError(
        f"{source}, {place(i, j)}: the feature is {kind}; expected a finite number: fill the gap or "
        "leave the example out"
    )


def _text_classes(source: Path, labels: list[str], place: Callable[[int], str]) -> np.ndarray:
    """Labels that are text: whole numbers become integers, names stay what they are."""
    for text in set(labels):
        missing = not text or (_is_number(text) and math.isnan(float(text)))
        if missing or len(text) > LONGEST_LABEL or "\x00" in text:  # numpy would drop a NUL
            said = f"of {len(text)} characters" if len(text) > LONGEST_LABEL else repr(text)
            raise DataFileError(
                f"{source}, {place(labels.index(text))}: the label is {said}; expected the name or "
                "number of a class: leave out examples whose class is not known"
            )
    texts = np.array(labels)
    try:
        return _number_classes(source, texts.astype(np.int64), place)
    except OverflowError:
        i = next(i for i, text in enumerate(labels) if not -(2**63) <= int(text) < 2**63)
        raise _too_large(source, place(i), labels[i]) from None
    except ValueError as error:
        if isinstance(error, DataFileError):
            raise
    try:
        with np.errstate(over="ignore"):
            numbers = texts.astype(np.float64)
    except ValueError:
        return texts
    return _number_classes(source, numbers, place)


def _number_classes(source: Path, y: np.ndarray, place: Callable[[int], str]) -> np.ndarray:
    """Labels that are numbers, as integers (or booleans); refused where they look like measurements."""
    if y.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(y) | (y != np.trunc(y)))
        if bad.size:
            fraction = np.isfinite(y[bad[0]])
            raise DataFileError(
                f"{source}, {place(int(bad[0]))}: the label is {y[bad[0]]:g}; expected the name or number "
                "of a class: "
                + (
                    "measurements are put into classes first, or another label is named with --label"
                    if fraction
                    else "leave out examples whose class is not known"
                )
            )
        large = np.flatnonzero(np.abs(y) > 2**53)
        if large.size:
            raise _too_large(source, place(int(large[0])), f"{y[large[0]]:g}")
        y = y.astype(np.int64)
    elif y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        i = int(np.argmax(y))
        raise _too_large(source, place(i), str(y[i]))
    classes = len(np.unique(y))
    if classes > MANY_CLASSES and 2 * classes > len(y):
        raise DataFileError(
            f"{source}: {classes} different numbers are the labels of {len(y)} examples; expected "
            "classes with more than one example each: name the label with --label, or, if these are "
            "the names of classes, write them as text (c17 instead of 17)"
        )
    return y


def _too_large(source: Path, place: str, label: str) -> DataFileError:
    return DataFileError(
        f"{source}, {place}: the label {label} is beyond the integers that are told apart (int64, as "
        "floats up to 2**53); if it is the name of a class, write it as text (c17 instead of 17)"
    )


def _read_npz(source: Path, label: str) -> tuple[np.ndarray, np.ndarray]:
    arrays = npz.read(source, ("X", label))
    X, y = arrays["X"], arrays[label]
    if X.ndim != 2 or y.shape != X.shape[:1] or not X.size:
        raise DataFileError(
            f"{source}: expected X (n, d) and {label} (n,), n and d at least 1, got {X.shape} and "
            f"{y.shape}"
        )
    if X.dtype.kind not in "fiub":
        raise DataFileError(f"{source}: X has dtype {X.dtype}; expected real numbers")
    with np.errstate(over="ignore"):
        X = X.astype(np.float64, order="C")
    _check_finite(source, X, lambda i, j: f"X[{i}, {j}]")

    def place(i: int) -> str:
        return f"{label}[{i}]"

    if y.dtype.kind in "fiub":
        return X, _number_classes(source, y, place)
    if y.dtype.kind == "U":
        _text_classes(source, y.tolist(), place)
        return X, y
    raise DataFileError(
        f"{source}: {label} has dtype {y.dtype}; expected integers or text: convert with astype(str)"
    )


def _read_svm(source: Path, label: str | None, n_features: int | None) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    if label is not None:
        raise DataFileError(
            f"{source}: --label does not apply to svm files, whose label comes first on each line"
        )
    try:
        X, y = load_svmlight_file(str(source), n_features=n_features)
    except (ValueError, OverflowError) as error:
        line, said = _first_wrong_line(source.read_bytes().split(b"\n"), n_features)
        raise DataFileError(
            f"{source}, line {line}: not in svmlight format: {said or error}; expected a class and then "
            f"INDEX:VALUE with growing indices up to {n_features or 2**31 - 1}"
        ) from error
    if X.shape[0] == 0:
        raise DataFileError(f"{source} holds no examples; expected one per line: 3 1:0.5 7:-2")

    def place(i: int, j: int = -1) -> str:
        return f"example {i + 1}" + f", feature {j + 1}" * (j >= 0)

    y = _number_classes(source, y, place)
    _check_finite(source, X, place)
    need = 8 * X.shape[1] * len(np.unique(y))
    if need > (memory := _memory()) // 2:
        i = int(np.searchsorted(X.indptr, int(np.argmax(X.indices)), "right")) - 1
        raise DataFileError(
            f"{source}, {place(i, X.shape[1] - 1)}: that many features make weights of {need} bytes, "
            f"where this machine has a memory of {memory}; number the features that occur from 1 on"
        )
    return X, y


def _first_wrong_line(lines: list[bytes], n_features: int | None) -> tuple[int, str]:
    """The first line that is refused, by bisection, and the words of scikit-learn."""
    from sklearn.datasets import load_svmlight_file

    low, high, said = 0, len(lines), ""
    while high - low > 1:
        middle = (low + high) // 2
        try:
            load_svmlight_file(BytesIO(b"\n".join(lines[low:middle])), n_features=n_features)
            low = middle
        except (ValueError, OverflowError) as error:
            high, said = middle, str(error)
    return low + 1, said


def _memory() -> int:
    """Bytes of memory of this machine; 16 GiB where nobody says."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 2**34
