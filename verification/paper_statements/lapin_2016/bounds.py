"""The losses in order: each is an upper bound on the one before it, and the first on the error."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._entropies import alpha_power, beta_power, ratios
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    Loss,
    hinge_alpha,
    hinge_beta,
    kth,
    margins,
)
from verification.paper_statements.lapin_2015.equation_3 import draw_scores
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.lemma_1 import error_with_ties
from verification.paper_statements.risk import smooth_hinge_beta

# ------------------------------------------------------------------------------------- the hinges


def _check_hinges(
    trial: Trial, *, f: Vector, y: int, k: int, alpha: Callable, beta: Callable
) -> None:
    z = margins(f, y)
    error = Fraction(int(error_with_ties(f, y, k)))
    psi = max(ZERO, kth(z, k))
    chain = [error, psi, alpha(z, k), beta(z, k), hinge_alpha(z, 1)]
    trial.exactly(chain == sorted(chain), "the chain decreases", chain=chain)
    multiclass = max(f_j - f[y] + int(j != y) for j, f_j in enumerate(f))
    trial.exactly(alpha(z, 1) == beta(z, 1) == multiclass, "k = 1 is not (4)", loss=multiclass)


HINGES = stated(
    "Equations (4), (6) and (7)",
    draw=draw_scores,
    check=_check_hinges,
    says={"alpha": hinge_alpha, "beta": hinge_beta},
    wrong={
        "alpha and beta exchanged": {"alpha": hinge_beta, "beta": hinge_alpha},
        "sum of the smallest": {"alpha": lambda z, k: max(ZERO, sum(sorted(z)[:k]) / k)},
        "beta without 1/k": {"beta": lambda z, k: k * hinge_beta(z, k)},
    },
)

# ----------------------------------------------------------------------------------- the entropies

#: Width to which k-th roots are enclosed.
WIDTH = Fraction(1, 2**80)


def root(value: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """Rational bounds on the k-th root, equal if it was found exactly."""
    low, high = ZERO, max(ONE, value)
    while high - low > WIDTH * high:
        middle = (low + high) / 2
        if middle**k <= value:
            low = middle
        else:
            high = middle
    return (low, low) if low**k == value else (low, high)


def _draw_weights(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    return {
        "w": [Fraction(int(2 ** rng.integers(0, 6)), int(rng.choice([1, 3]))) for _ in range(m)],
        "y": int(rng.integers(m)),
        "k": int(rng.integers(1, m)),
    }


def dropped(w: Vector, k: int) -> Vector:
    """All but the k - 1 largest."""
    return sorted(w)[: len(w) + 1 - k]


def _check_entropies(
    trial: Trial,
    *,
    w: Vector,
    y: int,
    k: int,
    kept: Callable[[Vector, int], Vector],
    beta: Loss,
    error: Callable[[Vector, int, int], bool],
) -> None:
    r = ratios(w, y)
    truncated, softmax = 1 + sum(kept(r, k), ZERO), 1 + sum(r, ZERO)
    trial.exactly(not error(w, y, k) or truncated >= 2, "log 2 err_k exceeds the truncated loss")
    power, beta_k = alpha_power(r, k), beta(r, k)
    trial.exactly((truncated - 1) ** k <= power, "the truncated loss exceeds alpha")
    low, high = root(power, k)
    if k * max(r) <= sum(r, ZERO):  # the caps of alpha are idle: so are those of beta
        low = high = sum(r, ZERO)
    trial.exactly((1 + high) ** k <= beta_k, "alpha exceeds beta", alpha_power=power, beta=beta_k)
    trial.exactly(beta_k <= softmax**k, "beta exceeds the softmax loss", beta=beta_k)
    if k == 1:
        trial.exactly(truncated == 1 + low == beta_k == softmax, "k = 1 is not the softmax loss")


ENTROPIES = stated(
    "Equations (5), (13) and (15)",
    draw=_draw_weights,
    check=_check_entropies,
    says={"kept": dropped, "beta": beta_power, "error": error_with_ties},
    wrong={
        "k largest dropped": {"kept": lambda w, k: dropped(w, k + 1)},
        "nothing dropped": {"kept": lambda w, k: w},
        "alpha for beta": {"beta": alpha_power},
        "one guess fewer": {"error": lambda w, y, k: error_with_ties(w, y, max(1, k - 1))},
    },
)

# ------------------------------------------------------------------------------------ the smoothed


def _draw_gamma(rng: Rng) -> Inputs:
    given = draw_scores(rng)
    f, y, k = given["f"], given["y"], given["k"]
    if rng.random() < 0.5:  # just an error: k others level with the true class, the rest far below
        others = [j for j in range(len(f)) if j != y]
        f = [ZERO if j in others[:k] or j == y else Fraction(-50) for j in range(len(f))]
    return {**given, "f": f, "gamma": Fraction(int(rng.integers(1, 25)), 4)}


def _check_smooth(
    trial: Trial,
    *,
    f: Vector,
    y: int,
    k: int,
    gamma: Fraction,
    least: Callable[[int, Fraction], Fraction],
    off: Callable[[int, Fraction], Fraction],
) -> None:
    z = margins(f, y)
    pairs = [
        (hinge_alpha(z, k), smooth_hinge_alpha(z, k, gamma)),
        (hinge_beta(z, k), smooth_hinge_beta(z, k, gamma)),
    ]
    for plain, smooth in pairs:
        if error_with_ties(f, y, k):
            trial.exactly(
                smooth >= least(k, gamma), "an error costs less than stated", smooth=smooth
            )
        trial.exactly(
            0 <= plain - smooth <= off(k, gamma), "the hinge is farther away", smooth=smooth
        )
    level = [ONE] * k
    trial.exactly(
        smooth_hinge_alpha(level, k, gamma)
        == smooth_hinge_beta(level, k, gamma)
        == least(k, gamma),
        "the bound is not attained where k others tie and there are no more",
        attained=smooth_hinge_alpha(level, k, gamma),
    )


def least_error_cost(k: int, gamma: Fraction) -> Fraction:
    """1 - gamma/(2k) for gamma <= k, k/(2 gamma) beyond."""
    return 1 - gamma / (2 * k) if gamma <= k else k / (2 * gamma)


SMOOTH_PRINTED = stated(
    "Proposition 6, bound on the error",
    draw=_draw_gamma,
    check=_check_smooth,
    says={"least": lambda k, gamma: ONE, "off": lambda k, gamma: gamma / (2 * k)},
    right={"least": least_error_cost},
    witnesses=({"f": vector(0, 0, 0), "y": 0, "k": 2, "gamma": ONE},),
)

SMOOTH_RIGHT = SMOOTH_PRINTED.corrected(
    wrong={
        "1 - gamma/2": {"least": lambda k, gamma: 1 - gamma / 2},
        "1 - gamma/(2k) for all gamma": {"least": lambda k, gamma: 1 - gamma / (2 * k)},
        "hinge within gamma/(4k)": {"off": lambda k, gamma: gamma / (4 * k)},
    }
)
