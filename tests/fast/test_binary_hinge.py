"""The hinge of two classes: its kernels beside naive ones, its models beside those of other solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import assert_same_optimum, quietly

from fast import OneVsAllClassifier, TopKSVC
from fast.data.in_memory import InMemory
from fast.families import named
from fast.solvers import binary_hinge
from fast.solvers.binary_hinge import ascend, best_factor, fits, row_squares, shuffle
from fast.solvers.box_interior_point import Box
from fast.solvers.rows import as_rows
from fast.solvers.sparse_rows import parts
from verification.certificates.fitted import judge_claims

RNG = np.random.default_rng(3)
N, D = 240, 600
X = sp.random_array((N, D), density=0.03, rng=RNG, format="csr", data_sampler=RNG.standard_normal)
Y = (X @ RNG.standard_normal(D) + 0.5 * RNG.standard_normal(N) > 0.0).astype(np.int64)
SIGNS = 2.0 * Y - 1.0


def rows_of(data):
    """What the kernels read."""
    if not sp.issparse(data):
        return as_rows(data)
    values, indices, ends = parts(data, data.dtype)
    return np.empty(0, data.dtype), values, indices.view(np.uint32), ends


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
@pytest.mark.parametrize("made", [sp.csr_array, sp.csr_array.toarray])
def test_a_pass_is_exact_and_leaves_out_who_is_far_from_moving(dtype, made):
    rows = rows_of(made(X.astype(dtype)))
    squares = np.empty(N)
    row_squares(rows, squares)
    np.testing.assert_allclose(squares, X.power(2).sum(axis=1), rtol=1e-5)
    r = RNG.uniform(0.02, 0.2, N)
    x, w = np.zeros(N), np.zeros(D, np.float64 if made is sp.csr_array else dtype)
    order, slopes = np.arange(N), np.array([-np.inf, np.inf])
    count, fewest, near = N, N, 1e-5 if dtype == np.float32 else 1e-12
    for _ in range(6):
        shuffle(order, RNG.random(count))
        given = slopes.copy()
        kept, left, naive, gap, free = naive_pass(order[:count], r, given, x)
        away = order[count:].copy()
        now = SIGNS, r, 1.0 / squares, np.ones(N), order, count, slopes, x, w
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
    slopes, one = np.array([-1.0, 1.0]), np.ones(N)
    given = rows_of(X), SIGNS, one, one, np.zeros(N), np.arange(N), N
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


def test_the_best_factor_is_the_best():
    for n in (1, 3, 20):
        for _ in range(60):
            u, r = RNG.choice([-1.0, 0.0, 1.0, 1.5, RNG.normal()], n), RNG.uniform(0.0, 2.0, n)
            cost, square = RNG.uniform(0.5, 2.0), RNG.uniform(0.1, 5.0)

            def risk(a, given=(u, r, cost, square)):
                u, r, cost, square = given
                return 0.5 * a * a * square + r @ np.maximum(cost - a * u, 0.0)

            a = best_factor(u, r, cost, square)
            if r @ u > 0.0:
                assert risk(a) <= min(risk(t * a) for t in (0.5, 0.99, 1.01, 2.0)) + 1e-12
    assert best_factor(-np.ones(2), np.ones(2), 1.0, 1.0) == 1.0  # w points away: no factor > 0 is best
    assert best_factor(np.zeros(3), np.ones(3), 1.0, 0.0) == 1.0  # no w
    for _ in range(300):  # sums whose rounding is larger than what the last example pulls
        u, r = RNG.uniform(0.0, 1.0, 20) * 10.0 ** RNG.uniform(-6, 6), 10.0 ** RNG.uniform(-6, 6, 20)
        square = 10.0 ** RNG.uniform(-8, 0)
        a = best_factor(u, r, 1.0, square)
        around = [0.5 * t * t * square + r @ np.maximum(1.0 - t * u, 0.0) for t in (a, 0.99 * a, 1.01 * a)]
        assert around[0] <= min(around) * (1 + 1e-9) + 1e-12 * r.sum()


def test_rows_that_say_nothing():
    for X in (np.zeros((4, 401)), np.ones((4, 401)), 1e-170 * np.ones((4, 401))):
        for estimator in (TopKSVC(), OneVsAllClassifier(C=100.0)):
            assert estimator.fit(X, [0, 1, 0, 1]).dual_gap_ <= 1e-12
    X = np.repeat([[0.0], [1.0]], 2, axis=0) * np.ones(401)
    assert TopKSVC().fit(X, [0, 1, 0, 1], sample_weight=[1, 1, 0, 0]).dual_gap_ <= 1e-12


def test_a_start_that_is_worse_than_none_ends():
    X, y = RNG.normal(size=(31, 20)) * 10.0 ** RNG.uniform(-6, 6, 20), np.arange(31) % 3
    given = OneVsAllClassifier(C=1e-4, tol=1e-6, max_iter=20, warm_start=True, solver="sdca").fit(X, y)
    assert quietly(given.set_params(C=1e2), X, y).dual_objective_ > 0.0


def test_the_best_point_of_a_box_has_a_small_gap():
    Z = RNG.normal(size=(30, 12)) + 3.0
    H, gain = Z @ Z.T, RNG.normal(size=30)
    for upper in (np.full(30, 1e-3), RNG.uniform(0.0, 1e3, 30) + 1e-9):
        a = Box(H, gain, upper).solved(1e-9)
        slope = gain - H @ a
        np.testing.assert_array_equal(a, np.clip(a, 0.0, upper))
        assert upper @ np.maximum(slope, 0.0) - a @ slope <= 1e-9


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("made", [sp.csr_array, sp.csr_array.toarray])
def test_both_losses_are_one_problem(C, dtype, made):
    weight = np.where(np.arange(N) % 7 == 0, 0.0, RNG.uniform(0.5, 2.0, N))
    data, params = made(X.astype(dtype)), {"tol": 1e-7, "random_state": 0}
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
        assert not sp.csr_array(fitted.dual_coef_)[np.arange(N) % 7 == 0].sum()
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


@pytest.mark.parametrize("away", [0.0, 30.0])
def test_passes_in_float32_and_faces_end_in_rounding(away, monkeypatch):
    """Far from the origin passes creep, and the interior point method ends them; float64 all along beside it."""
    dense = X.toarray() + away
    faces = []
    solve = binary_hinge.BinaryHinge._solve_face
    monkeypatch.setattr(
        binary_hinge.BinaryHinge, "_solve_face", lambda self, goal: (faces.append(self.count), solve(self, goal))
    )
    model = OneVsAllClassifier(C=10.0, tol=1e-7, random_state=0).fit(dense, Y)
    assert judge_claims(model, dense, Y).ok
    assert model.dual_gap_ <= 1e-7
    assert bool(faces) == (away > 0.0)
    monkeypatch.setattr(binary_hinge, "LONG", 0)
    slow = OneVsAllClassifier(C=10.0, tol=1e-7, random_state=0).fit(dense, Y)
    assert_same_optimum(model, slow, 1e-7)


def test_numbers_beyond_float32_stay_in_float64():
    for size in (1e-25, 1e25):
        model = OneVsAllClassifier(C=1e-2 / size**2, tol=1e-6, random_state=0).fit(size * X.toarray(), Y)
        assert model.dual_gap_ <= 1e-6, size


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
    assert fits(X.toarray(), 2, hinge)
    assert not fits(InMemory(X.toarray()), 2, hinge)
    assert not fits(X[:, :400], 2, hinge)
    for other in ("ova_logistic", "multilabel_hinge", "squared_topk_hinge", "softmax"):
        assert not fits(X, 2, named(other)), other
    assert not fits(X, 2, named("ova_smooth_hinge", gamma=1.0))
    assert not fits(X, 2, named("smooth_topk_hinge_alpha", k=1, gamma=1.0))
