"""Privileged features of an estimator: what they must be, their scale, the kernels and their width."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from fast._validation import number, real_array, refuse_masked
from fast.data import Source
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.estimators._kernel import KernelMap
from fast.estimators._settings import DTYPES, settled
from fast.solvers.rows import is_sparse

EPS = float(np.finfo(float).eps)
BLOCK = 1 << 17  # numbers per block
KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")


def check_gamma(name: str, gamma: Any) -> Any:
    """A width: "scale", "auto" or a number >= 0."""
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise InvalidParameterError(
                name, repr(gamma), "'scale', 'auto' or a number", f"use {name}='scale'"
            )
        return gamma
    return number(name, gamma)


def check_coef0(value: Any) -> float:
    """A finite number of either sign."""
    array = real_array("coef0", value, (0, 1))
    if array.ndim or not np.isfinite(array):
        raise InvalidParameterError("coef0", repr(value), "one finite number", "use coef0=0.0")
    return float(array)


def check_privileged(Z: Any, n: int | None, estimator: Any, n_features: int | None = None) -> Any:
    """Z as float32 or float64, C-contiguous or CSR, with n rows."""
    if isinstance(Z, list | tuple):
        raise InvalidTypeError(
            "Z",
            f"a {type(Z).__name__}",
            "an array or sparse matrix with one row per row of X: only those are split along with X",
            "pass np.asarray(Z)",
        )
    Z = Z[:] if isinstance(Z, Source) else Z
    refuse_masked("Z", Z)
    if getattr(Z, "ndim", 2) == 1:
        raise InvalidParameterError(
            "Z", f"shape {Z.shape}", "one row per row of X", "pass Z.reshape(-1, 1) for one feature"
        )
    with np.errstate(invalid="ignore"):  # as for X
        Z = check_array(
            Z, accept_sparse="csr", dtype=DTYPES, order="C", input_name="Z", estimator=estimator
        )
    if n is not None and Z.shape[0] != n:
        raise InvalidParameterError(
            "Z", f"{Z.shape[0]} rows", f"{n} rows, as many as X", "pass one row of Z per row of X"
        )
    if n_features is not None and Z.shape[1] != n_features:
        raise InvalidParameterError(
            "Z", f"{Z.shape[1]} columns", f"{n_features}, as in fit", "pass the same features"
        )
    return settled("Z", Z)


@dataclass
class Scaler:
    """Subtracts ``mean_`` (s,), if there is one, and divides by ``scale_`` (s,)."""

    mean_: np.ndarray | None
    scale_: np.ndarray

    def transform(self, Z: Any) -> Any:
        """Z scaled, as float64; CSR stays CSR."""
        if is_sparse(Z):
            if self.mean_ is None:
                return sp.csr_array(Z.astype(np.float64) @ sp.diags_array(1.0 / self.scale_))
            return (Z.toarray() - self.mean_) / self.scale_
        out = np.array(Z, dtype=np.float64)
        if self.mean_ is not None:
            out -= self.mean_
        out /= self.scale_
        return out


def scaled(Z: Any, weight: np.ndarray) -> tuple[Any, Scaler]:
    """Z with weighted mean 0 and variance 1 per column; CSR keeps its mean.

    Columns that are constant up to rounding are not divided.
    """
    n = Z.shape[0]
    share = weight / weight.sum()
    if is_sparse(Z):
        wide = Z.astype(np.float64)
        mean = share @ wide
        variance = np.maximum(share @ wide.multiply(wide) - mean * mean, 0.0)
        lost = n * EPS * mean * mean
    else:
        out = np.array(Z, dtype=np.float64)
        mean = share @ out
        out -= mean
        variance, lost = np.zeros(len(mean)), (n * EPS * mean) ** 2
        step = max(BLOCK // len(mean), 1)
        for i in range(0, n, step):  # in the cache
            block = out[i : i + step]
            variance += share[i : i + step] @ (block * block)
    constant = variance <= n * EPS * variance + lost
    scale = np.where(constant, 1.0, np.sqrt(variance))
    if is_sparse(Z):
        scaler = Scaler(None, scale)
        return scaler.transform(Z), scaler
    out /= scale
    return out, Scaler(mean, scale)


def kernel_of(
    kernel: Any, gamma: Any, degree: Any, coef0: Any, X: Any, weight: np.ndarray
) -> KernelMap:
    """The kernel with its parameters; "scale" is 1/(d Var X), every row counted by its weight."""
    params: dict[str, Any] = {}
    if kernel in ("rbf", "poly", "sigmoid"):
        params["gamma"] = gamma
        if gamma == "auto":
            params["gamma"] = 1.0 / X.shape[1]
        elif gamma == "scale":
            variance = _variance(X, weight)
            params["gamma"] = 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
    if kernel in ("poly", "sigmoid"):
        params["coef0"] = coef0
    if kernel == "poly":
        params["degree"] = degree
    return KernelMap(kernel, params, 0.0)


def _variance(X: Any, weight: np.ndarray) -> float:
    """Weighted variance of all entries of X."""
    share = weight / weight.sum()
    X = X.astype(np.float64)
    mean = float((share @ X).mean())
    if is_sparse(X):
        return max(float((share @ X.multiply(X)).mean()) - mean * mean, 0.0)
    return float((share @ (X - mean) ** 2).mean())


@contextmanager
def named(single: bool = False, **names: str) -> Iterator[None]:
    """Errors speak of the arguments that a user knows; ``single``: matrices came in float32."""
    try:
        yield
    except InvalidParameterError as error:
        if error.argument not in names:
            raise
        name, fix = names[error.argument], error.fix
        if single and "semidefinite" in error.given:
            fix = "compute it in float64 (rounding in float32 alone can do that), or " + fix
        raise type(error)(name, error.given, error.expected, fix) from None


def square(name: str, K: np.ndarray, n: int) -> np.ndarray:
    """A precomputed kernel between the training examples."""
    if K.shape == (n, n):
        return K
    raise InvalidParameterError(
        name,
        f"a precomputed kernel of shape {K.shape}",
        f"shape ({n}, {n}): the kernel between all pairs of training examples",
        "pass all pairs; where a search splits the data, Z loses rows only, not columns: "
        "use features and a function of two rows as kernel_z"
        if name == "Z"
        else "pass all pairs",
    )
