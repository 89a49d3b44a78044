"""The losses and the error: lemma 1, definition 1, equations (4) to (9) and (14), one-vs-all."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, prod

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import smooth_hinge_alpha, smooth_hinge_beta
from verification.paper_statements._entropies import alpha_power, beta_power, ratios
from verification.paper_statements._rational import Matrix, Vector, vector, vertices, without
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    Loss,
    alpha_halfspaces,
    beta_halfspaces,
    hinge_alpha,
    hinge_beta,
    inside,
    kth,
    margins,
    top,
)
from verification.paper_statements.lapin_2015.losses import draw_scores
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities, guesses

# ==========================================================================================
# Definition (1) and Lemma 1: the top-k error and its Bayes optimal classifiers.
# ==========================================================================================

#: (scores, true class, k) -> whether it is an error
Error = Callable[[Vector, int, int], bool]
#: (scores, probabilities, k) -> whether the scores are said to be optimal
Optimal = Callable[[Vector, Vector, int], bool]


def error_printed(g: Vector, y: int, k: int) -> bool:
    """g_[k] > g_y."""
    return kth(g, k) > g[y]


def error_with_ties(g: Vector, y: int, k: int) -> bool:
    """At least k other classes reach the score of the true one."""
    return sum(v >= g[y] for v in without(g, y)) >= k


def expected_error(error: Error, g: Vector, p: Vector, k: int) -> Fraction:
    """Sum of the probabilities of the classes that would be errors."""
    return sum((p_y for y, p_y in enumerate(p) if error(g, y, k)), ZERO)


def _draw_lemma_1(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    raw = [int(v) for v in rng.integers(0, 5, size=m)]
    raw[int(rng.integers(m))] += 1
    return {
        "p": [Fraction(v, sum(raw)) for v in raw],
        "g": [Fraction(int(v)) for v in rng.integers(0, m, size=m)],
        "k": int(rng.integers(1, m)),
    }


def _check_least(trial: Trial, *, p: Vector, g: Vector, k: int, error: Error) -> None:
    """The least expected error over all score vectors; only the order of the scores matters."""
    m = len(p)
    everything = (vector(*scores) for scores in product(range(m), repeat=m))
    least = min(expected_error(error, scores, p, k) for scores in everything)
    trial.exactly(
        least == 1 - top(p, k),
        "the least expected error is not 1 - the sum of the k largest probabilities",
        least=least,
        stated=1 - top(p, k),
    )


LEAST_PRINTED = stated(
    "Lemma 1, least error with (1) as printed",
    draw=_draw_lemma_1,
    check=_check_least,
    says={"error": error_printed},
    right={"error": error_with_ties},
)

LEAST_RIGHT = LEAST_PRINTED.corrected(
    "Lemma 1, least error, corrected",
    wrong={
        "strict inequality": {"error": error_printed},
        "k + 1 guesses": {"error": lambda g, y, k: error_with_ties(g, y, k + 1)},
    },
)


def optimal_printed(g: Vector, p: Vector, k: int) -> bool:
    """{y : g_y >= g_[k]} lies in {y : p_y >= p_[k]}."""
    return all(p_y >= kth(p, k) for g_y, p_y in zip(g, p, strict=True) if g_y >= kth(g, k))


def optimal_listed(g: Vector, p: Vector, k: int) -> bool:
    """The same, as sets: the safe classes can be completed to k classes of largest probability."""
    safe = [p_y for y, p_y in enumerate(p) if not error_with_ties(g, y, k)]
    return sorted(safe, reverse=True) + [ZERO] * (k - len(safe)) == sorted(p, reverse=True)[:k]


def _check_optimal(trial: Trial, *, p: Vector, g: Vector, k: int, optimal: Optimal) -> None:
    error = expected_error(error_with_ties, g, p, k)
    trial.exactly(
        (error == 1 - top(p, k)) == optimal(g, p, k),
        "the scores are optimal and the condition are not equivalent",
        error=error,
        least=1 - top(p, k),
    )


OPTIMAL_PRINTED = stated(
    "Lemma 1, optimal classifiers",
    draw=_draw_lemma_1,
    check=_check_optimal,
    says={"optimal": optimal_printed},
    right={"optimal": optimal_listed},
)

OPTIMAL_RIGHT = OPTIMAL_PRINTED.corrected(
    wrong={
        "as printed": {"optimal": optimal_printed},
        "only the most probable class": {
            "optimal": lambda g, p, k: not error_with_ties(g, p.index(max(p)), k)
        },
    }
)


# ==========================================================================================
# The losses in order: each is an upper bound on the one before it, and the first on the error.
# ==========================================================================================

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
)

SMOOTH_RIGHT = SMOOTH_PRINTED.corrected(
    wrong={
        "1 - gamma/2": {"least": lambda k, gamma: 1 - gamma / 2},
        "1 - gamma/(2k) for all gamma": {"least": lambda k, gamma: 1 - gamma / (2 * k)},
        "hinge within gamma/(4k)": {"off": lambda k, gamma: gamma / (4 * k)},
    }
)


# ==========================================================================================
# Equation (14): why the softmax loss says little of the top-k error, and the truncated one more.
# ==========================================================================================


def _draw_equation_14(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 7))
    y = int(rng.integers(m))
    w = [Fraction(1, int(rng.integers(2, 6))) for _ in range(m)]
    w[y] = ONE
    w[int(rng.choice([j for j in range(m) if j != y]))] = Fraction(int(rng.choice([8, 64, 4096])))
    return {"w": w, "y": y, "k": 2}


def one_and_ratios(w: Vector, y: int) -> Fraction:
    """Exp of (14) at the scores log w: 1 + the sum over the others."""
    return 1 + sum(ratios(w, y), ZERO)


def _check_equation_14(
    trial: Trial, *, w: Vector, y: int, k: int, loss: Loss, kept: Callable[[Vector, int], Vector]
) -> None:
    full = loss(w, y)
    trial.exactly(full == sum(w, ZERO) / w[y], "(14) is not (5)", exp=full)
    trial.exactly(not error_with_ties(w, y, k), "it errs")
    trial.exactly(full > max(w) / w[y], "the loss is below the largest margin", exp=full)
    short = 1 + sum(kept(ratios(w, y), k), ZERO)
    trial.exactly(short <= len(w) - 1, "the truncated loss is large too", exp=short)


EQUATION_14 = stated(
    "Equation (14)",
    draw=_draw_equation_14,
    check=_check_equation_14,
    says={"loss": one_and_ratios, "kept": dropped},
    wrong={
        "without the 1": {"loss": lambda w, y: sum(ratios(w, y), ZERO)},
        "nothing dropped": {"kept": lambda w, k: w},
        "the smallest dropped": {"kept": lambda w, k: sorted(w)[k - 1 :]},
    },
)


# ==========================================================================================
# One-vs-all beside the multiclass losses: the sum over all classes is the larger one.
#
# With z_j = f_j - f_y + 1: a positive multiclass hinge is 1 + f_j - f_y <= (1 + f_j)_+ + (1 - f_y)_+ - 1.
# A point x of the simplex with sum s is the point (x, s) of the box, whose objective is larger by
# s - gamma/2 s^2 >= 0 for gamma <= 2. And 1 + sum_j e^{f_j - f_y} is a part of the product of
# 1 + e^{-f_y} and all 1 + e^{f_j}.
# ==========================================================================================

FAR = Fraction(-20)


def _draw_one_vs_all(rng: Rng) -> Inputs:
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


def _check_one_vs_all(
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
    draw=_draw_one_vs_all,
    check=_check_one_vs_all,
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
)


# ==========================================================================================
# Equations (8) and (9): the two top-k simplices beside each other.
# ==========================================================================================

Halfspaces = Callable[[int, int, Fraction], tuple[Matrix, Vector]]


def _draw_equations_8_and_9(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 5))
    return {"d": d, "k": int(rng.integers(1, d + 1)), "r": Fraction(int(rng.integers(1, 5)), 2)}


def _check_equations_8_and_9(
    trial: Trial,
    *,
    d: int,
    k: int,
    r: Fraction,
    alpha: Halfspaces,
    beta: Halfspaces,
    count: Callable[[int, int], int],
) -> None:
    small, large = vertices(*alpha(d, k, r)), vertices(*beta(d, k, r))
    trial.exactly(all(inside(x, beta(d, k, r)) for x in small), "alpha is not inside beta")
    trial.exactly(all(inside(x, alpha_halfspaces(d, 1, r)) for x in large), "outside the simplex")
    trial.exactly((small == large) == (k == 1), "equal for k > 1, or different for k = 1")
    trial.exactly(len(large) == count(d, k), "another number of vertices", number=len(large))


SETS = stated(
    "Equations (8) and (9)",
    draw=_draw_equations_8_and_9,
    check=_check_equations_8_and_9,
    says={
        "alpha": alpha_halfspaces,
        "beta": beta_halfspaces,
        "count": lambda d, k: sum(comb(d, j) for j in range(k + 1)),
    },
    wrong={
        "exchanged": {"alpha": beta_halfspaces, "beta": alpha_halfspaces},
        "vertices of alpha": {"count": lambda d, k: comb(d, k) + 1},
    },
)


# ==========================================================================================
# Definition 1: top-k calibration, and what it needs of the error where scores are tied.
#
# The softmax loss is the test case: its minimisers are g = log p plus a constant (Proposition 4), so
# that they order the classes as p does.
# ==========================================================================================

#: (scores, probabilities, k) -> expected top-k error
Expected = Callable[[Vector, Vector, int], Fraction]


def printed_definition_1(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error with (1) as printed."""
    return expected_error(error_printed, g, p, k)


