"""The rational helpers for rankings against naive twins, and the AP-SVM paper's numbers complete."""

import re
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from verification.paper_statements import _ranking as ranking
from verification.paper_statements import claims, try_claim
from verification.paper_statements.mohapatra_2014 import equation_2, equation_4, tables

SEEDS = range(12)


def test_every_numbered_statement_of_the_paper_is_tried():
    numbers = " ".join(claim.number for _, claim in claims("mohapatra_2014"))
    equations = {int(v) for v in re.findall(r"\((\d+)\)", numbers)}
    assert equations == set(range(1, 11))
    for name in ("Algorithm 1", "Algorithm 2", "Algorithm 3", "Proposition 1"):
        assert name in numbers
    assert "Table 1" in numbers
    assert "Tables 2 and 3" in numbers


@pytest.mark.parametrize(
    ("number", "facts"),
    [
        ("Algorithm 1 as printed", {"objective": "-39/2", "largest": 0, "ranks": [1]}),
        ("Algorithm 3 as our scan reads", {"objective": 0, "largest": "3/2"}),
        ("AP of equal scores, by thresholds", {"value": "2/3", "largest": "7/12"}),
        ("Section 3.3, hinge loss 0", {"slack": "1/18"}),
        ("Problem (10), minimum", {"w": 1, "infimum": "1/2"}),
        ("Problem (10), bound", {"xi": 0, "loss": "1/6"}),
    ],
)
def test_the_published_counterexamples(number, facts):
    row = next(claim for _, claim in claims("mohapatra_2014") if claim.number == number)
    found = try_claim(row, paper="mohapatra_2014").counterexample
    assert {name: found[name] for name in facts} == facts


# ------------------------------------------------------------------------------- enumerations


@pytest.mark.parametrize("n", range(1, 6))
def test_all_weak_rankings(n):
    found = ranking.weak_rankings(n)
    assert len(found) == len(set(found)) == [1, 3, 13, 75, 541][n - 1]
    # A weak ranking is a strict one with some of its neighbours tied, counted once.
    twins = set()
    for order in permutations(range(n)):
        for tied in range(1 << (n - 1)):
            levels = [0] * n
            level = 0
            for place, sample in enumerate(order):
                level += bool(place and not tied >> (place - 1) & 1)
                levels[sample] = level
            twins.add(tuple(levels))
    assert set(found) == twins


@pytest.mark.parametrize(("p", "n"), [(1, 1), (1, 4), (3, 2), (2, 5)])
def test_all_interleavings(p, n):
    found = list(ranking.interleavings(p, n))
    labels = [1] * p + [0] * n
    orders = set(permutations(labels))
    assert len(found) == len(set(found)) == len(orders) == comb(p + n, p)
    counts = {
        tuple(order[:i].count(0) for i, label in enumerate(order) if label) for order in orders
    }
    assert set(found) == counts
    for c in found:
        order = next(o for o in orders if tuple(o[:i].count(0) for i, v in enumerate(o) if v) == c)
        assert ranking.ap_loss(c) == 1 - ranking.average_precision(order)


def test_a_ranking_matrix_and_its_counts():
    levels = (0, 2, 1, 1)
    assert ranking.matrix(levels) == [[0, 1, 1, 1], [-1, 0, -1, -1], [-1, 1, 0, 0], [-1, 1, 0, 0]]
    labels = (0, 1, 1, 0)
    assert [ranking.above(labels, levels, i, 0) for i in (1, 2)] == [2, 1]
    assert [ranking.below(labels, levels, j, 1) for j in (0, 3)] == [2, 1]
    assert ranking.levels_of((2, 0, 1)) == [1, 2, 0]
    assert sorted(ranking.resolutions(levels)) == [(0, 2, 3, 1), (0, 3, 2, 1)]


# ------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slack_by_all_rankings(seed):
    given = ranking.draw_samples(np.random.default_rng(seed), most=6)
    labels, scores = given["labels"], given["scores"]
    p, n = sum(labels), len(labels) - sum(labels)
    best = Fraction(-1000)
    for order in permutations(range(p + n)):
        hits, ap, turned = 0, Fraction(0), Fraction(0)
        for place, i in enumerate(order, 1):
            hits += labels[i]
            ap += Fraction(hits * labels[i], place)
            if not labels[i]:
                turned += sum(scores[k] - scores[i] for k in order[place:] if labels[k])
        best = max(best, 1 - ap / p - Fraction(2, p * n) * turned)
    s = sorted((v for v, y in zip(scores, labels, strict=True) if y), reverse=True)
    t = sorted((v for v, y in zip(scores, labels, strict=True) if not y), reverse=True)
    assert ranking.slack(s, t) == best
    counts = max(ranking.interleavings(p, n), key=lambda c: ranking.objective(c, s, t))
    ranks = [p + 1 - sum(c >= j for c in counts) for j in range(1, n + 1)]
    assert ranking.counts_of(ranks, p) == list(counts)
    assert ranking.pairs_turned(ranks, s, t) == best
    assert sum(max(ranking.delta(j, s, t)) for j in range(1, n + 1)) == best


def test_draws_give_sorted_lists_with_ties_in_equation_5():
    rng = np.random.default_rng(0)
    ties = 0
    for _ in range(200):
        given = ranking.draw_lists(rng)
        s, t = given["s"], given["t"]
        assert s == sorted(s, reverse=True)
        assert t == sorted(t, reverse=True)
        ties += any(
            len(ranking.maximisers(ranking.delta(j, s, t))) > 1 for j in range(1, len(t) + 1)
        )
    assert ties > 20


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ap_by_thresholds_is_the_one_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    labels = (1, *(int(v) for v in rng.integers(0, 2, 9)))
    scores = [Fraction(int(v)) for v in rng.integers(0, 4, 10)]
    found = equation_2.by_thresholds(labels, scores)
    theirs = average_precision_score(labels, [float(v) for v in scores])
    assert float(found) == pytest.approx(theirs, rel=1e-13)


def test_determinants_and_minors():
    a = [[Fraction(v) for v in row] for row in ((2, 1, 0), (1, 3, 1), (0, 1, 4))]
    assert equation_4.determinant(a) == 18
    assert equation_4.determinant([]) == 1
    assert {1, 5, 18} <= equation_4.minors(a)
    assert equation_4.minors([[Fraction(1), Fraction(1)], [Fraction(-1), Fraction(1)]]) == {
        1,
        -1,
        2,
    }


def test_the_tables_are_those_of_the_paper():
    # Sums of the columns of Table 1 and of the rows of Tables 2 and 3.
    columns = [sum(column) for column in zip(*tables.TABLE_1.values(), strict=True)]
    assert [float(v) for v in columns] == [479.34, 511.96, 508.88, 502.58, 491.51]
    totals = [sum(row) for row in zip(*tables.TIMES.values(), strict=True)]
    assert [float(v) for v in totals] == [1.0395, 25.242]
