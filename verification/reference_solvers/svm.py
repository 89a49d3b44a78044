"""Sound, slow trainers of SVM and SVM+: one dense interior point method, and the maps of the papers.

Dual of both SVM+: min 1/2 x'Hx - <c,x> over x = (alpha, beta) >= 0 with <alpha,y> = 0, and for the hinge
sum x = C sum w. What a mutant gets wrong is passed as one of the functions of `train_plus`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.reference_solvers.qp import qp

Array = np.ndarray[Any, Any]
Given = Mapping[str, Any]
#: C w_i/lam from which the multipliers of the equations are no good b and rho.
SHAKY = 1e5
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
    delta: Array
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
        given.get("free_slack", 0.0) / weight[kept], given.get("nonneg_slack", False), squared, X, Z, kept, len(y),
    )  # fmt: skip


# ---- SVM+


def augmented(data: Data) -> Array:
    """Kt = Kz + 1 + delta diag(1/w)."""
    return data.Kz + 1 + np.diag(data.delta)


def centred(data: Data) -> Array:
    """Products of z less their weighted mean, which rho absorbs: then sum C w_i z_i = 0."""
    share = data.cost / data.cost.sum()
    row = data.Kz @ share
    return np.asarray(data.Kz - row - row[:, None] + share @ row)


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


def even(y: Array) -> Array:
    """The same for all of a class, with equal sums."""
    return np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())


def even_start(H: Array, y: Array) -> Array:
    """The best multiple of `even` for 1/2 x'Hx - sum x."""
    x = even(y)
    return np.asarray(x * (x.sum() / max(float(x @ H @ x), 1e-300)))


