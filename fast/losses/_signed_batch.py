"""From the public functions of the one-vs-all and multilabel losses to their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import Rows, load
from fast._validation import check_classes, check_indicator, number, per_row
from fast.errors import InvalidParameterError
from fast.kernels.signed import (
    BIPARTITE,
    ENTROPY,
    LOGISTIC,
    conjugate_row,
    gradient_row,
    margins,
    prox_row,
    update_row,
    value_row,
    with_signs,
)
from fast.losses._batch import costs_of, weights_of
from fast.losses._drivers import CONJUGATE, GRADIENT, PROX, UPDATE, VALUE

Array = NDArray[Any]


@kernel
def run_rows(operation, variant, gamma, scalar, given, y, costs, own, weights, numbers, out, space):
    """Fill the rows of ``out``; returns the number of rows done (fewer: a bad entry).

    As `fast.losses._drivers.run_rows`; costs count ``own`` times on P (0 or 1).
    """
    for i in range(given.shape[0]):
        row, side = space[0], y[i]
        if not load(given[i], row):
            return i
        cost, z, x, work = space[1], space[2], space[3], space[4]
        shared = costs[i % costs.shape[0]]
        for j in range(cost.shape[0]):
            cost[j] = own * shared[j] if side[j] else shared[j]
        if operation == CONJUGATE:
            out[i, 0] = conjugate_row(variant, row, side, cost, gamma, scalar)
        elif operation == PROX:
            prox_row(variant, row, side, cost, numbers[i], gamma, out[i], z, work)
        else:
            margins(variant, row, side, cost, z)
            if operation == VALUE:
                out[i, 0] = weights[i] * value_row(variant, z, side, gamma, x, work)
            elif operation == GRADIENT:
                gradient_row(variant, z, side, gamma, x, work)
                with_signs(variant, x, side, weights[i], out[i])
            else:
                r = weights[i] * scalar
                update_row(variant, z, side, r, numbers[i], gamma, x, work)
                with_signs(variant, x, side, -1.0, out[i])
    return given.shape[0]


def is_multilabel(variant: int) -> bool:
    """Whether the ground truth is an indicator, not a class."""
    return variant in (BIPARTITE, ENTROPY)


def _sides(operation: int, variant: int, rows: Rows, y: Any) -> NDArray[np.bool_]:
    """Which entries belong to P, (n, m)."""
    if not is_multilabel(variant):
        if operation in (CONJUGATE, PROX):  # over the coordinates z, where signs do not matter
            return np.zeros((rows.n, rows.m), dtype=np.bool_)
        return check_classes(y, rows.n, rows.m)[:, np.newaxis] == np.arange(rows.m)
    sides = check_indicator("y", y, rows.given.shape)
    if variant == ENTROPY and not sides.any(axis=1).all():
        i = int(np.flatnonzero(~sides.any(axis=1))[0])
        raise InvalidParameterError(
            "y",
            f"no label in row {i}",
            "at least one 1 in every row",
            "drop the rows without labels: they have no target distribution",
        )
    return sides


def _run(
    operation: int,
    variant: int,
    rows: Rows,
    y: ArrayLike | None,
    gamma: float,
    costs: ArrayLike | None,
    *,
    weights: Array | None = None,
    numbers: Array | None = None,
    scalar: float = 0.0,
) -> Any:
    if operation in (VALUE, GRADIENT, UPDATE) and rows.m < 2:
        raise InvalidParameterError(
            rows.name, f"shape {rows.given.shape}", "at least 2 classes", "pass all scores"
        )
    sides = _sides(operation, variant, rows, y)
    default = 1.0 if variant < LOGISTIC else 0.0
    cost = costs_of(costs, rows, rows.m, "class", default)
    own = 0.0 if costs is None and variant == BIPARTITE else 1.0
    weight = np.ones(rows.n) if weights is None else weights
    number_ = np.ones(rows.n) if numbers is None else numbers
    space = np.empty((5, rows.m))

    def drive(given: Array, part: slice, out: Array) -> int:
        return run_rows(
            operation,
            variant,
            gamma,
            scalar,
            given,
            sides[part],
            cost[part] if len(cost) == rows.n else cost,
            own,
            weight[part],
            number_[part],
            out,
            space,
        )

    return rows.through(drive, scalars=operation in (VALUE, CONJUGATE))


def at_scores(
    operation: int,
    variant: int,
    scores: ArrayLike,
    y: ArrayLike,
    gamma: float,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Any:
    """Losses of rows of scores (VALUE), or (sub)gradients with respect to them (GRADIENT)."""
    rows = Rows("scores", scores)
    weights = weights_of(sample_weight, rows.n)
    return _run(operation, variant, rows, y, gamma, costs, weights=weights)


def sdca_update(
    variant: int,
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: Any,
    gamma: float,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Array:
    """New dual blocks."""
    rows = Rows("q", q)
    return _run(
        UPDATE,
        variant,
        rows,
        y,
        gamma,
        costs,
        weights=weights_of(sample_weight, rows.n),
        numbers=per_row("k_ii", k_ii, rows.n),
        scalar=number("C", C, positive=True),
    )


def prox(
    variant: int,
    v: ArrayLike,
    y: ArrayLike | None,
    t: ArrayLike,
    gamma: float,
    costs: ArrayLike | None,
) -> Array:
    """Proximal points in z."""
    rows = Rows("v", v)
    steps = per_row("t", t, rows.n, positive=True)
    return _run(PROX, variant, rows, y, gamma, costs, numbers=steps)


def conjugate(
    variant: int, x: ArrayLike, y: ArrayLike | None, gamma: float, costs: ArrayLike | None
) -> Any:
    """Conjugates, +inf outside the domain (up to rounding)."""
    rows = Rows("x", x)
    slack = 2 * (rows.m + 2) * float(np.finfo(rows.given.dtype).eps)
    return _run(CONJUGATE, variant, rows, y, gamma, costs, scalar=slack)


def warmup(variant: int) -> None:
    """Run the driver on two rows; it serves every operation of every loss here."""
    labels: Any = np.eye(2) if is_multilabel(variant) else [0, 1]
    at_scores(VALUE, variant, np.zeros((2, 2)), labels, 1.0, None, None)
