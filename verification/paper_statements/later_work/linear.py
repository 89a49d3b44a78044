"""Linear scores: consistent over all functions, and wrong among these.

One feature x, 1 or -1, and scores x s of three classes: two guesses are right at both x if and only if
s_1 > s_2 > s_3 where the labels at x = 1 are classes 1 and 2, at x = -1 classes 2 and 3.
"""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Matrix, Vector, add, scale
from verification.paper_statements._topk import ONE, ZERO, kth
from verification.paper_statements.later_work import stated
from verification.paper_statements.risk import (
    Minimisers,
    Pieces,
    gap,
    guesses,
    hinge_alpha_pieces,
    hinge_consistent_pieces,
    minimisers,
)

#: Values of the feature.
SIGNS = (1, -1)
K = 2


def _shares(w: Vector) -> tuple[Vector, Vector]:
    """Softmax of log w and of -log w."""
    inverse = [1 / v for v in w]
    return scale(1 / sum(w, ZERO), w), scale(1 / sum(inverse, ZERO), inverse)


def masses(w: Vector, p: Fraction) -> Matrix | None:
    """Mass of each class at x = 1 and at x = -1 for which log w has the least cross-entropy; none if it has not.

    p : probability of the third class at x = -1.
    """
    up, down = _shares(w)
    if down[2] <= p:
        return None
    second = up[2] / (down[2] - p)  # mass of x = -1 beside that of x = 1
    first = up[0] - second * down[0]
    if not 0 <= first <= 1:
        return None
    rows = [[first, 1 - first, ZERO], [ZERO, second * (1 - p), second * p]]
    return [scale(1 / (1 + second), row) for row in rows]


def _draw(rng: Rng) -> Inputs:
    while True:
        third, first, second = sorted(int(v) for v in rng.choice(range(1, 10), 3, replace=False))
        w = [Fraction(v, third) for v in (first, second, third)]
        p = Fraction(int(rng.integers(0, 6)), 7)
        if masses(w, p) is not None:
            return {"w": w, "p": p}


def error(mass: Matrix, s: Vector) -> Fraction:
    """Largest mass that the two guesses of the scores x s miss, over ties."""
    total = ZERO
    for x, row in zip(SIGNS, mass, strict=True):
        sets = guesses(scale(x, s), K)
        total += max(sum((v for y, v in enumerate(row) if y not in T), ZERO) for T in sets)
    return total


def next_of_all(mass: Matrix, s: Vector) -> Fraction:
    """Risk of max{0, 1 + g_[k+1] - g_y} at the scores x s."""
    total = ZERO
    for x, row in zip(SIGNS, mass, strict=True):
        g = scale(x, s)
        total += sum((v * max(ZERO, 1 + kth(g, K + 1) - u) for v, u in zip(row, g, strict=True)), ZERO)
    return total


def _check_entropy(
    trial: Trial,
    *,
    w: Vector,
    p: Fraction,
    mass: Callable[[Vector, Fraction], Matrix],
    other: Vector,
) -> None:
    rows = mass(w, p)
    slope = [ZERO] * 3  # of the cross-entropy at log w
    for x, row, share in zip(SIGNS, rows, _shares(w), strict=True):
        less = [sum(row, ZERO) * s - v for s, v in zip(share, row, strict=True)]
        slope = add(slope, scale(x, less))
    trial.exactly(not any(slope), "log w is no minimiser of the cross-entropy", mass=rows)
    trial.exactly(error(rows, order(w)) > 0, "log w does not err", mass=rows)
    trial.exactly(error(rows, other) == 0, "the other scores err", mass=rows)
    trial.exactly(next_of_all(rows, other) == 0, "the hinge is not 0 there", mass=rows)


def order(w: Vector) -> Vector:
    """Numbers in the order of log w: of 1, 2, 3 as of w."""
    return [Fraction(sorted(w).index(v) + 1) for v in w]


def _valid(w: Vector, p: Fraction) -> Matrix:
    found = masses(w, p)
    assert found is not None
    return found


def _even(w: Vector, p: Fraction) -> Matrix:
    """Both points of the same mass."""
    return [scale(1 / (2 * sum(row, ZERO)), row) for row in _valid(w, p)]


ENTROPY = stated(
    "Cross-entropy with linear scores",
    draw=_draw,
    check=_check_entropy,
    says={"mass": _valid, "other": [ONE, ZERO, -ONE]},
    wrong={
        "x = 1 and -1 alike": {"mass": _even},
        "classes 1 and 2 exchanged": {"other": [ZERO, ONE, -ONE]},
        "half the margin": {"other": [Fraction(1, 2), ZERO, -Fraction(1, 2)]},
    },
)


def solved(mass: Matrix, pieces: Pieces) -> Minimisers:
    """All s that minimise a hinge of the scores x s."""
    losses = [
        [(scale(x, slope), offset) for slope, offset in pieces(3, K, y)] for x in SIGNS for y in range(3)
    ]  # fmt: skip
    return minimisers([v for row in mass for v in row], losses)


def _check_hinge(trial: Trial, *, w: Vector, p: Fraction, pieces: Pieces) -> None:
    rows = _valid(w, p)
    found = solved(rows, pieces)
    lead = found.largest(gap(3, 1, 0))
    facts = {"s": found.g, "error": error(rows, found.g), "mass": rows}
    trial.exactly(lead is not None and lead <= 0, "some minimiser has s_1 < s_2", **facts)


HINGE = stated(
    "The consistent hinge with linear scores",
    draw=_draw,
    check=_check_hinge,
    says={"pieces": hinge_consistent_pieces},
    right={"pieces": hinge_alpha_pieces},
)
