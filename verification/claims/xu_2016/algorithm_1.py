"""Algorithm 1: which SVM solver, which box; a hard margin in disguise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, Vector, dot, scale, vector
from verification.claims._svm import (
    HALF,
    ONE,
    ZERO,
    Plus,
    apply,
    combination,
    combine,
    draw_plus,
    identity,
    inverse,
    kkt_points,
    multiply,
    of_plus,
    quadratic,
    transpose,
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
    free = 2 / quadratic(p.h, [ONE, ONE])
    boxed = min(free, box(2, p.c, p.lam))
    w = combination([boxed * t for t in p.y], p.x)
    trial.exactly(
        w == p.solved.w, "the box changes w", alpha=free, boxed=boxed, w=p.solved.w, boxed_w=w
    )


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
)


@of_plus
def _check_box(trial: Trial, p: Plus, *, box: Box) -> None:
    most = max(max(point.a) for point in kkt_points(p.h, [ONE] * len(p.y), p.balance, [ZERO]))
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
    n = len(a)
    low, diagonal = identity(n), [ZERO] * n
    for i in range(n):
        for j in range(i + 1):
            v = a[i][j] - sum((low[i][k] * diagonal[k] * low[j][k] for k in range(j)), ZERO)
            if i == j:
                diagonal[i] = v
            else:
                low[i][j] = v / diagonal[j]
    return low, diagonal


@of_plus
def _check_hard(trial: Trial, p: Plus, *, sign: Callable[[int], int], part: Fraction) -> None:
    normal = combine(p.lam, identity(len(p.zt[0])), part * p.c, multiply(transpose(p.zt), p.zt))
    low, diagonal = square_root(normal)
    # F = Z~ L^-T D^-1/2; the root is left to the inner product, so that all stays rational.
    rows = transpose(multiply(inverse(low), transpose(p.zt)))
    weight = [*[ONE] * len(p.x[0]), *(1 / v for v in diagonal)]
    points = [[*u, *scale(sign(t), f)] for u, f, t in zip(p.x, rows, p.y, strict=True)]
    weighted = [[a * b for a, b in zip(weight, row, strict=True)] for row in points]
    kernel = multiply(points, transpose(weighted))
    h = [
        [s * t * v for t, v in zip(p.y, row, strict=True)]
        for s, row in zip(p.y, kernel, strict=True)
    ]
    point = p.minimum(h)
    trial.exactly(point is not None, "the hard-margin SVM has no solution")
    if point is None:
        return
    u = combination([a * t for a, t in zip(point.a, p.y, strict=True)], points)
    hard = [t * (v + point.mult[0]) for t, v in zip(p.y, apply(weighted, u), strict=True)]
    trial.exactly(min(hard) == 1, "the margin is not 1", margins=hard)
    norm = dot(u, [a * b for a, b in zip(weight, u, strict=True)])
    trial.exactly(
        (norm / 2, u[: len(p.x[0])], point.mult[0]) == (p.solved.value, p.solved.w, p.solved.b),
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
