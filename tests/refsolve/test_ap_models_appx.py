"""Problem (10): easy examples as constraints with a free bias, Farkas multipliers, erratum M8."""

import pickle

import _naive_rankings as naive
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from _draw import certified

import refsolve
from refsolve.errors import InfeasibleError
from refsolve.models import ap_svm, ap_svm_appx


def _instance(rng, n=8):
    """Examples that a plane separates far from it, some difficult ones of both classes near it."""
    X = rng.normal(size=(n, 2))
    X[:, 0] += 0.5
    y = (X[:, 0] > 0.5).astype(int)
    easy = abs(X[:, 0] - 0.5) > 0.4
    easy[:4] = False
    y[:4] = [1, 0, 1, 0]
    return X, y, easy


def _as_printed(X, y, easy, C, bias):
    """Problem (10) with >=, all rankings of the difficult examples."""
    signs = 2 * y[easy] - 1.0

    def constraints(w, b):
        if not easy.any():
            return []
        return [cp.multiply(signs, X[easy] @ w + (b if bias else 0)) >= 1]

    return naive.solve(naive.cuts(X[~easy], y[~easy]), C, X.shape[1], constraints)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.05, 5.0, 500.0])
def test_problem_10_as_printed_has_this_optimum(C, bias):
    rng = np.random.default_rng(130)
    for _ in range(3):
        X, y, easy = _instance(rng)
        if (~easy).sum() > 5:
            easy[5:] = True
            y[5:] = X[5:, 0] > 0.5
        given = {"X": X, "y": y, "easy": easy, "C": C, "bias": bias}
        try:
            w, optimum = _as_printed(X, y, easy, C, bias)
        except cp.SolverError:
            w = None
        if w is None:
            with pytest.raises(InfeasibleError):
                refsolve.solve("ap_svm_appx.primal", **given)
            continue
        for operation in ("primal", "dual"):
            for rankings in ("all", "cutting_plane"):
                found = certified(f"ap_svm_appx.{operation}", rankings=rankings, **given)
                proof = found.certificate
                assert found.value == pytest.approx(optimum, abs=1e-5 * (C + optimum))
                signs = 2 * y[easy] - 1
                margins = signs * (X[easy] @ proof.w + proof.b)
                assert margins.min(initial=2) >= 1 - 1e-9
                assert proof.mu.min(initial=0) >= 0
                if bias:
                    assert proof.mu @ signs == pytest.approx(0, abs=1e-9 * (1 + proof.mu.sum()))
                again = ap_svm_appx.certificate(
                    X, y, easy=easy, C=C, bias=bias, w=proof.w, b=proof.b, mu=proof.mu,
                    rankings=proof.rankings, weights=proof.weights,
                )  # fmt: skip
                assert again.gap == pytest.approx(proof.gap, abs=1e-12 * (C + optimum))
                assert again.primal - again.dual == pytest.approx(
                    again.gap, abs=1e-12 * (C + optimum)
                )


def test_at_larger_size_the_cutting_plane_certifies_itself():
    rng = np.random.default_rng(131)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.4 * rng.normal(size=80) > 0.3).astype(int)
    easy = (abs(X[:, 0] - 0.3) > 0.8) & (y == (X[:, 0] > 0.3))
    primal = certified("ap_svm_appx.primal", X=X, y=y, easy=easy, C=20.0)
    dual = certified("ap_svm_appx.dual", X=scipy.sparse.csr_matrix(X), y=y, easy=easy, C=20.0)
    assert primal.value == pytest.approx(dual.value, rel=1e-7)
    assert primal.certificate.mu.max() > 0


def test_infeasible_points_are_scaled_up_or_have_no_finite_gap():
    X, y = np.array([[2.0], [-2.0], [0.1], [0.2]]), np.array([1, 0, 0, 1])
    easy = np.array([True, True, False, False])
    given = {"easy": easy, "C": 1.0}
    short = ap_svm_appx.certificate(X, y, w=[0.25], **given)
    assert short.w == pytest.approx([0.5])
    assert short.violation == pytest.approx(0.5)
    assert short.distance >= 0.25
    # without difficult examples w = 1/2 is optimal, proved by mu: [1/4] is 1/4 away from it
    alone = ap_svm_appx.certificate(
        X[:2],
        y[:2],
        easy=easy[:2],
        C=1.0,
        w=[0.25],
        rankings=[[0, 0]],
        weights=[1.0],
        mu=[1 / 8] * 2,
    )
    assert alone.gap == pytest.approx(0, abs=1e-15)
    assert alone.distance == pytest.approx(0.25, abs=1e-7)
    wrong = ap_svm_appx.certificate(X, y, w=[-1.0], **given)
    assert wrong.gap == wrong.primal == wrong.violation == np.inf
    shifted = ap_svm_appx.certificate(X, y, w=[0.5], b=1.0, **given)
    assert shifted.violation == pytest.approx(1.0)
    assert shifted.b == pytest.approx(0.0)  # replaced by the best one for w
    exact = ap_svm_appx.certificate(X, y, w=[0.5], b=0.0, **given)
    assert exact.violation == 0
    unbalanced = ap_svm_appx.certificate(
        X, y, w=[0.5], rankings=[[0, 0]], weights=[1.0], mu=[0.3, 0.1], **given
    )
    assert unbalanced.violation == pytest.approx(0.2)
    assert unbalanced.mu == pytest.approx([0.1, 0.1])


