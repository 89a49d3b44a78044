"""The loop over the rows of a batch for the entropies, as `fast.losses._drivers` for the hinges."""

from __future__ import annotations

from fast._numba import kernel
from fast._rows import load
from fast.kernels.entropies import (
    ENTROPY_ALPHA,
    TRUNCATED,
    conjugate_row,
    gradient_row,
    truncated_conjugate_row,
    truncated_gradient_row,
    truncated_value_row,
    value_row,
)
from fast.kernels.entropy_steps import prox_row, truncated_prox_row, update_row
from fast.kernels.hinges import others, with_own
from fast.losses._drivers import CONJUGATE, GRADIENT, PROX, VALUE


@kernel
def run_rows(operation, family, k, _, scalar, given, y, costs, weights, numbers, out, buffers):
    """Fill the rows of ``out``; returns the number of rows done (fewer: a bad entry).

    ``numbers`` has a second column, which receives 1 - s (CONJUGATE reads it there).
    """
    truncated = family == TRUNCATED
    variant = family - ENTROPY_ALPHA
    rest = 0.0
    for i in range(given.shape[0]):
        row = buffers[0]
        if not load(given[i], row):
            return i
        cost = costs[i % costs.shape[0]]
        if operation == CONJUGATE:
            known = numbers[i, 1]
            if truncated:
                out[i, 0] = truncated_conjugate_row(row, cost, k, known, scalar)
            else:
                out[i, 0] = conjugate_row(variant, row, cost, k, known, scalar)
            continue
        if operation == PROX:
            z, x, work = buffers[1], buffers[2], buffers[3]
            if truncated:
                _, rest = truncated_prox_row(row, cost, k, numbers[i, 0], out[i], z, x, work)
            else:
                _, rest = prox_row(variant, row, cost, k, numbers[i, 0], out[i], z, work)
        else:
            z, x, work = buffers[1, 1:], buffers[2, 1:], buffers[3, 1:]
            others(row, y[i], cost, z)
            if operation == VALUE:
                if truncated:
                    loss = truncated_value_row(z, k, work)
                else:
                    loss = value_row(variant, z, k, work)
                out[i, 0] = weights[i] * loss
            elif operation == GRADIENT:
                if truncated:
                    _, rest = truncated_gradient_row(z, k, x, work)
                else:
                    _, rest = gradient_row(variant, z, k, x, work)
                with_own(x, y[i], weights[i], out[i])
            else:
                r = weights[i] * scalar
                _, rest = update_row(variant, z, k, r, numbers[i, 0], x, work)
                with_own(x, y[i], -r, out[i])
        numbers[i, 1] = rest
    return given.shape[0]
