"""Certificates of trained AP models: right about good ones, and not fooled by wrong ones."""

import copy

import numpy as np
import pytest

import refsolve
from fast import APSVM, LatentAPSVM
from verification import InvalidArgumentError
from verification.certificates import judge_claims, trained
from verification.certificates.ranking_model import ranking_erm


def data(n=60, d=5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.7 * rng.standard_normal(n) > np.quantile(X[:, 0], 1 - share)
    return X, y, rng.permutation(np.arange(n) % 3)


def test_easy_examples():
    """Problem (10): the oracle's answer is certified, also from a model that is a little infeasible."""
    X, y, _ = data(24, 3)
    w0 = np.array([3.0, 0.0, 0.0])
    easy = (np.where(y, 1, -1) * (X @ w0 - 2.0)) >= 1
    assert 2 <= easy.sum() <= 22
    oracle = refsolve.solve("ap_svm_appx.primal", X=X, y=y.astype(int), C=5.0, easy=easy)
    proof = oracle.certificate
    mu = np.zeros(len(y))
    mu[easy] = proof.mu
    given = {"C": 5.0, "rankings": proof.rankings, "weights": proof.weights, "easy": easy}
    found = ranking_erm(oracle.x, X, y, easy_weights=mu, **given)
    assert found.relative_gap < 1e-7
    assert found.dual <= proof.primal * (1 + 1e-12)
    assert proof.dual <= found.primal * (1 + 1e-12)
    shorter = ranking_erm(oracle.x * (1 - 1e-6), X, y, easy_weights=mu, **given)
    assert found.primal * (1 - 1e-12) <= shorter.primal <= found.primal * (1 + 1e-5)
    with pytest.raises(InvalidArgumentError, match="misses its margin"):
        ranking_erm(-oracle.x, X, y, easy_weights=mu, **given)
    # multipliers of one side only mean nothing: b is free
    unbalanced = ranking_erm(oracle.x, X, y, easy_weights=mu * y, **given)
    assert unbalanced.moved > 0
    assert unbalanced.gap > 100 * found.gap


def bags_of(n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return [rng.standard_normal((rng.integers(1, 5), 3)) + p for p in y], y


def test_candidates_that_do_not_exist_or_disagree():
    bags, y = bags_of()
    model = LatentAPSVM(C=10.0, tol=1e-4).fit(bags, y)
    assert len(model.dual_coef_) >= 2
    large = next(i for i in np.flatnonzero(y) if len(bags[i]) > 1)
    for change, message in (
        (len(bags[large]), "each in its bag"),
        (1 - min(model.candidates_[0, large], 1), "one candidate per positive"),
    ):
        wrong = copy.deepcopy(model)
        wrong.candidates_[0, large] = change
        with pytest.raises(InvalidArgumentError, match=message):
            trained(wrong, bags, y)


# -- wrong models -----------------------------------------------------------------------------


def model_of(X, y, **changes):
    model = APSVM(C=10.0, tol=1e-6).fit(X, y)
    for name, value in changes.items():
        setattr(model, name, value(getattr(model, name)))
    return model


def test_weights_beyond_C_and_negative_ones_do_not_raise_the_dual():
    X, y, _ = data()
    honest = trained(model_of(X, y), X, y)
    heavy = trained(model_of(X, y, dual_coef_=lambda v: 1.5 * v), X, y)
    assert heavy.moved == pytest.approx(5.0)  # half of C: scaled back
    assert heavy.gap == pytest.approx(honest.gap, rel=1e-6)
    for change in (lambda v: -v, lambda v: 0.9 * v):
        wrong = model_of(X, y, dual_coef_=change)
        found = trained(wrong, X, y)
        assert found.dual < honest.dual
        assert found.gap > 10 * honest.gap
        assert not judge_claims(wrong, X, y).ok


def test_rankings_that_do_not_exist():
    X, y, groups = data()

    def stretched(rankings):
        out = rankings.copy()
        out[0, np.flatnonzero(y)[0]] += 1
        return out

    with pytest.raises(InvalidArgumentError, match=r"no ranking|not in"):
        trained(model_of(X, y, rankings_=stretched), X, y)
    with pytest.raises(InvalidArgumentError, match=r"no ranking|not in"):
        trained(model_of(X, y), X, y, groups=groups)  # those of one query
    with pytest.raises(InvalidArgumentError, match="expected integers"):
        trained(model_of(X, y, rankings_=lambda r: r.astype(float)), X, y)
    with pytest.raises(InvalidArgumentError, match="a row per weight"):
        trained(model_of(X, y, rankings_=lambda r: r[:-1]), X, y)
    with pytest.raises(InvalidArgumentError, match="to fit X"):
        trained(model_of(X, y), X[:, :3], y)
