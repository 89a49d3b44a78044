"""Reads labelled examples from .csv, .npz and .svm files; every complaint names file, row and fix."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import VerificationError

SUFFIXES = (".csv", ".npz", ".svm", ".svmlight", ".libsvm")


class DataFileError(VerificationError, ValueError):
    """A data file is missing, malformed, or not what the options say it is."""


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
    X : (n, d) float64 array, or CSR matrix for svm files.
    y : (n,) labels: integers where all are, else strings (svm: floats become integers where they are).

    Raises
    ------
    DataFileError
        Unknown suffix, missing file or column, text or nothing where a number is expected.
    """
    source = Path(path)
    if source.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"cannot read {source}: the suffix {source.suffix!r} is not one of {', '.join(SUFFIXES)}"
        )
    if not source.is_file():
        raise DataFileError(f"cannot read {source}: there is no such file")
    if source.suffix.lower() == ".csv":
        return _read_csv(source, label)
    if source.suffix.lower() == ".npz":
        return _read_npz(source, label or "y")
    return _read_svm(source, label, n_features)


def _read_csv(source: Path, label: str | None) -> tuple[np.ndarray, np.ndarray]:
    try:
        with source.open(newline="", encoding="utf-8-sig") as handle:
            lines = [(i, row) for i, row in enumerate(csv.reader(handle), start=1) if row]
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{source} is not UTF-8 text ({error.reason}); convert it first"
        ) from error
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
    return X, _labels(np.array([row[column].strip() for _, row in lines]))


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


def _labels(texts: np.ndarray) -> np.ndarray:
    try:
        return texts.astype(np.int64)
    except ValueError:
        return texts


def _read_npz(source: Path, label: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        with np.load(source, allow_pickle=False) as arrays:
            missing = [name for name in ("X", label) if name not in arrays]
            if missing:
                raise DataFileError(
                    f"{source} lacks the array(s) {missing}; it holds {sorted(arrays)}"
                )
            X, y = arrays["X"], arrays[label]
    except DataFileError:
        raise
    except (OSError, ValueError) as error:
        raise DataFileError(f"{source} is not a readable .npz of plain arrays: {error}") from error
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise DataFileError(
            f"{source}: expected X (n, d) and {label} (n,), got {X.shape} and {y.shape}"
        )
    if X.dtype.kind not in "fiub":
        raise DataFileError(f"{source}: X has dtype {X.dtype}; expected real numbers")
    return X.astype(np.float64), y


def _read_svm(source: Path, label: str | None, n_features: int | None) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    if label is not None:
        raise DataFileError(
            f"{source}: --label does not apply to svm files, whose label comes first on each line"
        )
    try:
        X, y = load_svmlight_file(str(source), n_features=n_features)
    except (ValueError, OSError) as error:
        raise DataFileError(f"{source} is not in svmlight format: {error}") from error
    if X.shape[0] == 0:
        raise DataFileError(f"{source} holds no examples")
    whole = y.astype(np.int64)
    return X, whole if np.array_equal(whole, y) else y
