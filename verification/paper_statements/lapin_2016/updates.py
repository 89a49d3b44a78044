"""The updates of propositions 8, 10 and 11."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import VARIANTS
from verification.paper_statements._entropies import alpha_power, beta_power
from verification.paper_statements._erm import Problem, block, draw_block, dual
from verification.paper_statements._logs import Log, binary, log
from verification.paper_statements._rational import (
    Array,
    Numbers,
    Vector,
    draw_vector,
    square,
)
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    beta_halfspaces,
    inside,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements._update import (
    check_identity,
    check_numerically,
    differences,
    draw_update,
    partial_scores,
    with_block,
)
from verification.paper_statements.lapin_2016 import stated

# ==========================================================================================
# Proposition 8: the top-k entropy loss, how the papers evaluate it, and its beta version.
#
# Instances are planted: a rational x with the wanted set U at the cap, and scores log w with rational
# w of which x is the maximiser. Every comparison is one of rational powers.
# ==========================================================================================


@dataclass(frozen=True)
class Planted:
    """The maximiser x of <log w, .> - binary over the top-k set, and the size of U."""

    x: Vector
    w: Vector
    u: int


def plant_alpha(rng: Rng, d: int, k: int) -> Planted:
    """Caps s/k: u_j = log x_j + t + nu_j, log(1-s) = -t - <1,nu>/k, e^nu a k-th power."""
    while True:
        u = int(rng.integers(0, k))
        free = [int(c) for c in rng.integers(1, 6, size=d - u)]
        cap = Fraction(sum(free), k - u)
        if max(free) <= cap:
            break
    total = cap * k + int(rng.integers(1, 6))
    x = [cap / total] * u + [c / total for c in map(Fraction, free)]
    roots = [1 + Fraction(int(c), 4) for c in rng.integers(0, 4, size=u)] + [ONE] * (d - u)
    level = 1 / ((1 - sum(x, ZERO)) * prod(roots, start=ONE))
    w = [level * v * root**k for v, root in zip(x, roots, strict=True)]
    return Planted(x, w, u)


def plant_beta(rng: Rng, d: int, k: int) -> Planted:
    """Caps 1/k: u_j = log x_j - log(1-s) + nu_j."""
    u = int(rng.integers(0, min(k, d + 1)))
    free = [int(c) for c in rng.integers(1, 6, size=d - u)]
    last = int(rng.integers(1, 6))
    rest = 1 - Fraction(u, k)
    while free and max(free) * rest * k > sum(free) + last:
        last += 1
    total = (sum(free) + last) / rest
    x = [Fraction(1, k)] * u + [c / total for c in map(Fraction, free)]
    factors = [1 + Fraction(int(c), 4) for c in rng.integers(0, 4, size=u)] + [ONE] * (d - u)
    w = [v * factor / (1 - sum(x)) for v, factor in zip(x, factors, strict=True)]
    return Planted(x, w, u)


def _draw_proposition_8(rng: Rng, plant: Callable, pieces: Callable) -> Inputs:
    d = int(rng.integers(1, 5))
    k = int(rng.integers(1, d + 1))
    found: Planted = plant(rng, d, k)
    order = [int(i) for i in rng.permutation(d)]
    # candidates of the set, and of the simplex, most of them outside of it
    other = draw_block(rng, pieces(d, k if rng.random() < 0.7 else 1), ONE)
    x = [found.x[i] for i in order]
    if rng.random() < 0.5:  # near the maximiser, where a wrong one would be beaten
        other = (15 * np.array(x) + other) / 16
    return {"x": x, "w": [found.w[i] for i in order], "k": k, "other": other}


def objective(x: Vector, w: Vector) -> Log:
    """<log w, x> - <x,log x> - (1-s) log(1-s)."""
    total = -binary(x)
    for x_j, w_j in zip(x, w, strict=True):
        total = total + (x_j * log(w_j) if x_j else Log())
    return total


#: x, w, k -> the loss by a formula, None if the formula contradicts itself
Readout = Callable[[Vector, Vector, int], Log | None]


def alpha_loss(x: Vector, w: Vector, k: int, power: Callable = alpha_power) -> Log | None:
    """log(1 + e^v) = -log(1-s), if e^{k v} = (s/(1-s))^k."""
    s = sum(x, ZERO)
    return -log(1 - s) if power(w, k) == (s / (1 - s)) ** k else None


def beta_loss(x: Vector, w: Vector, k: int, power: Callable = beta_power) -> Log | None:
    """(1/k) log e^{k L}."""
    return Fraction(1, k) * log(power(w, k))


def _check(
    trial: Trial,
    *,
    x: Vector,
    w: Vector,
    k: int,
    other: Vector,
    domain: Callable,
    loss: Readout,
    softmax: Callable[[Vector], Log],
) -> None:
    best = objective(x, w)
    trial.exactly(inside(x, domain(len(x), k)), "the maximiser is not in the set")
    if inside(other, domain(len(x), k)):
        trial.exactly(objective(other, w) <= best, "another point of the set is better")
    found = loss(x, w, k)
    trial.exactly(
        found is not None and found == best, "the formula is not the maximum", maximum=best
    )
    if k == 1:
        trial.exactly(best == softmax(w), "k = 1 is not the softmax loss", maximum=best)


def softmax_loss(w: Vector) -> Log:
    """log(1 + sum of e^{u_j})."""
    return log(1 + sum(w, ZERO))


METHOD = "planted maximisers, rational products of powers in place of sums of logarithms; m <= 5"

PROPOSITION_8 = stated(
    "Proposition 8",
    draw=partial(_draw_proposition_8, plant=plant_alpha, pieces=pieces_alpha),
    check=_check,
    says={"domain": alpha_halfspaces, "loss": alpha_loss, "softmax": softmax_loss},
    wrong={
        "beta set": {"loss": beta_loss},
        "softmax for every k": {"loss": lambda x, w, k: softmax_loss(w)},
        "k = 1 without the 1": {"softmax": lambda w: log(sum(w, ZERO))},
        "maximum over the simplex": {"domain": lambda d, k: alpha_halfspaces(d, 1)},
    },
)

BETA = PROPOSITION_8.also(
    "Section 2.4, top-k entropy beta",
    draw=partial(_draw_proposition_8, plant=plant_beta, pieces=pieces_beta),
    says={"domain": beta_halfspaces, "loss": beta_loss},
    wrong={
        "alpha set": {"loss": alpha_loss},
        "Z in place of 1 + Z": {
            "loss": lambda x, w, k: beta_loss(x, w, k, lambda w, k: alpha_power(w, k) + 1)
        },
        "softmax for every k": {"loss": lambda x, w, k: softmax_loss(w)},
    },
)

# -------------------------------------------------------------- equations (16)-(20), arXiv version


def _printed_sets(w: Vector, k: int) -> tuple[Vector, Fraction]:
    """The algorithm of the supplement: U grows by the largest of M until (20) holds."""
    capped: Vector = []
    rest = sorted(w, reverse=True)
    # s (1 + Q) = 1 and (19) make exp(t) s/k equal to Z/(k - |U|)
    while rest and max(rest) * (k - len(capped)) > sum(rest, ZERO):
        capped, rest = [*capped, rest[0]], rest[1:]
    return capped, sum(rest, ZERO)


def _check_printed(
    trial: Trial, *, x: Vector, w: Vector, k: int, other: Vector, sets: Callable, level: Callable
) -> None:
    s = sum(x, ZERO)
    capped, z = sets(w, k)
    u = len(capped)
    trial.exactly(u < k, "more than k - 1 passes", u=u)
    if u >= k:
        return
    q = (1 - s) / s
    # (18) to the power k: Q^k = (1-rho)^(k-u) / (k^u Z^(k-u) prod_U w)
    left = 1 - Fraction(u, k)
    trial.exactly(
        q**k * k**u * z ** (k - u) * prod(capped, start=ONE) == left ** (k - u),
        "s = 1/(1+Q) with (18) is another s",
        u=u,
    )
    e_t = level(z, q, left)
    trial.exactly(
        all(x_j == min(w_j / e_t, s / k) for x_j, w_j in zip(x, w, strict=True)),
        "x_j = min{exp(a_j - t), s/k} with (19) is another x",
        e_t=e_t,
    )
    # alpha s - rho s log(s/k) + (1-rho) s t - (1-s) log(1-s), alpha = sum_U a_j/k
    read = left * s * log(e_t) - (1 - s) * log(1 - s) - (1 - left) * s * log(s / k)
    for w_j in capped:
        read = read + s / k * log(w_j)
    trial.exactly(read == objective(x, w), "the loss read from s and t is not the maximum")


SUPPLEMENT = stated(
    "Equations (17)-(20) of the arXiv version",
    draw=partial(_draw_proposition_8, plant=plant_alpha, pieces=pieces_alpha),
    check=_check_printed,
    says={"sets": _printed_sets, "level": lambda z, q, left: z * (1 + q) / left},
    wrong={
        "true class in M": {"sets": lambda w, k: _printed_sets([*w, ONE], k)},
        "U is always empty": {"sets": lambda w, k: ([], sum(w, ZERO))},
        "t = log Z + log(1 + Q)": {"level": lambda z, q, left: z * (1 + q)},
    },
)

SUPPLEMENT_PRINTED = SUPPLEMENT.also(
    "Equations (17)-(20) of the arXiv version, M as printed",
    says={"sets": lambda w, k: _printed_sets([*w, ONE], k)},
    right={"sets": _printed_sets},
)


# ==========================================================================================
# Proposition 11: the update of the top-k entropy loss, and the system that solves it.
# ==========================================================================================


def quadratic_dual(problem: Problem, columns: Array) -> Fraction:
    """D without the entropies: -lam/2 tr(A K A')."""
    found = dual(problem, columns, lambda v, k: ZERO)
    if found is None:
        raise ArithmeticError("the columns do not sum to 0")
    return found


def entropy_target(q: Array, y: int) -> Array:
    """B = q without y, less q_y."""
    return np.delete(q, y) - q[y]


def curvature(k_ii: Fraction, problem: Problem) -> Fraction:
    """Alpha = <x_i,x_i>/(lam n)."""
    return k_ii * problem.radius


def _check_identity(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    x: Array,
    other: Array,
    variant: str,
    target: Callable[[Array, int], Array],
    curvature: Callable[[Fraction, Problem], Fraction],
    factor: Fraction,
    domain: Callable,
) -> None:
    """-n D and (25) differ by a constant: in their rational parts, and in the entropies."""
    y = problem.labels[i]
    q, k_ii = partial_scores(problem, columns, i)
    b, alpha = target(q, y), curvature(k_ii, problem)

    def printed(point: Array) -> Log | None:
        if not inside(point, domain(len(point), problem.k)):
            return None
        rational = alpha * factor * (square(point) + sum(point) ** 2) - b @ point
        return rational + binary(point)

    def value(point: Array) -> Log | None:
        """-n D, from the conjugate of Proposition 7 on the dual set of the variant."""
        changed = with_block(columns, i, problem.radius * point, y)
        entropies = Log()
        for a, label in zip(changed, problem.labels, strict=True):
            v = block(a, label) / problem.radius
            if not inside(v, VARIANTS[variant].halfspaces(len(v), problem.k)):
                return None
            entropies = entropies + binary(v)
        return entropies - problem.n * quadratic_dual(problem, changed)

    at = [(printed(point), value(point)) for point in (x, other)]
    for wanted, found in at:
        trial.exactly((wanted is None) == (found is None), "the sets differ")
    (f, d), (f2, d2) = at
    if f is None or d is None or f2 is None or d2 is None:
        return
    trial.exactly(f - f2 == d - d2, "-n D and the objective do not differ by a constant")


def _draw_update(rng: Rng, variant: str = "alpha") -> Inputs:
    given = draw_update(rng, zero_examples=True, variant=variant)
    problem: Problem = given["problem"]
    corners = VARIANTS[variant].pieces(problem.m - 1, problem.k)
    kinds = (
        lambda: draw_block(rng, corners, ONE),
        lambda: draw_block(rng, pieces_alpha(problem.m - 1, 1), ONE),  # of the simplex
        lambda: np.array(draw_vector(rng, problem.m - 1, spread=1)),
    )
    other = kinds[int(rng.choice(3, p=[0.6, 0.25, 0.15]))]()
    return {**given, "x": draw_block(rng, corners, ONE), "other": other}


_ENTROPY = "entropies compared as products of rational powers"

PROPOSITION_11 = stated(
    "Proposition 11",
    draw=_draw_update,
    check=_check_identity,
    says={
        "target": entropy_target,
        "curvature": curvature,
        "factor": Fraction(1, 2),
        "domain": alpha_halfspaces,
    },
    wrong={
        "alpha without 1/(lam n)": {"curvature": lambda k_ii, problem: k_ii},
        "alpha in place of alpha/2": {"factor": ONE},
        "b with the costs of the hinges": {"target": differences},
        "the simplex for every k": {"domain": lambda d, k: alpha_halfspaces(d, 1)},
    },
)

ENTROPY_BETA = PROPOSITION_11.also(
    "Proposition 11, top-k entropy beta",
    draw=partial(_draw_update, variant="beta"),
    says={"domain": beta_halfspaces},
    wrong={
        "the alpha set": {"domain": alpha_halfspaces},
        "alpha in place of alpha/2": {"factor": ONE},
    },
)

# ----------------------------------------------------------------------- the system that solves it


def _draw_system(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 5))
    k = int(rng.integers(1, d + 1))
    found: Planted = plant_alpha(rng, d, k)
    corners = pieces_alpha(d, k)
    return {
        "x": found.x,
        "slack": [Fraction(int(rng.integers(0, 3)), 2) * int(i < found.u) for i in range(d)],
        "k": k,
        "alpha": Fraction(int(rng.integers(1, 9)), 4),
        "other": draw_block(rng, corners, ONE),
    }


