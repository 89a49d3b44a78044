import numpy as np
import pytest

from refsolve.proofs import rationals
from verification import Instance, certificates
from verification.certificates import core, loss
from verification.instances import families, real_scores
from verification.verdicts.verdict import Candidate

LEAST = float(np.finfo(float).smallest_subnormal)
TINY = float(np.finfo(float).tiny)


def test_the_families_reach_the_ends():
    drawn = families.draw("topk_simplex_alpha.projection", "extreme", 300, seed=0)
    sizes = [float(np.abs(i["a"]).max()) for i in drawn]
    assert max(sizes) == 1e150
    assert min(sizes) < 1e-149
    small = [i["a"] for i in families.draw("simplex.projection", "denormal", 60, seed=0)]
    assert any(0 < np.abs(a[a != 0]).min(initial=1.0) < TINY for a in small)
    borders = families.draw("topk_simplex_alpha.projection", "border", 200, seed=0)
    assert any(i["r"] == LEAST for i in borders)
    assert any(i["r"] == 0 for i in borders)
    assert any(not i["a"].any() for i in borders)
    # the sum is the radius, but for a bit
    sums = [(float(np.abs(i["a"]).sum()), i["r"]) for i in borders]
    assert any(0 < abs(total - r) < 1e-15 * total for total, r in sums)
    zero_rows = families.draw("topk_hinge_beta.sdca_update", "border", 60, seed=0)
    assert any(i["k_ii"] == 0 for i in zero_rows)


def test_real_scores_are_exact_and_belong_to_letters():
    scores, y, squares = real_scores.letter()
    assert scores.shape == (4500, 26)
    assert np.array_equal(scores * real_scores.UNIT, np.rint(scores * real_scores.UNIT))
    assert 0.4 < (scores.argmax(axis=1) == y).mean() < 0.9
    assert squares.min() > 0
    instance = families.draw("topk_hinge_alpha.sdca_update", "real", 1, seed=0)[0]
    assert instance["k_ii"] in squares
    labelled = families.draw("average_precision.value", "real", 20, seed=0)
    assert all(0 < i["y"].sum() < i["y"].size for i in labelled)


@pytest.mark.parametrize("unit", [LEAST, TINY / 4, TINY])
def test_denormal_answers_may_be_off_by_quanta_and_by_no_more(unit):
    instance = Instance.of(
        "simplex.projection", a=unit * np.array([16.0, 12.0, -4.0]), r=20 * unit, rho=0.0
    )
    right = certificates.expected(instance)
    assert certificates.judge(instance, Candidate(right)).ok
    near = right + LEAST
    assert certificates.judge(instance, Candidate(near)).ok
    far = right + np.array([4000 * LEAST, 0.0, 0.0])
    assert not certificates.judge(instance, Candidate(far)).ok
    assert not certificates.certify(instance, Candidate(far)).ok
    if unit > LEAST:  # flushed to zero
        assert not certificates.judge(instance, Candidate(np.zeros(3))).ok


def test_a_point_outside_by_less_than_any_float_is_outside():
    """6, 1, 5, 5 quanta: 6 exceeds a third of their sum by a third of one."""
    x = LEAST * np.array([6.0, 1.0, 5.0, 5.0])
    instance = Instance.of("topk_hinge_alpha.conjugate", x=x, k=3, costs=None)
    assert loss.exact_number(instance) == np.inf
    assert certificates.judge(instance, Candidate(np.asarray(np.inf))).ok


def test_a_maximiser_is_found_among_margins_of_all_sizes():
    scores = np.array([LEAST, 0.0, 2 * LEAST, 1e150, 1.0])
    for costs in (None, np.zeros(5)):
        instance = Instance.of(
            "topk_hinge_beta.value", scores=scores, y=4, k=2, costs=costs, sample_weight=None
        )
        inner = core.core(instance.with_params())
        x = rationals.maximiser(core.generator(instance), inner.domain, inner.b)
        assert inner.domain.violation(x) == 0
        assert inner.domain.support(inner.b) == sum(a * b for a, b in zip(x, inner.b, strict=True))
