"""Proposition 8: the top-k entropy loss, how the papers evaluate it, and its beta version.

Instances are planted: a rational x with the wanted set U at the cap, and scores log w with rational
w of which x is the maximiser. Every comparison is one of rational powers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._entropies import alpha_power, beta_power
from verification.paper_statements._erm import draw_block
from verification.paper_statements._logs import Log, binary, log
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    beta_halfspaces,
    inside,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements.lapin_2016 import stated


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


def _draw(rng: Rng, plant: Callable, pieces: Callable) -> Inputs:
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
    draw=partial(_draw, plant=plant_alpha, pieces=pieces_alpha),
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
    draw=partial(_draw, plant=plant_beta, pieces=pieces_beta),
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
    draw=partial(_draw, plant=plant_alpha, pieces=pieces_alpha),
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
    witnesses=({"x": [Fraction(1, 2)], "w": [ONE], "k": 1, "other": [ZERO]},),
)
