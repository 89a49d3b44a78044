"""Table 1, open question for k > 1: the smooth top-k hinge and top-k entropy losses are calibrated.

The argument. Let L(y, .) be differentiable in the scores, the same function for all classes up to
their names, with dL/dg_j >= 0 for j != y and dL/dg_y <= 0, below 0 wherever at least k others score g_y
or more. Let a set of k guesses that g allows be worse than the best: then p_i > p_j, g_i <= g_j for
some i outside of it and j in it, at least k others score g_i or more, and with g' = g after the
exchange of g_i and g_j, L(j, g) = L(i, g').

- g_i < g_j: R(g) - R(g') = (p_i - p_j) (L(i, g) - L(i, g')) > 0, as the way from g to g' raises
  g_i and lowers g_j, at first strictly against the gradient of L(i, .).
- g_i = g_j: along e_i - e_j the other classes' terms have slope 0 and the risk has slope
  (p_i - p_j) (dL/dg_i - dL/dg_j)(i, g) < 0.

Either way g is no minimiser. Convexity is not used, nor p > 0, nor distinct probabilities; the
hinges fail at the second step, being not differentiable where scores are tied just so.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._cone import project_simplex, smooth_hinge_alpha
from verification.paper_statements._entropies import entropy_alpha, entropy_beta, ratios
from verification.paper_statements._logs import MARGIN, decimal
from verification.paper_statements._rational import Vector, add, put, scale
from verification.paper_statements._topk import ONE, ZERO, hinge_alpha, hinge_beta, margins, top
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities, guesses, smooth_hinge_beta

HALVINGS = [Fraction(1, 4**i) for i in range(12)]


def _two_classes(p: Vector) -> Vector:
    """The two largest probabilities, divided by their sum."""
    kept = sorted(range(len(p)), key=lambda y: -p[y])[:2]
    total = sum((p[y] for y in kept), ZERO)
    return [v / total if y in kept else ZERO for y, v in enumerate(p)]


def _draw(rng: Rng, positive: bool) -> Inputs:
    m = int(rng.integers(3, 6))
    k, gamma = int(rng.integers(1, m)), Fraction(int(rng.integers(1, 9)), 4)
    p = draw_probabilities(rng, m, least=0, largest=4)
    g = [Fraction(int(v)) for v in rng.integers(1 if positive else -1, 4, size=m)]
    if not positive and rng.random() < 0.2:  # two classes alone, far above the others
        p, k = _two_classes(p), 2
        g = [Fraction(6) if p_y else v for v, p_y in zip(g, p, strict=True)]
    return {"p": p, "g": g, "k": k, "gamma": gamma}


def _wrong_pairs(p: Vector, g: Vector, k: int) -> list[tuple[int, int]]:
    best = top(p, k)
    pairs = set()
    for chosen in guesses(g, k):
        if sum((p[c] for c in chosen), ZERO) < best:
            outside = [i for i in range(len(p)) if i not in chosen]
            pairs |= {(i, j) for i in outside for j in chosen if p[i] > p[j]}
    return sorted(pairs)


def _check(
    trial: Trial,
    *,
    p: Vector,
    g: Vector,
    k: int,
    gamma: Fraction,
    loss: Callable[[Vector, int, int, Fraction], Any],
    apart: Callable[[Vector, int, int, Fraction], Vector],
    guessed: Callable[[int], int],
) -> None:
    def risk(scores: Vector) -> Any:
        live = (y for y in range(len(p)) if p[y])
        terms = [(p[y], loss(scores, y, k, gamma)) for y in live]
        if isinstance(terms[0][1], Decimal):
            return sum(decimal(p_y) * value for p_y, value in terms)
        return sum(p_y * value for p_y, value in terms)

    here = risk(g)
    slack = MARGIN if isinstance(here, Decimal) else ZERO
    trial.nothing_claimed()
    for i, j in _wrong_pairs(p, g, guessed(k)):
        if g[i] < g[j]:
            after = [g[{i: j, j: i}.get(c, c)] for c in range(len(g))]
            lower = risk(after) < here - slack
        else:
            lower = any(risk(apart(g, i, j, t)) < here - slack for t in HALVINGS)
        trial.exactly(lower, "a wrong guess whose scores no such step improves", pair=(i, j))


def _add(g: Vector, i: int, j: int, t: Fraction) -> Vector:
    return [v + t * int(c == i) - t * int(c == j) for c, v in enumerate(g)]


def _multiply(w: Vector, i: int, j: int, t: Fraction) -> Vector:
    return [v * (1 + t) if c == i else v / (1 + t) if c == j else v for c, v in enumerate(w)]


def _calibrated(name: str, loss: Callable, positive: bool, wrong: dict[str, Any]) -> Claim:
    says = {"loss": loss, "apart": _multiply if positive else _add, "guessed": lambda k: k}
    draw = partial(_draw, positive=positive)
    return stated(f"Table 1, {name}", draw=draw, check=_check, says=says, wrong=wrong)


def _in_its_place(loss: Callable, hinge: Callable) -> dict[str, Any]:
    """What is wrong in the place of an entropy."""
    return {
        "a hinge of the same scores": {"loss": lambda w, y, k, gamma: hinge(margins(w, y), k)},
        "scores reversed": {"loss": lambda w, y, k, gamma: loss([1 / v for v in w], y, k, gamma)},
    }


def _smooth_alpha(g: Vector, y: int, k: int, gamma: Fraction) -> Fraction:
    return smooth_hinge_alpha(margins(g, y), k, gamma)


def _smooth_beta(g: Vector, y: int, k: int, gamma: Fraction) -> Fraction:
    return smooth_hinge_beta(margins(g, y), k, gamma)


_FEWER = {"one guess fewer": {"guessed": lambda k: max(1, k - 1)}}

SMOOTH_ALPHA = _calibrated(
    "smooth top-k hinge alpha",
    _smooth_alpha,
    False,
    {"without smoothing": {"loss": lambda g, y, k, gamma: hinge_alpha(margins(g, y), k)}, **_FEWER},
)

SMOOTH_BETA = _calibrated(
    "smooth top-k hinge beta",
    _smooth_beta,
    False,
    {"without smoothing": {"loss": lambda g, y, k, gamma: hinge_beta(margins(g, y), k)}},
)


def _entropy_alpha(w: Vector, y: int, k: int, gamma: Fraction) -> Any:
    return entropy_alpha(ratios(w, y), k)


def _entropy_beta(w: Vector, y: int, k: int, gamma: Fraction) -> Any:
    return entropy_beta(ratios(w, y), k)


ENTROPY_ALPHA = _calibrated(
    "top-k entropy alpha", _entropy_alpha, True, _in_its_place(_entropy_alpha, hinge_alpha)
)

ENTROPY_BETA = _calibrated(
    "top-k entropy beta", _entropy_beta, True, _in_its_place(_entropy_beta, hinge_beta)
)

# ------------------------------------------------------------------- alpha, whatever the guesses


def _descent(p: Vector, g: Vector, k: int, gamma: Fraction) -> Vector:
    """Minus the gradient of the risk of the smooth hinge alpha, from proved projections."""
    slope = [ZERO] * len(p)
    for y, p_y in enumerate(p):
        x = project_simplex(scale(1 / gamma, margins(g, y)), k, ZERO, ONE)
        pushed = put(x, y, -sum(x, ZERO))
        slope = [total - p_y * v for total, v in zip(slope, pushed, strict=True)]
    return slope


def _check_ranking(
    trial: Trial,
    *,
    p: Vector,
    g: Vector,
    k: int,
    gamma: Fraction,
    loss: Callable[[Vector, int, int, Fraction], Fraction],
    changed: Callable[[Vector], Vector],
) -> None:
    p = changed(p)

    def risk(scores: Vector) -> Fraction:
        return sum((p[y] * loss(scores, y, k, gamma) for y in range(len(p)) if p[y]), ZERO)

    here, m = risk(g), len(p)
    wrong = [(i, j) for i in range(m) for j in range(m) if p[i] > p[j] and g[i] <= g[j]]
    trial.nothing_claimed()
    if not wrong:
        return
    down = _descent(p, g, k, gamma)
    steps = [[g[{i: j, j: i}.get(c, c)] for c in range(m)] for i, j in wrong]
    steps += [_add(g, i, j, t) for i, j in wrong for t in HALVINGS]
    steps += [add(g, scale(t, down)) for t in HALVINGS]
    trial.exactly(
        any(risk(after) < here for after in steps),
        "a wrong order that no such step improves",
        pair=wrong[0],
    )


def _draw_positive(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    p = draw_probabilities(rng, m, largest=6)
    g = [Fraction(int(v)) for v in rng.integers(-1, 3, size=m)]
    if rng.random() < 0.2:  # where the hinges stay if p is nearly uniform
        g = [ZERO] * m
    elif rng.random() < 0.4:  # two classes far above the others: no loss for either, if k >= 2
        likely = sorted(range(m), key=lambda y: -p[y])
        chosen = [int(v) for v in rng.permutation(m)] if rng.random() < 0.3 else likely
        g[chosen[0]] = g[chosen[1]] = Fraction(6)
    k = int(rng.integers(1, m))
    return {"p": p, "g": g, "k": k, "gamma": Fraction(int(rng.integers(1, 9)), 4)}


RANKING = stated(
    "Table 1, whole ranking, smooth top-k hinge alpha",
    draw=_draw_positive,
    check=_check_ranking,
    says={"loss": _smooth_alpha, "changed": lambda p: p},
    wrong={
        "where some p_y = 0": {"changed": _two_classes},
        "without smoothing": {"loss": lambda g, y, k, gamma: hinge_alpha(margins(g, y), k)},
    },
)
