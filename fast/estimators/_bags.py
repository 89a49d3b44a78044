"""Bags of candidates: checked, and stacked into one matrix of rows."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fast._validation import MAGNITUDE, raise_bad_entry, real_array
from fast.data import Source
from fast.data.columns import aligned, feature_names, tabular
from fast.errors import InvalidParameterError, InvalidTypeError


class Bags(NamedTuple):
    """Candidates of all bags, bag after bag.

    ``rows`` (n_rows, d), dense or CSR, float64 or float32, ``first`` (n_bags,) the first row of each bag, ``bag``
    (n_rows,) the bag of each row; ``names`` of the features, where bags are data frames.
    """

    rows: Any
    first: np.ndarray
    bag: np.ndarray
    names: list[str] | None = None


def stack(X: Any, n_features: int | None = None, names: Any = None) -> Bags:
    """Bags from a sequence of (n_candidates, d) matrices, or one array (n_bags, n_candidates, d).

    Parameters
    ----------
    X : sequence of arrays, sparse matrices or data frames, or array
        Real numbers; float32 stays float32 if all are. One sparse matrix makes all rows CSR.
        Columns of data frames are those of the first, or of the fit, by their names.
    n_features : int, optional
        d of the fit.
    names : sequence of str, optional
        Of the features of the fit.

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
            "a sequence of (n_candidates, d) matrices, or one (n_bags, n_candidates, d) array",
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
    given = [tabular(bag, f"X[{i}]") for i, bag in enumerate(given)]
    names = next(filter(None, map(feature_names, given)), None) if names is None else names
    given = [aligned(bag, names, f"X[{i}]") for i, bag in enumerate(given)]
    bags = [_matrix(i, bag[:] if isinstance(bag, Source) else bag) for i, bag in enumerate(given)]
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
    rows: Any
    if any(sp.issparse(bag) for bag in bags):
        rows = sp.csr_array(sp.vstack([sp.csr_array(bag) for bag in bags], format="csr"))
        rows.sum_duplicates()
        entries, places = rows.data, np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    else:
        rows = np.ascontiguousarray(np.concatenate(bags))
        entries, places = rows, np.arange(len(rows))
    sizes = np.array([bag.shape[0] for bag in bags])
    bag = np.repeat(np.arange(len(bags)), sizes)
    first = np.cumsum(sizes) - sizes
    largest = max(
        float(entries.max(initial=0.0)), -float(entries.min(initial=0.0))
    )  # nan if there is one
    if not largest <= MAGNITUDE:
        wrong = ~(np.abs(entries.reshape(len(places), -1)).max(axis=1) <= MAGNITUDE)
        i = int(bag[places[np.argmax(wrong)]])
        wrong_bag = bags[i].toarray() if sp.issparse(bags[i]) else bags[i]
        raise_bad_entry(f"X[{i}]", wrong_bag, limit=MAGNITUDE)
    return Bags(rows, first, bag, names)


def _matrix(i: int, bag: Any) -> Any:
    """One bag's candidates, dense or CSR."""
    name, sparse = f"X[{i}]", sp.issparse(bag)
    listed = hasattr(bag, "__len__") and not isinstance(bag, str)
    if (bag.shape[0] if sparse else len(bag) if listed else 1) == 0:
        raise InvalidParameterError(
            name, "an empty bag", "at least one candidate", "drop the bag, or add a candidate"
        )
    if not sparse:
        return real_array(name, bag, (2,))
    if bag.ndim != 2 or not bag.shape[1]:
        expected = "2 axes, with at least one feature"
        raise InvalidParameterError(
            name, f"shape {bag.shape}", expected, "pass a row per candidate"
        )
    matrix = sp.csr_array(bag)
    data = real_array(name, matrix.data, (1,)) if matrix.nnz else np.zeros(0)
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
