"""Checks and warnings that every estimator shares: parameters, features, labels, certificates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fast._validation import number, refuse_masked
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.solvers.rows import is_sparse

DTYPES = (np.float64, np.float32)
SINGLE = 1e36  # of scores in float32
MAGNITUDE = 1e70  # of features and of C: products of several of them must not overflow


def check_settings(
    estimator: Any, flags: Iterable[str], choices: Mapping[str, Iterable[str]]
) -> tuple[float, float, int]:
    """C, tol and max_iter; flags must be booleans, choices one of the strings given."""
    C = number("C", estimator.C, positive=True)
    tol = number("tol", estimator.tol, positive=True)
    max_iter = check_count("max_iter", estimator.max_iter, "pass 1000")
    if not isinstance(estimator.verbose, int | np.integer):
        raise InvalidTypeError("verbose", repr(estimator.verbose), "0, 1 or 2", "pass verbose=1")
    for name in flags:
        given = getattr(estimator, name)
        if not isinstance(given, bool | np.bool_):
            raise InvalidTypeError(name, repr(given), "True or False", f"pass {name}=True or False")
    for name, allowed in choices.items():
        given = getattr(estimator, name)
        if not isinstance(given, str) or given not in allowed:
            first, *others = allowed
            raise InvalidParameterError(
                name, repr(given), f"'{first}' or one of {sorted(others)}", f"use '{first}'"
            )
    return C, tol, max_iter


def check_count(name: str, value: Any, fix: str) -> int:
    """An integer >= 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidTypeError(name, repr(value), "an integer >= 1", fix)
    if value < 1:
        raise InvalidParameterError(name, repr(value), "an integer >= 1", fix)
    return int(value)


def check_radius(r: float, given: str, fix: str) -> None:
    """C, or its product with a weight, must not under- or overflow in products."""
    if not 1.0 / MAGNITUDE <= r <= MAGNITUDE:
        raise InvalidParameterError(
            "C",
            f"{given}{r:g}",
            f"a number between {1.0 / MAGNITUDE:g} and {MAGNITUDE:g}",
            fix,
        )


def check_data(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Features as float32 or float64, C-contiguous or canonical CSR, of bounded magnitude."""
    for name, value in (("X", X), ("y", y)):
        refuse_masked(name, value)
    with np.errstate(invalid="ignore"):  # inf beside numbers whose sum overflows
        X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=DTYPES, order="C")
    if is_sparse(X) and not X.has_canonical_format:  # summing duplicates works in place
        X = X.copy()
        X.sum_duplicates()
    check_magnitude(X)
    return X, y


def check_magnitude(X: Any) -> None:
    """Entries that a product of several of them would overflow."""
    largest = float(max(X.max(), -X.min()))
    if largest > MAGNITUDE:
        raise InvalidParameterError(
            "X", f"an entry of magnitude {largest:g}", f"at most {MAGNITUDE:g}", "rescale X"
        )


def in_range(X: Any, C: float) -> Any:
    """X, as float64 if scores of weights C X'a, |a| <= 2, might overflow in float32."""
    largest = float(max(X.max(), -X.min()))
    return X.astype(np.float64) if C * largest * largest * X.shape[1] > SINGLE else X


def encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the number of each label; at least two classes."""
    try:
        check_classification_targets(y)
        classes, encoded = np.unique(y, return_inverse=True)
    except TypeError as error:  # such labels have no order
        raise InvalidTypeError(
            "y", f"labels of several types ({error})", "labels of one type", "convert y"
        ) from None
    if len(classes) < 2:
        raise InvalidParameterError(
            "y", "one class", "at least 2 classes", "add examples of another class"
        )
    return classes, encoded.astype(np.int64)


def warn_if_open(estimator: Any, tol: float, interrupted: bool, stacklevel: int = 4) -> None:
    """Say so if the fit ended before its gap reached ``tol``."""
    if estimator.dual_gap_ > tol:
        reason = (
            "was interrupted" if interrupted else f"stopped after {estimator.n_iter_} iterations"
        )
        warnings.warn(
            f"{type(estimator).__name__} {reason} with a certified relative duality gap of "
            f"{estimator.dual_gap_:.3g} > tol = {tol:g}; the best model is kept. Raise max_iter, or "
            "scale the features, or lower C.",
            ConvergenceWarning,
            stacklevel=stacklevel,  # past fit and with_callbacks
        )