#: V^-1(w) = w + log w
def inverse(w: Fraction) -> Log:
    """T with V(t) = w, V(t) = W(e^t)."""
    return log(w) + w


def _report_minimiser(trial: Trial, x: Vector, other: Array, b: list[Log], alpha: Fraction) -> None:
    """Whether x is no worse in (18) than another point of the set, and one nearby."""

    def objective(point: Numbers) -> Log:
        total = alpha / 2 * (square(point) + sum(point, ZERO) ** 2) + binary(point)
        for v, b_i in zip(point, b, strict=True):
            total = total - v * b_i
        return total

    best, elsewhere = objective(x), objective(other)
    trial.exactly(best <= elsewhere, "another point of the set has a lower objective")
    nearby = [(999 * v + w) / 1000 for v, w in zip(x, other, strict=True)]
    trial.exactly(best <= objective(nearby), "a point nearby has a lower objective")


def _check_system(
    trial: Trial,
    *,
    x: Vector,
    slack: Vector,
    k: int,
    alpha: Fraction,
    other: Array,
    share: Callable[[int], Fraction],
    sign: int,
) -> None:
    """From t = V^-1 of the last equation, b is read; x must then minimise the objective of b."""
    s, p = sum(x, ZERO), sum(slack, ZERO)
    # alpha (1-s) = V(alpha - t - p/k)
    t = alpha - share(k) * p - inverse(alpha * (1 - s))
    # alpha x_i = V(b_i - t - nu_i)
    b = [inverse(alpha * x_i) + t + sign * nu for x_i, nu in zip(x, slack, strict=True)]

    _report_minimiser(trial, x, other, b, alpha)


