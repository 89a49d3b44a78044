"""Trained models against rational quadratic programs: P, D, the gap between them, and the optimum."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from refsolve.models import ap_svm, binary_svm, svm, svm_2k, svm_plus_hinge, svm_plus_squared_hinge
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import (
    Matrix,
    Row,
    Vector,
    bounded,
    close,
    floats,
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


def table(rng: Rng, n: int, d: int) -> Matrix:
    """Rows (n, d) of eighths, linearly independent where n <= d."""
    while True:
        rows = exact.array([exact.eighths(rng, d) for _ in range(n)])
        if n > d or exact.solved(rows @ rows.T, [ONE] * n) is not None:
            return rows


def over(rng: Rng, low: int, high: int, by: int, size: int | None = None) -> Any:
    """Integers in [low, high) over ``by``, as fractions."""
    drawn = exact.vector(rng.integers(low, high, size) / by)
    return drawn if size is not None else drawn.item()


def hinge(v: Vector) -> Vector:
    """Max {0, v}."""
    return np.maximum(v, exact.array(ZERO))


def grams(rows: Matrix, signs: Any = ONE) -> Matrix:
    """Products of the rows, signed."""
    signed = rows * np.reshape(signs, (-1, 1))
    return signed @ signed.T


def point(**parts: Any) -> dict[str, Any]:
    """A model as the certificates take it."""
    return {name: floats(v) if np.ndim(v) else float(v) for name, v in parts.items()}


def proved(found: Any, least: Fraction, what: str, P: Any = None, D: Any = None) -> None:
    """Nothing is claimed that is not so: P and D where they are known, and the optimum between them."""
    scale = float(abs(least)) + float(abs(P or 0)) + float(abs(D or 0))
    if P is not None:
        close(found.primal, P, scale, f"{what} P", 1e-13)
    lower = found.dual, getattr(found, "dual_value", found.dual)  # the bound, and D as computed
    for each in () if D is None else lower:
        close(each, D, scale, f"{what} D", 1e-13)
    if P is not None and D is not None:
        close(found.gap, P - D, scale, f"{what} gap", 1e-13)
    if np.isfinite(found.primal):
        bounded(found.primal, least, scale, f"{what} P", 1e-14)
        bounded(found.gap, Fraction(found.primal) - least, scale, f"{what} gap", 1e-14)
    for each in lower:
        above = float(Fraction(each) - least)
        require(above <= 1e-14 * (1 + scale), f"{what} D", each, float(least))


def sharp(found: Any, what: str) -> None:
    """The solution is recognised."""
    require(found.gap <= 1e-12 * (1 + abs(found.primal)), f"{what} not sharp: gap", found.gap)


# ---- SVM and SVM+


def balance(y: Vector, *more: Row) -> tuple[Row, ...]:
    """Alpha >= 0 with <alpha, y> = 0, and other rows."""
    n = len(y)
    return (*((unit(n, i, -ONE), ZERO, False) for i in range(n)), (tuple(y), ZERO, True), *more)


def labels(rng: Rng, n: int) -> Vector:
    """Both signs."""
    return exact.vector(rng.permutation([1, -1, *rng.choice([-1, 1], n - 2)]))


def machines(seed: int) -> None:
    """The SVM with either loss."""
    rng = np.random.default_rng([seed, 11])
    for squared in (False, True) * ROUNDS:
        n = 3
        X, y, C = table(rng, n, n), labels(rng, n), over(rng, 1, 9, 4)
        cost = C * over(rng, 1, 5, 2, n)
        H = grams(X, y) + (np.diag(1 / cost) if squared else 0)
        caps = () if squared else tuple((unit(n, i), cost[i], False) for i in range(n))
        ones = (ONE,) * n
        best, least = exact.minimum(H, ones, balance(y, *caps))
        what = f"svm, {'squared ' * squared}hinge:"
        given: dict[str, Any] = {"C": float(C), "loss": "squared_hinge" if squared else "hinge",
                 "sample_weight": floats(cost / C)}  # fmt: skip
        sharp(svm.certificate(floats(X), floats(y), alpha=floats(best), **given), what)
        for w, b, t in (
            (exact.eighths(rng, n), exact.eighths(rng, 1)[0], Half),
            ((best * y) @ X, ZERO, ONE),
        ):
            w, alpha = exact.vector(floats(w)), t * best
            short = hinge(1 - y * (X @ w + b))
            P = w @ w / 2 + cost @ (short**2 / 2 if squared else short)
            for multipliers in (alpha, best * 5 / 4, exact.eighths(rng, n)):
                found = svm.certificate(
                    floats(X), floats(y), alpha=floats(multipliers), **point(w=w, b=b), **given
                )
                D = -exact.quadratic(H, ones, multipliers) if multipliers is alpha else None
                proved(found, -least, what, P, D)


def deformed(Kt: Matrix, cost: Vector, lam: Fraction) -> Matrix:
    """Kt (lam I + diag(cost) Kt)^-1, column by column."""
    system = Kt * cost + lam * np.eye(len(cost), dtype=int)
    return exact.array([exact.solved(system, column) for column in Kt.T]).T


def privileged(seed: int) -> None:
    """SVM+ with either loss, with xi >= 0 or not, with own slacks or not."""
    rng = np.random.default_rng([seed, 12])
    for squared, nonneg, delta in product((True, False), (True, False), (ZERO, Half)):
        n = 3
        X, Z, y = table(rng, n, n), table(rng, n, n), labels(rng, n)
        C, lam = over(rng, 1, 9, 4, 2)
        cost = C * over(rng, 1, 5, 2, n)
        Kz = grams(Z) + delta * C * np.diag(1 / cost)
        Q = deformed(Kz + 1, cost, lam) if squared else Kz / lam
        pay = 0 * cost if squared else Q @ cost
        H, c, equal = grams(X, y) + Q, 1 + pay, y
        if nonneg:
            H, c = np.block([[H, Q], [Q, Q]]), np.concatenate([c, pay])
            equal = np.concatenate([y, 0 * y])
        d = len(c)
        rows = balance(equal, *([] if squared else [((ONE,) * d, sum(cost), True)]))
        best, least = exact.minimum(H, c, rows)
        least += cost @ pay / 2
        module: Any = svm_plus_squared_hinge if squared else svm_plus_hinge
        what = f"SVM+ (squared={squared}, nonneg={nonneg}, delta={delta}):"
        given: dict[str, Any] = {"C": float(C), "lam": float(lam), "nonneg_slack": nonneg, "free_slack": float(delta),
                 "sample_weight": floats(cost / C)}  # fmt: skip
        data: Any = (floats(X), floats(y), floats(Z))

        def of(x: Vector, n: int = n, nonneg: bool = nonneg) -> dict[str, Any]:
            return point(alpha=x[:n]) | (point(beta=x[n:]) if nonneg else {})

        sharp(module.certificate(*data, **of(best), **given), what)
        wild = abs(exact.eighths(rng, d))
        for w, v, multipliers in (
            (exact.eighths(rng, n), exact.eighths(rng, n), best),
            (exact.eighths(rng, n),) * 2 + (wild,),
        ):
            b = exact.eighths(rng, 1)[0]
            need, slack = 1 - y * (X @ w + b), Z @ v
            need = hinge(need) if nonneg else need
            rho = max(ZERO, *(need - slack)) + 1
            xi = slack + rho
            P: Any = w @ w / 2 + lam / 2 * (v @ v)
            P += lam / 2 * rho**2 + cost @ xi**2 / 2 if squared else cost @ xi
            free = multipliers is best
            for down, known in ((0, True), (3, False)):
                model = point(w=w, b=b, v=v, rho=rho - down)
                found = module.certificate(*data, **model, **of(multipliers), **given)
                D = -least if free and known else None
                where = what if known else f"{what} infeasible"
                proved(found, -least, where, P if known and not delta else None, D)


def two_views(seed: int) -> None:
    """SVM-2K: P, D and the terms between them."""
    rng = np.random.default_rng([seed, 13])
    for _ in range(3 * ROUNDS):
        n = 4
        X, Z, y = table(rng, n, 2), table(rng, n, 3), exact.vector([1, -1, 1, -1])
        CA, CB, D = over(rng, 2, 9, 4, 3)
        eps = over(rng, 0, 3, 8)
        a, b = (over(rng, 0, 3, 8, 2) for _ in "ab")
        beta = over(rng, -8, 9, 8, 2) * D
        doubled = np.minimum(np.repeat(a, 2), CA), np.minimum(np.repeat(b, 2), CB)
        alpha = exact.array([*doubled, np.repeat(beta, 2) * y])
        g, h = alpha[0] * y - alpha[2], alpha[1] * y + alpha[2]
        low = (alpha[0] + alpha[1] - eps * abs(alpha[2])).sum()
        low -= ((g @ X) @ (g @ X) + (h @ Z) @ (h @ Z)) / 2
        w, v = exact.eighths(rng, 2), exact.eighths(rng, 3)
        (off, rho) = exact.eighths(rng, 2)
        P = joint_risk((CA, CB, D), eps, y, (w, X @ w + off), (v, Z @ v + rho))
        given: Any = point(CA=CA, CB=CB, D=D, eps=eps, w=w, b=off, v=v, rho=rho)
        data: Any = (floats(X), floats(y), floats(Z))
        found = certify_2k(*data, alpha=floats(alpha), **given)
        proved(found, low, "SVM-2K:", P, low)
        wild = floats([exact.eighths(rng, n) for _ in range(3)])
        loose = certify_2k(*data, alpha=wild, **given)
        close(loose.primal, P, float(P), "SVM-2K: P", 1e-13)
        for lower in (loose.dual, loose.dual_value):
            require(lower <= float(P) + 1e-12, "SVM-2K: D", lower, float(P))
        lost = Fraction(loose.value) - Fraction(loose.dual_value)
        bounded(loose.gap, lost, float(P), "SVM-2K: gap", 1e-14)


def joint_risk(prices: Any, eps: Fraction, y: Vector, one: Any, other: Any) -> Fraction:
    """P of SVM-2K for the weights and values of both views."""
    (w, f), (v, e) = one, other
    terms = hinge(1 - y * f), hinge(1 - y * e), hinge(abs(f - e) - eps)
    losses = sum(C * each.sum() for C, each in zip(prices, terms, strict=True))
    return Fraction((w @ w + v @ v) / 2 + losses)


def binary(seed: int) -> None:
    """The binary SVM of the ranking papers, with a penalised bias or none."""
    rng = np.random.default_rng([seed, 14])
    for bias in (False, True) * ROUNDS:
        n = 3
        X, y, C = table(rng, n, n), labels(rng, n), over(rng, 1, 9, 2)
        H, ones = grams(X, y) + bias * np.outer(y, y), (ONE,) * n
        best, least = exact.minimum(H, ones, rows_of("box", n, C / n))
        w, b = exact.eighths(rng, n), exact.eighths(rng, 1)[0] if bias else ZERO
        P = (w @ w + b * b) / 2 + C / n * hinge(1 - y * (X @ w + b)).sum()
        model: Any = point(w=w, b=b) if bias else point(w=w)
        data: Any = (floats(X), floats(y))
        given: dict[str, Any] = {"C": float(C), "bias": bias}
        sharp(certify_binary(*data, alpha=floats(best), **given), "binary SVM:")
        inner = C / n * over(rng, 0, 9, 8, n)
        for alpha in (inner, exact.eighths(rng, n)):
            found = certify_binary(*data, alpha=floats(alpha), **model, **given)
            D = -exact.quadratic(H, ones, alpha) if alpha is inner else None
            proved(found, -least, "binary SVM:", P, D)


def ranked(seed: int) -> None:
    """AP-SVM: the structured hinge by all rankings there are."""
    rng = np.random.default_rng([seed, 15])
    for P_, N in ((1, 2), (2, 2), (2, 3)) * ROUNDS:
        n, d = P_ + N, 3
        X, C = table(rng, n, d), over(rng, 1, 9, 2)
        y = rng.permutation(np.r_[np.ones(P_, int), np.zeros(N, int)])
        orders = Orders(y)
        w = exact.eighths(rng, d)
        P = w @ w / 2 + C * orders.loss(X @ w)
        share = C * exact.array([Half, Half / 2, Half / 2])
        delta, coefficients, counts = orders.drawn(rng, len(share))
        mean = share @ coefficients @ X
        D = share @ delta - mean @ mean / 2
        data: dict[str, Any] = {"C": float(C), "w": floats(w)}

        def certified(X: Matrix = X, y: Any = y, data: Any = data, **dual: Any) -> Any:
            return ap_svm.certificate(floats(X), y, **dual, **data)

        found = certified(rankings=counts, weights=floats(share))
        proved(found, D, "AP-SVM:", P, D)
        loose = certified(rankings=counts, weights=3 * floats(share))
        close(loose.dual_value, D, float(abs(P)), "AP-SVM: D of scaled weights", 1e-13)
        alone = certified()
        close(alone.primal, P, float(P), "AP-SVM: P", 1e-13)
        lost = Fraction(alone.value) - Fraction(alone.dual_value)
        bounded(alone.gap, lost, float(P), "AP-SVM: gap", 1e-14)


CHECKS: tuple[Callable[[int], None], ...] = (machines, privileged, two_views, binary, ranked)
