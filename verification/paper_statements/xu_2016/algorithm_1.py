"""Algorithm 1: which SVM solver, which box; a hard margin in disguise."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import (
    HALF,
    ONE,
    ZERO,
    Matrix,
    Plus,
    Vector,
    draw_plus,
    full,
    identity,
    inverse,
    of_plus,
    signed,
)

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


BOX_PRINTED = Claim(
    number="Algorithm 1, step 3 as printed",
    section="3",
    statement="any SVM solver, such as LIBSVM at the same C, obtains the dual variables",
    method="two samples solved in closed form, with 0 <= alpha <= C and without; rational",
    expected="refuted",
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
    instances=40,
    note="(4) has no upper bound, C-SVC has one. C is already in Q: give the solver a bound that "
    "cannot act, such as (Cn + lam)/2.",
    voice="asserted",
    quote="can be readily solved by any existing solvers (e.g., LibSVM) specifically developed for the standard SVM",
    witness="words",
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


BOX = Claim(
    number="Algorithm 1, an inactive box",
    section="3",
    statement="every solution of (4) has alpha_i <= (Cn + lam)/2: sum(alpha) is twice the optimum "
    "<= (Cn + lam)/2, and each class holds half",
    method="all vertices of the set of solutions, rational",
    expected="repaired",
    draw=_draw_box,
    check=_check_box,
    says={"box": half},
    wrong={
        "C": {"box": by_c},
        "Cn/2": {"box": lambda n, c, lam: c * n / 2},
        "(Cn + lam)/4": {"box": lambda n, c, lam: (c * n + lam) / 4},
    },
    instances=60,
    note="Attained when all samples are equal: no smaller bound serves all data.",
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


HARD = Claim(
    number="Algorithm 1, a hard margin",
    section="3",
    statement="SVM2+ is the hard-margin SVM with free bias on the points [x_i; y_i F_i], "
    "F = Z~L^-T, LL' = lam I + C Z~'Z~, FF' = Q: same w, b and optimum",
    method="hard-margin SVM solved in rational arithmetic (LDL' in place of LL')",
    expected="repaired",
    draw=draw_plus,
    check=_check_hard,
    says={"sign": lambda t: t, "part": ONE},
    wrong={
        "[x_i; F_i]": {"sign": lambda t: 1},
        "[x_i; -y_i F_i] without C": {"sign": lambda t: -t, "part": ZERO},
        "C/2": {"part": HALF},
    },
    instances=40,
    note="So n x n matrices are not needed, and no slack is left: the reason for the missing box.",
)
