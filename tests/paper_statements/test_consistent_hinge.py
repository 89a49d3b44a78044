"""Every minimiser of the consistent top-k hinge is top-k optimal: in rational programs wrong guesses cost more."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import fast
from verification.paper_statements._rational import maximise
from verification.paper_statements._topk import top

ONE, ZERO = Fraction(1), Fraction(0)


def pieces(m, k, kind="right"):
    """(slopes, offset) whose maximum is sigma, L = sigma - u_y: 1 + u_j - 1, and 1 + (sum over J - k)/|J|."""
    sets = [chosen for n in range(1, m + 1) for chosen in combinations(range(m), n)]
    if kind == "others":  # as if only sets of more than k classes counted, and no margin
        sets = [chosen for chosen in sets if len(chosen) > k]
    found = [
        ([Fraction(j in chosen, len(chosen)) for j in range(m)], 1 - Fraction(k, len(chosen)))
        for chosen in sets
    ]
    if kind == "right":
        found += [([Fraction(j == i) for j in range(m)], ZERO) for i in range(m)]
    return found


def least_risk(p, k, guesses=None, kind="right"):
    """Least sigma(u) - <p,u>, over the u that allow the guesses if some are given: no other class is above them."""
    m = len(p)
    start = max(offset for _, offset in pieces(m, k, kind))
    rows = [[*slopes, -ONE] for slopes, _ in pieces(m, k, kind)]  # <slopes,u> + offset <= start + t
    room = [start - offset for _, offset in pieces(m, k, kind)]
    for i in guesses or ():
        for j in set(range(m)) - set(guesses):
            rows.append([*(Fraction((c == j) - (c == i)) for c in range(m)), ZERO])
            room.append(ZERO)
    found = maximise([*p, -ONE], rows, room).value
    return None if found is None else start - found


def wrong_guesses(p, k):
    return [s for s in combinations(range(len(p)), k) if sum(p[j] for j in s) < top(p, k)]


def drawn(rng, m):
    """Probabilities with ties and zeros."""
    counts = [int(v) for v in rng.integers(0, 5, m)]
    counts[0] += not any(counts)
    return [Fraction(v, sum(counts)) for v in counts]


def test_the_pieces_are_the_loss(rng):
    for _ in range(100):
        m = int(rng.integers(2, 7))
        k, y, u = int(rng.integers(1, m)), int(rng.integers(m)), rng.normal(size=m) * 2
        sigma = max(
            float(np.dot([float(v) for v in slope], u)) + float(c) for slope, c in pieces(m, k)
        )
        assert abs(sigma - u[y] - fast.losses.consistent_topk_hinge.value(u, y, k=k)) < 1e-12


def test_wrong_guesses_always_cost_more(rng):
    forced = 0
    for m, count in ((2, 4), (3, 12), (4, 10), (5, 6), (6, 3)):
        for _ in range(count):
            p, k = drawn(rng, m), int(rng.integers(1, m))
            assert least_risk(p, k) == 1 - top(p, k)  # the least top-k error
            wrong = wrong_guesses(p, k)
            for at in rng.permutation(len(wrong))[:6]:
                assert least_risk(p, k, wrong[at]) > 1 - top(p, k)
                forced += 1
    assert forced > 60


@pytest.mark.parametrize(("kind", "more"), [("no margin", 0), ("others", 0), ("right", 1)])
def test_wrong_losses_do_not_pass(kind, more):
    """Without the margin of 1, without small sets, or made for one guess more."""
    p, k = [Fraction(v, 10) for v in (5, 3, 1, 1)], 2
    best = least_risk(p, k + more, kind=kind)
    assert best is None or any(
        least_risk(p, k + more, s, kind) == best for s in wrong_guesses(p, k)
    )
