"""Certificates of rankings and of their loss, against exact sums."""

import numpy as np
import pytest
from _ranked import instance

from refsolve import certificates, derive, oracle
from refsolve._ranking_scores import Query
from refsolve.errors import Status
from refsolve.exact import average_precision as exactly
from refsolve.losses import average_precision as ap

OBJECT = "average_precision"


def test_an_offset_of_the_scores_costs_no_digits():
    rng = np.random.default_rng(4)
    for _ in range(20):
        s, y = instance(rng, tied=True)
        shifted = s + 2.0**40
        truth = exactly.greedy(shifted, y)
        assert ap.most_violated(shifted, y).value == pytest.approx(float(truth.value), abs=1e-15)
        a = ap.coefficients(y, truth.inversions)
        proof = certificates.loss_augmented_inference(OBJECT, a, shifted, y)
        assert proof.gap == pytest.approx(0, abs=1e-15)
        assert proof.value == pytest.approx(float(truth.value), abs=1e-15)


def test_the_scale_is_one_and_what_the_best_ranking_moves():
    rng = np.random.default_rng(14)
    for _ in range(60):
        s, y = instance(rng)
        a = ap.most_violated(s, y).inversions
        R = ap.ranking_matrix(y, a)
        pairs = [(i, j) for i in np.flatnonzero(y) for j in np.flatnonzero(y == 0) if R[i, j] < 0]
        wanted = 1 + 2 * sum(abs(s[i] - s[j]) for i, j in pairs) / (y.sum() * (y == 0).sum())
        for offset in (0.0, 2.0**30):
            shifted = np.round(s * 2**20) / 2**20 + offset  # exact in float64
            found = certificates.loss_value(OBJECT, 0.0, shifted, y).scale
            assert found == pytest.approx(wanted, rel=1e-4)


def test_long_queries_are_certified_and_their_errors_seen():
    rng = np.random.default_rng(9)
    y = np.r_[np.ones(60, int), np.zeros(30_000, int)]  # beyond what is tried rank by rank
    for shift in (0.0, 3.0):
        s = rng.normal(size=y.size) + shift * y
        found = ap.most_violated(s, y)
        tried, total = Query(s, y).greedy(every=True)
        assert np.array_equal(Query(s, y).ranking(tried), found.inversions)
        assert found.value == pytest.approx(float(total), abs=1e-14)
        a = ap.coefficients(y, found.inversions)
        assert certificates.loss_augmented_inference(OBJECT, a, s, y).gap <= 1e-15
        worse = found.inversions.copy()
        worse[np.argmax(y == 1)] -= 1
        worse = ap.repair(y, worse)
        proof = certificates.loss_augmented_inference(OBJECT, ap.coefficients(y, worse), s, y)
        assert 0 < proof.gap < 1e-2
        assert proof.gap == pytest.approx(found.value - proof.value, abs=1e-14)


def test_whatever_a_solver_returns_is_certified_by_its_gap_or_uncertain():
    rng = np.random.default_rng(12)
    seen = set()
    for _ in range(100):
        s, y = instance(rng, most=3, tied=False)
        canonicalized = derive.canonicalize(
            OBJECT, "loss_augmented_inference", {"scores": s, "y": y}
        )
        P, N = int(y.sum()), int(y.size - y.sum())
        shapes = {"x": (P, N), **({"u0": (P - 1, N), "u1": (N,)} if P > 1 else {"u0": (N,)})}
        answer = canonicalized.finish(
            {name: rng.normal(size=shape) for name, shape in shapes.items()}
        )
        result = oracle._result(answer, "a broken solver", canonicalized.unit)
        lacking = float(exactly.greedy(s, y).value) - result.value
        assert ap.is_ranking(y, ap.from_coefficients(y, result.x))
        assert -1e-14 <= lacking <= result.certificate.gap + 1e-14
        assert (result.status is Status.CERTIFIED) == (lacking < 1e-12)
        seen.add(result.status)
    assert seen == {Status.CERTIFIED, Status.UNCERTAIN}
