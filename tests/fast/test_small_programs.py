"""Small quadratic programs, and hyperplanes that separate by them: against conditions and bounds."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InseparableError
from fast.solvers import hard_margin, interior_point, ridge, simplex_qp
from fast.svm_plus import interior_point_qp

FORMS = [np.asarray, sp.csr_array]


def test_programs_over_the_simplex_know_their_gap(rng):
    for m, tol in itertools.product((1, 2, 6), (1e-2, 1e-8)):
        A, c = rng.standard_normal((m, 3)), rng.standard_normal(m)
        found = simplex_qp.minimise(A, c, tol)
        assert found.x.sum() == pytest.approx(1.0, abs=1e-14)
        g = A @ A.T @ found.x + c
        assert found.gap == pytest.approx(max(found.x @ g - g.min(), 0.0), abs=1e-15)
        assert found.gap <= 3 * tol
        assert found.gap >= 1e-4 * tol or m == 1


def test_repeated_rows_and_zeros_are_no_obstacle(rng):
    A = np.repeat(rng.standard_normal((2, 3)), 4, axis=0)
    x = interior_point.minimise(
        A, np.zeros(8), np.ones((1, 8)), np.ones(1), np.full(8, 0.125), 1e-12
    )
    u, v = A[0], A[4]  # the point of their segment that is nearest to 0
    t = np.clip(v @ (v - u) / ((v - u) @ (v - u)), 0, 1)
    np.testing.assert_allclose(x[:4].sum(), t, atol=1e-6)
    zero = interior_point.minimise(
        0.0 * A, np.zeros(8), np.ones((1, 8)), np.ones(1), np.full(8, 0.5), 1e-12
    )
    np.testing.assert_array_equal(zero, 0.125)
    ones = np.ones(3)
    assert interior_point._longest(ones, np.array([-4.0, -0.5, 9.0])) == 0.25
    assert interior_point._longest(ones, ones) == interior_point._longest(ones, -0.5 * ones) == 1.0


def test_factors_of_singular_matrices_are_those_of_matrices_nearby(rng):
    A = rng.standard_normal((5, 2))
    for given in (A @ A.T, A @ A.T + np.eye(5), np.diag([1.0, 0.0, 1.0])):
        for form in (np.ascontiguousarray, np.asfortranarray):
            L = np.tril(ridge.cholesky(form(given.copy())))
            np.testing.assert_allclose(L @ L.T, given, rtol=0, atol=1e-12 * np.trace(given))
    with pytest.raises(np.linalg.LinAlgError):
        ridge.cholesky(-1e300 * np.eye(2))


@pytest.mark.parametrize("form", FORMS)
def test_separations_are_as_short_as_they_say(rng, form):
    for n, accuracy in ((12, 1e-9), (40, 1e-9), (90, 0.05), (90, 0.5)):
        signs = np.where(rng.random(n) < 0.4, 1.0, -1.0)
        signs[:2] = 1.0, -1.0
        X = rng.standard_normal((n, 2)) + 7.0 * signs[:, None] * [1.0, 0.3] + 50.0
        margins = hard_margin.Margins(form(X), signs)
        found = hard_margin.separate(margins, accuracy)
        assert margins.of(found.w)[0].min() == pytest.approx(1.0, rel=1e-12)
        rows, up = margins.rows(np.arange(n)), signs > 0
        mu = hard_margin.nearest(
            rows, up
        )  # any mu gives a bound: 2/||w|| is the distance of the hulls
        assert (mu >= 0).all()
        assert (mu[up].sum(), mu[~up].sum()) == pytest.approx((1.0, 1.0), abs=1e-14)
        few = np.where(mu > 1e-6 * mu.max(), mu, 0.0)
        few /= np.where(up, few[up].sum(), few[~up].sum())
        slip = (n + 4) * np.finfo(float).eps * np.linalg.norm(mu @ np.abs(rows))
        assert np.linalg.norm(mu @ rows) <= np.linalg.norm(few @ rows) + slip
        shortest = 2.0 / np.linalg.norm(mu @ rows)
        assert shortest * (1 - 1e-6) <= np.linalg.norm(found.w) <= shortest * (1 + accuracy + 1e-6)
        assert np.count_nonzero(mu > 1e-6) <= 4
        assert len(found.members) <= min(n, 42)


def test_a_crowded_working_set_forgets_what_has_no_weight(rng, monkeypatch):
    signs = np.where(np.arange(200) % 3, 1.0, -1.0)
    X = rng.standard_normal((200, 4)) + 4.0 * signs[:, None] * np.eye(4)[0]
    margins = hard_margin.Margins(X, signs)
    whole = hard_margin.separate(margins, 1e-9)
    monkeypatch.setattr(hard_margin, "CROWDED", 9)
    monkeypatch.setattr(hard_margin, "ROUNDS", 30)
    found = hard_margin.separate(margins, 1e-9)
    np.testing.assert_allclose(found.w, whole.w, rtol=1e-6)
    assert len(found.members) <= 20 < len(whole.members)


def test_near_classes_are_separated_if_the_first_of_them_hide_where():
    m, y, far = 2e-5, np.repeat([1.0, -1.0], 15), np.linspace(-10.0, 10.0, 10)
    t = np.concatenate([np.zeros(10), far[::2], np.full(10, 5e-5), far[::2]])
    wide = np.tile(np.concatenate([far, np.zeros(5)]), 2)
    margins = hard_margin.Margins(np.column_stack([m * y, t, wide]), y)
    found = hard_margin.separate(margins, 1e-3)
    assert margins.of(found.w)[0].min() == pytest.approx(1.0, rel=1e-6)
    assert found.w == pytest.approx([1.0 / m, 0.0, 0.0], rel=2e-3, abs=5.0)


def test_margins_and_the_worst_of_them(rng):
    signs = np.where(np.arange(50) % 2, 1.0, -1.0)
    X = rng.standard_normal((50, 3)) + 4.0
    margins = hard_margin.Margins(X, signs)
    np.testing.assert_allclose(
        margins.rows(np.array([3, 8])), signs[[3, 8], None] * (X[[3, 8]] - X.mean(axis=0))
    )
    w = rng.standard_normal(3)
    found, b = margins.of(w)
    np.testing.assert_allclose(found, signs * (X @ w + b), atol=1e-13)
    assert found[signs > 0].min() == pytest.approx(found[signs < 0].min())
    members = np.arange(7)
    least = float(np.quantile(found, 0.8))
    for level in (least, float(np.sort(found)[12])):
        expected = []
        for side in (1.0, -1.0):
            open_ = [i for i in range(7, 50) if signs[i] == side and found[i] < level]
            expected += sorted(open_, key=lambda i: found[i])[: hard_margin.ADDED]
        assert sorted(margins.worst(found, members, level)) == sorted(expected)


def test_points_that_coincide_prove_that_nothing_separates(rng):
    for X, y in (
        (np.array([[0.0], [2.0], [1.0]]), np.array([1.0, 1.0, -1.0])),
        (rng.standard_normal((60, 2)), np.where(np.arange(60) % 2, 1.0, -1.0)),
    ):
        with pytest.raises(InseparableError) as caught:
            hard_margin.separate(hard_margin.Margins(X, y))
        proof = caught.value.mu
        assert proof.min() >= 0.0
        assert proof[y > 0].sum() == pytest.approx(0.5)
        assert proof[y < 0].sum() == pytest.approx(0.5)
        pull = (proof * y) @ X
        np.testing.assert_allclose(pull, 0.0, atol=1e-6)
        assert caught.value.norm == pytest.approx(np.linalg.norm(pull), abs=1e-12)


def test_hulls_that_nearly_touch_count_as_touching_at_any_scale():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    for scale in (1e-8, 1.0, 1e8):
        X = scale * np.array([[0.0], [1.0], [-1e-12], [-1.0]])
        with pytest.raises(InseparableError):
            hard_margin.separate(hard_margin.Margins(X, y))
        X[2] = -1e-6 * scale
        found = hard_margin.separate(hard_margin.Margins(X, y)).w
        assert scale * found[0] == pytest.approx(2e6, rel=1e-6)


@pytest.mark.parametrize("gram", [False, True])
def test_a_program_whose_start_meets_every_row_exactly(gram):
    """min 1/2 u^2 where v >= 1, four times: no slack to start from, and 0 is the optimum."""
    A = np.zeros((4, 1))
    rows = interior_point_qp.Rows(A, np.ones((4, 1)), np.ones(4), np.zeros(1))
    found = interior_point_qp.minimise(rows, 1e-9, A @ A.T if gram else None, 1.0)
    assert not found.u.any()
    assert found.v[0] >= 1.0 - 1e-9
    assert found.mu.min() > 0.0
