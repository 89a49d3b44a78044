"""One-vs-all beside the multiclass losses: the sum over all classes is the larger one.

With z_j = f_j - f_y + 1: a positive multiclass hinge is 1 + f_j - f_y <= (1 + f_j)_+ + (1 - f_y)_+ - 1.
A point x of the simplex with sum s is the point (x, s) of the box, whose objective is larger by
s - gamma/2 s^2 >= 0 for gamma <= 2. And 1 + sum_j e^{f_j - f_y} is a part of the product of
1 + e^{-f_y} and all 1 + e^{f_j}.
"""

from collections.abc import Callable
from fractions import Fraction
from math import prod

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._entropies import ratios
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ONE, ZERO, hinge_alpha, margins
from verification.paper_statements.lapin_2015.equation_3 import draw_scores
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.lemma_1 import error_with_ties

FAR = Fraction(-20)


def _draw(rng: Rng) -> Inputs:
    given = draw_scores(rng)
    f, y, k = given["f"], given["y"], given["k"]
    if rng.random() < 0.4:  # just an error, as cheap as it gets for the hinge: all level at -1
        level = [j for j in range(len(f)) if j != y][:k]
        f = [-ONE if j in level or j == y else FAR for j in range(len(f))]
    w = [Fraction(int(rng.choice([1, 2, 8, 32])), int(rng.choice([1, k, 64]))) for _ in f]
    return {**given, "f": f, "w": w, "gamma": Fraction(int(rng.integers(1, 9)), 4)}


def signed(f: Vector, y: int) -> Vector:
    """Margins of the m binary problems: 1 + f_j at j != y, and 1 - f_y."""
    return [1 - v if j == y else 1 + v for j, v in enumerate(f)]


def smooth_hinge(z: Fraction, gamma: Fraction) -> Fraction:
    """The largest value over 0 <= x <= 1 of z x - gamma/2 x^2."""
    x = min(max(z / gamma, ZERO), ONE)
    return z * x - gamma * x * x / 2


def logistic(w: Vector, y: int) -> Fraction:
    """Exponential of the one-vs-all logistic loss at the scores log w."""
    return prod((1 + (1 / v if j == y else v) for j, v in enumerate(w)), start=ONE)


def least_logistic(k: int) -> Fraction:
    """Exponential of its least value where k others reach the true class: all at w = 1/k, the rest at 0."""
    return Fraction((k + 1) ** (k + 1), k**k)


def _check(
    trial: Trial,
    *,
    f: Vector,
    w: Vector,
    y: int,
    k: int,
    gamma: Fraction,
    off: Fraction,
    least: Fraction,
    smooth: Callable[[Fraction, Fraction], Fraction],
    least_log: Callable[[int], Fraction],
    share: Fraction,
) -> None:
    z, ova = margins(f, y), signed(f, y)
    total = sum((max(v, ZERO) for v in ova), ZERO)
    trial.exactly(
        hinge_alpha(z, 1) <= max(ZERO, total - off), "the multiclass hinge is larger", ova=total
    )
    trial.exactly(not error_with_ties(f, y, k) or total >= least, "an error costs less", ova=total)
    rounded = sum((smooth(v, gamma) for v in ova), ZERO)
    trial.exactly(
        smooth_hinge_alpha(z, 1, gamma) <= rounded, "the smooth hinge is larger", ova=rounded
    )
    product = logistic(w, y)
    trial.exactly(1 + sum(ratios(w, y), ZERO) <= share * product, "the softmax loss is larger")
    trial.exactly(
        not error_with_ties(w, y, k) or product >= least_log(k), "an error costs less", exp=product
    )


ONE_VS_ALL = stated(
    "Equations (2)-(5), one-vs-all and multiclass",
    draw=_draw,
    check=_check,
    says={
        "off": ONE,
        "least": Fraction(2),
        "smooth": smooth_hinge,
        "least_log": least_logistic,
        "share": ONE,
    },
    wrong={
        "hinge - 3/2": {"off": Fraction(3, 2)},
        "an error costs 9/4": {"least": Fraction(9, 4)},
        "smoothed twice as much": {"smooth": lambda z, gamma: smooth_hinge(z, 2 * gamma)},
        "(k+1) log(k+1)": {"least_log": lambda k: Fraction((k + 1) ** (k + 1))},
        "half of the product": {"share": Fraction(1, 2)},
    },
    witnesses=(
        {"f": vector(-1, -1), "w": vector(1, 1), "y": 0, "k": 1, "gamma": ONE},
        {"f": vector(2, -2), "w": vector("1/64", 64), "y": 1, "k": 1, "gamma": Fraction(2)},
        {"f": vector(0, 0, 0), "w": vector("1/2", "1/2", "1/2"), "y": 0, "k": 2, "gamma": ONE},
    ),
)
