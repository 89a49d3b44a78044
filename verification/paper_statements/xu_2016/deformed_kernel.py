"""Equations (5) to (12): the deformed kernel and what follows from it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function, draw_vector, vector
from verification.paper_statements._svm import (
    ONE,
    Labels,
    Matrix,
    Plus,
    Vector,
    augmented,
    deformed,
    draw_balanced,
    draw_plus,
    draw_rows,
    identity,
    inverse,
    of_plus,
    ray,
    semidefinite,
)
from verification.paper_statements.xu_2016 import stated

# ==========================================================================================
# Equation (5), the deformed kernel: equal forms, weights.
# ==========================================================================================

#: (K~, C, lam) -> Q
Form = Callable[[Matrix, Fraction, Fraction], Matrix]


def printed(kt: Matrix, c: Fraction, lam: Fraction) -> Matrix:
    """(5) as it stands."""
    return (kt - kt @ inverse(lam / c * identity(len(kt)) + kt) @ kt) / lam


@of_plus
def _check_equation_5(trial: Trial, p: Plus, *, form: Form) -> None:
    right = p.zt @ inverse(p.normal) @ p.zt.T
    found = form(p.kt, p.c, p.lam)
    same = np.array_equal(found, right)
    trial.exactly(same, "Q is another matrix", found=found, right=right)
    above = identity(len(p.zt)) / p.c - found
    trial.exactly(semidefinite(found) and semidefinite(above), "not within 0, I/C", found=found)


FORMS = stated(
    "Equation (5)",
    draw=draw_plus,
    check=_check_equation_5,
    says={"form": printed},
    wrong={
        "C/lam for lam/C": {"form": lambda kt, c, lam: printed(kt, lam, c)},
        "lam for 1/lam": {"form": lambda kt, c, lam: lam * lam * printed(kt, c, lam)},
        "K~ without + 1": {"form": lambda kt, c, lam: printed(kt - 1, c, lam)},
        "+ for -": {"form": lambda kt, c, lam: 2 / lam * kt - printed(kt, c, lam)},
    },
)

SHORT = FORMS.also(
    "Equation (5), short form",
    says={"form": deformed},
    wrong={
        "lam and C exchanged": {"form": lambda kt, c, lam: deformed(kt, lam, c)},
        "(lam I + C K~)^-1": {"form": lambda kt, c, lam: inverse(lam * identity(len(kt)) + c * kt)},
    },
)


# --------------------------------------------------------------------------------------- weights


def _draw_weighted(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=3)
    return {**given, "weights": [Fraction(int(v)) for v in rng.integers(1, 3, len(given["y"]))]}


@of_plus
def _check_weighted(trial: Trial, p: Plus, *, weights: Vector, effective: Function) -> None:
    again = np.repeat(np.arange(len(p.y)), [int(t) for t in weights])
    repeated = Plus(p.x[again], p.y[again], p.z[again], p.c, p.lam).solved
    found = replace(p, weights=np.array([effective(t) for t in weights])).solved
    trial.exactly(
        (found.value, *found.w, found.b) == (repeated.value, *repeated.w, repeated.b),
        "weighted and repeated samples give different solutions",
        weighted=found.value,
        repeated=repeated.value,
    )


WEIGHTS = stated(
    "Equation (5), weighted",
    draw=_draw_weighted,
    check=_check_weighted,
    says={"effective": lambda t: t},
    wrong={
        "weights ignored": {"effective": lambda t: ONE},
        "weights squared": {"effective": lambda t: t * t},
    },
)


# ==========================================================================================
# Equation (5) in double precision, as printed and as a product of triangular factors.
# ==========================================================================================

Floats = np.ndarray[Any, np.dtype[np.float64]]


def _inverse_of_floats(a: Floats) -> Floats:
    """Gauss-Jordan with row exchanges, in double precision."""
    n = len(a)
    rows = np.hstack([a, np.eye(n)])
    for col in range(n):
        best = col + int(np.argmax(abs(rows[col:, col])))
        rows[[col, best]] = rows[[best, col]]
        rows[col] /= rows[col, col]
        others = np.arange(n) != col
        rows[others] -= np.outer(rows[others, col], rows[col])
    return rows[:, n:]


def _product(a: Floats, b: Floats) -> Floats:
    """Matrix product, summed in order, the same on every machine."""
    found: Floats = (a[:, :, None] * b).sum(axis=1)
    return found


def printed_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """(5) step by step in double precision."""
    kt = _product(zt, zt.T)
    middle = _inverse_of_floats(kt + lam / c * np.eye(len(kt)))
    return (kt - _product(_product(kt, middle), kt)) / lam


def factored_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """FF' with F = Z~ L^-T, LL' = lam I + C Z~'Z~, in double precision."""
    lower = np.linalg.cholesky(c * _product(zt.T, zt) + lam * np.eye(zt.shape[1]))
    factor = solve_triangular(lower, zt.T, lower=True).T
    return _product(factor, factor.T)


