"""Trained models against rational quadratic programs: P, D, the gap between them, and the optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.models import (
    ap_svm,
    binary_svm,
    svm,
    svm_2k,
    svm_plus_hinge,
    svm_plus_squared_hinge,
)
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import (
    Matrix,
    Row,
    Vector,
    bounded,
    close,
    dot,
    require,
)
from verification.selftest.certificates.rankings import Orders
from verification.selftest.certificates.sets import ONE, ZERO, rows_of, unit

Rng = np.random.Generator
Half = Fraction(1, 2)
#: Called with tuples and mappings of arguments.
certify_2k: Any = svm_2k.certificate
certify_binary: Any = binary_svm.certificate
ROUNDS = 2


def table(rng: Rng, n: int, d: int) -> tuple[Vector, ...]:
    """Rows (n, d) of eighths, linearly independent where n <= d."""
    while True:
        rows = tuple(exact.eighths(rng, d) for _ in range(n))
        gram = [[dot(a, b) for b in rows] for a in rows]
        if n > d or exact.solved(gram, [ONE] * n) is not None:
            return rows


def plain(rows: Sequence[Vector]) -> np.ndarray[Any, Any]:
    """A float array."""
    return np.array([[float(v) for v in row] for row in rows])


def pull(a: Sequence[Fraction], rows: Sequence[Vector]) -> Vector:
    """Sum of a_i x_i."""
    return tuple(dot(a, column) for column in zip(*rows, strict=True))


def square(v: Sequence[Fraction]) -> Fraction:
    """||v||^2."""
    return dot(v, v)


def grams(rows: Sequence[Vector], signs: Sequence[Fraction] | None = None) -> list[list[Fraction]]:
    """Products of the rows, signed."""
    s = signs or [ONE] * len(rows)
    return [[s[i] * s[j] * dot(a, b) for j, b in enumerate(rows)] for i, a in enumerate(rows)]


def proved(found: Any, least: Fraction, what: str, P: Any = None, D: Any = None) -> None:
    """Nothing is claimed that is not so: P and D where they are known, and the optimum between them."""
    scale = float(abs(least)) + float(abs(P or 0)) + float(abs(D or 0))
    if P is not None:
        close(found.primal, P, scale, f"{what} P", 1e-13)
    if D is not None:
        close(found.dual, D, scale, f"{what} D", 1e-13)
    if P is not None and D is not None:
        close(found.gap, P - D, scale, f"{what} gap", 1e-13)
    if np.isfinite(found.primal):
        bounded(found.primal, least, scale, f"{what} P", 1e-14)
        bounded(found.gap, Fraction(found.primal) - least, scale, f"{what} gap", 1e-14)
    require(
        float(Fraction(found.dual) - least) <= 1e-14 * (1 + scale),
        f"{what} D",
        found.dual,
        float(least),
    )


def sharp(found: Any, what: str) -> None:
    """The solution is recognised."""
    require(found.gap <= 1e-12 * (1 + abs(found.primal)), f"{what} not sharp: gap", found.gap)


# ---- SVM and SVM+


def balance(y: Vector, *more: Row) -> tuple[Row, ...]:
    """Alpha >= 0 with <alpha, y> = 0, and other rows."""
    n = len(y)
    return (*((unit(n, i, -ONE), ZERO, False) for i in range(n)), (y, ZERO, True), *more)


def labels(rng: Rng, n: int) -> Vector:
    """Both signs."""
    return tuple(Fraction(int(v)) for v in rng.permutation([1, -1, *rng.choice([-1, 1], n - 2)]))


def machines(seed: int) -> None:
    """The SVM with either loss."""
    rng = np.random.default_rng([seed, 11])
    for squared in (False, True) * ROUNDS:
        n = 3
        X, y, C = table(rng, n, n), labels(rng, n), Fraction(int(rng.integers(1, 9)), 4)
        cost = [C * Fraction(int(v), 2) for v in rng.integers(1, 5, n)]
        H = grams(X, y)
        for i in range(n if squared else 0):
            H[i][i] += ONE / cost[i]
        caps = () if squared else tuple((unit(n, i), cost[i], False) for i in range(n))
        form, ones = tuple(map(tuple, H)), (ONE,) * n
        best, least = exact.minimum(form, ones, balance(y, *caps))
        what = f"svm, {'squared ' * squared}hinge:"
        given: dict[str, Any] = {"C": float(C), "loss": "squared_hinge" if squared else "hinge",
                 "sample_weight": exact.floats([c / C for c in cost])}  # fmt: skip
        sharp(svm.certificate(plain(X), exact.floats(y), alpha=exact.floats(best), **given), what)
        for w, b, t in (
            (exact.eighths(rng, n), exact.eighths(rng, 1)[0], Half),
            (pull([a * s for a, s in zip(best, y, strict=True)], X), ZERO, ONE),
        ):
            w = exact.vector(exact.floats(w))
            alpha = tuple(t * a for a in best)
            short = [max(ZERO, 1 - s * (dot(w, x) + b)) for s, x in zip(y, X, strict=True)]
            P = square(w) / 2 + dot(cost, [v * v / 2 if squared else v for v in short])
            point: dict[str, Any] = {"w": exact.floats(w), "b": float(b)}
            beyond = tuple(a * 5 / 4 for a in best)
            for multipliers in (alpha, beyond, exact.eighths(rng, n)):
                found = svm.certificate(
                    plain(X), exact.floats(y), alpha=exact.floats(multipliers), **point, **given
                )
                D = -exact.quadratic(form, ones, multipliers) if multipliers is alpha else None
                proved(found, -least, what, P, D)


def deformed(Kt: list[list[Fraction]], cost: Sequence[Fraction], lam: Fraction) -> Matrix:
    """Kt (lam I + diag(cost) Kt)^-1, column by column."""
    n = len(cost)
    system = [[cost[j] * Kt[i][j] + lam * (i == j) for j in range(n)] for i in range(n)]
    columns = [exact.solved(system, [Kt[i][k] for i in range(n)]) for k in range(n)]
    return tuple(tuple((columns[k] or [])[i] for k in range(n)) for i in range(n))


def privileged(seed: int) -> None:
    """SVM+ with either loss, with xi >= 0 or not, with own slacks or not."""
    rng = np.random.default_rng([seed, 12])
    variants = [
        (s, nonneg, free)
        for s in (True, False)
        for nonneg in (True, False)
        for free in (ZERO, Half)
    ]
    for squared, nonneg, delta in variants:
        n = 3
        X, Z, y = table(rng, n, n), table(rng, n, n), labels(rng, n)
        C, lam = (Fraction(int(v), 4) for v in rng.integers(1, 9, 2))
        cost = [C * Fraction(int(v), 2) for v in rng.integers(1, 5, n)]
        K, Kz = grams(X, y), grams(Z)
        for i in range(n):
            Kz[i][i] += delta
        if squared:
            Q = deformed([[v + 1 for v in row] for row in Kz], cost, lam)
            pay, constant = [ZERO] * n, ZERO
        else:
            Q = tuple(tuple(v / lam for v in row) for row in Kz)
            pay = [dot(row, cost) for row in Q]
            constant = dot(cost, pay) / 2
        H = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(K, Q, strict=True)]
        c = [1 + p for p in pay]
        d, equal = n, [y]
        if nonneg:
            H = [[*H[i], *Q[i]] for i in range(n)] + [[*Q[i], *Q[i]] for i in range(n)]
            c, d, equal = [*c, *pay], 2 * n, [(*y, *[ZERO] * n)]
        rows: list[Row] = [(unit(d, i, -ONE), ZERO, False) for i in range(d)]
        rows += [(g, ZERO, True) for g in equal]
        rows += [] if squared else [((ONE,) * d, sum(cost, ZERO), True)]
        form = tuple(map(tuple, H))
        best, least = exact.minimum(form, tuple(c), tuple(rows))
        least += constant
        module: Any = svm_plus_squared_hinge if squared else svm_plus_hinge
        what = f"SVM+ (squared={squared}, nonneg={nonneg}, delta={delta}):"
        given: dict[str, Any] = {"C": float(C), "lam": float(lam), "nonneg_slack": nonneg, "free_slack": float(delta),
                 "sample_weight": exact.floats([v / C for v in cost])}  # fmt: skip
        data: Any = (plain(X), exact.floats(y), plain(Z))

        def of(x: Vector, n: int = n, nonneg: bool = nonneg) -> dict[str, Any]:
            return {"alpha": exact.floats(x[:n])} | (
                {"beta": exact.floats(x[n:])} if nonneg else {}
            )

        sharp(module.certificate(*data, **of(best), **given), what)
        wild = tuple(abs(v) for v in exact.eighths(rng, d))
        for w, v, multipliers in (
            (exact.eighths(rng, n), exact.eighths(rng, n), best),
            (exact.eighths(rng, n),) * 2 + (wild,),
        ):
            b = exact.eighths(rng, 1)[0]
            need = [1 - s * (dot(w, x) + b) for s, x in zip(y, X, strict=True)]
            need = [max(ZERO, v) for v in need] if nonneg else need
            slack = [dot(v, z) for z in Z]
            rho = max(ZERO, max(p - q for p, q in zip(need, slack, strict=True))) + 1
            point: dict[str, Any] = {
                "w": exact.floats(w),
                "b": float(b),
                "v": exact.floats(v),
                "rho": float(rho),
            }
            found = module.certificate(*data, **point, **of(multipliers), **given)
            xi = [q + rho for q in slack]
            P: Any = square(w) / 2 + lam / 2 * square(v)
            P += lam / 2 * rho**2 + dot(cost, [q * q for q in xi]) / 2 if squared else dot(cost, xi)
            free = multipliers is best
            proved(found, -least, what, None if delta else P, -least if free else None)
            low = module.certificate(
                *data, **{**point, "rho": float(rho) - 3}, **of(multipliers), **given
            )
            proved(low, -least, f"{what} infeasible")


def two_views(seed: int) -> None:
    """SVM-2K: P, D and the terms between them."""
    rng = np.random.default_rng([seed, 13])
    for _ in range(3 * ROUNDS):
        n = 4
        X, Z, y = table(rng, n, 2), table(rng, n, 3), (ONE, -ONE, ONE, -ONE)
        CA, CB, D = (Fraction(int(v), 4) for v in rng.integers(2, 9, 3))
        eps = Fraction(int(rng.integers(0, 3)), 8)
        a, b = ([Fraction(int(v), 8) for v in rng.integers(0, 3, 2)] for _ in "ab")
        beta = [Fraction(int(v), 8) * D for v in rng.integers(-8, 9, 2)]
        alpha = (
            [a[0], a[0], a[1], a[1]],
            [b[0], b[0], b[1], b[1]],
            [beta[0], -beta[0], beta[1], -beta[1]],
        )
        parts = [[min(v, CA) for v in alpha[0]], [min(v, CB) for v in alpha[1]], alpha[2]]
        g = [p * s - q for p, s, q in zip(parts[0], y, parts[2], strict=True)]
        h = [p * s + q for p, s, q in zip(parts[1], y, parts[2], strict=True)]
        low = sum(parts[0]) + sum(parts[1]) - eps * sum(abs(v) for v in parts[2])
        low -= (square(pull(g, X)) + square(pull(h, Z))) / 2
        w, v = exact.eighths(rng, 2), exact.eighths(rng, 3)
        (off, rho) = exact.eighths(rng, 2)
        f, e = [dot(w, x) + off for x in X], [dot(v, z) + rho for z in Z]
        P = (square(w) + square(v)) / 2
        P += CA * sum(max(ZERO, 1 - s * t) for s, t in zip(y, f, strict=True))
        P += CB * sum(max(ZERO, 1 - s * t) for s, t in zip(y, e, strict=True))
        P += D * sum(max(ZERO, abs(p - q) - eps) for p, q in zip(f, e, strict=True))
        given: dict[str, Any] = {"CA": float(CA), "CB": float(CB), "D": float(D), "eps": float(eps)}
        point: dict[str, Any] = {
            "w": exact.floats(w),
            "b": float(off),
            "v": exact.floats(v),
            "rho": float(rho),
        }
        data: Any = (plain(X), exact.floats(y), plain(Z))
        found = certify_2k(*data, alpha=plain([tuple(p) for p in parts]), **point, **given)
        proved(found, low, "SVM-2K:", P, low)
        wild = plain([exact.eighths(rng, n) for _ in range(3)])
        loose = certify_2k(*data, alpha=wild, **point, **given)
        close(loose.primal, P, float(P), "SVM-2K: P", 1e-13)
        require(loose.dual <= float(P) + 1e-12, "SVM-2K: D", loose.dual, float(P))
        bounded(
            loose.gap, Fraction(loose.primal) - Fraction(loose.dual), float(P), "SVM-2K: gap", 1e-14
        )


def binary(seed: int) -> None:
    """The binary SVM of the ranking papers, with a penalised bias or none."""
    rng = np.random.default_rng([seed, 14])
    for bias in (False, True) * ROUNDS:
        n = 3
        X, y, C = table(rng, n, n), labels(rng, n), Fraction(int(rng.integers(1, 9)), 2)
        H = [
            [v + bias * y[i] * y[j] for j, v in enumerate(row)] for i, row in enumerate(grams(X, y))
        ]
        form, ones = tuple(map(tuple, H)), (ONE,) * n
        best, least = exact.minimum(form, ones, rows_of("box", n, C / n))
        w, b = exact.eighths(rng, n), exact.eighths(rng, 1)[0] if bias else ZERO
        P = (square(w) + b * b) / 2
        P += C / n * sum(max(ZERO, 1 - s * (dot(w, x) + b)) for s, x in zip(y, X, strict=True))
        point: dict[str, Any] = {"w": exact.floats(w), **({"b": float(b)} if bias else {})}
        data: Any = (plain(X), exact.floats(y))
        given: dict[str, Any] = {"C": float(C), "bias": bias}
        sharp(certify_binary(*data, alpha=exact.floats(best), **given), "binary SVM:")
        inner = tuple(C / n * Fraction(int(v), 8) for v in rng.integers(0, 9, n))
        for alpha in (inner, exact.eighths(rng, n)):
            found = certify_binary(*data, alpha=exact.floats(alpha), **point, **given)
            D = -exact.quadratic(form, ones, alpha) if alpha is inner else None
            proved(found, -least, "binary SVM:", P, D)


def ranked(seed: int) -> None:
    """AP-SVM: the structured hinge by all rankings there are."""
    rng = np.random.default_rng([seed, 15])
    for P_, N in ((1, 2), (2, 2), (2, 3)) * ROUNDS:
        n, d = P_ + N, 3
        X, C = table(rng, n, d), Fraction(int(rng.integers(1, 9)), 2)
        y = rng.permutation(np.r_[np.ones(P_, int), np.zeros(N, int)])
        orders = Orders(y)
        w = exact.eighths(rng, d)
        P = square(w) / 2 + C * orders.loss([dot(w, x) for x in X])
        chosen = [orders.all[int(i)] for i in rng.integers(len(orders.all), size=3)]
        share = [C / 2, C / 4, C / 4]
        mean = [
            sum((t * r.coefficients[i] for t, r in zip(share, chosen, strict=True)), ZERO)
            for i in range(n)
        ]
        D = (
            sum((t * r.delta for t, r in zip(share, chosen, strict=True)), ZERO)
            - square(pull(mean, X)) / 2
        )
        counts = np.array([r.inversions for r in chosen])
        data: dict[str, Any] = {"C": float(C), "w": exact.floats(w)}
        found = ap_svm.certificate(
            plain(X), y, rankings=counts, weights=exact.floats(share), **data
        )
        proved(found, D, "AP-SVM:", P, D)
        loose = ap_svm.certificate(
            plain(X), y, rankings=counts, weights=3 * exact.floats(share), **data
        )
        close(loose.dual, D, float(abs(P)), "AP-SVM: D of scaled weights", 1e-13)
        alone = ap_svm.certificate(plain(X), y, **data)
        close(alone.primal, P, float(P), "AP-SVM: P", 1e-13)
        bounded(
            alone.gap, Fraction(alone.primal) - Fraction(alone.dual), float(P), "AP-SVM: gap", 1e-14
        )


CHECKS: tuple[Callable[[int], None], ...] = (
    machines,
    privileged,
    two_views,
    binary,
    ranked,
)
