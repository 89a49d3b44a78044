"""NDCG's inference against exact rankings, extended precision and its table against fractions."""


import numpy as np
import pytest
from _naive_average_precision import instance

from fast.errors import InvalidParameterError
from fast.losses import average_precision, ndcg
from fast.ranking.losses import AVERAGE_PRECISION, NDCG
from fast.ranking.queries import Queries
from refsolve.exact import average_precision as exactly
from refsolve.proofs import ranking_losses, ranking_truth

TRUE = ranking_losses.NDCG


def test_the_table_is_that_of_the_exact_discounts():
    d, table = ranking_losses.discount, NDCG.table(3000)
    for m in (2, 3, 10, 2999):
        assert table[0, m] == pytest.approx(np.log(m), rel=1e-15)
        assert table[1, m] == pytest.approx(float(d(m - 1) - d(m)), rel=2e-15)
    assert table[2, 50] == pytest.approx(float(TRUE.whole(50)), rel=1e-15)
    assert NDCG.table(2000) is table
    assert NDCG.table(table.shape[1]).shape[1] > table.shape[1]


@pytest.mark.parametrize("loss", [(NDCG, TRUE), (AVERAGE_PRECISION, ranking_losses.AVERAGE_PRECISION)])
def test_delta_and_its_bend_are_those_of_the_declaration(loss):
    fast, true = loss
    counts = [0, 0, 3, 7, 20000]
    assert fast.delta(np.array(counts)) == pytest.approx(float(exactly.loss(counts, true)), rel=1e-15)
    for k, c in ((1, 40), (30, 5), (200, 3000)):
        bend = (true.step(k, c) - true.step(k, c + 1)) / true.whole(9)
        assert fast.bend(np.array([k + 0.0]), np.array([c]), 9)[0] == pytest.approx(float(bend), rel=0.1)


@pytest.mark.parametrize("method", ndcg.METHODS)
def test_all_rankings_of_at_most_eight_samples(method):
    rng, differ = np.random.default_rng(0), 0
    for _ in range(120):
        P = int(rng.integers(1, 8))
        s, y = instance(rng, P, int(rng.integers(1, 9 - P)))
        s /= rng.choice([1, 16, 64])  # of the size of the steps, so that ranks are in doubt
        kept = s.copy(), y.copy()
        truth = exactly.enumerate_rankings(s, y, TRUE)
        found = ndcg.loss_augmented_inference(s, y, method)
        size = 1 + 4 * abs(s).max()
        assert found.value == pytest.approx(float(truth.value), abs=1e-15 * size)
        assert found.counts.tolist() == [c for c, up in zip(truth.inversions, y, strict=True) if up]
        assert found.coefficients @ s + found.delta == pytest.approx(found.value, abs=1e-15 * size)
        assert found.delta == pytest.approx(float(truth.delta), rel=1e-14)
        differ += not np.array_equal(found.counts, average_precision.loss_augmented_inference(s, y).counts)
        assert np.array_equal((s, y), kept)
    assert differ > 10
    assert ndcg.value(s, y) == pytest.approx(found.value, rel=1e-15)


@pytest.mark.parametrize(("P", "N"), [(1, 600), (700, 400), (60, 2000), (1, 9000), (8, 20000), (900, 4000)])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_long_queries_against_extended_precision(P, N, spread):
    """Packed keys, a sample of the scores and plain sorting."""
    rng = np.random.default_rng(P)
    y = rng.permutation(np.arange(P + N) < P)
    s = spread * rng.standard_normal(P + N) + 2.0 * y
    truth = ranking_truth.solve(s, y, 0, TRUE)
    for method in ndcg.METHODS[: 2 if P * N < 200_000 else 1]:
        found = ndcg.loss_augmented_inference(s, y, method)
        assert found.value == pytest.approx(float(truth.value), abs=1e-14)
        inversions = np.rint(np.abs(found.coefficients) * P * N / 2).astype(np.int64)
        assert np.array_equal(inversions[y], found.counts)
        assert ranking_truth.ranking_defect(y, inversions) is None
        assert abs(ranking_truth.objective(s, y, inversions, 0, TRUE)[0] - truth.value) < 1e-14


def test_queries_are_weighted_means():
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1, 2], [9, 700, 30])
    y = (rng.random(len(groups)) < 0.3) | (np.arange(len(groups)) % 9 == 0)
    s, weights = rng.standard_normal(len(groups)), np.array([1.0, 2.0, 3.0])[groups]
    queries = Queries(y, groups, weights, NDCG)
    cut, shares = queries.infer(s), np.array([1, 2, 3]) / 6
    own = [ndcg.loss_augmented_inference(s[groups == q], y[groups == q]) for q in range(3)]
    assert cut.value == pytest.approx(shares @ [f.value for f in own])
    assert cut.delta == pytest.approx(shares @ [f.delta for f in own])
    assert queries.delta(queries.inversions(cut.coefficients)) == pytest.approx(cut.delta)
    assert np.allclose(cut.coefficients, shares[groups] * np.concatenate([f.coefficients for f in own]))


@pytest.mark.parametrize("method", ["search", "select", "all", "numpy", None])
def test_methods_of_average_precision_alone_are_refused(method):
    with pytest.raises(InvalidParameterError, match="'divide_and_conquer', 'greedy'"):
        ndcg.loss_augmented_inference([1.0, 0.0], [0, 1], method)
