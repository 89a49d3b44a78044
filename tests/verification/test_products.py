import numpy as np
import pytest

from verification import faulty_solvers
from verification.checks import products
from verification.instances import rankings
from verification.instances.rankings import padded
from verification.kit.loop import verify
from verification.problems.problem import lookup
from verification.reference_solvers import rankings as sound
from verification.selftest import detection_matrix

NAME = "average_precision.loss_augmented_inference"


@pytest.mark.parametrize("name", ["ap_counts_pairs_in_32_bits", "ap_gains_in_32_bits"])
def test_nothing_else_sees_that_a_product_wraps(name):
    """Every other check passes it."""
    cells = detection_matrix.row(faulty_solvers.discover()[name]).cells
    assert [check for check, at in cells.items() if at] == ["products"]


def test_a_table_of_all_pairs_is_left_out_before_it_fills_the_memory():
    report = verify(sound.infer, NAME, checks=["products"])
    assert report.ok
    by = {r.family: r for r in report.results}
    assert "left out" in by["46341x46341"].message
    assert "GB a call" in by["46341x46341"].message
    assert by["4x65600"].verdict.name == "PASS"


@pytest.mark.parametrize(("before", "after", "power"), [(1, 4, 1.2), (1, 16, 2.2), (1, 900, 2.2)])
def test_what_a_call_takes_is_foretold_by_its_growth(before, after, power):
    seconds, held = products.foretold({100: (before, 1.0), 400: (after, 1.0)}, 4000)
    assert seconds == pytest.approx(after * 10**power)
    assert held == pytest.approx(10**1.2)
    assert products.foretold({100: (1.0, 1.0)}, 4000) == (0.0, 0.0)


def test_padded_rankings_have_what_they_say():
    small = products.instances(lookup(NAME), "thorough", 0)[0]
    large = padded(
        rankings.labelled(lookup(NAME), np.random.default_rng(0), "300x40", *small_of(small))
    )
    assert (int(large["y"].sum()), large["y"].size) == (300, 340)
    assert (large["scores"] == rankings.BELOW).sum() == 40 - 12


def small_of(instance):
    scores, y = instance["scores"], instance["y"]
    return scores[y > 0], np.resize(scores[y <= 0], 12)
