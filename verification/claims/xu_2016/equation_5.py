"""Equation (5), the deformed kernel: equal forms, weights, double precision, any kernel."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from verification.claims import Claim, Trial
from verification.claims._rational import Matrix, Vector, scale, vector
from verification.claims._svm import (
    ONE,
    ZERO,
    Labels,
    apply,
    augmented,
    combine,
    deformed,
    draw_plus,
    gram,
    identity,
    inverse,
    minimum,
    multiply,
    ray,
    semidefinite,
    signed,
    solve_squared,
    transpose,
)

#: (K~, C, lam) -> Q
Form = Callable[[Matrix, Fraction, Fraction], Matrix]


def printed(kt: Matrix, c: Fraction, lam: Fraction) -> Matrix:
    """(5) as it stands."""
    middle = inverse(combine(lam / c, identity(len(kt)), 1, kt))
    return [scale(1 / lam, row) for row in combine(1, kt, -1, multiply(multiply(kt, middle), kt))]


def _check(
    trial: Trial,
    *,
    x: Matrix,
    y: Labels,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    form: Form,
) -> None:
    zt = augmented(z)
    normal = combine(lam, identity(len(zt[0])), c, multiply(transpose(zt), zt))
    right = multiply(multiply(zt, inverse(normal)), transpose(zt))
    found = form(gram(zt), c, lam)
    trial.exactly(found == right, "Q is another matrix", found=found, right=right)
    above = combine(1 / c, identity(len(zt)), -1, found)
    trial.exactly(semidefinite(found) and semidefinite(above), "not within 0, I/C", found=found)


FORMS = Claim(
    number="Equation (5)",
    section="3",
    statement="Q = (K~ - K~(lam/C I + K~)^-1 K~)/lam = Z~'(lam I + C Z~Z~')^-1 Z~, and "
    "0 <= Q <= I/C as matrices",
    method="both forms in rational arithmetic",
    expected="verified",
    draw=draw_plus,
    check=_check,
    says={"form": printed},
    wrong={
        "C/lam for lam/C": {"form": lambda kt, c, lam: printed(kt, lam, c)},
        "lam for 1/lam": {
            "form": lambda kt, c, lam: [scale(lam * lam, row) for row in printed(kt, c, lam)]
        },
        "K~ without + 1": {
            "form": lambda kt, c, lam: printed([[v - 1 for v in row] for row in kt], c, lam)
        },
        "+ for -": {"form": lambda kt, c, lam: combine(2 / lam, kt, -1, printed(kt, c, lam))},
    },
    instances=60,
)

SHORT = Claim(
    number="Equation (5), short form",
    section="3",
    statement="Q = (lam I + C K~)^-1 K~: one solve, no difference of nearly equal matrices",
    method="both forms in rational arithmetic",
    expected="repaired",
    draw=draw_plus,
    check=_check,
    says={"form": deformed},
    wrong={
        "lam and C exchanged": {"form": lambda kt, c, lam: deformed(kt, lam, c)},
        "(lam I + C K~)^-1": {
            "form": lambda kt, c, lam: inverse(combine(lam, identity(len(kt)), c, kt))
        },
    },
    instances=40,
)


# --------------------------------------------------------------------------------------- weights


def _draw_weighted(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_plus(rng, most=3)
    return {**given, "weights": [Fraction(int(v)) for v in rng.integers(1, 3, len(given["y"]))]}


def _check_weighted(
    trial: Trial,
    *,
    x: Matrix,
    y: Labels,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    weights: Vector,
    effective: Callable[[Fraction], Fraction],
) -> None:
    again = [i for i, t in enumerate(weights) for _ in range(int(t))]
    repeated = solve_squared(
        [x[i] for i in again], [y[i] for i in again], [z[i] for i in again], c, lam
    )
    found = solve_squared(x, y, z, c, lam, [effective(t) for t in weights])
    trial.exactly(
        (found.value, found.w, found.b) == (repeated.value, repeated.w, repeated.b),
        "weighted and repeated samples give different solutions",
        weighted=found.value,
        repeated=repeated.value,
    )


WEIGHTS = Claim(
    number="Equation (5), weighted",
    section="3",
    statement="with sample weights, Q = Z~'(lam I + C Z~WZ~')^-1 Z~ = (lam I + C K~W)^-1 K~; an "
    "integer weight is a repetition",
    method="weighted and repeated samples solved in rational arithmetic",
    expected="repaired",
    draw=_draw_weighted,
    check=_check_weighted,
    says={"effective": lambda t: t},
    wrong={
        "weights ignored": {"effective": lambda t: ONE},
        "weights squared": {"effective": lambda t: t * t},
    },
    instances=40,
)


# ------------------------------------------------------------------------------- floating point

Floats = list[list[float]]


def _inverse_of_floats(a: Floats) -> Floats:
    """Gauss-Jordan with row exchanges, in double precision."""
    n = len(a)
    rows = [[*row, *(float(i == j) for j in range(n))] for i, row in enumerate(a)]
    for col in range(n):
        best = max(range(col, n), key=lambda r: abs(rows[r][col]))
        rows[col], rows[best] = rows[best], rows[col]
        rows[col] = [v / rows[col][col] for v in rows[col]]
        for r in range(n):
            if r != col:
                factor = rows[r][col]
                rows[r] = [v - factor * u for v, u in zip(rows[r], rows[col], strict=True)]
    return [row[n:] for row in rows]


def _product(a: Floats, b: Floats) -> Floats:
    columns = list(zip(*b, strict=True))
    return [
        [sum(u * v for u, v in zip(row, column, strict=True)) for column in columns] for row in a
    ]


def printed_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """(5) step by step in double precision."""
    n = len(zt)
    kt = _product(zt, [list(column) for column in zip(*zt, strict=True)])
    middle = _inverse_of_floats(
        [[kt[i][j] + (lam / c if i == j else 0.0) for j in range(n)] for i in range(n)]
    )
    less = _product(_product(kt, middle), kt)
    return [[(kt[i][j] - less[i][j]) / lam for j in range(n)] for i in range(n)]


def factored_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """FF' with F = Z~ L^-T, LL' = lam I + C Z~'Z~, in double precision."""
    size = len(zt[0])
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            v = c * sum(row[i] * row[j] for row in zt) + (lam if i == j else 0.0)
            v -= sum(lower[i][k] * lower[j][k] for k in range(j))
            lower[i][j] = v**0.5 if i == j else v / lower[j][j]
    factor = []
    for row in zt:
        f: list[float] = []
        for i in range(size):
            f.append((row[i] - sum(lower[i][k] * f[k] for k in range(i))) / lower[i][i])
        factor.append(f)
    return _product(factor, [list(column) for column in zip(*factor, strict=True)])


