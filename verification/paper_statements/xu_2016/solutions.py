"""What a solution is: proposition 1, algorithm 1, equation (14), its certificate, and whether it is the only one."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector, vector
from verification.paper_statements._svm import (
    HALF,
    ONE,
    ZERO,
    Labels,
    Matrix,
    Plus,
    Vector,
    deformed,
    draw_balanced,
    draw_plus,
    full,
    identity,
    inverse,
    of_plus,
    semidefinite,
    signed,
)
from verification.paper_statements.xu_2016 import stated

# ==========================================================================================
# Proposition 1: (4) is the dual of (3); identities at its solutions; its form.
# ==========================================================================================


def _draw_proposition_1(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    d, s = len(given["x"][0]), len(given["z"][0])
    return {
        **given,
        "alpha": Fraction(1, int(rng.integers(1, 6))) * draw_balanced(rng, given["y"]),
        "w": np.array(draw_vector(rng, d, 2, 2)),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": np.array(draw_vector(rng, s, 1, 2)),
    }


@of_plus
def _check(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    w: Vector,
    b: Fraction,
    v: Vector,
    form: Callable[[Plus], Matrix],
    balanced: bool,
) -> None:
    h = form(p)
    vt = np.array([*v, max(1 - p.margins(w, b) - p.z @ v)])
    xi = p.zt @ vt
    primal = p.value(w, vt, xi)
    dual = alpha.sum() - alpha @ h @ alpha / 2
    trial.exactly(dual <= primal, "a dual value is above a primal one", primal=primal, dual=dual)
    best = p.solved
    step = best.w @ (w - best.w) + p.c * (best.xi @ (xi - best.xi))
    step += p.lam * (best.vt @ (vt - best.vt))
    trial.exactly(step >= 0, "(3) falls from its solution to a feasible point", slope=step)
    point = p.minimum(h, balanced)
    largest = None if point is None else -point.value
    trial.exactly(
        largest == p.solved.value,
        "the largest dual value is not the least primal value",
        primal=p.solved.value,
        dual=largest,
    )


DUALITY = stated(
    "Proposition 1, equations (3) and (4)",
    draw=_draw_proposition_1,
    check=_check,
    says={"form": lambda p: p.ky + p.q, "balanced": True},
    wrong={
        "Q . yy' for Q": {"form": lambda p: signed(p.k + p.q, p.y)},
        "K~ without + 1": {"form": lambda p: p.ky + deformed(p.kz, p.c, p.lam)},
        "C/lam for lam/C": {"form": lambda p: p.ky + p.c / p.lam * deformed(p.kt, p.lam, p.c)},
        "without 1/lam": {"form": lambda p: p.ky + p.lam * p.q},
        "without a'y = 0": {"balanced": False},
    },
)


@of_plus
def _check_identities(
    trial: Trial, p: Plus, *, share: Fraction, slacks: Callable[[Matrix, Matrix, Vector], Vector]
) -> None:
    trial.exactly(
        p.solved.value == share * sum(p.solved.alpha),
        "the optimum is another multiple of sum(alpha)",
        optimum=p.solved.value,
        alpha=p.solved.alpha,
    )
    found = slacks(p.q, p.kt, p.solved.alpha)
    same = np.array_equal(found, p.solved.xi)
    trial.exactly(same, "the slacks are others", xi=p.solved.xi, found=found)
    halves = [sum(p.solved.alpha[p.y == s]) for s in (1, -1)]
    trial.exactly(halves == [p.solved.value] * 2, "a class does not hold half", halves=halves)


def _draw_identities(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    tilt = int(rng.choice([1, 2]))  # correcting functions cheaper tilted than high: xi < 0
    given["z"] = tilt * np.array(given["z"])
    return given


IDENTITIES = stated(
    "Proposition 1, identities",
    draw=_draw_identities,
    check=_check_identities,
    says={"share": HALF, "slacks": lambda q, kt, a: q @ a},
    wrong={
        "optimum = sum(alpha)": {"share": ONE},
        "xi = K~ alpha": {"slacks": lambda q, kt, a: kt @ a},
        "xi = max(0, Q alpha)": {"slacks": lambda q, kt, a: np.maximum(0, q @ a)},
    },
)


# --------------------------------------------------------------------------------- form of an SVM


@of_plus
def _check_form(
    trial: Trial, p: Plus, *, alpha: Vector, kernel: Callable[[Matrix, Matrix, Labels], Matrix]
) -> None:
    k = kernel(p.k, p.q, p.y)
    trial.exactly(np.array_equal(k, k.T), "not symmetric", kernel=k)
    u = alpha * p.y
    trial.exactly(semidefinite(k), "not positive semidefinite", kernel=k)
    trial.exactly(
        u @ k @ u == alpha @ p.h @ alpha,
        "the quadratic form of an SVM with this kernel is not that of (4)",
        kernel=k,
    )


def _draw_form(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "alpha": np.array(draw_vector(rng, len(given["y"]), 3, 1))}


FORM = stated(
    "Equation (4), an SVM with another kernel",
    draw=_draw_form,
    check=_check_form,
    says={"kernel": lambda k, q, y: k + signed(q, y)},
    wrong={
        "K + Q": {"kernel": lambda k, q, y: k + q},
        "K - Q . yy'": {"kernel": lambda k, q, y: k - signed(q, y)},
    },
)


# ==========================================================================================
# Algorithm 1: which SVM solver, which box; a hard margin in disguise.
# ==========================================================================================

#: (n, C, lam) -> upper bound on alpha
Box = Callable[[int, Fraction, Fraction], Fraction]


def by_c(n: int, c: Fraction, lam: Fraction) -> Fraction:
    """The bound of LIBSVM's C-SVC at the same C."""
    return c


