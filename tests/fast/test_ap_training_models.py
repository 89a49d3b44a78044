"""Binary SVM, AP-SVM-APPX, latent AP-SVM and ramp: certificates by formulas, and monotone descents."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from _naive_ap_svm import (
    average_precision,
    bounds,
    close,
    cut,
    hinge,
    misordered,
    queries,
    ramp,
)
from _watched import interrupt_call

import refsolve
from fast.errors import InseparableError, InvalidParameterError
from fast.models import ap_ramp, ap_svm_appx, binary_svm, latent_ap_svm
from fast.ranking.queries import Queries
from refsolve.models import ap_svm_appx as appx_truth
from refsolve.models import binary_svm as svm_truth
from refsolve.models import latent_ap_svm as latent_truth


def problem(seed=0, n=40, d=5, shift=1.0, part=0.4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < part * n
    X = rng.standard_normal((n, d))
    X[y] += shift
    return X, y


# --- binary SVM


def check_binary(result, X, y, C, tol, bias):
    found = svm_truth.certificate(
        X, y, C=C, w=result.w, b=result.b if bias else None, alpha=result.alpha, bias=bias
    )
    assert found.violation <= 1e-15 * C
    close(result, found.primal, found.dual, tol)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_binary_svm(bias, form):
    X, y = problem()
    for C in (1e-3, 1.0, 1e3):
        result = binary_svm.train(form(X), y, C, bias=bias, tol=1e-6)
        check_binary(result, form(X), y, C, 1e-6, bias)
        assert bias or result.b == 0.0


def test_binary_svm_against_the_oracle():
    X, y = problem(1)
    found = refsolve.solve("binary_svm.primal", X=X, y=y.astype(int), C=10.0)
    result = binary_svm.train(X, y, 10.0, tol=1e-8)
    assert result.primal == pytest.approx(found.value, rel=1e-6)


def test_binary_svm_of_one_class_and_of_separable_data():
    X, _ = problem(2)
    for y in (np.ones(40, bool), X[:, 0] > 0.3):
        for C in (1e-6, 1.0, 1e6):
            check_binary(binary_svm.train(X, y, C, tol=1e-6), X, y, C, 1e-6, False)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_binary_svm_of_features_that_a_bias_dwarfs(form):
    """Features of 1e-6 and C = 1e14: rounding stops the cuts, and says so by a gap that stays."""
    X, y = problem(3, n=14, shift=0.0)
    X = form(1e-6 * X)
    result = binary_svm.train(X, y, 1e14, bias=True, tol=1e-6)
    check_binary(result, X, y, 1e14, 1e-6, True)
    assert result.solver == "interior_point"
    assert result.n_iter == result.history[-1]["iteration"] < 300
    assert result.history[-1]["gap"] == result.gap < result.history[-2]["gap"]
    stopped = binary_svm.train(X, y, 1e14, bias=True, tol=1e-6, max_iter=5)
    assert stopped.solver == "bundle"
    assert stopped.n_iter == 5


# --- AP-SVM-APPX


def check_appx(result, X, y, C, easy, tol):
    found = appx_truth.certificate(
        X, y, C=C, easy=easy, w=result.w, b=result.b, rankings=result.rankings,
        weights=result.weights, mu=result.mu,
    )  # fmt: skip
    assert found.violation <= 1e-9 * max(1.0, C)
    close(result, found.primal, found.dual, tol)


@pytest.mark.parametrize("fraction", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_appx(fraction, form):
    X, y = problem(3, n=80, shift=0.8)
    for C in (0.1, 10.0, 1e4):
        easy = ap_svm_appx.easy_examples(form(X), y, C, fraction)
        result = ap_svm_appx.train(form(X), y, C, easy, tol=1e-6)
        check_appx(result, form(X), y, C, easy, 1e-6)


def test_appx_against_the_oracle():
    X, y = problem(4, n=16, d=3, shift=1.5)
    easy = ap_svm_appx.easy_examples(X, y, 10.0, 0.5)
    found = refsolve.solve("ap_svm_appx.primal", X=X, y=y.astype(int), C=5.0, easy=easy)
    result = ap_svm_appx.train(X, y, 5.0, easy, tol=1e-8)
    assert easy.any()
    assert result.primal == pytest.approx(found.value, rel=1e-6)


def test_easy_examples_have_the_largest_margins_not_scores():
    margins = np.array([3.0, 0.5, 1.0, -2.0, 2.0, 1.5])
    np.testing.assert_array_equal(np.flatnonzero(ap_svm_appx.easiest(margins, 0.5)), [0, 4])
    np.testing.assert_array_equal(np.flatnonzero(ap_svm_appx.easiest(margins, 1.0)), [0, 2, 4, 5])
    assert not ap_svm_appx.easiest(margins, 0.0).any()
    X, y = problem(5, n=200, shift=2.0, part=0.5)
    easy = ap_svm_appx.easy_examples(X, y, 10.0, 0.3)
    assert y[easy].any()
    assert not y[easy].all()


HULLS = [
    [1, 1, 1, 1],
    [1, 1, 0, 0],
    [1, 0, 0, 1],
    [1, 0, 0, 0],
    [0, 0, 0, 1],
    [1, 0, 1, 0],
    [0] * 4,
]


@pytest.mark.parametrize("easy", HULLS)
def test_appx_where_a_class_is_missing_on_one_side(easy):
    """No ranking of the difficult: the hard margin SVM; one easy class: no constraint."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 1.0], [-3.0, 2.0]])
    y, easy = np.array([True, False, True, False]), np.array(easy, bool)
    result = ap_svm_appx.train(X, y, 5.0, easy, tol=1e-8)
    check_appx(result, X, y, 5.0, easy, 1e-8)
    if easy[0] and easy[1]:  # points at 1 and -1, distance 2
        np.testing.assert_allclose(result.w, [1.0, 0.0], atol=1e-4)
        assert result.primal == pytest.approx(0.5, rel=1e-8)