def _check_floats(
    trial: Trial,
    *,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    evaluate: Callable[[Floats, float, float], Floats],
) -> None:
    zt = augmented(z)
    exact = deformed(gram(zt), c, lam)
    found = evaluate([[float(v) for v in row] for row in zt], float(c), float(lam))
    error = combine(1, [[Fraction(v) for v in row] for row in found], -1, exact)
    relative = max(abs(v) for row in error for v in row) / max(abs(v) for row in exact for v in row)
    trial.exactly(
        relative <= Fraction(1, 10**12),
        "the relative error in double precision is larger than 1e-12",
        about=f"{float(relative):.1e}",
    )


FLOATS_PRINTED = Claim(
    number="Equation (5), in double precision",
    section="3",
    statement="the matrix inversion in (5) is an additional operation that can be done as it "
    "stands",
    method="(5) step by step in double precision against rational arithmetic",
    expected="refuted",
    check=_check_floats,
    says={"evaluate": printed_in_floats},
    right={"evaluate": factored_in_floats},
    witnesses=(
        {"z": [vector(30), vector(70), vector(-110)], "c": Fraction(10**6), "lam": ONE},
        {"z": [vector(3), vector(7), vector(-11)], "c": Fraction(10**10), "lam": ONE},
    ),
    note="K~/lam is C/lam times larger than Q = O(1/C): the difference cancels. FF' with "
    "F = Z~L^-T, LL' = lam I + C Z~'Z~, does not.",
)


# ------------------------------------------------------------------------------------ any kernel


def _draw_kernel(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_plus(rng)
    return {**given, "power": int(rng.integers(1, 3))}


def _check_kernel(
    trial: Trial,
    *,
    x: Matrix,
    y: Labels,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    power: int,
    constant: int,
) -> None:
    features = [[v**power for v in row] for row in z]
    kt = [[v + constant for v in row] for row in gram(features)]
    h = combine(1, signed(gram(x), y), 1, deformed(kt, c, lam))
    point = minimum(h, [ONE] * len(y), [[Fraction(t) for t in y]], [ZERO])
    solved = solve_squared(x, y, features, c, lam)
    if point is None:
        direction = ray(h, y)
        proved = direction is not None and not any(apply(h, direction))
        trial.exactly(not proved, "(4) falls without bound along a ray", ray=direction)
    else:
        trial.exactly(
            -point.value == solved.value,
            "the optimum is not that of (3) with the kernel's features",
            dual=-point.value,
            primal=solved.value,
        )


ANY_KERNEL = Claim(
    number="Equation (5), any kernel",
    section="3",
    statement="any kernel k(z, z') can be put in place of K~ in (5)",
    method="(4) with k alone against (3) with the kernel's features, or a ray; rational",
    expected="refuted",
    draw=_draw_kernel,
    check=_check_kernel,
    says={"constant": 0},
    right={"constant": 1},
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
    instances=30,
    note="K~ means k(z, z') + 1 for every kernel; without the 1 there is no rho, and (3) may have "
    "no feasible point.",
)