SYSTEM = stated(
    "Proposition 11, the system solved",
    draw=_draw_system,
    check=_check_system,
    says={"share": lambda k: Fraction(1, k), "sign": 1},
    wrong={
        "p in place of p/k": {"share": lambda k: ONE},
        "nu subtracted": {"sign": -1},
        "no p": {"share": lambda k: ZERO},
    },
)

# -------------------------------------------------------------- the two variables that are left of it


def _draw_two(rng: Rng) -> Inputs:
    """As for the system, with an entry below the cap."""
    while True:
        given = _draw_system(rng)
        if given["k"] * min(given["x"]) < sum(given["x"]):
            return given


def _check_two(
    trial: Trial,
    *,
    x: Vector,
    slack: Vector,
    k: int,
    alpha: Fraction,
    other: Array,
    first: Callable[[Fraction, Fraction, Fraction, Fraction], Fraction],
    second: Callable[[Fraction, Log, Fraction, Log, Log, Log], Log],
    single: Callable[[Fraction, Fraction], Fraction],
) -> None:
    """Scores a of which x is the minimiser, from the gradient of (25) and its multipliers; then s and t."""
    s, p = sum(x, ZERO), sum(slack, ZERO)
    # alpha (x_i + s) + log x_i - log(1-s) - a_i + nu_i - p/k = 0
    a = [
        log(v) - log(1 - s) + (alpha * (v + s) + nu - p / k) for v, nu in zip(x, slack, strict=True)
    ]
    _report_minimiser(trial, x, other, a, alpha)
    capped = [i for i, v in enumerate(x) if k * v == s]
    rest = [i for i in range(len(x)) if i not in capped]
    levels = [a[i] - inverse(alpha * x[i]) for i in rest]  # alpha x_i = V(a_i - t) for i in M
    t = levels[0]
    trial.exactly(all(level == t for level in levels), "no t is that of all entries below s/k")
    rho, in_rest = Fraction(len(capped), k), alpha * sum((x[i] for i in rest), ZERO)
    trial.exactly(first(alpha, rho, s, in_rest) == 0, "the first equation does not hold")
    mean = Fraction(1, k) * sum((a[i] for i in capped), Log())
    gap, cap = inverse(alpha * (1 - s)), inverse(alpha * s / k)
    trial.exactly(second(rho, t, alpha, mean, gap, cap) == 0, "the second equation does not hold")
    if not capped:
        trial.exactly(gap == alpha - t, "V(alpha - t) is not alpha (1-s)")
        trial.exactly(
            single(alpha * (1 - s), in_rest) == alpha, "the single equation does not hold"
        )


