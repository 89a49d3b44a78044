"""The comparisons of `ap_exactness`, in part; `refsolve verify --all` and `refsolve bench ap` run all of them."""

import itertools

import numpy as np
import pytest
from _part import FULL

from verification.benchmarks import ap_exactness as exactness
from verification.faulty_solvers.ranking import ap_one_method_is_wrong

#: Of the promised numbers.
SHARE = 1.0 if FULL else 0.1
METHODS = {"divide_and_conquer", "greedy", "search", "select", "all", "numpy"}


def test_the_promised_numbers():
    assert exactness.COUNTS == {"brute force": 10_000, "greedy": 10_000, "rational": 2000}


@pytest.mark.parametrize("comparison", exactness.COMPARISONS)
def test_every_method_is_exact(comparison):
    rows = exactness.run(comparison, int(SHARE * exactness.COUNTS[comparison]))
    assert {row["method"] for row in rows} == METHODS
    for row in rows:
        assert row.reached, row.objection
        assert row["with_ties"] > 0.2 * row["instances"]
        assert comparison != "brute force" or row["with_ties"] == row["instances"]
        assert row["worst"] <= (0 if comparison == "rational" else 0.2)


@pytest.mark.parametrize("comparison", exactness.COMPARISONS)
def test_a_wrong_method_is_found(comparison):
    good, bad = exactness.run(comparison, 150, infer=ap_one_method_is_wrong)
    assert good.reached
    assert bad["wrong"] > 0
    assert not bad.reached
    assert 'method="search"' in bad.objection


def test_brute_force_lists_every_interleaving():
    for P, N in itertools.product((1, 2, 3), repeat=2):
        deltas, above, below = exactness._interleavings(P, N)
        assert len({tuple(row) for row in np.column_stack([above, below])}) == len(deltas)
        assert (above.sum(axis=1) == below.sum(axis=1)).all()
    assert len(exactness._interleavings(3, 2)[0]) == 10


def test_instances_have_the_promised_sizes():
    for draw, largest in ((exactness.small, 9), (exactness.dyadic, 12), (exactness.medium, 264)):
        drawn = list(draw(30, 0))
        assert max(i["y"].size for i in drawn) <= largest
        assert drawn == list(draw(30, 0)) != list(draw(30, 1))
        assert all(0 < i["y"].sum() < i["y"].size for i in drawn)
