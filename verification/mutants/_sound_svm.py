"""Sound, slow trainers of SVM and SVM+: one dense interior point method, and the maps of the papers.

Dual of both SVM+: min 1/2 x'Hx - <c,x> over x = (alpha, beta) >= 0 with <alpha,y> = 0, and for the hinge
sum x = C sum w. What a mutant gets wrong is passed as one of the functions of `train_plus`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Given = Mapping[str, Any]
#: Relative complementarity at which the interior point method ends, and its most steps.
FINEST, MOST = 1e-14, 120


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
    best, least = (x, nu), np.inf
    for _ in range(most):
        s = np.where(bounded, np.maximum(cap - x, 1e-30 * x.max()), 1.0)
        dual, primal = H @ x - c + A.T @ nu - z + t, A @ x - b
        gap = float(x @ z + (s * t)[bounded].sum())
        scale = abs(float(x @ H @ x)) + abs(float(c @ x)) + 1e-300
        merit = gap / scale + float(np.abs(primal).max()) / (float(np.abs(A) @ x @ np.ones(len(b))))
        merit += float(np.abs(dual).max()) / size
        if merit < least:
            best, least = (x.copy(), nu.copy()), merit
        if merit <= tol:
            break
        kkt = np.block([[H + np.diag(z / x + t / s), A.T], [A, np.zeros((len(b), len(b)))]])
        mu = gap / (len(c) + int(bounded.sum()))

        def step(target: float, cross: Array, other: Array) -> tuple[Array, ...]:
            r_z, r_t = target - x * z - cross, np.where(bounded, target - s * t - other, 0.0)
            right = np.concatenate([-dual + r_z / x - r_t / s, -primal])
            found = _solve(kkt, right)
            dx, dnu = found[: len(c)], found[len(c) :]
            return dx, dnu, (r_z - z * dx) / x, np.where(bounded, (r_t + t * dx) / s, 0.0)

        nothing = np.zeros(len(c))
        dx, dnu, dz, dt = step(0.0, nothing, nothing)
        p, d = _longest(x, dx, s, bounded), min(_reach(z, dz), _reach(t[bounded], dt[bounded]))
        ahead = float((x + p * dx) @ (z + d * dz) + ((s - p * dx) * (t + d * dt))[bounded].sum())
        centre = mu * min(1.0, max(0.0, ahead / gap)) ** 3
        dx, dnu, dz, dt = step(centre, dx * dz, -dx * dt)
        p, d = _longest(x, dx, s, bounded), min(_reach(z, dz), _reach(t[bounded], dt[bounded]))
        if not np.isfinite(dx).all():
            break
        x, nu, z, t = x + 0.99 * p * dx, nu + 0.99 * d * dnu, z + 0.99 * d * dz, t + 0.99 * d * dt
        x, z = np.maximum(x, 1e-30 * x.max()), np.maximum(z, 1e-30 * z.max())
    x, nu = best
    return Solved(x * unit, nu / rows)


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


# ---- data


@dataclass
class Data:
    """Examples of positive weight: Gram matrices, labels, cost = C w_i; how to go back to all rows."""

    K: Array
    Kz: Array
    y: Array
    cost: Array
    C: float
    lam: float
    delta: float
    nonneg: bool
    squared: bool
    X: Array | None
    Z: Array | None
    kept: Array
    n: int

    def expanded(self, values: Array) -> Array:
        """Zeros for the rows of weight zero."""
        full = np.zeros(self.n)
        full[self.kept] = values
        return full

    def weights(self, rows: Array | None, a: Array) -> Array:
        """Sum of a_i x_i, or the coefficients."""
        return self.expanded(a) if rows is None else rows.T @ a


def prepare(given: Given, squared: bool) -> Data:
    """The arguments of a problem."""
    y = given["y"]
    weight = given.get("sample_weight")
    weight = np.ones(len(y)) if weight is None else weight
    kept = np.flatnonzero(weight > 0)

    def space(rows: str, gram: str) -> tuple[Array | None, Array]:
        if given.get(gram) is not None:
            return None, given[gram][np.ix_(kept, kept)]
        if given.get(rows) is None:
            return None, np.zeros((len(kept), len(kept)))
        part = given[rows][kept]
        return part, part @ part.T

    X, K = space("X", "K")
    Z, Kz = space("Z", "Kz")
    return Data(
        K, Kz, y[kept], given["C"] * weight[kept], given["C"], given.get("lam", 1.0),
        given.get("free_slack", 0.0), given.get("nonneg_slack", False), squared, X, Z, kept, len(y),
    )  # fmt: skip


# ---- SVM+


def augmented(data: Data) -> Array:
    """Kt = Kz + 1 + delta I."""
    return data.Kz + 1 + data.delta * np.eye(len(data.y))


def deformed(data: Data, kernel: Array) -> Array:
    """Q = W^-1/2 B (lam I + B)^-1 W^-1/2 of B = W^1/2 Kt W^1/2, W = C diag(w): no difference."""
    root = np.sqrt(data.cost)
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    values = np.maximum(values, 0)
    F = vectors * np.sqrt(values / (data.lam + values)) / root[:, None]
    return F @ F.T


def bias(y: Array, margins: Array, alpha: Array) -> float:
    """The b whose least margin y f + xi is largest."""
    return float(margins[y < 0].min() - margins[y > 0].min()) / 2


def solve_plus(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """(alpha, beta, rho) of SVM+, rho that of the hinge; Q is Kz/lam + delta/lam I for the hinge."""
    n, y = len(data.y), data.y
    Ky = data.K * np.outer(y, y)
    H = Ky + Q
    c, A = np.ones(n), y[None, :]
    b = np.zeros(1)
    even = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    start = even * (even.sum() / max(float(even @ H @ even), 1e-300))
    if not data.squared:
        c = c + Q @ data.cost
        start = even * data.cost.sum() / 2
    if data.nonneg:
        H = np.block([[H, Q], [Q, Q]])
        c = np.append(c, np.zeros(n) if data.squared else Q @ data.cost)
        A = np.append(A, np.zeros((1, n)), axis=1)
        start = np.append(start / 2, start / 2 if data.squared else data.cost / 2)
    if not data.squared:
        A, b = np.vstack([A, np.ones(len(c))]), np.array([0.0, data.cost.sum()])
    found = qp(H, c, A, b, start)
    x = found.x
    return x[:n], (x[n:] if data.nonneg else np.zeros(n)), float(found.nu[-1])


def train_plus(
    given: Given,
    squared: bool,
    *,
    kernel: Callable[[Data], Array] = augmented,
    inverse: Callable[[Data, Array], Array] = deformed,
    solve: Callable[[Data, Array], tuple[Array, Array, float]] = solve_plus,
    offset: Callable[[Array, Array, Array], float] = bias,
    data: Data | None = None,
) -> dict[str, Any]:
    """The parts of SVM+ with either loss."""
    data = prepare(given, squared) if data is None else data
    y, eye, Kt = data.y, np.eye(len(data.y)), kernel(data)
    Q = inverse(data, Kt) if squared else (data.Kz + data.delta * eye) / data.lam
    alpha, beta, rho = solve(data, Q)
    if squared:
        total = float(alpha.sum())
        square = float((alpha * y) @ data.K @ (alpha * y) + (alpha + beta) @ Q @ (alpha + beta))
        t = total / square if square > 0 else 1.0
        alpha, beta = t * alpha, t * beta
    elif data.nonneg:  # the sum is what the rounding of a large beta shows in
        beta = np.maximum(beta, 0)
    gamma = alpha + beta
    f0 = data.K @ (alpha * y)
    if squared:
        # (gamma - C w xi)/lam, which cancels where C/lam is large
        r = np.linalg.solve(data.lam * eye + data.cost[:, None] * Kt, gamma)
        xi, rho = Kt @ r, float(r.sum())
    else:
        r = (gamma - data.cost) / data.lam
        xi = data.Kz @ r + data.delta * r
    b = offset(y, y * f0 + xi, alpha)
    scale = 1.0
    if squared and data.delta == 0:
        lift = max(0.0, -float(xi.min())) if data.nonneg else 0.0
        least = float((y * (f0 + b) + xi).min()) + lift
        rho += lift
        if least > 0:
            scale = 1 / least
    elif not squared and data.delta == 0:
        rho = float((1 - y * (f0 + b) - xi).max())
        rho = max(rho, -float(xi.min())) if data.nonneg else rho
    return {
        "w": scale * data.weights(data.X, alpha * y),
        "b": scale * b,
        "v": scale * data.weights(data.Z, r),
        "rho": scale * rho,
        "alpha": data.expanded(alpha),
        "beta": data.expanded(beta),
    }


def primal(found: Given) -> dict[str, Any]:
    """The model."""
    return {name: found[name] for name in ("w", "b", "v", "rho") if name in found}


def dual(found: Given) -> dict[str, Any]:
    """The multipliers."""
    return {name: found[name] for name in ("alpha", "beta") if name in found}


# ---- SVM


def best_bias(data: Data, f: Array) -> float:
    """The b that minimises the loss for the scores f: of the breaks, or between two of them."""
    ends = np.sort(data.y - f)

    def loss(b: float) -> float:
        m = np.maximum(0, 1 - data.y * (f + b))
        return float((data.cost * (m * m / 2 if data.squared else m)).sum())

    def slope(b: float) -> float:
        return -float((data.cost * data.y * np.maximum(0, 1 - data.y * (f + b))).sum())

    if not data.squared:
        return float(min(ends, key=loss))
    low, high = float(ends[0]), float(ends[-1])
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2


def solve_plain(data: Data) -> Array:
    """Alpha of the ordinary SVM."""
    y = data.y
    H = data.K * np.outer(y, y)
    upper = None if data.squared else data.cost
    if data.squared:
        H = H + np.diag(1 / data.cost)
    even = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    start = even * (even.sum() / max(float(even @ H @ even), 1e-300))
    if upper is not None:
        start = start * min(1.0, float((0.5 * upper / np.maximum(start, 1e-300)).min()))
    return qp(H, np.ones(len(y)), y[None, :], np.zeros(1), start, upper).x


def train_plain(
    given: Given,
    *,
    solve: Callable[[Data], Array] = solve_plain,
    offset: Callable[[Data, Array], float] = best_bias,
) -> dict[str, Any]:
    """The parts of the ordinary SVM."""
    data = prepare(given, given.get("loss", "hinge") == "squared_hinge")
    alpha = solve(data)
    f = data.K @ (alpha * data.y)
    return {
        "w": data.weights(data.X, alpha * data.y),
        "b": offset(data, f),
        "alpha": data.expanded(alpha),
    }


# ---- SVM-2K


def train_two_views(
    given: Given,
    *,
    beta: Callable[[Array, Array], tuple[Array, Array]] = lambda up, down: (up, down),
) -> dict[str, Any]:
    """The parts of the SVM-2K: x = (alpha_A, alpha_B, beta_+, beta_-), all within bounds."""
    data = prepare({**given, "C": 1.0}, squared=False)
    n, y, weight = len(data.y), data.y, data.cost
    eye, label = np.eye(n), np.diag(y)
    apart = given["D"] > 0
    blocks = [(label, 0 * eye), (0 * eye, label)] + apart * [(-eye, eye), (eye, -eye)]
    G, F = (np.hstack([block[i] for block in blocks]) for i in (0, 1))
    H = G.T @ data.K @ G + F.T @ data.Kz @ F
    c = np.concatenate([np.ones(2 * n), np.full(2 * n * apart, -given.get("eps", 0.0))])
    upper = np.concatenate([given[name] * weight for name in ("CA", "CB", "D", "D")])[: len(c)]
    A = np.vstack([G.sum(axis=0), F.sum(axis=0)])
    found = qp(H, c, A, np.zeros(2), 0.5 * upper, upper)
    parts = found.x.reshape(-1, n)
    up, down = beta(parts[2], parts[3]) if apart else (np.zeros(n), np.zeros(n))
    g_a, g_b = parts[0] * y - up + down, parts[1] * y + up - down
    return {
        "w": data.weights(data.X, g_a),
        "b": float(found.nu[0]),
        "v": data.weights(data.Z, g_b),
        "rho": float(found.nu[1]),
        "alpha": np.array([data.expanded(p) for p in (parts[0], parts[1], up - down)]),
    }
