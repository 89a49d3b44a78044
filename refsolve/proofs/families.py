"""Families of losses: how scores f of m classes turn into margins z, and x into a dual block.

In every family z = M f + c is affine in the scores, M depending on the ground truth y alone, and
the block of x is the direction -M'x, so that <z - c, x> = -<f, block(x)>.

=============  ==========  =========================================  =============================
family         y           z                                          block(x) = a/(omega C)
=============  ==========  =========================================  =============================
``multiclass`` class       f_j - f_y + c_j over the m - 1 others      -x_j at j != y, <1,x> at y
``ova``        class       f_j + c_j at j != y, -f_y + c_y            -x_j at j != y, x_y
``multilabel`` 0/1 row     f_j + c_j at y_j = 0, -f_j + c_j at 1      -x_j at y_j = 0, x_j at 1
``multilabel`` with the entropy of the simplex: z = f + c, block -x
=============  ==========  =========================================  =============================
"""

import numbers
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from refsolve._types import Array, Label
from refsolve.checking import check_vector, refuse_masked
from refsolve.errors import InvalidParameterError


def check_class(y: object, m: int) -> int:
    """A class index in 0..m-1."""
    given = y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y
    expected = f"integer, 0 <= y <= {m - 1}"
    if isinstance(given, bool | np.bool_) or not isinstance(given, numbers.Integral):
        raise InvalidParameterError("y", y, expected, "pass one plain number")
    if not 0 <= int(given) < m:
        fix = "raise y" if int(given) < 0 else "lower y, or use more classes"
        raise InvalidParameterError("y", y, expected, fix)
    return int(given)


def check_indicator(y: object, m: int) -> Array:
    """A 0/1 row of m entries as int8, or `InvalidParameterError`."""
    refuse_masked("y", y)
    row = np.asarray(y) if not isinstance(y, str) else np.empty(0)
    if row.dtype.kind not in "biuf" or row.ndim != 1 or row.size != m:
        raise InvalidParameterError(
            "y", y, f"a 0/1 row of {m} entries", "pass one row of the indicator matrix"
        )
    if not np.isin(row, (0, 1)).all():
        bad = int(np.flatnonzero(~np.isin(row, (0, 1)))[0])
        raise InvalidParameterError("y", y, f"entries 0 or 1 (entry {bad} is not)", "binarise it")
    return row.astype(np.int8)


def others(v: Array, y: Label) -> Array:
    """Entries of the classes j != y, in class order; y one class, or one per row."""
    if np.ndim(y) == 0:
        return np.delete(v, y, axis=-1)
    keep = np.arange(v.shape[-1]) != np.asarray(y)[:, None]
    return v[keep].reshape(v.shape[0], -1)


class Multiclass:
    """Differences to the ground truth, over the m - 1 others."""

    name = "multiclass"
    #: Whether the quadratic form ||block(x)||^2 is ||x||^2 + <1,x>^2.
    coupled = True

    def size(self, m: int) -> int:
        """Entries of z and x for m classes."""
        return m - 1

    def classes(self, d: int) -> int:
        """Number of classes for d entries of x."""
        return d + 1

    def check_label(self, y: object, m: int) -> Any:
        """The ground truth, checked."""
        return check_class(y, m)

    def margins(self, scores: Array, y: Label, costs: Array) -> Array:
        """Z = M f + c."""
        own = scores[..., y, None] if np.ndim(y) == 0 else np.take_along_axis(
            scores, np.asarray(y)[:, None], axis=1
        )  # fmt: skip
        return others(scores - own, y) + costs

    def block(self, x: Array, y: Label) -> Array:
        """Dual direction -M'x."""
        total = x.sum(axis=-1)
        if np.ndim(y) == 0:
            return np.insert(-x, y, total, axis=-1)
        a = np.empty((x.shape[0], x.shape[1] + 1), x.dtype)
        a[np.arange(a.shape[1]) != np.asarray(y)[:, None]] = -x.ravel()
        np.put_along_axis(a, np.asarray(y)[:, None], total[:, None], axis=1)
        return a

    def coordinates(self, a: Array, y: Label) -> Array:
        """The x of a block; `unbalance` says whether there is one."""
        return -others(a, y)

    def unbalance(self, a: Array) -> Array:
        """By how much a fails to be a block: |<1,a>|."""
        return abs(a.sum(axis=-1))

    def pull(self, x: Array) -> Array:
        """M M'x."""
        return x + x.sum(axis=-1, keepdims=True)

    def spread(self, m: int) -> int:
        """Largest ||block(x)||^2 / ||x||^2."""
        return m

    def matrix(self, m: int, y: Label) -> Array:
        """M' (m, d), so that z = f M' + c for a row f."""
        E = np.delete(np.eye(m), y, axis=1)
        E[y] = -1
        return E

    def default_costs(self, cost: float, y: Label, d: int) -> Array:
        """Costs when none are given."""
        return np.full(d, cost)

    def check_costs(self, costs: ArrayLike | None, cost: float, y: Label, m: int) -> Array:
        """Costs over the others from an (m,) vector with costs[y] = 0."""
        if costs is None:
            return self.default_costs(cost, y, m - 1)
        costs = check_vector("costs", costs, size=m)
        if costs[y] != 0:
            raise InvalidParameterError(
                "costs", f"{costs[y]} at the ground truth {y}", "costs[y] = 0",
                "set that entry to 0",
            )  # fmt: skip
        return others(costs, y)