def test_wide_hard_margin_svm():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((60, 100)), rng.permutation(60) < 20
    result = ap_svm_appx.train(X, y, 5.0, np.ones(60, bool), tol=1e-6)
    check_appx(result, X, y, 5.0, np.ones(60, bool), 1e-6)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (500, 40), (4, 2)])
def test_inseparable_easy_examples_are_refused_with_a_proof(n, d):
    X, y = problem(7, n=n, d=d, shift=0.3)
    if n == 4:  # a positive is a copy of a negative
        X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]), np.arange(4) < 2
    easy = np.append(np.ones(n, bool), [False, False])
    X, y = np.vstack([X, np.ones((2, d))]), np.append(y, [True, False])
    with pytest.raises(InseparableError, match="easy") as caught:
        ap_svm_appx.train(X, y, 1.0, easy)
    error = caught.value
    assert isinstance(error, InvalidParameterError)
    mu, signs = error.mu, np.where(y, 1.0, -1.0)[easy]
    assert (mu >= 0.0).all()
    assert mu[signs > 0].sum() == pytest.approx(0.5)
    assert mu[signs < 0].sum() == pytest.approx(0.5)
    r = X[easy].T @ (mu * signs)
    assert np.linalg.norm(r) <= 1e-9 * np.abs(X).max() * d
    assert np.linalg.norm(r) == pytest.approx(error.norm, abs=1e-13)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)


def test_appx_interrupted_is_feasible_and_certified(monkeypatch):
    X, y = problem(8, n=80, shift=0.8)
    easy = ap_svm_appx.easy_examples(X, y, 100.0, 1.0)
    for at in (3, 6):
        with monkeypatch.context() as patch:
            interrupt_call(patch, Queries, "infer", at)
            result = ap_svm_appx.train(X, y, 100.0, easy, tol=1e-12)
        assert result.interrupted
        check_appx(result, X, y, 100.0, easy, result.gap)
    stopped = ap_svm_appx.train(X, y, 100.0, easy, tol=1e-12, report=lambda s: s.n_iter == 2)
    assert stopped.n_iter == 2
    assert stopped.stopped


@pytest.mark.parametrize("easy", [np.ones(40), np.ones(39, bool), np.arange(40)])
def test_easy_is_a_mask(easy):
    X, y = problem()
    with pytest.raises(InvalidParameterError, match="easy"):
        ap_svm_appx.train(X, y, 1.0, easy)


# --- latent AP-SVM


def bags(seed=0, n=40, d=6):
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < n // 3
    owner = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 6, n)))
    X = rng.standard_normal((len(owner), d))
    for bag in np.flatnonzero(y):
        X[np.flatnonzero(owner == bag)[-1]] += 1.0
    return X, owner, y


def bag_scores(scores, owner, n):
    return np.array([scores[owner == b].max() for b in range(n)])


def check_latent(result, X, owner, y, C, tol):
    X, n = np.asarray(X, float), len(y)
    scores = X @ result.w
    best = bag_scores(scores, owner, n)
    at_w = 0.5 * result.w @ result.w + C * hinge(best, y)
    assert result.objectives[-1] == pytest.approx(at_w, rel=1e-9)
    assert (np.diff(result.objectives) <= 0.0).all()
    for rows in (result.latent, result.chosen, *result.candidates):
        np.testing.assert_array_equal(owner[rows], np.arange(n))
    np.testing.assert_allclose(scores[result.latent], best)
    found = latent_truth.certificate(
        X, owner, y, C=C, w=result.w, chosen=result.chosen, rankings=result.rankings,
        candidates=result.candidates, weights=result.weights,
    )  # fmt: skip
    assert found.primal >= at_w * (1 - 1e-12)
    assert found.violation <= 1e-12 * C
    close(result, found.primal, found.dual, tol)


