"""From the public functions of a loss to its kernels: checks, default costs, dtypes, rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._rows import Rows, read_only
from fast._validation import (
    check_classes,
    check_k,
    check_update,
    divisor,
    finite_array,
    per_row,
)
from fast.errors import InvalidParameterError
from fast.kernels.entropies import ENTROPY_ALPHA, TRUNCATED
from fast.kernels.hinges import ALPHA, BETA
from fast.losses import _drivers as drivers
from fast.losses import _entropy_drivers as entropy_drivers

Array = NDArray[Any]
BOUNDED = (ALPHA, ENTROPY_ALPHA, TRUNCATED)  # k is at most the number of other classes


class _Rows(Rows):
    """Rows over all classes (``own``) or over the others, for a loss with parameter k."""

    def __init__(self, name: str, value: ArrayLike, k: Any, variant: int, own: bool) -> None:
        super().__init__(name, value)
        others = self.m - 1 if own else self.m
        if others == 0:
            shape = f"shape {self.given.shape}"
            raise InvalidParameterError(
                name, shape, "at least 2 classes", "pass the scores of all classes"
            )
        self.others = others
        if variant in BOUNDED:
            self.k = check_k(k, others, f" (the number of other classes, {others})")
        else:
            self.k = check_k(k)
        self.variant = variant
        self.buffers = np.empty((4, self.m))

    def run(
        self,
        operation: int,
        gamma: float,
        costs: Array,
        *,
        y: Array | None = None,
        weights: Array | None = None,
        numbers: Array | None = None,
        scalar: float = 0.0,
        complement: Array | None = None,
        return_complement: bool = False,
    ) -> Any:
        """Call the driver on chunks of rows; what an operation does not use is a dummy.

        The entropies read and write 1 - s in a second column of the numbers.
        """
        labels = np.zeros(self.n, dtype=np.int64) if y is None else y
        weight = np.ones(self.n) if weights is None else weights
        number_ = np.ones(self.n) if numbers is None else numbers
        run_rows = drivers.run_rows
        if self.variant > BETA:
            run_rows = entropy_drivers.run_rows
            rest = np.full(self.n, -1.0) if complement is None else complement
            number_ = np.stack([number_, rest], axis=1)

        def drive(rows: Array, part: slice, out: Array) -> int:
            return run_rows(
                operation,
                self.variant,
                self.k,
                gamma,
                scalar,
                rows,
                labels[part],
                costs[part] if len(costs) == self.n else costs,
                weight[part],
                number_[part],
                out,
                self.buffers,
            )

        answer = self.through(drive, scalars=operation in (drivers.VALUE, drivers.CONJUGATE))
        if not return_complement:
            return answer
        return answer, (float(number_[0, 1]) if self.single else number_[:, 1])


def weights_of(value: ArrayLike | None, n: int) -> NDArray[np.float64]:
    return np.ones(n) if value is None else per_row("sample_weight", value, n)


def costs_of(
    value: ArrayLike | None, rows: Rows, width: int, one_per: str, default: float = 1.0
) -> NDArray[np.float64]:
    """Costs as 1 or n rows of ``width`` numbers."""
    if value is None:
        return read_only(np.full((1, width), default))
    costs = finite_array("costs", value)
    if costs.shape not in ((width,), (rows.n, width)) or (rows.single and costs.ndim > 1):
        raise InvalidParameterError(
            "costs",
            f"shape {costs.shape}",
            f"shape ({width},)" + ("" if rows.single else f" or ({rows.n}, {width})"),
            f"one cost per {one_per}",
        )
    return read_only(np.atleast_2d(costs))


def _costs(value: ArrayLike | None, rows: _Rows, y: Array | None = None) -> NDArray[np.float64]:
    """Costs of all classes (with y, whose own cost is 0) or of the others."""
    default = 1.0 if rows.variant <= BETA else 0.0
    if y is None:
        return costs_of(value, rows, rows.others, "other class", default)
    costs = costs_of(value, rows, rows.m, "class", default)
    if value is not None and (np.ndim(value) == 2 or rows.single):
        own = costs[np.arange(rows.n), y]
        if own.any():
            i = int(np.flatnonzero(own)[0])
            raise InvalidParameterError(
                "costs",
                f"{own[i]} for the own class {y[i]} of row {i}",
                "0 there",
                "set costs[i, y[i]] = 0",
            )
    return costs


def value(
    variant: int,
    scores: ArrayLike,
    y: ArrayLike,
    k: Any,
    gamma: float,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Any:
    """Losses of rows of scores."""
    rows = _Rows("scores", scores, k, variant, own=True)
    y = check_classes(y, rows.n, rows.m)
    weights = weights_of(sample_weight, rows.n)
    cost = _costs(costs, rows, y)
    return rows.run(drivers.VALUE, gamma, cost, y=y, weights=weights)


def gradient(
    variant: int,
    scores: ArrayLike,
    y: ArrayLike,
    k: Any,
    gamma: float,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
    return_complement: bool = False,
) -> Any:
    """(Sub)gradients with respect to the scores."""
    rows = _Rows("scores", scores, k, variant, own=True)
    y = check_classes(y, rows.n, rows.m)
    weights = weights_of(sample_weight, rows.n)
    cost = _costs(costs, rows, y)
    return rows.run(
        drivers.GRADIENT, gamma, cost, y=y, weights=weights, return_complement=return_complement
    )


def sdca_update(
    variant: int,
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: Any,
    k: Any,
    gamma: float,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
    return_complement: bool = False,
) -> Any:
    """New dual blocks."""
    rows = _Rows("q", q, k, variant, own=True)
    y = check_classes(y, rows.n, rows.m)
    return rows.run(
        drivers.UPDATE,
        gamma,
        _costs(costs, rows, y),
        y=y,
        weights=weights_of(sample_weight, rows.n),
        numbers=per_row("k_ii", k_ii, rows.n),
        scalar=check_update(gamma, C),
        return_complement=return_complement,
    )


def prox(
    variant: int,
    v: ArrayLike,
    k: Any,
    t: ArrayLike,
    gamma: float,
    costs: ArrayLike | None,
    return_complement: bool = False,
) -> Any:
    """Proximal points."""
    rows = _Rows("v", v, k, variant, own=False)
    steps = per_row("t", t, rows.n, positive=True)
    return rows.run(
        drivers.PROX,
        gamma,
        _costs(costs, rows),
        numbers=steps,
        return_complement=return_complement,
    )


def conjugate(
    variant: int,
    x: ArrayLike,
    k: Any,
    gamma: float,
    costs: ArrayLike | None,
    complement: ArrayLike | None = None,
) -> Any:
    """Conjugates in u, +inf outside the domain (up to rounding)."""
    rows = _Rows("x", x, k, variant, own=False)
    slack = 2 * (rows.m + 2) * float(np.finfo(rows.given.dtype).eps)
    rest = None if complement is None else per_row("complement", complement, rows.n)
    return rows.run(drivers.CONJUGATE, gamma, _costs(costs, rows), scalar=slack, complement=rest)


def positive_gamma(gamma: Any) -> float:
    """The smoothing parameter, > 0 and not subnormal."""
    return divisor("gamma", gamma, ", or use the hinge itself")


def warmup(variant: int, gamma: float) -> None:
    """Run the driver on two rows; it serves every operation of every loss."""
    value(variant, np.zeros((2, 3)), np.zeros(2, dtype=np.int64), 1, gamma, None, None)
