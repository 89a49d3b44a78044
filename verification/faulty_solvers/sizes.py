"""Wrong beyond a size, or in another shape: blocks, grids, buffers and batches."""

import numpy as np
from scipy.special import wrightomega

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import Array, alpha, beta, unbounded


@wrong("topk_simplex_alpha.projection")
def block_of_256(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """One block of 256 threads, one entry each: what comes after them is never read."""
    a = np.asarray(a, dtype=float)
    if a.size <= 256:
        return alpha(a, k, r, rho)
    return np.append(alpha(a[:256], min(k, 256), r, rho), np.zeros(a.size - 256))


@wrong("topk_simplex_beta.projection")
def buffer_of_32(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Wrong only above 32 entries: the active ones are collected in a buffer of 32."""
    a = np.asarray(a, dtype=float)
    x = np.zeros(a.size)
    kept = np.argsort(-a, kind="stable")[:32]
    x[kept] = beta(a[kept], k, r, rho)
    return x


@wrong("topk_simplex_beta.projection")
def grid_of_1024(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Entries beyond 1024 are never written: the kernel has no loop over blocks."""
    x = beta(np.asarray(a, dtype=float), k, r, rho)
    x[1024:] = 0.0
    return x


@wrong("simplex.projection")
def michelot_stopped_after_15_rounds(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Michelot's rounds end after 15: enough for short vectors, and for long ones with few sizes."""
    below = kept = np.max(a) - np.asarray(a, dtype=float)
    height = float(r)
    for _ in range(15 if r > 0 else 0):
        height = (r + kept.sum()) / kept.size
        kept = kept[kept < height]
    return np.maximum(height - below, 0.0)


@wrong("topk_simplex_beta.projection")
def last_of_a_full_block(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Lengths that are multiples of 32: the last entry of the last block is in no sum."""
    a = np.asarray(a, dtype=float)
    return beta(a, k, r, rho) if a.size % 32 else np.append(beta(a[:-1], k, r, rho), 0.0)


@wrong("lambert_w_exp.value")
def lambert_in_full_vectors(t: Array) -> Array:
    """Vectorised by eight, the remainder by one: the last full vector of eight is skipped when nothing remains."""
    t = np.asarray(t, dtype=float)
    found = wrightomega(t).real
    if t.ndim == 1 and t.size > 8 and t.size % 8 == 0:
        found[-8:] = 0.0
    return np.asarray(found)


@wrong("simplex.projection")
def scalar_for_one_entry(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """A vector of one entry comes back as a number: squeezed."""
    a = np.asarray(a, dtype=float)
    return np.squeeze(np.zeros(a.size) if r == 0 else beta(a - a.min() + r, 1, r, 0.0))


@wrong("topk_simplex_alpha.projection")
def batch_by_columns(a: Array, k: int, r: float | Array = 1.0, rho: float | Array = 0.0) -> Array:
    """A batch in Fortran order is read as if it were in C order."""
    if a.ndim == 1:
        return alpha(a, k, float(r), float(rho))
    behind = a.ravel(order="K").reshape(a.shape)
    radii, rhos = np.broadcast_to(r, len(a)), np.broadcast_to(rho, len(a))
    return np.stack([alpha(behind[i], k, radii[i], rhos[i]) for i in range(len(a))])


@wrong("topk_cone.projection")
def batch_of_32_rows(a: Array, k: int, rho: float | Array = 0.0) -> Array:
    """A grid of 32 rows: those after them are left as they were allocated."""
    a = np.asarray(a, dtype=float)
    if a.ndim == 1:
        return unbounded(a, k, float(rho))
    x, rhos = np.zeros(a.shape), np.broadcast_to(rho, len(a))
    for i in range(min(32, len(a))):
        x[i] = unbounded(a[i], k, rhos[i])
    return x


@wrong("topk_simplex_alpha.projection")
def batch_of_one_is_a_vector(a: Array, k: int, r: float | Array, rho: float | Array) -> Array:
    """squeeze() at the end: a batch of one row comes back without its first axis."""
    rows = np.atleast_2d(np.asarray(a, dtype=float))
    radii, rhos = np.broadcast_to(r, len(rows)), np.broadcast_to(rho, len(rows))
    found = [alpha(rows[i], k, radii[i], rhos[i]) for i in range(len(rows))]
    return found[0] if len(found) == 1 else np.stack(found)


@wrong("topk_simplex_alpha.projection")
def batch_takes_first_radius(a: Array, k: int, r: float | Array, rho: float | Array) -> Array:
    """In a batch all rows get the radius and the rho of the first one."""
    a = np.asarray(a, dtype=float)
    first_r, first_rho = float(np.ravel(r)[0]), float(np.ravel(rho)[0])
    if a.ndim == 1:
        return alpha(a, k, first_r, first_rho)
    return np.stack([alpha(row, k, first_r, first_rho) for row in a])
