"""Where a linear function of the examples lives: in features, or in the span of a Gram matrix.

A vector is w (d,) with w'x_i its values, or coefficients c (n,) of sum_j c_j phi(x_j). Rows of
weight zero are no examples; their coefficients are kept.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.errors import InvalidParameterError
from refsolve.models._ap_rankings import check_classes
from refsolve.models._data import check_features, spectrum
from refsolve.proofs import space
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.space import EPS, Rows, precision
from refsolve.spec import LARGEST, Symbol, check_vector


class Space(space.Space):
    """Examples as the programs need them: as rows whose products are those of the Gram matrix."""

    def factor(self) -> Array:
        """G (n, p) with GG' the products between the examples."""
        if self.gram is None:
            return self.dense().astype(float)
        roots, vectors = self._spectrum
        return vectors * roots

    def from_factor(self, w: Array) -> Array:
        """The vector whose values are Gw."""
        if self.gram is None:
            return w.astype(Real)
        roots, vectors = self._spectrum
        return self.pull((vectors @ (w / np.where(roots > 0, roots, 1))).astype(Real))

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        return spectrum(self.kernel(), 4 * len(self.kept) * EPS)

    def given(
        self, name: str, direct: ArrayLike | None, coefficients: str, coef: ArrayLike | None
    ) -> Array | None:
        """A checked vector from itself, or from coefficients of all rows; None if neither is."""
        if direct is not None and coef is not None:
            raise InvalidParameterError(coefficients, coef, f"{name} or {coefficients}", "drop one")
        if direct is not None:
            if self.gram is not None:
                fix = f"pass {coefficients}=..."
                raise InvalidParameterError(name, direct, f"{coefficients} with a kernel", fix)
            return candidate(name, direct, self.width)
        if coef is None:
            return None
        coef = candidate(coefficients, coef, self.total)
        return coef if self.gram is not None else np.asarray(self.whole.T @ coef, dtype=Real)


def check_views(
    X: Rows, K: ArrayLike | None, Z: Rows, Kz: ArrayLike | None, fix: str, blur: float = 0.0
) -> tuple[Callable[[Array], tuple[Space, Space]], int]:
    """Both views of some of the examples, in one precision, and how many there are."""
    rows, gram, n = check_features("X", X, "K", K)
    z_rows, z_gram, count = check_features("Z", Z, "Kz", Kz)
    if count != n:
        name = "Z" if z_gram is None else "Kz"
        raise InvalidParameterError(name, f"{count} rows", f"{n} rows, one per example", fix)
    given: Any = ((rows, gram), (z_rows, z_gram))
    real = precision(*(float(np.prod((b if a is None else a).shape)) for a, b in given))

    def views(kept: Array) -> tuple[Space, Space]:
        first, second = (Space(a, b, kept, real, blur) for a, b in given)
        return first, second

    return views, n


def check_rows(y: ArrayLike, n: int, sample_weight: ArrayLike | None) -> tuple[Array, Array, Array]:
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


def scalar(name: str, value: object) -> Real:
    """A finite number as longdouble."""
    return Real(Symbol(name, "number", low=-LARGEST, high=LARGEST).check(value))


def check_flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(name, value, "True or False", "choose")
    return bool(value)


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