TWO_VARIABLES = stated(
    "Equation (25) of the arXiv version, system in two variables",
    draw=_draw_two,
    check=_check_two,
    says={
        "first": lambda alpha, rho, s, in_rest: alpha * (1 - rho) * s - in_rest,
        "second": lambda rho, t, alpha, mean, gap, cap: (
            (1 - rho) * t + gap - rho * cap + mean - alpha
        ),
        "single": lambda gap, in_rest: gap + in_rest,
    },
    wrong={
        "s in place of (1-rho) s": {"first": lambda alpha, rho, s, in_rest: alpha * s - in_rest},
        "t in place of (1-rho) t": {
            "second": lambda rho, t, alpha, mean, gap, cap: t + gap - rho * cap + mean - alpha
        },
        "plus rho V^-1(alpha s/k)": {
            "second": lambda rho, t, alpha, mean, gap, cap: (
                (1 - rho) * t + gap + rho * cap + mean - alpha
            )
        },
        "without A": {
            "second": lambda rho, t, alpha, mean, gap, cap: (1 - rho) * t + gap - rho * cap - alpha
        },
        "without V(alpha - t)": {"single": lambda gap, in_rest: in_rest},
    },
)


# ==========================================================================================
# Proposition 10: the update of the smooth top-k hinge is a biased projection.
# ==========================================================================================


