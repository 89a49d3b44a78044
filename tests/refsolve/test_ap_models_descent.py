"""The two models that are not convex: steps certify themselves, and the objective never rises."""

import itertools

import _naive_rankings as naive
import numpy as np
import pytest
import scipy.sparse
from _draw import certified

import refsolve
from refsolve.models import ap_ramp, latent_ap_svm


def _falls(objectives, value):
    assert objectives[-1] == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert (np.diff(objectives) <= 0).all()


# ---- ramp -----------------------------------------------------------------------------------


def _ramp(X, y, w):
    """max_R [Delta + <w,Psi(R)>] - max_R <w,Psi(R)> over orders."""
    cuts = naive.cuts(X, y)
    return max(d + row @ w for d, row in cuts) - max(row @ w for _, row in cuts)


def _small(rng, P=2, N=3):
    y = rng.permutation([1] * P + [0] * N)
    return rng.normal(size=(P + N, 2)), y


def test_each_step_solves_its_convex_program():
    rng = np.random.default_rng(161)
    for _ in range(4):
        X, y = _small(rng)
        C = 10.0
        found = certified("ap_ramp.primal", X=X, y=y, C=C)
        proof = found.certificate
        cuts = naive.cuts(X, y)
        places = [order.inversions for order in naive.rankings(y)]
        fixed = cuts[places.index(tuple(proof.reference.tolist()))][1]
        w, optimum = naive.solve([(d, row - fixed) for d, row in cuts], C, 2)
        assert proof.primal == pytest.approx(optimum, abs=1e-6 * C)
        assert found.x == pytest.approx(w, abs=1e-3)
        again = ap_ramp.certificate(
            X, y, C=C, w=found.x, reference=proof.reference, rankings=proof.rankings,
            weights=proof.weights,
        )  # fmt: skip
        assert again.gap == pytest.approx(proof.gap, abs=1e-12 * C)
        assert again.primal - again.dual == pytest.approx(again.gap, abs=1e-12 * C)
        assert again.objective == pytest.approx(found.value, rel=1e-12)
        assert again.slack == pytest.approx(proof.primal - found.value, abs=1e-12 * C)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_ramp_objectives_never_rise_and_end_at_a_critical_point(C):
    rng = np.random.default_rng(162)
    X = rng.normal(size=(25, 3))
    y = X[:, 0] + 1.5 * rng.normal(size=25) > 0.7
    groups = rng.permutation(np.arange(25) % 2)
    for given in ({}, {"start": rng.normal(size=3)}, {"start": np.zeros(3), "groups": groups}):
        found = certified("ap_ramp.primal", X=X, y=y, C=C, **given)
        proof, rows = found.certificate, {k: v for k, v in given.items() if k == "groups"}
        assert len(proof.objectives) >= 2
        _falls(proof.objectives, found.value)
        if "start" in given:
            start = ap_ramp.primal(X, y, w=given["start"], C=C, **rows)
            assert proof.objectives[0] == pytest.approx(start)
        assert proof.slack <= 1e-6 * C
        # from there nothing moves
        after = refsolve.solve("ap_ramp.primal", X=X, y=y, C=C, start=found.x, **rows)
        assert after.value == pytest.approx(found.value, abs=1e-6 * C)


def test_an_outlier_pulls_the_hinge_and_not_the_ramp():
    # a positive far on the wrong side turns the hinge's w; its ramp is bounded
    X = np.array([[1.0], [1.2], [0.9], [-1.0], [-1.1], [-0.8], [-60.0]])
    y = np.array([1, 1, 1, 0, 0, 0, 1])
    hinge = refsolve.solve("ap_svm.primal", X=X, y=y, C=10.0)
    ramp = refsolve.solve("ap_ramp.primal", X=X, y=y, C=10.0, start=[1.0])
    assert hinge.x[0] < 0.05
    assert ramp.x[0] > 0.1
    best = 1 - naive.precision(np.argsort(-X[:, 0]), y)
    assert _ramp(X, y, ramp.x) == pytest.approx(best, abs=1e-6)


# ---- latent ---------------------------------------------------------------------------------


def _bags(rng, B=5, k=2, d=2):
    bags = rng.permutation(np.repeat(np.arange(B), k))
    y = np.array([1, 0, 0, 1, 0, 0, 1][:B])
    X = rng.normal(size=(B * k, d))
    return X, bags, y


