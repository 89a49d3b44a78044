"""Bags of candidates: checked, and stacked into one matrix of rows."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fast._validation import MAGNITUDE, raise_bad_entry, real_array
from fast.errors import InvalidParameterError, InvalidTypeError


class Bags(NamedTuple):
    """Candidates of all bags, bag after bag.

    ``rows`` (n_rows, d) float64 or float32, ``first`` (n_bags,) the first row of each bag, ``bag``
    (n_rows,) the bag of each row.
    """

    rows: np.ndarray
    first: np.ndarray
    bag: np.ndarray


def stack(X: Any, n_features: int | None = None) -> Bags:
    """Bags from a sequence of (n_candidates, d) arrays, or from one (n_bags, n_candidates, d).

    Parameters
    ----------
    X : sequence of arrays, or array
        Real numbers; float32 stays float32 if all are.
    n_features : int, optional
        d of the fit.

    Raises
    ------
    InvalidParameterError
        No bags, an empty bag, rows of another length, nan, inf or numbers beyond 1e70.
    """
    axes = getattr(X, "ndim", 3)
    if isinstance(X, str | dict) or sp.issparse(X) or axes == 0 or not hasattr(X, "__len__"):
        raise InvalidTypeError(
            "X",
            type(X).__name__,
            "a sequence of dense (n_candidates, d) arrays, or one (n_bags, n_candidates, d) array",
            "pass a list with one matrix per bag",
        )
    if axes == 2 and getattr(X, "dtype", None) != "O":
        raise InvalidParameterError(
            "X",
            "one matrix",
            "a sequence of (n_candidates, d) arrays, or one (n_bags, n_candidates, d) array",
            "reshape it to (n_bags, 1, d) if every bag has one candidate, or use APSVM",
        )
    given = list(X)
    if not given:
        raise InvalidParameterError("X", "no bags", "at least one bag", "add bags")
    bags = [_matrix(i, bag) for i, bag in enumerate(given)]
    d = bags[0].shape[1] if n_features is None else n_features
    for i, bag in enumerate(bags):
        if bag.shape[1] != d:
            where = "bag 0" if n_features is None else "the fit"
            raise InvalidParameterError(
                "X",
                f"bag {i} has {bag.shape[1]} features, {where} {d}",
                f"candidates with {d} features",
                "describe all candidates by the same features",
            )
    rows = np.ascontiguousarray(np.concatenate(bags))
    sizes = np.array([len(bag) for bag in bags])
    bag = np.repeat(np.arange(len(bags)), sizes)
    first = np.cumsum(sizes) - sizes
    largest = float(max(rows.max(), -rows.min()))  # nan if there is one
    if not largest <= MAGNITUDE:
        i = int(bag[np.argmax(~(np.abs(rows).max(axis=1) <= MAGNITUDE))])
        raise_bad_entry(f"X[{i}]", bags[i], limit=MAGNITUDE)
    return Bags(rows, first, bag)


def _matrix(i: int, bag: Any) -> np.ndarray:
    """One bag's candidates."""
    name = f"X[{i}]"
    if sp.issparse(bag):
        raise InvalidTypeError(
            name, type(bag).__name__, "a dense array", "convert it by .toarray()"
        )
    if hasattr(bag, "__len__") and not isinstance(bag, str) and len(bag) == 0:
        raise InvalidParameterError(
            name, "an empty bag", "at least one candidate", "drop the bag, or add a candidate"
        )
    return real_array(name, bag, (2,))
