"""Labels of examples as classes: whole numbers become integers, names stay names, measurements are refused."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from verification.errors import DataFileError

#: A label is a number or a name; one that is longer is a part of the file that went astray.
LONGEST_LABEL = 1000
#: More classes than this are believed of numbers only where each has two examples on average.
MANY_CLASSES = 100


def listed(names: Iterable[object], most: int = 8) -> str:
    """Names for a complaint: the first of them, and how many there are besides."""
    texts = [f"{name!r:.40}" for name in names]
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return f"[{', '.join([*texts[:most], *more])}]"


def is_number(text: str) -> bool:
    """Whether Python reads it as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def text_classes(source: Path, labels: list[str], place: Callable[[int], str]) -> np.ndarray:
    """Labels that are text: whole numbers become integers, names stay what they are."""
    for text in set(labels):
        missing = not text or (is_number(text) and math.isnan(float(text)))
        if missing or len(text) > LONGEST_LABEL or "\x00" in text:  # numpy would drop a NUL
            said = f"of {len(text)} characters" if len(text) > LONGEST_LABEL else repr(text)
            raise DataFileError(
                f"{source}, {place(labels.index(text))}: the label is {said}; expected the name or "
                "number of a class: leave out examples whose class is not known"
            )
    texts = np.array(labels)
    try:
        return number_classes(source, texts.astype(np.int64), place)
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
    return number_classes(source, numbers, place)


def number_classes(source: Path, y: np.ndarray, place: Callable[[int], str]) -> np.ndarray:
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