def _check_floats(
    trial: Trial,
    *,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    evaluate: Callable[[Floats, float, float], Floats],
) -> None:
    zt = augmented(np.array(z))
    exact = deformed(zt @ zt.T, c, lam)
    found = evaluate(zt.astype(float), float(c), float(lam))
    error = np.vectorize(Fraction, otypes=[object])(found) - exact
    relative = np.abs(error).max() / np.abs(exact).max()
    trial.exactly(
        relative <= Fraction(1, 10**12),
        "the relative error in double precision is larger than 1e-12",
        about=f"{float(relative):.1e}",
    )


FLOATS_PRINTED = stated(
    "Equation (5), in double precision",
    check=_check_floats,
    says={"evaluate": printed_in_floats},
    right={"evaluate": factored_in_floats},
)


# ==========================================================================================
# Equation (5) with any kernel: what the constant in K~ is for.
# ==========================================================================================


def _draw_kernel(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "power": int(rng.integers(1, 3))}


@of_plus
def _check_kernel(trial: Trial, p: Plus, *, power: int, constant: int) -> None:
    features = replace(p, z=p.z**power)
    h = p.ky + deformed(features.kz + constant, p.c, p.lam)
    point, solved = p.minimum(h), features.solved
    if point is None:
        direction = ray(h, p.y)
        proved = direction is not None and not any(h @ direction)
        trial.exactly(not proved, "(4) falls without bound along a ray", ray=direction)
    else:
        trial.exactly(
            -point.value == solved.value,
            "the optimum is not that of (3) with the kernel's features",
            dual=-point.value,
            primal=solved.value,
        )


ANY_KERNEL = stated(
    "Equation (5), any kernel",
    draw=_draw_kernel,
    check=_check_kernel,
    witnesses=(
        {
            "x": [vector(0), vector(1), vector(2)],
            "y": (1, -1, 1),
            "z": [vector(0)] * 3,
            "c": ONE,
            "lam": ONE,
            "power": 1,
        },
    ),
)


# ==========================================================================================
# Equations (6) and (7): the slacks eliminated, rho as one more coordinate of v.
# ==========================================================================================


def _draw_equation_6(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=5)
    return {
        **given,
        "w": np.array(draw_vector(rng, len(given["x"][0]), 2, 2)),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": np.array(draw_vector(rng, len(given["z"][0]), 2, 2)),
        "rho": draw_vector(rng, 1, 2, 2)[0],
    }


@of_plus
def _check_equation_6(
    trial: Trial,
    p: Plus,
    *,
    w: Vector,
    b: Fraction,
    v: Vector,
    rho: Fraction,
    last: int,
    ridge: int,
) -> None:
    xi = p.z @ v + rho
    three = (w @ w + p.c * (xi @ xi) + p.lam * (v @ v + rho**2)) / 2
    g = p.z @ v + last * rho
    seven = (w @ w + p.c * (g @ g) + p.lam * (v @ v + ridge * rho**2)) / 2
    trial.exactly(three == seven, "another objective", three=three, seven=seven)
    same = p.feasible(w, b, xi) == p.feasible(w, b, g)
    trial.exactly(same, "another feasible set", slacks=xi, found=g)


SAME = stated("Equations (6) and (7)", draw=_draw_equation_6, check=_check_equation_6)


# ==========================================================================================
# Equations (8) to (11) and (13): the Lagrangian, where it is stationary, its value there.
# ==========================================================================================

#: (alpha, y, X) -> w
Recovery = Callable[[Vector, Labels, Matrix], Vector]
#: (lam I, Z~Z~', C) -> the matrix whose inverse gives v~
Normal = Callable[[Matrix, Matrix, Fraction], Matrix]


def lagrangian(p: Plus, u: Vector, alpha: Vector) -> Fraction:
    """(8) at u = [w, b, v~]."""
    d = p.x.shape[1]
    w, b, vt = u[:d], u[d], u[d + 1 :]
    xi = p.zt @ vt
    return p.value(w, vt, xi) - alpha @ (p.margins(w, b) - 1 + xi)


