"""NDCGSVM against all rankings of a few samples, the kit's judge, and its metric against other libraries."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from _problems import relevant
from sklearn.metrics import ndcg_score

from fast import NDCGSVM, metrics
from fast.errors import InvalidParameterError
from verification.certificates.fitted import judge_claims, trained
from verification.verdicts.verdict import Verdict

SMALL = relevant(3, n=7, d=2, shift=0.3)


def rankings(y):
    """Delta and coefficients of every order of the samples, from the definition."""
    P, N, found = int(y.sum()), int((~y).sum()), {}
    discounts = 1 / np.log2(np.arange(2, len(y) + 2))
    for order in map(list, itertools.permutations(range(len(y)))):
        up = y[order]
        a = np.zeros(len(y))
        a[order] = np.where(up, -np.cumsum(~up), P - np.cumsum(up)) * 2 / (P * N)
        found[tuple(a)] = 1 - discounts[up].sum() / discounts[:P].sum()
    return np.array(list(found.values())), np.array(list(found))


@pytest.mark.parametrize("solver", ["bundle", "cutting_plane"])
def test_the_optimum_is_that_over_all_rankings(solver):
    X, y = SMALL
    y = np.asarray(y, int)
    b, A = rankings(y == 1)
    w = cp.Variable(X.shape[1])
    right = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 4.0 * cp.max(A @ X @ w + b)))
    right.solve(solver="CLARABEL")
    model = NDCGSVM(C=4.0, tol=1e-8, solver=solver).fit(X, y)
    primal = np.sum(model.coef_**2) / 2 + 4.0 * np.max(A @ X @ model.coef_[0] + b)
    assert model.dual_objective_ <= right.value + 1e-7
    assert primal <= model.primal_objective_ + 1e-12
    assert model.primal_objective_ == pytest.approx(right.value, rel=1e-7)
    cuts = model.rankings_ * np.where(y, -2, 2) / (np.sum(y) * np.sum(1 - y))
    pull, deltas = model.dual_coef_ @ cuts @ X, [b[abs(A - a).sum(axis=1).argmin()] for a in cuts]
    assert model.dual_coef_ @ deltas - pull @ pull / 2 == pytest.approx(model.dual_objective_, rel=1e-9)


OPTIONS = [{}, {"solver": "cutting_plane"}, {"method": "greedy"}, {"ramp": True}, {"easy_fraction": 0.5}]


@pytest.mark.parametrize("options", OPTIONS)
def test_gaps_are_certified_by_the_judge_for_this_loss_and_not_for_another(options):
    X, y = relevant(1, n=150, d=5, shift=1.0)
    model = NDCGSVM(C=10.0, tol=1e-5, **options).fit(X, y)
    assert judge_claims(model, X, y).verdict is Verdict.PASS
    assert trained(model, X, y).relative_gap <= 1.01e-5
    assert model.dual_gap_ <= 1e-5
    model.object_name = "average_precision"
    assert judge_claims(model, X, y).verdict is Verdict.FAIL


def test_queries_and_their_weights():
    X, y = relevant(2, n=90, d=4, shift=0.5)
    groups = np.arange(90) % 3
    model = NDCGSVM(C=5.0, tol=1e-6).fit(X, y, groups=groups)
    assert judge_claims(model, X, y, groups=groups).verdict is Verdict.PASS
    scores = model.decision_function(X)
    own = [metrics.ndcg(y[groups == q], scores[groups == q]) for q in range(3)]
    assert model.score(X, y, groups=groups) == pytest.approx(np.mean(own))
    weighted = NDCGSVM(C=5.0, tol=1e-6).fit(X, y, groups=groups, query_weight=1.0 + (groups == 1))
    rows = np.r_[np.arange(90), np.flatnonzero(groups == 1)]
    again = np.r_[groups, np.full(30, 3)]
    copied = NDCGSVM(C=5.0, tol=1e-6).fit(X[rows], y[rows], groups=again)
    assert weighted.primal_objective_ == pytest.approx(copied.primal_objective_, rel=3e-6)


def test_the_metric_is_that_of_scikit_learn_in_expectation():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(2, 30))
        y, s = rng.integers(0, 4, n) / 2, rng.integers(0, 5, n)
        y[0] = 1
        for k in (None, 1, 3, 40):
            low, mean, high = (metrics.ndcg(y, s, k, t) for t in ("pessimistic", "expected", "optimistic"))  # fmt: skip
            assert mean == pytest.approx(ndcg_score([y], [s], k=k), abs=1e-14)
            assert low <= mean + 1e-14 <= high + 2e-14
    gains, d = np.array([0, 2, 1]), 1 / np.log2(np.arange(2, 5))
    each = [d @ gains[list(order)] / (d @ [2, 1, 0]) for order in itertools.permutations(range(3))]
    for ties, of in {"pessimistic": min, "expected": np.mean, "optimistic": max}.items():
        assert metrics.ndcg(gains, np.zeros(3), ties=ties) == pytest.approx(of(each))


def test_the_metric_is_that_of_ranx_without_ties():
    """Of ranx 0.3.21, ``ndcg`` and ``ndcg@3``."""
    rng = np.random.default_rng(7)
    rng.integers(0, 4, 5), rng.permutation(5)
    for n, whole, at_3 in ((12, 0.8443670857270893, 0.7039180890341348),
                           (40, 0.8501923783622936, 0.5307212739772436)):  # fmt: skip
        y, s = rng.integers(0, 4, n), rng.permutation(n)
        assert metrics.ndcg(y, s) == pytest.approx(whole, abs=1e-15)
        assert metrics.ndcg(y, s, 3) == pytest.approx(at_3, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(([-1, 1], [0, 1]), "y_true"), (([0, 0], [0, 1]), "y_true"), (([1], [0, 1]), "y_true"),
     (([np.nan, 1], [0, 1]), "y_true"), (([0, 1], [0, 1], 0), "k"), (([0, 1], [0, 1], 1, "mean"), "ties")],
)  # fmt: skip
def test_bad_arguments_of_the_metric(arguments, name):
    with pytest.raises(InvalidParameterError) as wrong:
        metrics.ndcg(*arguments)
    assert wrong.value.argument == name
