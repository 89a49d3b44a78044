"""Table 1, open question for k > 1: the top-k hinge losses are not calibrated, with one exception.

All verdicts are about all minimisers of the risk at once: a polyhedron, over which linear functions
are maximised in rational arithmetic.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import (
    Minimisers,
    Pieces,
    all_err,
    constant_only,
    draw_probabilities,
    hinge_alpha_pieces,
    hinge_beta_pieces,
    hinge_printed_pieces,
    minimisers,
    partitions,
    wrong_pair,
)


def _solve(p: Vector, k: int, pieces: Pieces) -> Minimisers:
    return minimisers(p, [pieces(len(p), k, y) for y in range(len(p))])


# ------------------------------------------------------------------- calibrated, and not calibrated


def _draw(rng: Rng, guesses: tuple[int, ...] = (2,)) -> Inputs:
    m = int(rng.integers(3, 5))
    k = int(rng.choice([k for k in guesses if k < m]))
    return {"p": draw_probabilities(rng, m, k, largest=6), "k": k}


def _check_calibrated(
    trial: Trial, *, p: Vector, k: int, pieces: Pieces, promised: Callable[[int, int], bool]
) -> None:
    """Whether every minimiser at p is top-k Bayes optimal, where that is promised."""
    if not promised(len(p), k):
        trial.nothing_claimed()
        return
    found = _solve(p, k, pieces)
    pair = wrong_pair(found, p, k)
    trial.exactly(
        pair is None,
        "a minimiser ranks the first class of `pair` no higher than the second, less probable one",
        minimiser=found.g,
        pair=pair,
    )


def _all(m: int, k: int) -> bool:
    return True


def _all_but_one(m: int, k: int) -> bool:
    return k == m - 1


ALPHA = stated(
    "Table 1, top-k hinge alpha",
    draw=_draw,
    check=_check_calibrated,
    says={"pieces": hinge_alpha_pieces, "promised": _all},
    right={"promised": _all_but_one},
)

BETA = ALPHA.also(
    "Table 1, top-k hinge beta",
    says={"pieces": hinge_beta_pieces},
    right={"pieces": hinge_alpha_pieces, "promised": _all_but_one},
)

ALPHA_LAST = ALPHA.corrected(
    "Table 1, top-k hinge alpha, k = m - 1",
    draw=partial(_draw, guesses=(2, 3)),
    wrong={
        "beta": {"pieces": hinge_beta_pieces},
        "every k": {"promised": _all},
        "k = 1": {"pieces": lambda m, k, y: hinge_alpha_pieces(m, 1, y)},
    },
)

PRINTED_LAST = ALPHA.also(
    "Table 1, top-k hinge alpha as printed, k = m - 1",
    draw=partial(_draw, guesses=(2, 3)),
    says={"pieces": hinge_printed_pieces, "promised": _all_but_one},
    right={"pieces": hinge_alpha_pieces},
)

# --------------------------------------------------------------- every minimiser errs, not just one


def _check_all_err(
    trial: Trial, *, p: Vector, k: int, pieces: Pieces, errs: Callable[[Vector], bool]
) -> None:
    found = _solve(p, k, pieces)
    trial.exactly(
        all_err(found, p, k) == errs(p),
        "whether all minimisers tie or swap a guess with another class comes out differently",
        minimiser=found.g,
    )


def _draw_three(rng: Rng) -> Inputs:
    while True:
        p = draw_probabilities(rng, 3, 2, largest=12)
        if len(set(p)) == 3:
            return {"p": p, "k": 2}


def pairs_tie(p: Vector) -> bool:
    """p_2 < 2 p_3 and 2 p_2 < p_1 + p_3 in decreasing order: g = (1, 0, 0) is strictly best."""
    first, second, third = sorted(p, reverse=True)
    return second < 2 * third and 2 * second < first + third


BETA_THREE = stated(
    "Table 1, top-k hinge beta, where m = 3",
    draw=_draw_three,
    check=_check_all_err,
    says={"pieces": hinge_beta_pieces, "errs": pairs_tie},
    wrong={
        "alpha": {"pieces": hinge_alpha_pieces},
        "p_2 < 2 p_3 alone": {"errs": lambda p: sorted(p)[1] < 2 * sorted(p)[0]},
        "everywhere": {"errs": lambda p: True},
    },
)

# ------------------------------------------------------------------ the simplest counterexamples

SIMPLEST = (
    ("alpha", 4, 2, (3, 3, 2, 2)),
    ("alpha", 5, 2, (2, 2, 1, 1, 1)),
    ("beta", 3, 2, (5, 3, 2)),
    ("beta", 4, 3, (3, 3, 2, 1)),
    ("printed", 3, 2, (5, 3, 2)),
    ("printed", 4, 3, (3, 3, 2, 1)),
    ("printed", 5, 4, (3, 3, 3, 2, 1)),
)


def _case(name: str, m: int, k: int, counts: tuple[int, ...]) -> Inputs:
    return {"name": name, "m": m, "k": k, "counts": counts}


def _check_simplest(
    trial: Trial, *, name: str, m: int, k: int, counts: tuple[int, ...], total: Callable
) -> None:
    pieces = {
        "alpha": hinge_alpha_pieces,
        "beta": hinge_beta_pieces,
        "printed": hinge_printed_pieces,
    }[name]
    wanted = [Fraction(v, sum(counts)) for v in counts]
    trial.exactly(all_err(_solve(wanted, k, pieces), wanted, k), "some minimiser does not err")
    for smaller in range(m, total(counts)):
        for other in partitions(smaller, m):
            if other[k - 1] > other[k]:
                p = [Fraction(v, smaller) for v in other]
                trial.exactly(not all_err(_solve(p, k, pieces), p, k), "a simpler one", p=p)


SMALLEST = stated(
    "Table 1, simplest counterexamples",
    draw=lambda rng: _case(*SIMPLEST[int(rng.integers(2))]),
    check=_check_simplest,
    says={"total": sum},
    wrong={"still none at that denominator": {"total": lambda counts: sum(counts) + 1}},
    witnesses=tuple(_case(*case) for case in SIMPLEST),
)

# ------------------------------------------------------------------------------- the constant


def _draw_constant(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    k = int(rng.integers(1, min(m, 4)))
    while True:
        p = draw_probabilities(rng, m, largest=5)
        # near the bound, where the statement could fail
        if abs(max(p) - Fraction(1, k + 1)) <= Fraction(1, 8) or rng.random() < 0.2:
            return {"p": p, "k": k}


def _check_constant(
    trial: Trial, *, p: Vector, k: int, pieces: Pieces, bound: Callable[[Vector, int], bool]
) -> None:
    found = _solve(p, k, pieces)
    trial.exactly(
        constant_only(found) == bound(p, k),
        "whether the constant is the only minimiser comes out differently",
        minimiser=found.g,
    )


def below(p: Vector, k: int) -> bool:
    """All probabilities below 1/(k+1)."""
    return max(p) < Fraction(1, k + 1)


_WRONG = {
    "1/k": {"bound": lambda p, k: max(p) < Fraction(1, k)},
    "1/2": {"bound": lambda p, k: 2 * max(p) < 1},
    "1/(k+1) itself": {"bound": lambda p, k: max(p) <= Fraction(1, k + 1)},
}

CONSTANT_ALPHA = stated(
    "Table 1, the constant, alpha",
    draw=_draw_constant,
    check=_check_constant,
    says={"pieces": hinge_alpha_pieces, "bound": below},
    wrong=_WRONG,
)

CONSTANT_BETA = CONSTANT_ALPHA.also(
    "Table 1, the constant, beta", says={"pieces": hinge_beta_pieces}, wrong=_WRONG
)

CONSTANT_PRINTED = CONSTANT_ALPHA.also(
    "Table 1, the constant, alpha as printed", says={"pieces": hinge_printed_pieces}, wrong=_WRONG
)
