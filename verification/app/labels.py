"""Labels of examples as classes: what is typed stays what it is, text of text files becomes numbers or names."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import DataFileError

#: What stands in a text file for a value that is not known, in any case: of features, labels, queries, weights.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "?"})
#: How to go on where labels are missing.
UNLABELLED = "rows of a table without a label are left out with --drop-unlabelled"
#: Numbers with a zero before their digits, as zip codes have.
PADDED = re.compile(r"\s*[+-]?0[0-9]", re.ASCII)
#: What a missing category is called.
UNKNOWN = "(missing)"
#: A label is a number or a name; one that is longer is a part of the file that went astray.
LONGEST_LABEL = 1000
#: More classes than this are believed of numbers only where each has two examples on average.
MANY_CLASSES = 10
#: Whole numbers in plain decimal notation: 7, -1, +1, 2.0; not 07, 1e3 or 1_0.
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.0*)?", re.ASCII)
_NUMBER = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)

Place = Callable[[int], str]


def listed(names: Iterable[object], most: int = 8) -> str:
    """Names for a complaint: the first of them, and how many there are besides."""
    texts = [f"{name!r:.40}" for name in names]
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return f"[{', '.join([*texts[:most], *more])}]"


def is_number(text: str) -> bool:
    """Whether pandas reads it as a number; Python also takes 1_0 and digits of other scripts."""
    return _NUMBER.fullmatch(text) is not None


def unlabelled(column: np.ndarray, typed: bool) -> np.ndarray:
    """Which entries of a column of labels are missing, (n,) booleans; text that is ``typed`` is a name but for ""."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind not in "UO":
        return np.zeros(len(column), bool)
    missing = {""} if typed else MISSING
    return np.array([e is None or (isinstance(e, str) and e.lower() in missing) for e in column.tolist()], bool)


def classes_of(
    source: Path, given: np.ndarray, place: Place, known: np.ndarray | None = None
) -> np.ndarray:
    """Classes of the labels of a file, (n,) integers, booleans or text.

    Numbers have to be whole. Text that is typed as text (dtype U, or `typed`) stays text. Text of a text
    file (dtype object) is a number only where all of it is whole numbers in plain decimal notation, no two
    texts of which are one number; True and False are booleans; all else is text.

    Parameters
    ----------
    source : what errors name.
    given : (n,).
    place : where the label of row i stands.
    known : the classes of a model. Where they are numbers, so is text that is a whole number; where they
        are text it stays text; numbers of any number are believed to be classes.

    Raises
    ------
    DataFileError
        A label that is missing, no class, or beyond the integers that are told apart.
    """
    if given.dtype.kind == "S":
        given = _decoded(source, given)
    if given.dtype.kind in "fiub":
        return _numbers(source, given, place, known is not None)
    if given.dtype.kind not in "UO":
        raise DataFileError(
            f"{source}: the labels have dtype {given.dtype}; expected integers, booleans or text"
        )
    labels: list[Any] = given.tolist()
    typed = given.dtype.kind == "U"
    _check_names(source, labels, typed, place)
    found = np.array(labels)
    if typed or (known is not None and known.dtype.kind == "U"):
        return found
    texts = sorted(set(labels))
    if {text.lower() for text in texts} <= {"true", "false"} and len(texts) < 3:
        return np.char.lower(found) == "true"
    if all(is_number(text) for text in texts):
        values = np.array([float(text) for text in labels])
        if not (np.isfinite(values) & (values == np.trunc(values))).all():
            return _numbers(source, values, place, known is not None)  # refused
    if not all(_WHOLE.fullmatch(text) for text in texts):
        return found
    whole = {text: int(text.partition(".")[0]) for text in texts}
    if len(set(whole.values())) < len(texts) and known is None:
        return found
    if odd := [text for text in texts if not -(2**63) <= whole[text] < 2**63]:
        raise _too_large(source, place(labels.index(odd[0])), odd[0])
    y = np.array([whole[text] for text in labels], np.int64)
    return _numbers(source, y, place, known is not None)


def _check_names(source: Path, labels: list[Any], typed: bool, place: Place) -> None:
    """Refuse what is no name of a class."""
    for text in set(labels):
        missing = text is None or not text or (not typed and text.lower() in MISSING)
        if missing or len(text) > LONGEST_LABEL or "\x00" in text:  # numpy would drop a NUL
            long = len(text or "") > LONGEST_LABEL
            said = f"of {len(text)} characters" if long else repr(text or "")
            raise DataFileError(
                f"{source}, {place(labels.index(text))}: the label is {said}; expected the name or "
                f"number of a class: {UNLABELLED}; a class of that name needs another one"
            )


def _decoded(source: Path, given: np.ndarray) -> np.ndarray:
    try:
        return np.char.decode(given, "utf-8")
    except UnicodeDecodeError:
        raise DataFileError(
            f"{source}: the labels are bytes (dtype {given.dtype}) that are not UTF-8; expected text: "
            "np.char.decode(labels, encoding)"
        ) from None


def _numbers(source: Path, y: np.ndarray, place: Place, known: bool) -> np.ndarray:
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
                    else UNLABELLED
                )
            )
        large = np.flatnonzero(np.abs(y) >= 2**53)  # 2**53 may be 2**53 + 1 that was rounded
        if large.size:
            raise _too_large(source, place(int(large[0])), f"{y[large[0]]:.17g}")
        y = y.astype(np.int64)
    elif y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        i = int(np.argmax(y))
        raise _too_large(source, place(i), str(y[i]))
    classes = len(np.unique(y))
    if classes > MANY_CLASSES and 2 * classes > len(y) and not known:
        raise DataFileError(
            f"{source}: {classes} different numbers are the labels of {len(y)} examples; expected "
            "classes with more than one example each: counts and measurements are put into classes first, or "
            "another label is named with --label; if these are the names of classes, write them as text (c17 instead "
            "of 17)"
        )
    return y


def _too_large(source: Path, place: str, label: str) -> DataFileError:
    return DataFileError(
        f"{source}, {place}: the label {label} is beyond the integers that are told apart (int64, as "
        "floats below 2**53); if it is the name of a class, write it as text (c17 instead of 17)"
    )
