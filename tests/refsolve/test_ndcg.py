"""NDCG over rankings: its condition and what breaks it, exact inference, the oracle, certificates."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from _draw import certified
from _ranked import instance

from refsolve import certificates
from refsolve.exact import average_precision as exactly
from refsolve.losses import average_precision as ap
from refsolve.losses import ndcg
from refsolve.proofs import ranking_truth
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, DIGITS, NDCG, discount

INFERENCE = "ndcg.loss_augmented_inference"
CLOSE = Fraction(1, 10 ** (DIGITS - 3))


def test_discounts_are_enclosed_by_powers_of_whole_numbers():
    """x = 1/log2(m) lies in (a/b, (a + 1)/b) if and only if m^a < 2^b < m^(a + 1)."""
    b = 4001
    for r in (2, 4, 9, 100):
        a = int(discount(r) * b)
        assert (1 + r) ** a < 2**b < (1 + r) ** (a + 1)
    assert (discount(1), discount(3)) == (1, Fraction(1, 2))
    assert abs(discount(7) - Fraction(1, 3)) < CLOSE


@pytest.mark.parametrize("loss", [AVERAGE_PRECISION, NDCG])
def test_what_one_more_inversion_adds_falls_and_sums_to_the_loss(loss):
    for k in range(1, 12):
        steps = [loss.step(k, j) for j in range(1, 40)]
        assert all(a > b > 0 for a, b in pairwise(steps))
        assert np.allclose(loss.steps(np.longdouble(k), np.arange(1.0, 40)), np.array(steps, float))
    counts = np.array([[0, 3, 9], [2, 2, 2]])
    truth = [float(exactly.loss(c, loss)) for c in counts.tolist()]
    assert np.allclose(loss.delta(counts[:, ::-1]).astype(float), truth, rtol=1e-15)
    rises = [loss.step(k + 1, j) >= loss.step(k, j) for j in range(2, 9) for k in range(1, j)]
    assert all(rises) if loss.rises else not any(rises)  # bisection over ranks is AP's alone


def test_at_a_cutoff_and_for_three_grades_the_inference_does_not_split():
    """NDCG@2, P = 1, N = 2, a cost of 9/20 each; 2^3 < 3^2 and 3^5 < 2^8 bound log2(3)."""
    assert (2**3 < 3**2) & (3**5 < 2**8)
    low, high, cost = Fraction(5, 8), Fraction(2, 3), Fraction(9, 20)  # of d(2)
    first = (1 - high - cost, 1 - low - cost)  # h_1(1) = d(1) - d(2) - 9/20
    second = (low - cost, high - cost)  # h_1(2) = d(2) - 0 - 9/20
    assert first[1] < 0 < second[0]  # alone the second negative would stand above the positive
    rankings = (0, first[1], 1 - 2 * cost)  # c = 0, 1, 2, by their upper bounds
    assert max(rankings) == Fraction(1, 10) < second[0] == Fraction(7, 40)
    # three grades, gains 2 and 1 at the ranks 1 and 3, a negative between: two values of one interleaving
    assert 2 * discount(1) + discount(3) == Fraction(5, 2) != discount(1) + 2 * discount(3) == 2


def test_all_orders_all_interleavings_and_the_greedy_sums_agree():
    rng = np.random.default_rng(0)
    for most in (3,) * 40 + (4,) * 6:
        s, y = instance(rng, most=most)
        listed, greedy = exactly.enumerate_rankings(s, y, NDCG), exactly.greedy(s, y, NDCG)
        if most == 3:
            assert abs(exactly.permute(s, y, NDCG).value - listed.value) < CLOSE
        assert abs(greedy.value - listed.value) < CLOSE
        assert greedy.inversions == listed.inversions
        truth = ranking_truth.solve(np.asarray(s), y, of=NDCG)
        assert abs(truth.value - listed.value) < CLOSE
        assert (truth.error < 1e-40) & np.array_equal(truth.inversions, listed.inversions)


def test_the_truth_in_extended_precision_is_the_exact_one():
    rng = np.random.default_rng(1)
    for P, N in ((1, 40), (40, 1), (12, 30)):
        scores = np.round(rng.normal(size=P + N), 2)
        y = rng.permutation((np.arange(P + N) < P).astype(int))
        exact, extended = (ranking_truth.solve(scores, y, limit, NDCG) for limit in (10**6, 0))
        assert abs(exact.value - extended.value) <= extended.error + exact.error
        found = ndcg.most_violated(scores, y)
        assert found.value == pytest.approx(float(exact.value), abs=1e-15)
        assert found.delta == pytest.approx(ndcg.delta(y, found.inversions), abs=1e-17)


def test_the_oracle_finds_the_exact_value_and_a_worse_ranking_has_a_gap():
    rng, worse = np.random.default_rng(2), 0
    for _ in range(25):
        s, y = instance(rng)
        s = s / 8
        truth = exactly.greedy(s, y, NDCG)
        result = certified(INFERENCE, scores=s, y=y)
        assert result.value == pytest.approx(float(truth.value), abs=1e-13)
        assert certified("ndcg.value", scores=s, y=y).value == result.value
        assert result.x == pytest.approx(ndcg.coefficients(y, truth.inversions), abs=0)
        other = ap.most_violated(s, y).inversions
        value = float(exactly.objective(*exactly.checked(s, y), tuple(map(int, other)), NDCG)[0])
        proof = certificates.loss_augmented_inference("ndcg", ap.coefficients(y, other), s, y)
        assert proof.gap == pytest.approx(float(truth.value) - value, abs=1e-14)
        worse += proof.gap > 1e-6
        assert certificates.loss_value("ndcg", result.value + 1e-3, s, y).gap > 9e-4
    assert worse > 3  # of AP's ranking
