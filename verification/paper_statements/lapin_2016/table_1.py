"""Table 1 but for the hinges: convexity, and the calibration of the smooth losses."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import refsolve
from refsolve.models import pointwise_risk
from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._cone import (
    project_simplex,
    smooth_hinge_alpha,
    smooth_hinge_beta,
)
from verification.paper_statements._entropies import entropy_alpha, entropy_beta, ratios
from verification.paper_statements._logs import MARGIN, decimal, log
from verification.paper_statements._rational import Vector, add, draw_vector, put, scale
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    hinge_alpha,
    hinge_beta,
    kth,
    margins,
    top,
)
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.losses import dropped, logistic, signed, smooth_hinge
from verification.paper_statements.risk import draw_probabilities, guesses

# ==========================================================================================
# Table 1, its last column and first footnote: which losses are convex.
# ==========================================================================================

#: (scores, y, k, gamma) -> loss
Hinge = Callable[[Vector, int, int, Fraction], Fraction]
#: (exponentials of the scores, y, k) -> loss, a sum of logarithms or 60 digits
LogLoss = Callable[[Vector, int, int], Any]


def truncated(w: Vector, y: int, k: int) -> Any:
    """Equation (15)."""
    return log(1 + sum(dropped(ratios(w, y), k), ZERO))


HINGES: dict[str, Hinge] = {
    "OVA hinge": lambda f, y, k, gamma: sum((max(ZERO, v) for v in signed(f, y)), ZERO),
    "smooth OVA hinge": lambda f, y, k, gamma: sum(
        (smooth_hinge(v, gamma) for v in signed(f, y)), ZERO
    ),
    "multiclass hinge": lambda f, y, k, gamma: hinge_alpha(margins(f, y), 1),
    "alpha": lambda f, y, k, gamma: hinge_alpha(margins(f, y), k),
    "beta": lambda f, y, k, gamma: hinge_beta(margins(f, y), k),
    "smooth alpha": lambda f, y, k, gamma: smooth_hinge_alpha(margins(f, y), k, gamma),
    "smooth beta": lambda f, y, k, gamma: smooth_hinge_beta(margins(f, y), k, gamma),
}
LOGS: dict[str, LogLoss] = {
    "OVA logistic": lambda w, y, k: log(logistic(w, y)),
    "softmax": lambda w, y, k: log(1 + sum(ratios(w, y), ZERO)),
    "top-k entropy": lambda w, y, k: entropy_alpha(ratios(w, y), k),
}


def _draw_convex(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    return {
        "f": draw_vector(rng, m, spread=2),
        "g": draw_vector(rng, m, spread=2),
        "roots": [[Fraction(int(v)) for v in rng.integers(1, 9, size=m)] for _ in range(2)],
        "y": int(rng.integers(m)),
        "k": int(rng.integers(2, m)),
        "gamma": Fraction(int(rng.integers(1, 9)), 4),
    }


def _most(middle: Any, ends: Any) -> bool:
    """Whether twice the value in the middle is at most the sum of the ends."""
    return bool(2 * middle <= ends + (MARGIN if isinstance(middle, Decimal) else 0))


def _between(loss: LogLoss, roots: list[Vector], y: int, k: int) -> bool:
    """The same for a loss at the scores 2 log a and 2 log b; half way is log a + log b."""
    a, b = roots
    middle = loss([v * w for v, w in zip(a, b, strict=True)], y, k)
    ends = [loss([v * v for v in root], y, k) for root in roots]
    return _most(middle, ends[0] + ends[1])


def bent(m: int, y: int, k: int, high: Fraction = Fraction(64)) -> list[Vector]:
    """Two points with k - 1 of the same k others far above the true class, not the same ones."""
    others = [j for j in range(m) if j != y][:k]
    low = 1 / high
    return [
        [Fraction(1) if j == y else high if j in others and j != out else low for j in range(m)]
        for out in (others[0], others[-1])
    ]


def _check_convex(
    trial: Trial,
    *,
    f: Vector,
    g: Vector,
    roots: list[Vector],
    y: int,
    k: int,
    gamma: Fraction,
    hinges: Mapping[str, Hinge],
    logs: Mapping[str, LogLoss],
    bending: LogLoss,
) -> None:
    middle = scale(Fraction(1, 2), add(f, g))
    for name, hinge in hinges.items():
        value, ends = hinge(middle, y, k, gamma), hinge(f, y, k, gamma) + hinge(g, y, k, gamma)
        trial.exactly(_most(value, ends), f"the {name} loss is not convex between f and g")
    for name, loss in logs.items():
        trial.exactly(_between(loss, roots, y, k), f"the {name} loss is not convex", loss=name)
    same = truncated(roots[0], y, 1) == LOGS["softmax"](roots[0], y, 1)
    trial.exactly(same, "for k = 1 the truncated loss is not softmax")
    points = bent(len(f), y, k)
    trial.exactly(not _between(bending, points, y, k), "convex between these points", points=points)


CONVEX = stated(
    "Table 1, convexity",
    draw=_draw_convex,
    check=_check_convex,
    says={"hinges": HINGES, "logs": LOGS, "bending": truncated},
    wrong={
        "psi_k too": {"hinges": {"psi": lambda f, y, k, gamma: max(ZERO, kth(margins(f, y), k))}},
        "the truncated loss too": {"logs": {"truncated": truncated}},
        "softmax is not": {"bending": LOGS["softmax"]},
        "the top-k entropy is not": {"bending": LOGS["top-k entropy"]},
    },
)


# ==========================================================================================
# Table 1, open question for k > 1: the smooth top-k hinge and top-k entropy losses are calibrated.
#
# The argument. Let L(y, .) be differentiable in the scores, the same function for all classes up to
# their names, with dL/dg_j >= 0 for j != y and dL/dg_y <= 0, below 0 wherever at least k others score g_y
# or more. Let a set of k guesses that g allows be worse than the best: then p_i > p_j, g_i <= g_j for
# some i outside of it and j in it, at least k others score g_i or more, and with g' = g after the
# exchange of g_i and g_j, L(j, g) = L(i, g').
#
# - g_i < g_j: R(g) - R(g') = (p_i - p_j) (L(i, g) - L(i, g')) > 0, as the way from g to g' raises
#   g_i and lowers g_j, at first strictly against the gradient of L(i, .).
# - g_i = g_j: along e_i - e_j the other classes' terms have slope 0 and the risk has slope
#   (p_i - p_j) (dL/dg_i - dL/dg_j)(i, g) < 0.
#
# Either way g is no minimiser. Convexity is not used, nor p > 0, nor distinct probabilities; the
# hinges fail at the second step, being not differentiable where scores are tied just so.
# ==========================================================================================

HALVINGS = [Fraction(1, 4**i) for i in range(12)]


def _two_classes(p: Vector) -> Vector:
    """The two largest probabilities, divided by their sum."""
    kept = sorted(range(len(p)), key=lambda y: -p[y])[:2]
    total = sum((p[y] for y in kept), ZERO)
    return [v / total if y in kept else ZERO for y, v in enumerate(p)]


def _draw_calibrated(rng: Rng, positive: bool) -> Inputs:
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


def _check_calibrated(
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
    draw = partial(_draw_calibrated, positive=positive)
    return stated(f"Table 1, {name}", draw=draw, check=_check_calibrated, says=says, wrong=wrong)


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

SMOOTH_ALPHA_CALIBRATED = _calibrated(
    "smooth top-k hinge alpha",
    _smooth_alpha,
    False,
    {"without smoothing": {"loss": lambda g, y, k, gamma: hinge_alpha(margins(g, y), k)}, **_FEWER},
)

SMOOTH_BETA_CALIBRATED = _calibrated(
    "smooth top-k hinge beta",
    _smooth_beta,
    False,
    {"without smoothing": {"loss": lambda g, y, k, gamma: hinge_beta(margins(g, y), k)}},
)


def _entropy_alpha(w: Vector, y: int, k: int, gamma: Fraction) -> Any:
    return entropy_alpha(ratios(w, y), k)


def _entropy_beta(w: Vector, y: int, k: int, gamma: Fraction) -> Any:
    return entropy_beta(ratios(w, y), k)


ENTROPY_ALPHA_CALIBRATED = _calibrated(
    "top-k entropy alpha", _entropy_alpha, True, _in_its_place(_entropy_alpha, hinge_alpha)
)

ENTROPY_BETA_CALIBRATED = _calibrated(
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


# ==========================================================================================
# Table 1, the open question once more, without any argument: minimisers by CVXPY, with a margin.
#
# A minimiser ranks class i above class j for certain if forbidding it, g_i <= g_j, costs a positive
# amount; the bound comes from a dual point and formulas (`refsolve.models.pointwise_risk`). Evidence
# at the p that were drawn, nothing more.
# ==========================================================================================

#: Margins this small do not decide.
LEAST = 1e-9


def _draw_margins(rng: Rng, smooth: bool) -> Inputs:
    m = int(rng.integers(3, 5))
    k = int(rng.integers(2, m))
    least = int(rng.choice([1, 9]))  # half of the p are nearly uniform
    p = sorted(draw_probabilities(rng, m, k, least=least, largest=14), reverse=True)
    return {"p": p, "k": k, "gamma": float(rng.choice([0.25, 1, 4])) if smooth else None}


def _check_margins(
    trial: Trial, *, p: Vector, k: int, gamma: float | None, object_name: str
) -> None:
    """Margins between all classes of different probability, p decreasing."""
    q = np.array([float(v) for v in p])
    smoothing = {"gamma": gamma} if object_name.startswith("smooth") else {}
    params: dict[str, Any] = {"k": k, **smoothing}
    given: dict[str, Any] = {"loss": object_name, "p": q, **params}
    best = refsolve.solve("pointwise_risk.primal", **given)
    pairs = ((i, j) for i, j in combinations(range(len(p)), 2) if p[i] > p[j])
    for i, j in pairs:
        other = refsolve.solve("pointwise_risk.primal", **given, behind=(i, j))
        margin = pointwise_risk.margin(
            object_name, q, i, j, x=other.dual, g=other.x, least=best.x, **params
        )
        trial.within(
            max(0.0, LEAST - margin),
            0.0,
            "no margin proves that every minimiser ranks the first class of `pair` higher",
            pair=(i, j),
            margin=margin,
        )


def _margins(name: str, object_name: str, hinge: str) -> Claim:
    return stated(
        f"Table 1, margins, {name}",
        draw=partial(_draw_margins, smooth=object_name.startswith("smooth")),
        check=_check_margins,
        says={"object_name": object_name},
        wrong={"the hinge": {"object_name": hinge}},
    )


SMOOTH_ALPHA_MARGINS = _margins(
    "smooth top-k hinge alpha", "smooth_topk_hinge_alpha", "topk_hinge_alpha"
)
SMOOTH_BETA_MARGINS = _margins(
    "smooth top-k hinge beta", "smooth_topk_hinge_beta", "topk_hinge_beta"
)
ENTROPY_ALPHA_MARGINS = _margins("top-k entropy alpha", "topk_entropy_alpha", "topk_hinge_alpha")
ENTROPY_BETA_MARGINS = _margins("top-k entropy beta", "topk_entropy_beta", "topk_hinge_beta")
