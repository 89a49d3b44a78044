"""Conjugates of the losses: propositions 5 to 7, lemma 3 of the arXiv version."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import VARIANTS
from verification.paper_statements._gap import of_differences
from verification.paper_statements._logs import Log, binary, entropy_term, log
from verification.paper_statements._rational import (
    Function,
    Matrix,
    Vector,
    add,
    dot,
    draw_mixture,
    draw_vector,
    scale,
    square,
)
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    beta_halfspaces,
    conjugate,
    draw_dual,
    draw_pair,
    hinge_alpha,
    hinge_beta,
    inside,
    linear_on,
    pair,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements.lapin_2016 import stated

# ==========================================================================================
# Proposition 6 of the arXiv version: conjugates of the two top-k hinge losses on R^m.
# ==========================================================================================

ALPHA = stated(
    "Proposition 6 of the arXiv version, alpha",
    **pair(hinge_alpha, pieces_alpha, alpha_halfspaces),
    draw=draw_pair,
    wrong={"beta set": {"formula": linear_on(beta_halfspaces)}},
)

BETA = stated(
    "Proposition 6 of the arXiv version, beta",
    **pair(hinge_beta, pieces_beta, beta_halfspaces),
    draw=draw_pair,
    wrong={
        "alpha set": {"formula": linear_on(alpha_halfspaces)},
        "maximum over the alpha set": {"domain": alpha_halfspaces},
    },
)


# ==========================================================================================
# Lemma 3 of the arXiv version: conjugates of functions of score differences.
# ==========================================================================================


def _draw_lemma_3(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    y = int(rng.integers(m))
    pieces = [draw_vector(rng, m, spread=2) for _ in range(count)]
    v = draw_mixture(rng, of_differences(pieces, y))
    if rng.random() < 0.5:
        v[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 2)
    return {"pieces": pieces, "offsets": draw_vector(rng, count, spread=2), "y": y, "v": v}


def _check_lemma_3(
    trial: Trial,
    *,
    pieces: Matrix,
    offsets: Vector,
    y: int,
    v: Vector,
    infinite: Callable[[Vector, int], bool],
) -> None:
    value = conjugate(of_differences(pieces, y), offsets, v)
    trial.exactly(value is None or not infinite(v, y), "the conjugate is finite", conjugate=value)


LEMMA_3 = stated(
    "Lemma 3 of the arXiv version",
    draw=_draw_lemma_3,
    check=_check_lemma_3,
    says={"infinite": lambda v, y: sum(v, ZERO) != 0},
    wrong={
        "unless v_y = 0": {"infinite": lambda v, y: v[y] != 0},
        "unless v = 0": {"infinite": lambda v, y: any(v)},
        "unless v_y <= 0": {"infinite": lambda v, y: v[y] > 0},
    },
)


# ==========================================================================================
# Proposition 5: the smooth one-vs-all hinge loss is calibrated.
# ==========================================================================================

HALF = Fraction(1, 2)
#: (a, gamma) -> loss of the margin a
Loss = Callable[[Fraction, Fraction], Fraction]


def smooth_hinge(a: Fraction, gamma: Fraction) -> Fraction:
    """Equation (9) of the arXiv version."""
    if a < 1 - gamma:
        return 1 - a - gamma / 2
    return (a - 1) ** 2 / (2 * gamma) if a <= 1 else ZERO


def slope(a: Fraction, gamma: Fraction) -> Fraction:
    """Its derivative, as printed."""
    if a < 1 - gamma:
        return -ONE
    return (a - 1) / gamma if a <= 1 else ZERO


def _draw_proposition_5(rng: Rng) -> Inputs:
    return {
        "a": Fraction(int(rng.integers(-12, 13)), 4),
        "b": Fraction(-int(rng.integers(0, 9)), 8),
        "gamma": Fraction(int(rng.integers(1, 13)), 4),
    }


def _check_pair(
    trial: Trial,
    *,
    a: Fraction,
    b: Fraction,
    gamma: Fraction,
    loss: Loss,
    conjugate: Callable[[Fraction, Fraction], Fraction],
) -> None:
    value, at_b = loss(a, gamma), conjugate(b, gamma)
    trial.exactly(value + at_b >= a * b, "Fenchel-Young fails", loss=value, conjugate=at_b)
    best = slope(a, gamma)
    trial.exactly(
        value + conjugate(best, gamma) == a * best,
        "the derivative does not attain the maximum",
        derivative=best,
    )
    trial.exactly(
        loss(1 + gamma * b, gamma) + at_b == (1 + gamma * b) * b, "the conjugate is not attained"
    )


EQUATION_9 = stated(
    "Equation (9) of the arXiv version",
    draw=_draw_proposition_5,
    check=_check_pair,
    says={"loss": smooth_hinge, "conjugate": lambda b, gamma: b + gamma / 2 * b * b},
    wrong={
        "gamma b^2": {"conjugate": lambda b, gamma: b + gamma * b * b},
        "gamma/2 missing": {
            "loss": lambda a, gamma: smooth_hinge(a, gamma) + gamma / 2 * (a < 1 - gamma)
        },
    },
)


def _draw_plain(rng: Rng) -> Inputs:
    return {
        "a": Fraction(int(rng.integers(-12, 13)), 4),
        "b": Fraction(int(rng.integers(-12, 5)), 8),
    }


def _check_plain(
    trial: Trial,
    *,
    a: Fraction,
    b: Fraction,
    loss: Function,
    conjugate: Callable[[Fraction], Fraction | None],
) -> None:
    at_b = conjugate(b)
    if at_b is None:  # +infinity: b a - loss(a) grows along one of the two half-lines
        far = [b * t - loss(t) for t in (Fraction(-(10**6)), Fraction(10**6))]
        trial.exactly(max(far) > 10**4, "the supremum is finite", values=far)
        return
    trial.exactly(loss(a) + at_b >= a * b, "Fenchel-Young fails", loss=loss(a), conjugate=at_b)
    trial.exactly(loss(ONE) + at_b == b, "the supremum is not attained at the kink", at=at_b)


EQUATION_8 = stated(
    "Equation (8) of the arXiv version",
    draw=_draw_plain,
    check=_check_plain,
    says={"loss": lambda a: max(ZERO, 1 - a), "conjugate": lambda b: b if -1 <= b <= 0 else None},
    wrong={
        "-b": {"conjugate": lambda b: -b if -1 <= b <= 0 else None},
        "half line": {"conjugate": lambda b: b if b <= 0 else None},
        "domain [-1/2, 0]": {"conjugate": lambda b: b if -HALF <= b <= 0 else None},
        "kink at 2": {"loss": lambda a: max(ZERO, 2 - a)},
    },
)


def bayes(p: Fraction, gamma: Fraction) -> Fraction:
    """The printed minimiser of p L(f) + (1-p) L(-f); 0 < p < 1."""
    high, low = 1 - gamma * (1 - p) / p, -1 + gamma * p / (1 - p)
    if gamma <= 1:
        return high if p >= HALF else low
    if p >= gamma / 2:
        return high
    return 2 * p - 1 if p >= 1 - gamma / 2 else low


def risk_slope(p: Fraction, f: Fraction, gamma: Fraction) -> Fraction:
    """Derivative of the risk."""
    return p * slope(f, gamma) - (1 - p) * slope(-f, gamma)


def _draw_bayes(rng: Rng) -> Inputs:
    p, q = sorted(int(v) for v in rng.choice(np.arange(1, 24), size=2, replace=False))
    return {
        "p": Fraction(p, 24),
        "q": Fraction(q, 24),
        "gamma": Fraction(int(rng.integers(1, 13)), 4),
    }


def _check_bayes(
    trial: Trial,
    *,
    p: Fraction,
    q: Fraction,
    gamma: Fraction,
    bayes: Callable[[Fraction, Fraction], Fraction],
) -> None:
    f, g = bayes(p, gamma), bayes(q, gamma)
    trial.exactly(
        risk_slope(p, f, gamma) == risk_slope(q, g, gamma) == 0,
        "the risk has a slope at the stated minimiser",
        at_p=f,
        at_q=g,
    )
    # The slope is nondecreasing: a negative one for q at a minimiser for p, p < q, puts all
    # minimisers for q to the right of it, and the other way round. Both, if p is at an interval.
    trial.exactly(
        f < g and risk_slope(q, f, gamma) < 0 and risk_slope(p, g, gamma) > 0,
        "the minimisers do not increase strictly with p",
        at_p=f,
        at_q=g,
    )


PROPOSITION_5 = stated(
    "Proposition 5",
    draw=_draw_bayes,
    check=_check_bayes,
    says={"bayes": bayes},
    wrong={
        "first case for every gamma": {
            "bayes": lambda p, gamma: (
                1 - gamma * (1 - p) / p if p >= HALF else -1 + gamma * p / (1 - p)
            )
        },
        "2p - 1 for every gamma": {"bayes": lambda p, gamma: 2 * p - 1},
        "sign, the hinge's": {"bayes": lambda p, gamma: Fraction(1 if p >= HALF else -1)},
    },
)


# ==========================================================================================
# Proposition 6: the smooth top-k hinge loss, its conjugate, its smoothness.
# ==========================================================================================

#: (z, k, gamma) -> projection p
Projection = Callable[[Vector, int, Fraction], Vector]
#: (b, c, k, gamma) -> conjugate, None for +infinity
SmoothHingeConjugate = Callable[[Vector, Vector, int, Fraction], Fraction | None]


def projection(z: Vector, k: int, gamma: Fraction, variant: str = "alpha") -> Vector:
    """Projection of z on the top-k simplex of radius gamma."""
    return VARIANTS[variant].project(z, k, ZERO, gamma)


def smooth_hinge_conjugate(
    b: Vector, c: Vector, k: int, gamma: Fraction, variant: str = "alpha"
) -> Fraction | None:
    """gamma/2 ||b||^2 - <c,b> on the top-k simplex."""
    if not inside(b, VARIANTS[variant].halfspaces(len(b), k)):
        return None
    return gamma / 2 * square(b) - dot(c, b)


on_beta = partial(smooth_hinge_conjugate, variant="beta")


def _draw_proposition_6(rng: Rng, variant: str = "alpha") -> Inputs:
    given = draw_pair(rng)
    k, c, m = given["k"], given["c"], len(given["c"])
    gamma = Fraction(int(rng.integers(1, 9)), 2)

    def point() -> Vector:
        if rng.random() < 0.5:  # a + c in the set of radius gamma: there the loss is quadratic
            return add(scale(gamma, draw_dual(rng, m, k)), scale(-1, c))
        return draw_vector(rng, m, spread=3)

    points = {"a": point(), "other": point(), "b": given["b"], "c": c}
    return {**points, "k": k, "gamma": gamma, "variant": variant}


def _check_proposition_6(
    trial: Trial,
    *,
    a: Vector,
    other: Vector,
    b: Vector,
    c: Vector,
    k: int,
    gamma: Fraction,
    variant: str,
    projection: Projection,
    conjugate: SmoothHingeConjugate,
    constant: Function,
) -> None:
    def printed(point: Vector) -> Fraction:
        z = add(point, c)
        p = projection(z, k, gamma)
        return (dot(z, p) - square(p) / 2) / gamma

    def loss(point: Vector) -> Fraction:
        return VARIANTS[variant].smooth_hinge(add(point, c), k, gamma)

    for point in (a, other):
        trial.exactly(
            printed(point) == loss(point),
            "the formula is not the maximum of <a+c,b> - gamma/2 ||b||^2 over the top-k simplex",
            formula=printed(point),
            maximum=loss(point),
        )
    # The conjugate at b, from the loss: attained at a = gamma b - c, or unbounded along a normal.
    value = conjugate(b, c, k, gamma)
    outer = [
        (row, dot(row, b) - rhs)
        for row, rhs in zip(*VARIANTS[variant].halfspaces(len(b), k), strict=True)
        if dot(row, b) > rhs
    ]
    if outer:
        row, excess = outer[0]
        growing = all(
            t * dot(row, b) - loss(scale(t, row)) >= t * excess - 1 for t in (1, 100, 10**6)
        )
        trial.exactly(growing, "<b,a> - L(a) does not grow along a violated constraint")
        trial.exactly(value is None, "the conjugate is infinite, the formula is not", formula=value)
    else:
        best = add(scale(gamma, b), scale(-1, c))
        attained = dot(best, b) - loss(best)
        trial.exactly(
            value == attained and all(dot(v, b) - loss(v) <= attained for v in (a, other)),
            "the conjugate differs from the formula",
            from_definition=attained,
            formula=value,
        )
    step = add(other, scale(-1, a))
    slope = scale(1 / gamma, projection(add(a, c), k, gamma))
    rise = loss(other) - loss(a) - dot(slope, step)
    trial.exactly(
        0 <= rise <= constant(gamma) / 2 * square(step),
        "0 <= L(a') - L(a) - <p/gamma, a'-a> <= (constant/2) ||a'-a||^2 fails",
        rise=rise,
        square=square(step),
    )


PROPOSITION_6 = stated(
    "Proposition 6",
    draw=_draw_proposition_6,
    check=_check_proposition_6,
    says={
        "projection": projection,
        "conjugate": smooth_hinge_conjugate,
        "constant": lambda gamma: 1 / gamma,
    },
    wrong={
        "projection on radius 1": {"projection": lambda z, k, gamma: projection(z, k, ONE)},
        "projection on the simplex": {"projection": lambda z, k, gamma: projection(z, 1, gamma)},
        "conjugate on the beta set": {"conjugate": on_beta},
        "gamma in place of gamma/2": {
            "conjugate": lambda b, c, k, gamma: smooth_hinge_conjugate(b, c, k, 2 * gamma)
        },
        "smoothness 1/(2 gamma)": {"constant": lambda gamma: 1 / (2 * gamma)},
        "smoothness gamma": {"constant": lambda gamma: gamma},
    },
)

SMOOTHED_BETA = PROPOSITION_6.also(
    "Equation (7), smoothed",
    draw=partial(_draw_proposition_6, variant="beta"),
    says={"projection": partial(projection, variant="beta"), "conjugate": on_beta},
    wrong={
        "projection on the alpha set": {"projection": projection},
        "caps of the set of radius 1": {
            "projection": lambda z, k, gamma: projection(z, k, ONE, "beta")
        },
        "conjugate on the alpha set": {"conjugate": smooth_hinge_conjugate},
        "smoothness 1/(2 gamma)": {"constant": lambda gamma: 1 / (2 * gamma)},
    },
)


# ==========================================================================================
# Proposition 7: the conjugate of the softmax loss.
# ==========================================================================================

#: v in R^m, y -> conjugate, None for +infinity
EntropyConjugate = Callable[[Vector, int], Log | None]


def printed(v: Vector, y: int) -> Log | None:
    """Sum of v_j log v_j over j != y, plus (1 + v_y) log(1 + v_y)."""
    x = [v_j for j, v_j in enumerate(v) if j != y]
    return binary(x) if sum(v, ZERO) == 0 and min(x) >= 0 and sum(x, ZERO) <= 1 else None


def softmax(w: Vector, y: int) -> Log:
    """The loss at the scores log w."""
    return log(sum(w, ZERO)) - log(w[y])


def inner(v: Vector, w: Vector) -> Log:
    """<v, log w>."""
    total = Log()
    for v_j, w_j in zip(v, w, strict=True):
        total = total + (v_j * log(w_j) if v_j else Log())
    return total


def _draw_proposition_7(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    y = int(rng.integers(m))
    counts = [int(c) for c in rng.integers(0 if rng.random() < 0.3 else 1, 5, size=m)]
    counts[y] += int(rng.integers(0, 2))
    total = sum(counts) or 1
    v = [Fraction(c, total) for c in counts]
    v[y] -= 1 if sum(counts) else 0
    if rng.random() < 0.2:
        v[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 3)
    w = [Fraction(int(c)) for c in rng.integers(1, 9, size=m)]
    return {"v": v, "w": w, "y": y}


def _check_proposition_7(
    trial: Trial, *, v: Vector, w: Vector, y: int, conjugate: EntropyConjugate
) -> None:
    value = conjugate(v, y)
    x = [v_j + int(j == y) for j, v_j in enumerate(v)]  # the target of the loss's gradient
    finite = sum(v, ZERO) == 0 and min(x) >= 0
    trial.exactly((value is not None) == finite, "the formula is finite elsewhere", formula=value)
    if finite:
        if value is None:
            return
        trial.exactly(
            inner(v, w) - softmax(w, y) <= value, "<v,u> - L(u) exceeds the formula", formula=value
        )
        # The supremum is approached at u = log x, with the zeros of x pushed to -infinity.
        small = Fraction(1, 2**200)
        near = [x_j if x_j else small for x_j in x]
        gap = value - (inner(v, near) - softmax(near, y))
        trial.exactly(gap <= Fraction(1, 10**30), "the supremum stays below", formula=value)
        return
    # Outside: along a direction of growth, <v,u> - L(u) exceeds every bound.
    total, low = sum(v, ZERO), x.index(min(x))

    def along(t: int) -> Vector:
        if total:
            return [Fraction(2) ** (t if total > 0 else -t)] * len(v)
        return [Fraction(1, 2**t) if j == low else ONE for j in range(len(v))]

    grown = [inner(v, along(t)) - softmax(along(t), y) for t in (40, 80)]
    trial.exactly(grown[0] + 4 < grown[1], "<v,u> - L(u) does not grow without bound")


PROPOSITION_7 = stated(
    "Proposition 7",
    draw=_draw_proposition_7,
    check=_check_proposition_7,
    says={"conjugate": printed},
    wrong={
        "without the term of y": {
            "conjugate": lambda v, y: (
                None
                if printed(v, y) is None
                else sum((entropy_term(v_j) for j, v_j in enumerate(v) if j != y), Log())
            )
        },
        "no condition on the sum": {
            "conjugate": lambda v, y: printed(
                [v_j if j != y else v_j - sum(v, ZERO) for j, v_j in enumerate(v)], y
            )
        },
        "top-2 simplex": {
            "conjugate": lambda v, y: (
                None if any(2 * v_j > -v[y] for j, v_j in enumerate(v) if j != y) else printed(v, y)
            )
        },
    },
)