def test_erratum_m8_the_strict_constraint_has_no_minimiser():
    # one easy positive x = 1, nothing difficult, no bias: 1/2 w^2 over w > 1 tends to 1/2 at w = 1,
    # which > excludes; with >= it is attained, and with a free b there is nothing to separate
    given = {"X": [[1.0]], "y": [1], "easy": np.array([True]), "C": 1.0}
    closed = refsolve.solve("ap_svm_appx.primal", bias=False, **given)
    assert closed.value == pytest.approx(0.5, abs=1e-9)
    assert closed.certificate.dual == pytest.approx(0.5, abs=1e-9)
    assert closed.x == pytest.approx([1.0], abs=1e-6)
    free = certified("ap_svm_appx.primal", **given)
    assert free.value == 0
    assert free.certificate.b >= 1


def test_erratum_m8_the_optimum_does_not_bound_the_loss_of_all_examples():
    # the difficult pair is ranked right and the easy constraints hold, but the difficult negative
    # stands above the easy positive, which neither of them sees
    X = np.array([[1.0], [-1.0], [10.0], [11.0]])
    y, easy = np.array([1, 0, 0, 1]), np.array([True, True, False, False])
    found = refsolve.solve("ap_svm_appx.primal", X=X, y=y, easy=easy, C=1.0)
    w = found.x
    whole = ap_svm.primal(X, y, w=w, C=1.0) - w @ w / 2  # L over all examples
    order = np.argsort(-(X @ w))
    seen = found.value - w @ w / 2
    assert seen < 1 - naive.precision(order, y) <= whole + 1e-12


def test_difficult_examples_of_one_class_have_no_loss():
    X = np.array([[0.0], [2.0], [0.5], [0.7]])
    given = {"X": X, "y": [0, 1, 1, 1], "easy": np.array([True, True, False, False])}
    for operation in ("primal", "dual"):
        found = refsolve.solve(f"ap_svm_appx.{operation}", C=5.0, **given)
        assert found.value == pytest.approx(0.5, abs=1e-8)  # margin 2 between 0 and 2: w = 1
        assert found.certificate.w == pytest.approx([1.0], abs=1e-6)
        assert found.certificate.b == pytest.approx(-1.0, abs=1e-6)


def test_without_easy_examples_it_is_ap_svm():
    rng = np.random.default_rng(133)
    X, y = rng.normal(size=(6, 2)), np.array([1, 0, 0, 1, 0, 1])
    none = np.zeros(6, bool)
    for operation in ("primal", "dual"):
        found = refsolve.solve(f"ap_svm_appx.{operation}", X=X, y=y, easy=none, C=2.0)
        other = refsolve.solve(f"ap_svm.{operation}", X=X, y=y, C=2.0)
        assert found.value == pytest.approx(other.value, abs=1e-8)


INSEPARABLE = [
    (np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1], True),
    (np.array([[1.0, 1.0], [1.0, 1.0]]), [0, 1], True),
    (np.array([[1.0, 2.0], [2.0, 4.0]]), [1, 0], False),  # one ray, both classes: b would help
    (np.array([[1.0], [-1.0]]), [1, 1], False),
    (np.zeros((1, 2)), [1], False),
    (1e6 * np.array([[0.0, 0], [1, 1], [1, 0], [0, 1]]), [1, 1, 0, 0], True),  # exclusive or
]


@pytest.mark.parametrize("operation", ["primal", "dual"])
@pytest.mark.parametrize(("X", "y", "bias"), INSEPARABLE)
def test_an_inseparable_easy_set_is_refused_with_multipliers(X, y, bias, operation):
    easy = np.ones(len(X), bool)
    with pytest.raises(InfeasibleError, match=r"easy = .*hyperplane") as caught:
        refsolve.solve(f"ap_svm_appx.{operation}", X=X, y=y, easy=easy, C=1.0, bias=bias)
    mu, signs = caught.value.farkas, 2 * np.array(y) - 1
    assert mu.min() >= 0
    assert mu.sum() == pytest.approx(1)
    assert abs((mu * signs) @ X).max() <= 1e-8 * max(abs(X).max(), 1)
    if bias:
        assert mu @ signs == pytest.approx(0, abs=1e-9)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    assert (copied.farkas == mu).all()
