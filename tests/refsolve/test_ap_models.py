"""AP-SVM: all rankings, cutting plane, dual and certificate, against the problem as printed."""

import _naive_rankings as naive
import numpy as np
import pytest
import scipy.sparse
from _draw import certified

import refsolve
from refsolve.errors import InvalidParameterError, Status
from refsolve.losses import average_precision as ap
from refsolve.models import ap_svm

SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2)]


def _data(rng, P, N, d=2):
    y = rng.permutation([1] * P + [0] * N)
    return rng.normal(size=(P + N, d)), y


def _random_dual(rng, y, C, m=5):
    rows = ap.all_rankings(y)
    weights = rng.exponential(size=m)
    return rows[rng.integers(len(rows), size=m)], C * weights / weights.sum()


@pytest.mark.parametrize(("P", "N"), SHAPES)
def test_problem_3_as_printed_has_this_optimum(P, N):
    rng = np.random.default_rng(100 + 10 * P + N)
    for C in (0.3, 30.0):
        X, y = _data(rng, P, N)
        w, optimum = naive.solve(naive.cuts(X, y), C, 2)
        for operation in ("primal", "dual"):
            for rankings in ("all", "cutting_plane", "auto"):
                found = certified(f"ap_svm.{operation}", X=X, y=y, C=C, rankings=rankings)
                assert found.value == pytest.approx(optimum, abs=1e-6 * C)
                assert np.linalg.norm(found.certificate.w - w) <= 1e-3
        assert ap_svm.primal(X, y, w=w, C=C) == pytest.approx(
            w @ w / 2 + C * naive.loss(X, y, w), rel=1e-12
        )


@pytest.mark.parametrize(("n", "C"), [(15, 0.1), (30, 10.0), (60, 1000.0)])
def test_the_cutting_plane_certifies_itself_at_any_size(n, C):
    rng = np.random.default_rng(112)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + rng.normal(size=n) > 0.5
    primal = certified("ap_svm.primal", X=X, y=y, C=C)
    dual = certified("ap_svm.dual", X=X, y=y, C=C)
    assert primal.value == pytest.approx(dual.value, rel=1e-7)
    both = ap_svm.certificate(
        X, y, C=C, w=primal.x, rankings=dual.certificate.rankings, weights=dual.x
    )
    assert both.gap <= 1e-6 * C
    assert abs(primal.x - dual.dual).max() <= primal.certificate.distance + 1e-12 + (
        dual.certificate.distance
    )


def test_weights_off_the_simplex_are_repaired_and_reported():
    rng = np.random.default_rng(116)
    X, y = _data(rng, 2, 3)
    rankings, weights = _random_dual(rng, y, 2.0)
    good = ap_svm.certificate(X, y, C=2.0, rankings=rankings, weights=weights)
    doubled = ap_svm.certificate(X, y, C=2.0, rankings=rankings, weights=2 * weights)
    assert doubled.violation == pytest.approx(2.0)
    assert doubled.dual == pytest.approx(good.dual, rel=1e-12)
    assert ap_svm.dual(X, y, rankings=rankings, weights=2 * weights, C=2.0) == -np.inf
    signed = weights - np.array([0.5 + weights[0], -0.5 - weights[0], 0, 0, 0])
    assert ap_svm.certificate(
        X, y, C=2.0, rankings=rankings, weights=signed
    ).violation == pytest.approx(0.5)
    assert ap_svm.dual(X, y, rankings=rankings, weights=signed, C=2.0) == -np.inf


# ---- queries --------------------------------------------------------------------------------


def _grouped(rng, sizes=((1, 2), (2, 2), (2, 1))):
    names, labels = [], []
    for name, (P, N) in zip("cab", sizes, strict=True):
        names += [name] * (P + N)
        labels += [1] * P + [0] * N
    order = rng.permutation(len(names))
    return rng.normal(size=(len(names), 3)), np.array(labels)[order], np.array(names)[order]


@pytest.mark.parametrize("C", [0.5, 50.0])
def test_queries_share_w_and_their_losses_are_averaged(C):
    rng = np.random.default_rng(117)
    X, y, groups = _grouped(rng)
    results = [
        refsolve.solve(f"ap_svm.{op}", X=X, y=y, C=C, groups=groups, rankings=rankings)
        for op in ("primal", "dual")
        for rankings in ("all", "cutting_plane")
    ]
    assert all(r.status is Status.CERTIFIED for r in results)
    assert np.ptp([r.value for r in results]) <= 1e-7 * C
    w = results[0].x
    losses = [naive.loss(X[groups == g], y[groups == g], w) for g in "abc"]
    expected = w @ w / 2 + C * np.mean(losses)
    assert ap_svm.primal(X, y, w=w, C=C, groups=groups) == pytest.approx(expected, rel=1e-12)
    # weights on joint rankings, also those of independent queries, are a dual point
    proof = results[2].certificate
    again = ap_svm.certificate(
        X, y, C=C, w=w, rankings=proof.rankings, weights=proof.weights, groups=groups
    )
    assert again.gap <= 1e-6 * C
    assert again.violation <= 1e-12 * C


def test_a_query_of_one_class_is_refused_by_name():
    X, y = np.eye(5), [1, 0, 1, 1, 0]
    groups = ["q1", "q1", "q7", "q7", "q1"]
    for call in (
        lambda: refsolve.solve("ap_svm.primal", X=X, y=y, C=1.0, groups=groups),
        lambda: ap_svm.certificate(X, y, C=1.0, w=np.zeros(5), groups=groups),
    ):
        with pytest.raises(InvalidParameterError, match="q7"):
            call()


# ---- edges ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 20])
def test_separable_data_are_certified_relative_to_the_small_optimum(n):
    # P* stays while P(0) = C max Delta grows: the units are those of the solution
    rng = np.random.default_rng(121)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 3 == 0
    X[:, 0] += 4 * y
    values = []
    for C in (1e2, 1e5):
        for operation in ("primal", "dual"):
            found = certified(f"ap_svm.{operation}", X=X, y=y, C=C)
            assert found.certificate.relative_gap <= 2e-8
            values.append(found.value)
    assert max(values) < 1
    assert np.ptp(values) <= 1e-7


def test_examples_that_are_all_zero_leave_the_worst_ranking():
    found = certified("ap_svm.primal", X=np.zeros((5, 2)), y=[1, 1, 0, 0, 0], C=2.0)
    worst = 1 - (1 / 4 + 2 / 5) / 2
    assert found.value == pytest.approx(2.0 * worst)
    assert (found.x == 0).all()


def test_sparse_rows_and_lists_are_the_same_examples():
    rng = np.random.default_rng(120)
    X = rng.normal(size=(7, 3)) * (rng.random((7, 3)) < 0.6)
    y, before = [1, 0, 0, 1, 0, 1, 0], X.copy()
    values = [
        refsolve.solve("ap_svm.primal", X=form, y=labels, C=3.0).value
        for form in (X, X.tolist(), scipy.sparse.csr_matrix(X))
        for labels in (y, np.array(y) == 1, 2 * np.array(y) - 1, np.array(y, float))
    ]
    assert np.ptp(values) <= 1e-12
    assert (before == X).all()
