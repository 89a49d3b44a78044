"""Loops over the rows of a batch; each returns the number of rows done (fewer: a bad entry)."""

from __future__ import annotations

from fast._numba import kernel
from fast._rows import load
from fast.losses._kernels import (
    conjugate_row,
    gradient_row,
    others,
    prox_row,
    update_row,
    value_row,
    with_own,
)


@kernel
def value_rows(variant, scores, y, costs, weights, k, gamma, out, buffers):
    """Write out_i = weight_i * loss(scores_i)."""
    row, z, x, work = buffers[0], buffers[1, 1:], buffers[2, 1:], buffers[3, 1:]
    for i in range(scores.shape[0]):
        if not load(scores[i], row):
            return i
        others(row, y[i], costs[i % costs.shape[0]], z)
        out[i] = weights[i] * value_row(variant, z, k, gamma, x, work)
    return scores.shape[0]


@kernel
def gradient_rows(variant, scores, y, costs, weights, k, gamma, out, buffers):
    """Write the (sub)gradients with respect to the m scores."""
    row, z, x, work = buffers[0], buffers[1, 1:], buffers[2, 1:], buffers[3, 1:]
    for i in range(scores.shape[0]):
        if not load(scores[i], row):
            return i
        others(row, y[i], costs[i % costs.shape[0]], z)
        gradient_row(variant, z, k, gamma, x, work)
        with_own(x, y[i], weights[i], out[i])
    return scores.shape[0]


@kernel
def update_rows(variant, q, y, costs, weights, k_ii, C, k, gamma, out, buffers):
    """Write the new dual blocks of m entries."""
    row, z, x, work = buffers[0], buffers[1, 1:], buffers[2, 1:], buffers[3, 1:]
    for i in range(q.shape[0]):
        if not load(q[i], row):
            return i
        others(row, y[i], costs[i % costs.shape[0]], z)
        r = weights[i] * C
        den = k_ii[i] + (gamma / r if gamma > 0.0 else 0.0)
        update_row(variant, z, k, r, k_ii[i], den, x, work)
        with_own(x, y[i], -1.0, out[i])
    return q.shape[0]


@kernel
def prox_rows(variant, v, costs, t, k, gamma, out, buffers):
    """Write the proximal points."""
    row, z, work = buffers[0], buffers[1], buffers[2]
    for i in range(v.shape[0]):
        if not load(v[i], row):
            return i
        prox_row(variant, row, costs[i % costs.shape[0]], k, t[i], gamma, out[i], z, work)
    return v.shape[0]


@kernel
def conjugate_rows(variant, x, costs, k, gamma, slack, out, buffers):
    """Write the conjugates."""
    row = buffers[0]
    for i in range(x.shape[0]):
        if not load(x[i], row):
            return i
        out[i] = conjugate_row(variant, row, costs[i % costs.shape[0]], k, gamma, slack)
    return x.shape[0]