def half(n: int, c: Fraction, lam: Fraction) -> Fraction:
    """Largest possible optimum: w = 0, b = 0, v = 0, rho = 1."""
    return (c * n + lam) / 2


def _draw_two(rng: Rng) -> Inputs:
    return draw_plus(rng, most=2)


@of_plus
def _check_two(trial: Trial, p: Plus, *, box: Box) -> None:
    # One direction, alpha = (a, a): minimise a^2 (1'H1)/2 - 2a, then cut at the bound.
    free = 2 / p.h.sum()
    boxed = min(free, box(2, p.c, p.lam))
    w = p.w(full(boxed, 2))
    same = np.array_equal(w, p.solved.w)
    trial.exactly(same, "the box changes w", alpha=free, boxed=boxed, w=p.solved.w, boxed_w=w)


BOX_PRINTED = stated(
    "Algorithm 1, step 3 as printed",
    draw=_draw_two,
    check=_check_two,
    says={"box": by_c},
    right={"box": half},
    witnesses=(
        {
            "x": [vector("1/2"), vector("-1/2")],
            "y": (1, -1),
            "z": [vector(0), vector(0)],
            "c": ONE,
            "lam": Fraction(20),
        },
    ),
)


@of_plus
def _check_box(trial: Trial, p: Plus, *, box: Box) -> None:
    most = max(max(point.a) for point in p.solutions())
    trial.exactly(most <= box(len(p.y), p.c, p.lam), "alpha is above the bound", alpha=most)


