"""The updates of propositions 8, 10 and 11, and the primal and dual objectives of equation (16)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._entropies import alpha_power, beta_power
from verification.paper_statements._erm import Problem, block, column, draw_block, dual, primal
from verification.paper_statements._gap import (
    check_bounds,
    check_meeting,
    draw_training,
    lower_bound,
)
from verification.paper_statements._logs import Log, binary, log
from verification.paper_statements._rational import (
    Array,
    Matrix,
    Numbers,
    Vector,
    draw_vector,
    square,
    vector,
)
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    beta_halfspaces,
    hinge_alpha,
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
from verification.paper_statements.lapin_2015.conjugates import all_classes, other_classes
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
        """-n D, from the conjugate of Proposition 7 on the top-k simplex."""
        changed = with_block(columns, i, problem.radius * point, y)
        entropies = Log()
        for a, label in zip(changed, problem.labels, strict=True):
            v = block(a, label) / problem.radius
            if not inside(v, alpha_halfspaces(len(v), problem.k)):
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


def _draw_update(rng: Rng) -> Inputs:
    given = draw_update(rng, zero_examples=True)
    problem: Problem = given["problem"]
    corners = pieces_alpha(problem.m - 1, problem.k)
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

    def objective(point: Numbers) -> Log:
        total = alpha / 2 * (square(point) + sum(point, ZERO) ** 2) + binary(point)
        for v, b_i in zip(point, b, strict=True):
            total = total - v * b_i
        return total

    best, elsewhere = objective(x), objective(other)
    trial.exactly(best <= elsewhere, "another point of the set has a lower objective")
    nearby = [(999 * v + w) / 1000 for v, w in zip(x, other, strict=True)]
    trial.exactly(best <= objective(nearby), "a point nearby has a lower objective")


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


# ==========================================================================================
# Proposition 10: the update of the smooth top-k hinge is a biased projection.
# ==========================================================================================


def hinge_target(q: Array, y: int, k_ii: Fraction, smoothing: Fraction) -> Array:
    """B = (q without y + (1 - q_y) 1)/(<x_i,x_i> + gamma n lam)."""
    return differences(q, y) / (k_ii + smoothing)


def bias(k_ii: Fraction, smoothing: Fraction) -> Fraction:
    """Rho = <x_i,x_i>/(<x_i,x_i> + gamma n lam)."""
    return k_ii / (k_ii + smoothing)


def _draw_proposition_10(rng: Rng) -> Inputs:
    gamma = Fraction(int(rng.integers(1, 9)), 4)
    return {**draw_update(rng, zero_examples=True), "gamma": gamma}


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


# ==========================================================================================
# Equation (16): primal and dual of the smooth top-k hinge, as printed and over the others.
# ==========================================================================================

GAMMA = Fraction(1, 2)

PRINTED = stated(
    "Equation (16) with (10) as printed",
    check=check_bounds,
    says={"pieces": all_classes},
    right={"pieces": other_classes},
    witnesses=(
        {
            "problem": Problem(np.array([vector(1), vector(1)]), (0, 1), 3, 2, Fraction(1, 10)),
            "gamma": ONE,
            "multipliers": [vector("14/34", "1/2", "3/34"), vector("1/2", "14/34", "3/34")],
            "w": np.array([vector("10/17"), vector("10/17"), vector("-20/17")]),
            "columns": np.array([column(vector("10/17", "10/17"), y) for y in (0, 1)]),
        },
    ),
)

OTHERS = stated(
    "Equation (16), sum over the others",
    draw=draw_training,
    check=check_meeting,
    says={
        "object_name": "smooth_topk_hinge_alpha",
        "loss": lambda z, k: smooth_hinge_alpha(z, k, GAMMA),
        "lam_factor": 1,
        "dual_name": "smooth_topk_hinge_alpha",
        "gamma": GAMMA,
    },
    wrong={
        "the problem of section 2, with lam ||W||^2": {"lam_factor": 2},
        "hinge without smoothing": {"loss": hinge_alpha},
        "true class in the sum": {"loss": lambda z, k: smooth_hinge_alpha([*z, ZERO], k, GAMMA)},
    },
)


def _check_regulariser(
    trial: Trial, *, problem: Problem, multipliers: Matrix, w: Array, factor: int
) -> None:
    """All P(W) of section 2 from below, against all D(A) of (16) from above (k = 1)."""
    least = lower_bound(
        replace(problem, lam=factor * problem.lam), multipliers, other_classes, ZERO
    )
    most = primal(problem, w, hinge_alpha)
    trial.exactly(
        least is None or least <= most,
        "every P(W) exceeds every D(A) by a fixed amount",
        least_primal=least,
        largest_dual=most,
    )


REGULARISER = stated(
    "Section 2, the optimisation problem",
    check=_check_regulariser,
    witnesses=(
        {
            "problem": Problem(np.array([vector(1)]), (0,), 2, 1, Fraction(1)),
            "multipliers": [vector(0, 1)],
            "w": np.array([vector("1/2"), vector("-1/2")]),
        },
    ),
)
