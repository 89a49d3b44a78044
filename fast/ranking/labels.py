"""Scores and binary labels of ranking problems, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._validation import label_array, real_array, refuse_masked
from fast.errors import InvalidParameterError, InvalidTypeError

_ACCEPTED = "True or 1 for positives, False, 0 or -1 for negatives"


def scores_of(value: ArrayLike) -> NDArray[np.float64]:
    """A vector of scores as contiguous float64; whether they are finite is left to the methods."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and value.size:
        return np.ascontiguousarray(value)
    return np.ascontiguousarray(real_array("scores", value, (1,)), dtype=np.float64)


def positives_of(y: ArrayLike, n: int, compiled: bool = True) -> tuple[NDArray[np.bool_], int]:
    """Mask of the positives and their number; at least one positive and one negative."""
    mask = mask_of(y, n, compiled=compiled)
    ones = int(np.count_nonzero(mask))
    if ones == 0 or ones == mask.shape[0]:
        raise InvalidParameterError(
            "y",
            f"{ones} positives among {mask.shape[0]} samples",
            "at least one positive and one negative",
            "drop this query: no ranking of it is better than another",
        )
    return mask, ones


def own_of(y: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Mask of the positives: (n,) of binary labels, or (n, m) of bool as it is."""
    given = np.asarray(y)
    if given.ndim == 2 and given.dtype == np.bool_ and len(given) == n:
        return positives_of(given.ravel(), given.size)[0].reshape(given.shape)
    return positives_of(y, n)[0]


def mask_of(
    y: ArrayLike, n: int | None = None, name: str = "y", compiled: bool = False
) -> NDArray[np.bool_]:
    """Binary labels as booleans, whatever the classes' sizes; ``compiled`` reads them once only."""
    refuse_masked(name, y)
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InvalidTypeError(name, str(error), "one label per score", "pass a vector") from None
    array = label_array(name, array) if array.dtype.kind == "O" else array
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
    mask = np.empty(array.shape, dtype=np.bool_)
    zeros, minus, others = (_read_compiled if compiled else _read)(array, mask)
    if others:
        i = int(np.flatnonzero(~((array == 1) | (array == 0) | (array == -1)))[0])
        raise InvalidParameterError(
            name, f"{name}[{i}] = {array[i]}", _ACCEPTED, "recode the labels"
        )
    if zeros and minus:
        raise InvalidParameterError(
            name, "both 0 and -1", _ACCEPTED, "write negatives as 0, or as -1, not as both"
        )
    return mask


def _read(labels: NDArray[Any], mask: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Write where labels are 1; returns how many are 0, -1 and anything else."""
    np.equal(labels, 1, out=mask)
    zeros, minus = int(np.count_nonzero(labels == 0)), int(np.count_nonzero(labels == -1))
    return zeros, minus, len(labels) - int(np.count_nonzero(mask)) - zeros - minus


def _read_compiled(labels: NDArray[Any], mask: NDArray[np.bool_]) -> tuple[int, int, int]:
    """As ``_read``, in one pass."""
    from fast.ranking.split import read_labels

    if labels.dtype not in (np.int64, np.float64, np.int32, np.int8):
        return _read(labels, mask)
    view = np.ascontiguousarray(labels).view()
    view.flags.writeable = False
    return read_labels(view, mask.view(np.uint8))


def group_codes(groups: Any, n: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Numbers 0..Q - 1 of the groups, one per sample, and the groups' names."""
    refuse_masked("groups", groups)
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