def _draw_box(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    if rng.random() < 0.3:  # equal samples: one sample of a class can hold all of its half
        n = len(given["y"])
        given["x"], given["z"] = [given["x"][0]] * n, [[ZERO] * len(row) for row in given["z"]]
    return given


BOX = stated(
    "Algorithm 1, an inactive box",
    draw=_draw_box,
    check=_check_box,
    says={"box": half},
    wrong={
        "C": {"box": by_c},
        "Cn/2": {"box": lambda n, c, lam: c * n / 2},
        "(Cn + lam)/4": {"box": lambda n, c, lam: (c * n + lam) / 4},
    },
)


# ---------------------------------------------------------------------------------- hard margin


def square_root(a: Matrix) -> tuple[Matrix, Vector]:
    """L, D with A = L diag(D) L', L with a diagonal of ones, A positive definite."""
    low, diagonal = identity(len(a)), full(ZERO, len(a))
    for j in range(len(a)):
        column = a[j:, j] - low[j:, :j] * diagonal[:j] @ low[j, :j]
        diagonal[j] = column[0]
        low[j:, j] = column / column[0]
    return low, diagonal


@of_plus
def _check_hard(trial: Trial, p: Plus, *, sign: Callable[[int], int], part: Fraction) -> None:
    low, diagonal = square_root(replace(p, c=part * p.c).normal)
    # F = Z~ L^-T D^-1/2; the root is left to the inner product, so that all stays rational.
    weight = np.concatenate([full(ONE, p.x.shape[1]), 1 / diagonal])
    signs = np.array([[sign(t)] for t in p.y], dtype=object)
    points = np.hstack([p.x, signs * (p.zt @ inverse(low).T)])
    point = p.minimum(signed(points * weight @ points.T, p.y))
    trial.exactly(point is not None, "the hard-margin SVM has no solution")
    if point is None:
        return
    u = point.a * p.y @ points
    hard = p.y * (points @ (weight * u) + point.mult[0])
    trial.exactly(min(hard) == 1, "the margin is not 1", margins=hard)
    norm = u @ (weight * u)
    found = (norm / 2, *u[: p.x.shape[1]], point.mult[0])
    trial.exactly(
        found == (p.solved.value, *p.solved.w, p.solved.b),
        "the hard-margin SVM is another problem",
        hard=norm / 2,
        optimum=p.solved.value,
    )


HARD = stated(
    "Algorithm 1, a hard margin",
    draw=draw_plus,
    check=_check_hard,
    says={"sign": lambda t: t, "part": ONE},
    wrong={
        "[x_i; F_i]": {"sign": lambda t: 1},
        "[x_i; -y_i F_i] without C": {"sign": lambda t: -t, "part": ZERO},
        "C/2": {"part": HALF},
    },
)


# ==========================================================================================
# Equation (14), the decision function, and the b that it does not define.
# ==========================================================================================


def _draw_equation_14(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "new": draw_vector(rng, len(given["x"][0]), 3, 1)}


@of_plus
def _check_value(
    trial: Trial, p: Plus, *, new: Vector, terms: Callable[[Vector, Labels], Vector]
) -> None:
    found = terms(p.solved.alpha, p.y) @ (p.x @ new) + p.solved.b
    right = p.solved.w @ new + p.solved.b
    trial.exactly(found == right, "another value at a new point", found=found, right=right)


VALUE = stated(
    "Equation (14)",
    draw=_draw_equation_14,
    check=_check_value,
    says={"terms": lambda a, t: a * t},
    wrong={"without y_i": {"terms": lambda a, t: a}},
)


@of_plus
def _check_b(
    trial: Trial,
    p: Plus,
    *,
    new: Vector,
    target: Callable[[Labels, Vector], Vector],
    over: Callable[[Vector], Vector],
) -> None:
    alpha = p.solved.alpha
    found = (target(p.y, p.q @ alpha) - p.k @ (alpha * p.y))[over(alpha)]
    trial.exactly(
        len(found) > 0 and all(found == p.solved.b),
        "the formula gives another b",
        b=p.solved.b,
        found=found,
    )


B = stated(
    "Equation (14), b",
    draw=_draw_equation_14,
    check=_check_b,
    says={"target": lambda t, xi: t * (1 - xi), "over": lambda a: a > 0},
    wrong={
        "as in an SVM, without the slack": {"target": lambda t, xi: t},
        "over all samples": {"over": lambda a: a >= 0},
        "1 + xi": {"target": lambda t, xi: t * (1 + xi)},
    },
)


# ==========================================================================================
# A certificate for (4) that does not change when alpha is scaled.
# ==========================================================================================


def _draw_gap(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    alpha = draw_balanced(rng, given["y"])
    if rng.random() < 0.3:
        alpha = Fraction(int(rng.integers(1, 5)), 2) * Plus(**given).solved.alpha
    return {**given, "alpha": alpha}


@of_plus
def _check_gap(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    gap: Callable[[Fraction, Fraction, Fraction], Fraction],
    middle: bool,
) -> None:
    g = p.h @ alpha
    total, q = alpha.sum(), alpha @ g
    least = {s: min(g[p.y == s]) for s in (1, -1)}
    m = (least[1] + least[-1]) / 2 if middle else min(least.values())
    if m <= 0:
        trial.nothing_claimed()
        return
    w = p.w(alpha) / m
    b = (least[-1] - least[1]) / (2 * m)
    vt = p.vt(alpha) / m
    xi = p.zt @ vt
    trial.exactly(p.feasible(w, b, xi), "the primal point is infeasible", xi=xi)
    primal = p.value(w, vt, xi)
    t = total / q
    dual = t * total - t * t * q / 2
    trial.exactly(
        gap(total, m, q) == 1 - dual / primal,
        "the relative gap is another",
        primal=primal,
        dual=dual,
        said=gap(total, m, q),
    )
    trial.exactly(gap(total, m, q) >= 0, "a negative gap", gap=gap(total, m, q))
    if dual == p.solved.value:
        trial.exactly(gap(total, m, q) == 0, "a gap at the solution", gap=gap(total, m, q))


GAP = stated(
    "Algorithm 1, certificate",
    draw=_draw_gap,
    check=_check_gap,
    says={"gap": lambda s, m, q: 1 - (s * m / q) ** 2, "middle": True},
    wrong={
        "1 - S m/q": {"gap": lambda s, m, q: 1 - s * m / q},
        "m = least g of all": {"middle": False},
    },
)


# ==========================================================================================
# What is unique at the solutions of (3) and (4).
# ==========================================================================================

#: Three samples of which two are the same.
TWINS = {
    "x": [vector(1), vector(1), vector(-1)],
    "y": (1, 1, -1),
    "z": [vector(1), vector(1), vector(0)],
    "c": Fraction(1),
    "lam": Fraction(1),
}


@of_plus
def _check_unique(trial: Trial, p: Plus, *, unique: tuple[str, ...]) -> None:
    found: dict[str, set[tuple[Fraction, ...]]] = {
        name: set() for name in ("w", "b", "v~", "xi", "a")
    }
    for point in p.solutions():
        found["w"].add(tuple(p.w(point.a)))
        found["b"].add(tuple(point.mult))
        found["xi"].add(tuple(p.q @ point.a))
        found["v~"].add(tuple(p.vt(point.a)))
        found["a"].add(tuple(point.a))
    trial.exactly(
        all(len(found[name]) == 1 for name in unique),
        "two solutions differ in what is said to be unique",
        solutions={name: sorted(found[name]) for name in unique},
    )


def _draw_twins(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=4, least=3)
    for name in ("x", "y", "z"):  # the first two samples coincide
        values = list(given[name])
        values[1] = values[0]
        given[name] = values
    given["y"] = (given["y"][0], given["y"][0], *[-given["y"][0]] * (len(given["y"]) - 2))
    return given


UNIQUE_PRINTED = stated(
    "Algorithm 1, the dual variables", draw=_draw_twins, check=_check_unique, witnesses=(TWINS,)
)

UNIQUE = UNIQUE_PRINTED.corrected("Problem (3), uniqueness")
