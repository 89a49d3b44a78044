"""Scores and binary labels of ranking problems, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._validation import real_array
from fast.errors import InvalidParameterError, InvalidTypeError

_ACCEPTED = "True or 1 for positives, False, 0 or -1 for negatives"


def scores_of(value: ArrayLike) -> NDArray[np.float64]:
    """A vector of scores as contiguous float64; whether they are finite is left to the methods."""
    return np.ascontiguousarray(real_array("scores", value, (1,)), dtype=np.float64)


def positives_of(y: ArrayLike, n: int | None = None, name: str = "y") -> NDArray[np.bool_]:
    """Mask of the positives; at least one positive and one negative."""
    mask = mask_of(y, n, name)
    ones = np.count_nonzero(mask)
    if ones == 0 or ones == mask.shape[0]:
        raise InvalidParameterError(
            name,
            f"{ones} positives among {mask.shape[0]} samples",
            "at least one positive and one negative",
            "drop this query: no ranking of it is better than another",
        )
    return mask


def mask_of(y: ArrayLike, n: int | None = None, name: str = "y") -> NDArray[np.bool_]:
    """Binary labels as booleans, whatever the classes' sizes."""
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InvalidTypeError(name, str(error), "one label per score", "pass a vector") from None
    if array.ndim != 1 or (n is not None and array.shape[0] != n):
        raise InvalidParameterError(
            name,
            f"shape {array.shape}",
            "a vector" if n is None else f"shape ({n},): one label per score",
            f"match {name} to the scores",
        )
    if array.size == 0:
        raise InvalidParameterError(name, "no samples", _ACCEPTED, "add samples")
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "iuf":
        raise InvalidTypeError(
            name, f"dtype {array.dtype}", _ACCEPTED, f"encode it, for example {name} == 'relevant'"
        )
    mask = array == 1
    if array.dtype.kind == "f":
        wrong = ~(mask | (array == 0) | (array == -1))
    elif array.max() > 1 or array.min() < -1:
        wrong = (array > 1) | (array < -1)
    else:
        wrong = mask[:0]
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise InvalidParameterError(
            name, f"{name}[{i}] = {array[i]}", _ACCEPTED, "recode the labels"
        )
    if array.min() == -1 and not array.all():
        raise InvalidParameterError(
            name, "both 0 and -1", _ACCEPTED, "write negatives as 0, or as -1, not as both"
        )
    return mask


def group_codes(groups: Any, n: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Numbers 0..Q - 1 of the groups, one per sample, and the groups' names."""
    array = np.asarray(groups)
    if array.shape != (n,):
        raise InvalidParameterError(
            "groups",
            f"shape {array.shape}",
            f"shape ({n},): one group per sample",
            "pass the query of each sample",
        )
    if array.dtype.kind not in "iubUSO":
        raise InvalidTypeError(
            "groups", f"dtype {array.dtype}", "integers or strings", "number the queries"
        )
    names, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int64).reshape(n), names
