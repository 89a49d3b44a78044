"""What SVM+ does with a Z that says nothing, and what free slack changes."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Claim, Inputs, Rng, Trial
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


BACK_PRINTED = Claim(
    number="Problem (3), falling back to an SVM",
    section="3",
    statement="if Z says nothing, SVM+ does what an SVM does: w is 0 only where the SVM's is",
    method="Z constant; both solved in rational arithmetic",
    expected="refuted",
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
    instances=40,
    note="Not claimed in the paper, but what 'additional information' suggests. All slacks are one "
    "number rho: with overlapping classes rho = 1, w = 0. Cure: free slack, K~ + delta I.",
    voice="ours",
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


WHEN = Claim(
    number="Problems (1) and (3), collapse",
    section="3",
    statement="for a constant Z, w = 0 if and only if the convex hulls of the classes meet, with "
    "the hinge as with the squared hinge",
    method="one dimension; (2) and (4) solved in rational arithmetic",
    expected="repaired",
    draw=_draw,
    check=_check_when,
    says={"delta": ZERO, "hinge": True, "collapsed": hulls_meet},
    wrong={
        "never": {"collapsed": lambda x, y: False},
        "equal means": {"collapsed": means_equal},
        "with free slack": {"delta": ONE, "hinge": False},
    },
    instances=60,
)

CURED = WHEN.also(
    number="Problem (3), free slack",
    statement="with free slack delta > 0 and a constant Z, w = 0 if and only if the classes have "
    "equal means, as for the squared-hinge SVM",
    method="one dimension, delta = 1/2; solved in rational arithmetic",
    says={"delta": Fraction(1, 2), "hinge": False, "collapsed": means_equal},
    wrong={
        "where the hulls meet": {"collapsed": hulls_meet},
        "without free slack": {"delta": ZERO},
    },
    note="By symmetry alpha is constant on each class there. xi_i = g(z_i) + eta_i with "
    "lam/(2 delta) sum eta_i^2 adds delta I to K~.",
)
