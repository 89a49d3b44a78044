"""Where a linear function of the examples lives: in features, or in the span of a Gram matrix.

A vector is w (d,) with w'x_i its values, or coefficients c (n,) of sum_j c_j phi(x_j). Rows of
weight zero are no examples; their coefficients are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve.errors import InvalidParameterError
from refsolve.models._ap_rankings import check_classes
from refsolve.models._data import _check_sparse, _product, check_gram
from refsolve.spec import LARGEST, Symbol, check_matrix, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble


@dataclass(frozen=True)
class Space:
    """Rows of features, or a Gram matrix with the rows that are examples.

    Parameters
    ----------
    rows : (N, d) array or sparse matrix, or None
    gram : (N, N) array, or None
    kept : (n,) array of int
        The examples among all N rows.
    """

    rows: Any
    gram: Array | None
    kept: Array

    @property
    def size(self) -> int:
        """Entries of a vector."""
        return self.rows.shape[1] if self.gram is None else len(self.gram)

    @property
    def total(self) -> int:
        """N, the number of all rows."""
        return int((self.rows if self.gram is None else self.gram).shape[0])

    def all_values(self, w: Array) -> Array:
        """The function w at all rows, (N,)."""
        matrix = self.rows if self.gram is None else self.gram
        return _product(matrix, w[:, None])[:, 0]

    def values(self, w: Array) -> Array:
        """The function w at the examples, (n,)."""
        return self.all_values(w)[self.kept]

    def pull(self, c: Array) -> Array:
        """The vector sum_i c_i phi(x_i) over the examples."""
        full = np.zeros(self.total, Real)
        full[self.kept] = c
        return full if self.gram is not None else _product(self.rows.T, full[:, None])[:, 0]

    def square(self, w: Array) -> Any:
        """||w||^2."""
        if self.gram is None:
            return (w * w).sum()
        return np.maximum(0, w @ _product(self.gram, w[:, None])[:, 0])

    def kernel(self) -> Array:
        """Products between the examples, (n, n)."""
        if self.gram is not None:
            return self.gram[np.ix_(self.kept, self.kept)]
        rows = self.factor()
        return rows @ rows.T

    def spread(self) -> Any:
        """Root of the mean squared distance of the examples from their mean."""
        n = len(self.kept)
        if self.gram is not None:
            kernel = self.kernel()
            return np.sqrt(np.maximum(0, np.trace(kernel) / n - kernel.mean()))
        return np.sqrt(self.factor().var(axis=0).sum())

    def factor(self) -> Array:
        """G (n, p) with GG' the products between the examples."""
        if self.gram is None:
            rows = self.rows[self.kept]
            return rows.toarray() if hasattr(rows, "toarray") else rows
        roots, vectors = self._spectrum()
        return vectors * roots

    def from_factor(self, w: Array) -> Array:
        """The vector whose values are Gw."""
        if self.gram is None:
            return w.astype(Real)
        roots, vectors = self._spectrum()
        return self.pull((vectors @ (w / np.where(roots > 0, roots, 1))).astype(Real))

    def _spectrum(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.kernel())
        keep = values > 4 * len(values) * np.finfo(float).eps * max(values.max(), 0)
        if not keep.any():  # K = 0: one direction of length 0 keeps the shapes
            return np.zeros(1), np.zeros((len(values), 1))
        return np.sqrt(values[keep]), vectors[:, keep]

    def given(self, name: str, direct: Any, coefficients: str, coef: Any) -> Any:
        """A checked vector from itself, or from coefficients of all rows; None if neither is."""
        if direct is not None and coef is not None:
            raise InvalidParameterError(coefficients, coef, f"{name} or {coefficients}", "drop one")
        if direct is not None:
            if self.gram is not None:
                fix = f"pass {coefficients}=..."
                raise InvalidParameterError(name, direct, f"{coefficients} with a kernel", fix)
            return check_vector(name, direct, size=self.size).astype(Real)
        if coef is None:
            return None
        coef = check_vector(coefficients, coef, size=self.total).astype(Real)
        return coef if self.gram is not None else _product(self.rows.T, coef[:, None])[:, 0]


def check_features(name: str, X: Any, gram_name: str, K: Any) -> tuple[Any, Array | None, int]:
    """Exactly one of features and Gram matrix, and their number of rows."""
    if (X is None) == (K is None):
        expected = f"either {name} (n, d) or {gram_name} (n, n)"
        given = "missing" if X is None else X
        raise InvalidParameterError(name, given, expected, "pass exactly one")
    if X is not None:
        X = _check_sparse(X) if hasattr(X, "tocsr") else check_matrix(name, X, (None, None))
        return X, None, X.shape[0]
    K = check_gram(K, gram_name)
    return None, K, len(K)


def check_rows(y: Any, n: int, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Labels -1/1 (N,), weights (n,) and rows of the examples; those of weight zero leave (X8)."""
    labels = np.where(check_classes(y, n), Real(1), Real(-1))
    weight = np.ones(n)
    if sample_weight is not None:
        weight = check_vector("sample_weight", sample_weight, size=n)
        if weight.min() < 0 or weight.max() == 0:
            raise InvalidParameterError(
                "sample_weight", sample_weight, "weights >= 0, not all 0", "drop the examples"
            )
    kept = np.flatnonzero(weight > 0)
    if abs(labels[kept].sum()) == kept.size:
        raise InvalidParameterError(
            "y", y, f"both classes among the {kept.size} examples of positive weight",
            "add examples of the other class: without them any b would do",
        )  # fmt: skip
    return labels, weight[kept].astype(Real), kept


def scalar(name: str, value: Any) -> Any:
    """A finite number as longdouble."""
    return Real(Symbol(name, "number", low=-LARGEST, high=LARGEST).check(value))


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(name, value, "True or False", "choose")
    return bool(value)


def balanced(alpha: Array, y: Array) -> tuple[Array, float]:
    """Multipliers >= 0 with alpha'y = 0: clipped, the heavier class scaled down; and how far it was."""
    violation = max(0.0, float(-alpha.min()))
    alpha = np.maximum(0, alpha)
    up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
    side = np.where(y > 0, up, down)
    scaled = alpha * np.where(side > 0, min(up, down) / np.where(side > 0, side, 1), 0)
    return scaled, max(violation, float(abs(up - down)))


def reach(rows: Array) -> float:
    """Largest norm of a row, or 1."""
    return float(np.sqrt((rows * rows).sum(axis=1).max())) or 1.0


def separated(rows: Array, y: Array) -> float:
    """||w||^2 of some w that gives all rows margins of 1 with a free bias; inf if none is known."""
    t, least = reach(rows), np.inf
    columns = np.column_stack([rows / t, np.ones(len(y))])
    for w in (np.linalg.lstsq(columns, y, rcond=None)[0], columns.T @ (y / np.abs(y + y.mean()))):
        margin = sum((sign * (columns[:, :-1] @ w[:-1])[y == sign]).min() for sign in (-1, 1)) / 2
        if margin > 0:
            least = min(least, float(w[:-1] @ w[:-1]) / (margin * t) ** 2)
    return least
