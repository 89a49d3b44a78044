"""The hinge of two classes on CSR rows: its kernels beside naive ones, its models beside those of other solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import assert_same_optimum, quietly

from fast import OneVsAllClassifier, TopKSVC
from fast.families import named
from fast.solvers import binary_hinge
from fast.solvers.binary_hinge import ascend, fits, row_squares, shuffle
from fast.solvers.sparse_rows import parts
from verification.certificates.fitted import judge_claims

RNG = np.random.default_rng(3)
N, D = 240, 600
X = sp.random_array((N, D), density=0.03, rng=RNG, format="csr", data_sampler=RNG.standard_normal)
Y = (X @ RNG.standard_normal(D) + 0.5 * RNG.standard_normal(N) > 0.0).astype(np.int64)
SIGNS = 2.0 * Y - 1.0


def naive_pass(order, r, slopes, x):
    """Exact updates one after the other, from the definition of the dual."""
    dense, x, kept, left, gap, free = X.toarray(), x.copy(), [], [], 0.0, []
    queue = list(order)
    while queue:
        i = queue.pop(0)
        slope = 1.0 - SIGNS[i] * dense[i] @ (dense.T @ (SIGNS * x))
        gap += r[i] * max(slope, 0.0) - x[i] * slope
        if (x[i] == 0.0 and slope < slopes[0]) or (x[i] == r[i] and slope > slopes[1]):
            left.append(i)
            queue = queue[-1:] + queue[:-1]  # the last takes the place
            continue
        blocked = (x[i] == 0.0 and slope < 0.0) or (x[i] == r[i] and slope > 0.0)
        free.append(0.0 if blocked else slope)
        x[i] = np.clip(x[i] + slope / (dense[i] @ dense[i]), 0.0, r[i])
        kept.append(i)
    low, high = min([*free, 0.0]), max([*free, 0.0])
    return kept, left, x, gap, (low or -np.inf, high or np.inf)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_pass_is_exact_and_leaves_out_who_is_far_from_moving(dtype):
    data, indices, indptr = parts(X.astype(dtype), dtype)
    rows = data, indices.view(np.uint32), indptr
    squares = np.empty(N)
    row_squares(rows, squares)
    np.testing.assert_allclose(squares, X.power(2).sum(axis=1), rtol=1e-5)
    r = RNG.uniform(0.02, 0.2, N)
    x, w = np.zeros(N), np.zeros(D)
    order, slopes = np.arange(N), np.array([-np.inf, np.inf])
    count, fewest, near = N, N, 1e-5 if dtype == np.float32 else 1e-12
    for _ in range(6):
        shuffle(order, RNG.random(count))
        given = slopes.copy()
        kept, left, naive, gap, free = naive_pass(order[:count], r, given, x)
        away = order[count:].copy()
        now = SIGNS, r, 1.0 / squares, 1.0, order, count, slopes, x, w
        count, found = ascend(rows, *now)
        np.testing.assert_array_equal(order[:count], kept)
        assert set(order[count:]) == {*left, *away}
        np.testing.assert_allclose(x, naive, atol=near)
        np.testing.assert_allclose(w, X.T @ (SIGNS * x), atol=near)
        np.testing.assert_allclose(found, gap, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(slopes, free, atol=1e-4)
        fewest = min(count, fewest)
    assert fewest < N  # somebody was left out


def test_a_pass_where_nothing_can_move_takes_everybody_back():
    rows = parts(X)
    slopes, one = np.array([-1.0, 1.0]), np.ones(N)
    given = (rows[0], rows[1].view(np.uint32), rows[2]), SIGNS, one, one, 0.0, np.arange(N), N
    assert ascend(*given, slopes, np.zeros(N), np.zeros(D)) == (N, 0.0)
    np.testing.assert_array_equal(slopes, [-np.inf, np.inf])


def test_shuffles_are_all_equally_likely_and_leave_the_rest():
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(3000):
        order = np.arange(5)
        shuffle(order, RNG.random(3))
        assert order.tolist()[3:] == [3, 4]
        key = tuple(order[:3].tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 6
    assert all(abs(each - 500) < 6 * np.sqrt(500) for each in counts.values())


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_losses_are_one_problem(C, dtype):
    weight = np.where(np.arange(N) % 7 == 0, 0.0, RNG.uniform(0.5, 2.0, N))
    data, params = X.astype(dtype), {"tol": 1e-7, "random_state": 0}
    pair = OneVsAllClassifier(C=2.0 * C, **params).fit(data, Y, weight)
    model = TopKSVC(C=C, **params).fit(data, Y, weight)
    assert (pair.solver_, model.solver_) == ("sdca", "active")
    np.testing.assert_array_equal(pair.coef_[0], -pair.coef_[1])
    np.testing.assert_array_equal(model.coef_[0], -model.coef_[1])
    scale = np.abs(model.coef_).max()
    np.testing.assert_allclose(2.0 * model.coef_, pair.coef_, atol=4e-3 * scale)
    np.testing.assert_allclose(4.0 * model.primal_objective_, pair.primal_objective_, rtol=1e-6)
    for fitted, other in (
        (pair, OneVsAllClassifier(C=2.0 * C, solver="proximal", **params)),
        (model, TopKSVC(C=C, solver="interior", **params)),
    ):
        assert judge_claims(fitted, data, Y, weight).ok
        assert not fitted.dual_coef_[np.arange(N) % 7 == 0].sum()
        assert_same_optimum(fitted, other.fit(data, Y, weight), 1e-7)
    again = TopKSVC(C=C, **params).fit(data, Y, weight)
    assert again.coef_.tobytes() == model.coef_.tobytes()


def test_a_second_fit_begins_at_the_first_dual():
    for make in (OneVsAllClassifier, TopKSVC):
        model = make(C=1.0, tol=1e-8, warm_start=True, random_state=0).fit(X, Y)
        model.set_params(max_iter=1, C=1.01, tol=1e-3).fit(X, Y)
        assert model.dual_gap_ <= 1e-3
        cold = make(C=1.01, tol=1e-12, max_iter=1, random_state=0)
        quietly(cold, X, Y)
        assert not cold.dual_gap_ <= 1e-12
        assert judge_claims(cold, X, Y).ok


def test_rows_too_much_alike_are_left_to_others(monkeypatch):
    monkeypatch.setattr(binary_hinge, "MOST", binary_hinge.LONGEST)
    alike = sp.csr_array(X[:, :1].toarray() @ np.ones((1, D)) + 1e-3 * X.toarray() + 1.0)
    for make in (OneVsAllClassifier, TopKSVC):
        model = quietly(make(C=100.0, tol=1e-6, max_iter=60, random_state=0), alike, Y)
        assert model.n_iter_ > 1
        assert judge_claims(model, alike, Y).ok


def test_rows_of_zeros_carry_all_their_mass():
    empty = sp.vstack([X[:40], sp.csr_array((4, D))]).tocsr()
    y = np.append(Y[:40], [0, 1, 1, 0])
    for make in (OneVsAllClassifier, TopKSVC):
        model = make(C=1.0, tol=1e-9, random_state=0).fit(empty, y)
        assert judge_claims(model, empty, y).ok
        masses = np.abs(sp.csr_array(model.dual_coef_)[40:].toarray()).max(axis=1)
        np.testing.assert_array_equal(masses, 1.0)


def test_other_problems_have_other_solvers():
    hinge = named("ova_hinge")
    assert fits(X, 2, hinge)
    assert fits(X, 2, named("multiclass_hinge"))
    assert not fits(X, 3, hinge)
    assert not fits(X.toarray(), 2, hinge)
    assert not fits(X[:, :400], 2, hinge)
    for other in ("ova_logistic", "multilabel_hinge", "squared_topk_hinge", "softmax"):
        assert not fits(X, 2, named(other)), other
    assert not fits(X, 2, named("ova_smooth_hinge", gamma=1.0))
    assert not fits(X, 2, named("smooth_topk_hinge_alpha", k=1, gamma=1.0))