def solve_plus(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """(alpha, beta, rho) of SVM+, rho that of the hinge; Q is (Kz + diag(delta))/lam for the hinge."""
    n, y = len(data.y), data.y
    Ky = data.K * np.outer(y, y)
    H = Ky + Q
    c, A = np.ones(n), y[None, :]
    b = np.zeros(1)
    start = even_start(H, y)
    if not data.squared:
        c = c + data.delta / data.lam * data.cost  # the rest of Q cost is 0
        start = even(y) * data.cost.sum() / 2
    if data.nonneg:
        H = np.block([[H, Q], [Q, Q]])
        c = np.append(c, c - 1)
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
    y, Kt = data.y, kernel(data)
    Q = inverse(data, Kt) if squared else (centred(data) + np.diag(data.delta)) / data.lam
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
        r = np.linalg.solve(data.lam * np.eye(len(y)) + data.cost[:, None] * Kt, gamma)
        xi, rho = Kt @ r, float(r.sum())
    else:
        r = (gamma - data.cost) / data.lam
        xi = data.Kz @ r + data.delta * r
        rho -= float(data.cost @ (data.Kz @ r) / data.cost.sum())
    b = offset(y, y * f0 + xi, alpha)
    scale = 1.0
    if squared and not data.delta.any():
        lift = max(0.0, -float(xi.min())) if data.nonneg else 0.0
        least = float((y * (f0 + b) + xi).min()) + lift
        rho += lift
        if least > 0:
            scale = 1 / least
    elif not squared and not data.delta.any():
        rho = float((1 - y * (f0 + b) - xi).max())
        rho = max(rho, -float(xi.min())) if data.nonneg else rho
        if data.nonneg:
            return separable(data, alpha, beta, f0, (b, r, rho))
    elif not squared and data.cost.max() > SHAKY * data.lam:
        g = data.Kz @ r
        b, rho = offsets(data, f0, g)
        least = float((y * (f0 + b)).min())
        more = float((alpha * y) @ f0) * (1 / least**2 - 1)
        if data.nonneg and least > 0 and more < 2 * float(data.cost @ (g + rho)):
            scale, r, rho = 1 / least, 0 * r, 0.0  # no slack is needed, see `separable`
    return {
        "w": scale * data.weights(data.X, alpha * y),
        "b": scale * b,
        "v": scale * data.weights(data.Z, r),
        "rho": scale * rho,
        "alpha": data.expanded(alpha),
        "beta": data.expanded(beta),
    }


def offsets(data: Data, f0: Array, g: Array) -> tuple[float, float]:
    """The best b and rho of SVM1+ with own slacks, by bisection of the slopes of P."""
    y, cost, kappa = data.y, data.cost, data.lam / data.delta
    least = 0.0 if data.nonneg else -np.inf

    def own(b: float, rho: float) -> tuple[Array, Array]:
        asked, need = g + rho - cost / kappa, 1 - y * (f0 + b)
        xi = np.maximum(np.maximum(asked, need), least)
        return kappa * (xi - g - rho), (xi == need) & (need > asked)

    def middle(slope: Callable[[float], float], low: float, high: float) -> float:
        for _ in range(120):
            half = (low + high) / 2
            low, high = (half, high) if slope(half) < 0 else (low, half)
        return (low + high) / 2

    reach = 2 * float(1 + abs(f0).max() + abs(g).max() + (cost / kappa).max())

    def best(b: float) -> float:
        return middle(lambda rho: -float(own(b, rho)[0].sum()), -3 * reach, 3 * reach)

    def slope(b: float) -> float:
        price, on = own(b, best(b))
        return -float((y * (cost + price))[on].sum())

    b = middle(slope, -reach, reach)
    return b, best(b)


def separable(
    data: Data, alpha: Array, beta: Array, f0: Array, model: tuple[float, Array, float]
) -> dict[str, Any]:
    """SVM1+ beside the ordinary SVM, v = 0: noise in v costs C sum w times it where no slack is needed.

    The same with beta, in which alpha is lost: C w - alpha where v = 0.
    """
    b, r, rho = model
    w2 = float((alpha * data.y) @ f0)
    e = (alpha + beta - data.cost) / data.lam
    lost = data.lam * float(e @ centred(data) @ e)
    value = (w2 + data.lam * float(r @ data.Kz @ r)) / 2 + float(data.cost @ (data.Kz @ r + rho))
    bound, a = alpha.sum() - (w2 + lost) / 2, alpha
    if value - bound > 1e-9 * abs(value):
        plain = solve_plain(data)
        f = data.K @ (plain * data.y)
        square, even = float((plain * data.y) @ f), bias(data.y, data.y * f, plain)
        least = float((data.y * (f + even)).min())
        t = (
            min(plain.sum() / square, float((data.cost / np.maximum(plain, 1e-280)).min()))
            if square > 0
            else 0.0
        )
        if t * plain.sum() - t * t * square / 2 > bound:
            alpha = t * plain
            beta = data.cost - alpha
        if least > 0 and square / least**2 / 2 < value:
            a, b, r, rho = plain / least, even / least, 0 * r, 0.0
        elif data.cost.sum() < value:  # w = 0, and the slack 1 for everybody
            a, b, r, rho = 0 * alpha, 0.0, 0 * r, 1.0
    return {
        "w": data.weights(data.X, a * data.y),
        "b": b,
        "v": data.weights(data.Z, r),
        "rho": rho,
        "alpha": data.expanded(alpha),
        "beta": data.expanded(np.maximum(beta, 0)),
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
    start = even_start(H, y)
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


# ---- as solvers of the problems


def _of(train: Callable[[Given], dict[str, Any]], part: Callable[[Given], dict[str, Any]]) -> Any:
    def solver(**given: Any) -> dict[str, Any]:
        return part(train(given))

    return solver


TRAINERS: dict[str, Callable[[Given], dict[str, Any]]] = {
    "svm": train_plain,
    "svm_2k": train_two_views,
    "svm_plus_hinge": lambda given: train_plus(given, False),
    "svm_plus_squared_hinge": lambda given: train_plus(given, True),
}
#: The sound trainers by problem.
SOLVERS: dict[str, Callable[..., Any]] = {
    f"{object_name}.{side}": _of(train, part)
    for object_name, train in TRAINERS.items()
    for side, part in (("primal", primal), ("dual", dual))
}