class OneVsAll:
    """One signed score per class: minus at the ground truth."""

    name = "ova"
    coupled = False

    def size(self, m: int) -> int:
        """Entries of z and x for m classes."""
        return m

    def classes(self, d: int) -> int:
        """Number of classes for d entries of x."""
        return d

    def check_label(self, y: object, m: int) -> Any:
        """The ground truth, checked."""
        return check_class(y, m)

    def signs(self, y: Label, m: int) -> Array:
        """The diagonal of M, (m,), or (n, m) for one class per row."""
        return np.where(np.arange(m) == np.asarray(y)[..., None], -1, 1).astype(np.int8)

    def margins(self, scores: Array, y: Label, costs: Array) -> Array:
        """Z = M f + c."""
        return self.signs(y, scores.shape[-1]) * scores + costs

    def block(self, x: Array, y: Label) -> Array:
        """Dual direction -M'x."""
        return -self.signs(y, x.shape[-1]) * x

    def coordinates(self, a: Array, y: Label) -> Array:
        """The x of a block."""
        return -self.signs(y, a.shape[-1]) * a

    def unbalance(self, a: Array) -> Array:
        """Every vector is a block."""
        return np.zeros(a.shape[:-1], a.dtype)

    def pull(self, x: Array) -> Array:
        """M M'x."""
        return x

    def spread(self, m: int) -> int:
        """Largest ||block(x)||^2 / ||x||^2."""
        return 1

    def matrix(self, m: int, y: Label) -> Array:
        """M' (m, d), so that z = f M' + c for a row f."""
        return np.diag(self.signs(y, m).astype(float))

    def default_costs(self, cost: float, y: Label, d: int) -> Array:
        """Costs when none are given."""
        return np.full(d, cost)

    def check_costs(self, costs: ArrayLike | None, cost: float, y: Label, m: int) -> Array:
        """An (m,) vector."""
        if costs is None:
            return self.default_costs(cost, y, m)
        return check_vector("costs", costs, size=m)


class Multilabel(OneVsAll):
    """One score per class: plus on the negatives, minus on the positives of a 0/1 row."""

    name = "multilabel"

    def check_label(self, y: object, m: int) -> Any:
        """The indicator row, checked."""
        return check_indicator(y, m)

    def signs(self, y: Label, m: int) -> Array:
        """The diagonal of M."""
        return (1 - 2 * np.asarray(y, np.int8)).astype(np.int8)

    def default_costs(self, cost: float, y: Label, d: int) -> Array:
        """The default cost on the negatives, 0 on the positives."""
        return cost * (1.0 - np.asarray(y, float))


class MultilabelDistribution(Multilabel):
    """Scores as they are, for a target distribution that is uniform on the positives."""

    def check_label(self, y: object, m: int) -> Any:
        """The indicator row, with at least one positive."""
        row = check_indicator(y, m)
        if not row.any():
            raise InvalidParameterError(
                "y", y, "at least one positive", "drop the row: it has no target distribution"
            )
        return row

    def signs(self, y: Label, m: int) -> Array:
        """M is the identity."""
        return np.ones(np.shape(y), np.int8)

    def target(self, y: Label, dtype: DTypeLike = np.longdouble) -> Array:
        """T = 1/|P| on the positives."""
        y = np.asarray(y, dtype)
        return y / y.sum(axis=-1, keepdims=True)


Family = Multiclass | OneVsAll

_FAMILIES: dict[str, Family] = {
    "multiclass": Multiclass(),
    "ova": OneVsAll(),
    "multilabel": Multilabel(),
}
_DISTRIBUTION = MultilabelDistribution()


def is_ranking(module: ModuleType) -> bool:
    """Whether a loss ranks the samples of a query; such a loss has no family of margins."""
    return getattr(module, "family", None) == "ranking"


def of(module: ModuleType) -> Family:
    """Family of the module that declares a loss."""
    if is_ranking(module):
        raise InvalidParameterError(
            "loss", module.__name__.rpartition(".")[2], "a loss of the scores of one example",
            "use the operations that the loss declares: it ranks the samples of a query",
        )  # fmt: skip
    if getattr(getattr(module, "generator", None), "shifted", False):
        return _DISTRIBUTION
    name = getattr(module, "family", "multiclass")
    if name not in _FAMILIES:
        raise InvalidParameterError(
            f"family of {module.__name__.rpartition('.')[2]}", name,
            f"one of {', '.join([*_FAMILIES, 'ranking'])}", "declare one of these",
        )  # fmt: skip
    return _FAMILIES[name]