def ties_err(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error if k others at the score of the true class make an error."""
    return expected_error(error_with_ties, g, p, k)


def worst_guess(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error of k guesses if ties are broken in the worst way."""
    return max(1 - sum((p[i] for i in chosen), ZERO) for chosen in guesses(g, k))


def _draw_definition_1(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    return {"p": draw_probabilities(rng, m, largest=4), "k": int(rng.integers(1, m))}


def _check_definition_1(
    trial: Trial, *, p: Vector, k: int, expected: Expected, scores: Callable
) -> None:
    orders = (vector(*values) for values in product(range(len(p)), repeat=len(p)))
    least = min(expected(g, p, k) for g in orders)
    error = expected(scores(p), p, k)
    trial.exactly(
        error == least,
        "the softmax loss's minimiser log p has not the least expected error",
        error=error,
        least=least,
    )


PRINTED = stated(
    "Definition 1 with (1) as printed",
    draw=_draw_definition_1,
    check=_check_definition_1,
    says={"expected": printed_definition_1, "scores": lambda p: p},
    right={"expected": worst_guess},
)

TIES_ERR = PRINTED.also(
    "Definition 1 with ties as errors",
    says={"expected": ties_err},
    right={"expected": worst_guess},
)

GUESSES = PRINTED.corrected(
    "Definition 1, corrected",
    wrong={
        "ties as errors": {"expected": ties_err},
        "as printed": {"expected": printed_definition_1},
        "least probable first": {"scores": lambda p: [-v for v in p]},
    },
)
