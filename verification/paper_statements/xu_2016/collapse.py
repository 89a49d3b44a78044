"""What SVM+ does with a Z that says nothing, and what free slack changes."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector, vector
from verification.paper_statements._svm import (
    ONE,
    ZERO,
    Labels,
    Plus,
    Point,
    Vector,
    deformed,
    draw_labels,
    full,
    identity,
    of_plus,
    svm_dual,
)
from verification.paper_statements.xu_2016 import stated
from verification.paper_statements.xu_2016.equation_2 import dual_of_hinge


def with_free_slack(p: Plus, delta: Fraction) -> Point:
    """(4) with K~ + delta I; squared-hinge SVM, Q = I/C, for an infinite delta (negative here)."""
    unit = identity(len(p.y))
    q = unit / p.c if delta < 0 else deformed(p.kt + delta * unit, p.c, p.lam)
    return svm_dual(p.ky + q, p.y)


SVM = Fraction(-1)


def _draw(rng: Rng) -> Inputs:
    n = int(rng.integers(2, 5))
    return {
        "x": [[v] for v in draw_vector(rng, n, 3, 1)],
        "y": draw_labels(rng, n),
        "z": [draw_vector(rng, 1, 2, 1)] * n,
        "c": Fraction(int(rng.integers(1, 5)), 2),
        "lam": Fraction(int(rng.integers(1, 5)), 2),
    }


@of_plus
def _check_back(trial: Trial, p: Plus, *, delta: Fraction) -> None:
    svm = p.w(with_free_slack(p, SVM).a)
    plus = p.w(with_free_slack(p, delta).a)
    trial.exactly(any(plus) or not any(svm), "w = 0, the SVM's w is not", w=plus, svm=svm)


BACK_PRINTED = stated(
    "Problem (3), falling back to an SVM",
    draw=_draw,
    check=_check_back,
    says={"delta": ZERO},
    right={"delta": ONE},
    witnesses=(
        {
            "x": [vector(0), vector(1), vector(2), vector(3)],
            "y": (-1, 1, -1, 1),
            "z": [vector(0)] * 4,
            "c": ONE,
            "lam": ONE,
        },
    ),
)


def hulls_meet(x: Vector, y: Labels) -> bool:
    """Whether the intervals of the two classes have a point in common."""
    ends = [x[y == 1], x[y == -1]]
    return bool(max(map(min, ends)) <= min(map(max, ends)))


def means_equal(x: Vector, y: Labels) -> bool:
    """Whether the classes have the same mean."""
    return bool(x[y == 1].mean() == x[y == -1].mean())


@of_plus
def _check_when(
    trial: Trial,
    p: Plus,
    *,
    delta: Fraction,
    hinge: bool,
    collapsed: Callable[[Vector, Labels], bool],
) -> None:
    found = [with_free_slack(p, delta).a]
    if hinge and len(p.y) <= 3:
        solved = dual_of_hinge(p)
        found.append(solved.alpha if solved else full(ZERO, len(p.y)))
    expected = collapsed(p.x[:, 0], p.y)
    for alpha in found:
        w = p.w(alpha)
        trial.exactly(expected == (not any(w)), "w is 0 in other cases", w=w, expected=expected)


WHEN = stated(
    "Problems (1) and (3), collapse",
    draw=_draw,
    check=_check_when,
    says={"delta": ZERO, "hinge": True, "collapsed": hulls_meet},
    wrong={
        "never": {"collapsed": lambda x, y: False},
        "equal means": {"collapsed": means_equal},
        "with free slack": {"delta": ONE, "hinge": False},
    },
)

CURED = WHEN.also(
    "Problem (3), free slack",
    says={"delta": Fraction(1, 2), "hinge": False, "collapsed": means_equal},
    wrong={
        "where the hulls meet": {"collapsed": hulls_meet},
        "without free slack": {"delta": ZERO},
    },
)