def _latent_cuts(X, bags, y, chosen):
    """Every ranking with every choice of rows for the negatives: the cuts of a convex step."""
    rows = [[chosen[i]] if y[i] else np.flatnonzero(bags == i).tolist() for i in range(len(y))]
    return [cut for pick in itertools.product(*rows) for cut in naive.cuts(X[list(pick)], y)]


def _latent_objective(X, bags, y, w, C):
    scores = X @ w
    best = [np.flatnonzero(bags == i)[scores[bags == i].argmax()] for i in range(len(y))]
    return w @ w / 2 + C * naive.loss(X[best], y, w)


def test_a_latent_step_solves_its_convex_program():
    rng = np.random.default_rng(170)
    for C in (1.0, 50.0):
        X, bags, y = _bags(rng)
        found = certified("latent_ap_svm.primal", X=X, bags=bags, y=y, C=C)
        proof = found.certificate
        w, optimum = naive.solve(_latent_cuts(X, bags, y, proof.chosen), C, 2)
        assert proof.primal == pytest.approx(optimum, abs=1e-6 * C)
        assert found.x == pytest.approx(w, abs=1e-3)
        expected = _latent_objective(X, bags, y, found.x, C)
        assert found.value == pytest.approx(expected, rel=1e-9)
        assert latent_ap_svm.primal(X, bags, y, w=found.x, C=C) == pytest.approx(expected, rel=1e-9)
        again = latent_ap_svm.certificate(
            X, bags, y, C=C, w=found.x, chosen=proof.chosen, rankings=proof.rankings,
            candidates=proof.candidates, weights=proof.weights,
        )  # fmt: skip
        assert again.gap == pytest.approx(proof.gap, abs=1e-12 * C)
        assert again.primal - again.dual == pytest.approx(again.gap, abs=1e-12 * C)


def test_no_choice_of_rows_ends_below_the_best_start():
    # each assignment of the positives is one convex program; the least of them is the optimum of J
    rng = np.random.default_rng(171)
    X, bags, y = _bags(rng, B=4)
    C, positives = 5.0, np.flatnonzero(np.array([1, 0, 0, 1]))
    optima = []
    for pick in itertools.product(*(np.flatnonzero(bags == i) for i in positives)):
        chosen = np.array([np.flatnonzero(bags == i)[0] for i in range(4)])
        chosen[positives] = pick
        optima.append(naive.solve(_latent_cuts(X, bags, y, chosen), C, 2))
    least = min(optimum for _, optimum in optima)
    ends = []
    for w, optimum in optima:
        found = refsolve.solve("latent_ap_svm.primal", X=X, bags=bags, y=y, C=C, start=w)
        ends.append(found.value)
        assert least - 1e-6 <= found.value <= optimum + 1e-6
    assert min(ends) == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("C", [3.0, 300.0])
def test_latent_objectives_never_rise_and_end_at_a_critical_point(C):
    rng = np.random.default_rng(172)
    X, bags, y = _bags(rng, B=7, k=4, d=3)
    for start in (None, rng.normal(size=3)):
        given = {} if start is None else {"start": start}
        found = certified("latent_ap_svm.primal", X=X, bags=bags, y=y, C=C, **given)
        proof = found.certificate
        _falls(proof.objectives, found.value)
        assert len(proof.objectives) >= 2
        assert proof.slack <= 1e-6 * C
        scores = X @ found.x
        for i in np.flatnonzero(y):
            assert bags[proof.chosen[i]] == i
            assert scores[proof.chosen[i]] >= scores[bags == i].max() - 1e-6
        if start is not None:
            at_start = latent_ap_svm.primal(X, bags, y, w=start, C=C)
            assert proof.objectives[0] == pytest.approx(at_start)


def test_bags_of_one_candidate_are_ap_svm():
    rng = np.random.default_rng(173)
    X, y = rng.normal(size=(8, 2)), np.array([1, 0, 0, 1, 0, 1, 0, 0])
    plain = refsolve.solve("ap_svm.primal", X=X, y=y, C=4.0)
    order = rng.permutation(8)
    names = np.array(list("abcdefgh"))[order]
    latent = refsolve.solve("latent_ap_svm.primal", X=X[order], bags=names, y=y, C=4.0)
    sparse = refsolve.solve(
        "latent_ap_svm.primal", X=scipy.sparse.csr_matrix(X[order]), bags=names, y=y, C=4.0
    )
    assert latent.value == pytest.approx(plain.value, abs=1e-7)
    assert sparse.value == pytest.approx(plain.value, abs=1e-7)
    assert latent.certificate.slack == 0
