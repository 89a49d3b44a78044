"""Algorithm 1: which SVM solver, which box; a hard margin in disguise."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
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
from verification.paper_statements.xu_2016 import stated

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