def hinge_target(q: Array, y: int, k_ii: Fraction, smoothing: Fraction) -> Array:
    """B = (q without y + (1 - q_y) 1)/(<x_i,x_i> + gamma n lam)."""
    return differences(q, y) / (k_ii + smoothing)


def bias(k_ii: Fraction, smoothing: Fraction) -> Fraction:
    """Rho = <x_i,x_i>/(<x_i,x_i> + gamma n lam)."""
    return k_ii / (k_ii + smoothing)


def _draw_proposition_10(rng: Rng, variant: str = "alpha") -> Inputs:
    gamma = Fraction(int(rng.integers(1, 9)), 4)
    return {**draw_update(rng, zero_examples=True, variant=variant), "gamma": gamma}


SAYS = {"target": hinge_target, "bias": bias, "radius": lambda problem: problem.radius}
WRONG: Mapping[str, Mapping[str, Any]] = {
    "rho = 1": {"bias": lambda k_ii, smoothing: ONE},
    "gamma forgotten in b": {
        "target": lambda q, y, k_ii, smoothing: hinge_target(q, y, k_ii or ONE, 0 * smoothing)
    },
    "rho complemented": {"bias": lambda k_ii, smoothing: 1 - bias(k_ii, smoothing)},
    "radius 1": {"radius": lambda problem: ONE},
}

PROPOSITION_10 = stated(
    "Proposition 10", draw=_draw_proposition_10, check=check_identity, says=SAYS, wrong=WRONG
)

NUMERICALLY = stated(
    "Proposition 10, by CVXPY",
    draw=_draw_proposition_10,
    check=check_numerically,
    says=SAYS,
    wrong=WRONG,
)

UPDATE_BETA = PROPOSITION_10.also(
    "Proposition 10, top-k hinge beta",
    draw=partial(_draw_proposition_10, variant="beta"),
    says={"over": "beta"},
    wrong={**WRONG, "the alpha set": {"over": "alpha"}},
)
