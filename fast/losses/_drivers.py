"""The loop over the rows of a batch, for every operation: one function, hence one compilation."""

from __future__ import annotations

from fast._numba import kernel
from fast._rows import load
from fast.kernels.hinges import (
    conjugate_row,
    gradient_row,
    others,
    prox_row,
    update_row,
    value_row,
    with_own,
)

VALUE, GRADIENT, UPDATE, PROX, CONJUGATE = range(5)


@kernel
def run_rows(operation, variant, k, gamma, scalar, given, y, costs, weights, numbers, out, buffers):
    """Fill the rows of ``out``; returns the number of rows done (fewer: a bad entry).

    ========= ============== ======= ======= =======
    operation given          weights numbers scalar
    ========= ============== ======= ======= =======
    VALUE     scores         w
    GRADIENT  scores         w
    UPDATE    q              w       k_ii    C
    PROX      v over others          t
    CONJUGATE x over others                  slack
    ========= ============== ======= ======= =======
    """
    for i in range(given.shape[0]):
        row = buffers[0]
        if not load(given[i], row):
            return i
        cost = costs[i % costs.shape[0]]
        if operation == CONJUGATE:
            out[i, 0] = conjugate_row(variant, row, cost, k, gamma, scalar)
        elif operation == PROX:
            z, work = buffers[1], buffers[2]
            prox_row(variant, row, cost, k, numbers[i], gamma, out[i], z, work)
        else:
            z, x, work = buffers[1, 1:], buffers[2, 1:], buffers[3, 1:]
            others(row, y[i], cost, z)
            if operation == VALUE:
                out[i, 0] = weights[i] * value_row(variant, z, k, gamma, x, work)
            elif operation == GRADIENT:
                gradient_row(variant, z, k, gamma, x, work)
                with_own(x, y[i], weights[i], out[i])
            else:
                r, norm = weights[i] * scalar, numbers[i]
                den = norm + (gamma / r if gamma > 0.0 else 0.0)
                update_row(variant, z, k, r, norm, den, x, work)
                with_own(x, y[i], -1.0, out[i])
    return given.shape[0]