@pytest.mark.parametrize("seed", range(3))
def test_latent(seed):
    X, owner, y = bags(seed)
    rounds = []
    for C in (0.1, 10.0, 1e3):
        start = np.random.default_rng(seed).standard_normal(6)
        result = latent_ap_svm.train(X, owner, y, C, tol=1e-6, start=start)
        check_latent(result, X, owner, y, C, 1e-6)
        assert result.converged
        assert result.objectives[-1] < result.objectives[0]
        rounds.append(len(result.objectives))
        again = latent_ap_svm.train(X, owner, y, C, tol=1e-6, start=result.w)
        assert again.objectives[0] == pytest.approx(result.objectives[-1], rel=1e-12)
    assert max(rounds) >= 3
    for form in (np.float32, sp.csr_array):
        other = latent_ap_svm.train(form(X), owner, y, 10.0, tol=1e-6)
        check_latent(other, X.astype(np.float32) if form is np.float32 else X, owner, y, 10.0, 1e-6)


def test_latent_with_one_candidate_each_is_ap_svm():
    X, y = problem(9)
    result = latent_ap_svm.train(X, np.arange(40), y, 10.0, tol=1e-7)
    found = refsolve.solve("ap_svm.primal", X=X, y=y.astype(int), C=10.0)
    assert result.primal == pytest.approx(found.value, rel=1e-6)
    assert len(result.objectives) == 2


def test_latent_stopped_in_a_later_round():
    X, owner, y = bags(4)
    rounds = []

    def report(state):
        rounds.append(state.n_iter)
        return rounds.count(1) == 2 and state.n_iter == 2

    result = latent_ap_svm.train(X, owner, y, 10.0, tol=1e-6, report=report)
    assert result.stopped
    assert not result.converged
    assert (np.diff(result.objectives) <= 0.0).all()
    check_latent(result, X, owner, y, 10.0, result.gap)
    assert [h["iteration"] for h in result.history] == sorted(
        h["iteration"] for h in result.history
    )
    one = latent_ap_svm.train(X, owner, y, 10.0, max_rounds=1)
    assert len(one.objectives) == 2
    assert not one.converged
    with pytest.raises(InvalidParameterError, match="max_rounds: 0; expected an integer >= 1"):
        latent_ap_svm.train(X, owner, y, 1.0, max_rounds=0)


@pytest.mark.parametrize(
    "owner", [np.zeros(3, int), np.array([0, 1, 3]), np.array([0.0, 1.0, 1.0]), np.array([0, 1])]
)
def test_bags_are_checked(owner):
    with pytest.raises(InvalidParameterError, match="bags"):
        latent_ap_svm.train(np.ones((3, 2)), owner, [1, 0], 1.0)


# --- ramp


@pytest.mark.parametrize("groups", [None, np.arange(60) % 3])
@pytest.mark.parametrize("seed", range(3))
def test_ramp(seed, groups):
    X, y = problem(seed, n=60, shift=0.6)
    X[np.flatnonzero(y)[0]] = -20.0  # an outlier
    for C in (0.3, 30.0):
        result = ap_ramp.train(X, Queries(y, groups), C, tol=1e-6)
        at_w = 0.5 * result.w @ result.w + C * ramp(X @ result.w, y, groups)
        assert result.objectives[-1] == pytest.approx(at_w, rel=1e-9)
        assert (np.diff(result.objectives) <= 0.0).all()
        worst = np.mean(
            [1.0 - average_precision(X[q] @ result.w, y[q]) for q in queries(y, groups)]
        )
        assert C * worst <= at_w
        step = {"reference": result.reference, "groups": groups}
        primal, dual = bounds(result, X, y, C, **step)
        assert primal >= at_w * (1 - 1e-12)
        close(result, primal, dual, 1e-6)


def test_predicted_is_the_ranking_by_scores():
    rng = np.random.default_rng(10)
    y, groups = rng.permutation(30) < 12, np.arange(30) % 2
    s = rng.integers(0, 6, 30).astype(float)
    for g in (None, groups):
        inversions = Queries(y, g).predicted(s)
        for q in queries(y, g):
            for i in q:
                others = s[q][y[q] != y[i]]
                assert inversions[i] == (np.sum(others > s[i]) if y[i] else np.sum(others < s[i]))
        _, a = cut(inversions, y, g)
        assert a @ s == pytest.approx(np.mean([misordered(s[q], y[q]) for q in queries(y, g)]))


def test_ramp_from_a_start_and_stopped():
    X, y = problem(11, n=60, shift=0.6)
    result = ap_ramp.train(X, Queries(y), 30.0, start=np.zeros(5), tol=1e-6)
    k = np.arange(1, y.sum() + 1)
    worst = 1.0 - np.mean(k / (k + (~y).sum()))
    assert result.objectives[0] == pytest.approx(30.0 * worst)
    stopped = ap_ramp.train(X, Queries(y), 30.0, tol=1e-9, report=lambda state: state.n_iter == 2)
    assert stopped.stopped
    assert not stopped.converged
    assert stopped.n_iter == 2
    assert (np.diff(stopped.objectives) <= 0.0).all()