def _draw_equation_8(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {
        **given,
        "alpha": draw_balanced(rng, given["y"]),
        "b": draw_vector(rng, 1, 3, 2)[0],
        "other": draw_vector(rng, len(given["y"]), 2, 1),
    }


@of_plus
def _check_equation_8(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    b: Fraction,
    other: Vector,
    weight: Recovery,
    normal: Normal,
    balanced: bool,
    value: Callable[[Plus], Matrix],
) -> None:
    if not balanced:
        alpha = np.array([abs(v) + i for i, v in enumerate(other)])
    system = normal(p.lam * identity(p.zt.shape[1]), p.zt.T @ p.zt, p.c)
    u = np.array([*weight(alpha, p.y, p.x), b, *inverse(system) @ (alpha @ p.zt)])
    slopes = [  # central differences are exact: (8) is quadratic
        (lagrangian(p, u + step, alpha) - lagrangian(p, u - step, alpha)) / 2
        for step in identity(len(u))
    ]
    trial.exactly(not any(slopes), "the Lagrangian is not stationary", slopes=slopes)
    found = lagrangian(p, u, alpha)
    said = sum(alpha) - alpha @ value(p) @ alpha / 2
    trial.exactly(found == said, "another value", lagrangian=found, said=said)


def thirteen(p: Plus) -> Matrix:
    """The quadratic form of (13), with Q as printed."""
    return p.ky + printed(p.kt, p.c, p.lam)


STATIONARY = stated(
    "Equations (8), (9), (10), (11) and (13)",
    draw=_draw_equation_8,
    check=_check_equation_8,
    says={
        "weight": lambda a, y, x: a * y @ x,
        "normal": lambda ridge, scatter, c: ridge + c * scatter,
        "balanced": True,
        "value": thirteen,
    },
    wrong={
        "w = sum alpha_i x_i": {"weight": lambda a, y, x: a @ x},
        "v~ without C": {"normal": lambda ridge, scatter, c: ridge + scatter},
        "v~ = sum alpha_i z~_i / lam": {"normal": lambda ridge, scatter, c: ridge},
        "without (10)": {"balanced": False},
        "Q twice": {"value": lambda p: 2 * p.h - p.ky},
    },
)


# ==========================================================================================
# Equation (12) and footnote 2: the Woodbury identity.
# ==========================================================================================


@of_plus
def _check_equation_12(
    trial: Trial, p: Plus, *, ratio: Callable[[Fraction, Fraction], Fraction], outer: Function
) -> None:
    left = inverse(p.normal)
    middle = inverse(ratio(p.lam, p.c) * identity(len(p.zt)) + p.kt)
    right = outer(p.lam) * (identity(len(left)) - p.zt.T @ middle @ p.zt)
    trial.exactly(np.array_equal(left, right), "the two sides differ", left=left, right=right)


TWELVE = stated(
    "Equation (12)",
    draw=draw_plus,
    check=_check_equation_12,
    says={"ratio": lambda lam, c: lam / c, "outer": lambda lam: 1 / lam},
    wrong={
        "C/lam": {"ratio": lambda lam, c: c / lam},
        "lam": {"ratio": lambda lam, c: lam},
        "factor lam": {"outer": lambda lam: lam},
    },
)


def _draw_equation_12(rng: Rng) -> Inputs:
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    while True:  # footnote 2 speaks of matrices with inverses
        shapes = {"a": (n, n), "u": (n, k), "m": (k, k), "v": (k, n)}
        given = {name: np.array(draw_rows(rng, *shape)) for name, shape in shapes.items()}
        try:
            inverse(inverse(given["m"]) + given["v"] @ inverse(given["a"]) @ given["u"])
        except ArithmeticError:
            continue
        return given


def _check_footnote(
    trial: Trial, *, a: Matrix, u: Matrix, m: Matrix, v: Matrix, sign: int, turned: bool
) -> None:
    ai = inverse(a)
    inner = (inverse(m) if turned else m) + v @ ai @ u
    try:
        less = ai @ u @ inverse(inner) @ v @ ai
    except ArithmeticError:
        trial.exactly(False, "the inner matrix has no inverse", inner=inner)
        return
    product = (a + u @ m @ v) @ (ai + sign * less)
    trial.exactly(np.array_equal(product, identity(len(a))), "not the inverse", product=product)


FOOTNOTE = stated("Footnote 2", draw=_draw_equation_12, check=_check_footnote)
