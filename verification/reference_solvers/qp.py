"""A dense interior point method for convex quadratic programs, for the sound trainers of SVM and SVM+."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
#: Relative complementarity at which the interior point method ends, and its most steps.
FINEST, MOST = 1e-14, 120
#: Sets of active bounds that are tried after it.
POLISHINGS = 20


class Solved(NamedTuple):
    """The point x >= 0, and the multipliers of the equations."""

    x: Array
    nu: Array


def qp(
    H: Array,
    c: Array,
    A: Array,
    b: Array,
    start: Array,
    upper: Array | None = None,
    tol: float = FINEST,
    most: int = MOST,
) -> Solved:
    """Min 1/2 x'Hx - <c,x> subject to Ax = b, 0 <= x <= upper, by Mehrotra's method."""
    with np.errstate(all="ignore"):  # the best point so far is kept
        return _mehrotra(H, c, A, b, start, upper, tol, most)


def _mehrotra(
    H: Array, c: Array, A: Array, b: Array, start: Array, upper: Array | None, tol: float, most: int
) -> Solved:
    unit = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-12 * H.diagonal().max() + 1e-300))
    H, c, A = H * unit * unit[:, None], c * unit, A * unit
    rows = np.abs(A).max(axis=1)
    A, b = A / rows[:, None], b / rows
    cap = np.full(len(c), np.inf) if upper is None else upper / unit
    x = np.maximum(start / unit, 1e-3 * float((start / unit).max()))
    x = np.minimum(x, 0.5 * cap)
    size = float(np.abs(H @ x - c).max()) + float(np.abs(c).max())
    z = np.full(len(c), size)
    bounded = np.isfinite(cap)
    t = np.where(bounded, size, 0.0)
    nu = np.zeros(len(b))
    best, least = (x, nu, z, t), np.inf
    for _ in range(most):
        s = np.where(bounded, np.maximum(cap - x, 1e-30 * x.max()), 1.0)
        dual, primal = H @ x - c + A.T @ nu - z + t, A @ x - b
        gap = float(x @ z + (s * t)[bounded].sum())
        scale = abs(float(x @ H @ x)) + abs(float(c @ x)) + 1e-300
        merit = gap / scale + float(np.abs(primal).max()) / (float(np.abs(A) @ x @ np.ones(len(b))))
        merit += float(np.abs(dual).max()) / size
        if merit < least:
            best, least = (x, nu, z, t), merit
        if merit <= tol:
            break
        kkt = np.block([[H + np.diag(z / x + t / s), A.T], [A, np.zeros((len(b), len(b)))]])
        mu = gap / (len(c) + int(bounded.sum()))

        nothing = np.zeros(len(c))
        point = (kkt, -dual, -primal, x, z, s, t, bounded)
        dx, dnu, dz, dt = _step(*point, 0.0, nothing, nothing)
        p, d = _longest(x, dx, s, bounded), min(_reach(z, dz), _reach(t[bounded], dt[bounded]))
        ahead = float((x + p * dx) @ (z + d * dz) + ((s - p * dx) * (t + d * dt))[bounded].sum())
        centre = mu * min(1.0, max(0.0, ahead / gap)) ** 3
        dx, dnu, dz, dt = _step(*point, centre, dx * dz, -dx * dt)
        p, d = _longest(x, dx, s, bounded), min(_reach(z, dz), _reach(t[bounded], dt[bounded]))
        if not np.isfinite(dx).all():
            break
        x, nu, z, t = x + 0.99 * p * dx, nu + 0.99 * d * dnu, z + 0.99 * d * dz, t + 0.99 * d * dt
        x, z = np.maximum(x, 1e-30 * x.max()), np.maximum(z, 1e-30 * z.max())
    x, nu, z, t = best
    if tol <= FINEST:
        x, nu = _polished(H, c, A, b, cap, x, nu, x <= z, bounded & (cap - x <= t))
    return Solved(x * unit, nu / rows)


def _polished(
    H: Array, c: Array, A: Array, b: Array, cap: Array, x: Array, nu: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """The equations of the bounds that hold, with residuals in extended precision; or the given point."""
    real = np.longdouble
    M, r, E, q = (a.astype(real) for a in (H, c, A, b))
    found, price = np.where(low, 0, np.where(high, cap, x)).astype(real), nu.astype(real)
    for _ in range(POLISHINGS):
        on = np.flatnonzero(~(low | high))
        kkt = np.block([[H[np.ix_(on, on)], A[:, on].T], [A[:, on], np.zeros((len(b), len(b)))]])
        inverse = np.linalg.pinv(kkt, rcond=1e-12, hermitian=True)
        for _ in range(6):
            off = np.concatenate([(r - M @ found - E.T @ price)[on], q - E @ found])
            step = inverse @ off.astype(float)
            found[on] += step[: len(on)]
            price += step[len(on) :]
        slope = (M @ found - r + E.T @ price).astype(float)
        size = 1e-14 * float(np.abs(c).max() + np.abs(slope).max())
        below, above = found < 0, found > cap
        wrong_low, wrong_high = low & (slope < -size), high & (slope > size)
        if not (below | above | wrong_low | wrong_high).any():
            found = np.maximum(0, np.minimum(found, cap))
            exact = float(np.abs(off).max()) <= size
            return (found.astype(float), price.astype(float)) if exact else (x, nu)
        low, high = (low | below) & ~wrong_low, (high | above) & ~wrong_high
        found = np.where(low, 0, np.where(high, cap, found))
    return x, nu


def _step(
    kkt: Array, dual: Array, primal: Array, x: Array, z: Array, s: Array, t: Array, bounded: Array,
    target: float, cross: Array, other: Array,
) -> tuple[Array, ...]:  # fmt: skip
    """Newton's step to a complementarity, with second-order terms."""
    r_z, r_t = target - x * z - cross, np.where(bounded, target - s * t - other, 0.0)
    found = _solve(kkt, np.concatenate([dual + r_z / x - r_t / s, primal]))
    dx, dnu = found[: len(x)], found[len(x) :]
    return dx, dnu, (r_z - z * dx) / x, np.where(bounded, (r_t + t * dx) / s, 0.0)


def _solve(kkt: Array, right: Array) -> Array:
    try:
        found = np.linalg.solve(kkt, right)
        return found + np.linalg.solve(kkt, right - kkt @ found)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(kkt, right, rcond=None)[0]


def _reach(values: Array, steps: Array) -> float:
    down = steps < 0
    return min(1.0, float((-values[down] / steps[down]).min(initial=np.inf)))


def _longest(x: Array, dx: Array, s: Array, bounded: Array) -> float:
    return min(_reach(x, dx), _reach(s[bounded], -dx[bounded]))
