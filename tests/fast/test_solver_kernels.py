"""The kernels below the trainers, each alone and on a few numbers: a fit would hide what they do wrong.

A trainer certifies its model whatever its kernels answer; a wrong list, step or curvature only makes it slower.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from fast.families import named
from fast.kernels.hinges import ALPHA, BETA
from fast.models.multiclass_erm import TopKEntropy
from fast.solvers import active_face_newton, binary_logistic, working_set
from fast.solvers.binary_logistic import BinaryLogistic
from fast.solvers.entropy_rows import FEW, EntropyRows
from fast.solvers.rows import as_rows
from fast.solvers.smooth_rows import SmoothRows

N, M, D = 7, 6, 4


def scores_of(rng):
    """Rows from level to steep, and the labels."""
    f = rng.standard_normal((9, M)) * np.array([0.1, 1, 1, 3, 3, 10, 30, 60, 200])[:, None]
    return f, np.arange(9) % M, rng.uniform(0.3, 2.0, 9)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_entropy_rows_are_the_loss_its_gradient_and_its_hessian(variant, k):
    loss = TopKEntropy.named(variant, k)
    f, y, r = scores_of(np.random.default_rng(k))
    rows = EntropyRows(loss, y, r, M)
    rows.block = rows.block[:4].copy()  # three blocks
    A = np.empty((9, M))
    total = rows.evaluate(f, A)
    single = named(f"topk_entropy_{variant}", k=k)
    losses = single.values(f, y)
    np.testing.assert_allclose(rows.losses, losses, rtol=1e-13, atol=1e-300)
    assert total == pytest.approx(float(r @ losses), rel=1e-13)
    np.testing.assert_allclose(A, single.gradient(f, y, sample_weight=r), rtol=1e-11, atol=1e-14)
    hessians = np.empty((9, M, M))
    for j in range(M):
        V = np.zeros((9, M))
        V[:, j] = 1.0
        rows.curve(V, np.arange(9))
        hessians[:, :, j] = V
    h = 1e-6
    for j in range(M):
        up, down = f.copy(), f.copy()
        up[:, j] += h
        down[:, j] -= h
        ends = [single.gradient(g, y, sample_weight=r)[:6] for g in (up, down)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(hessians[:6, :, j], slope, rtol=1e-4, atol=1e-7)
    trace = np.trace(hessians, axis1=1, axis2=2) / r
    bound = rows.curvature
    assert (trace <= bound * (1 + 1e-6) + 1e-12).all()
    if rows.variant == BETA:
        np.testing.assert_allclose(bound[:6], trace[:6], rtol=1e-4)  # the products are in float32
    else:
        x = A / r[:, None]
        s = -x[np.arange(9), y]
        kappa = (1 - s) / np.where(s > 0, s, 1)
        loose = 2 * s * (1 - s) - kappa * (x**2).sum(axis=1)
        np.testing.assert_allclose(bound[:6], (trace + loose)[:6], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 64, 150])
def test_softmax_class_by_class_is_softmax_row_by_row(n, dtype):
    rng = np.random.default_rng(n)
    f = 10.0 ** rng.uniform(-9.0, 3.5, (n, 1)) * rng.standard_normal((n, FEW))
    f[::7] = 0.0
    f, y, r = f.astype(dtype), rng.integers(0, FEW, n), rng.uniform(0.0, 2.0, n)
    y[1::5] = f[1::5].argmax(axis=1)
    found = []
    for few in (True, False):
        rows, A = EntropyRows(named("softmax"), y, r, FEW), np.empty_like(f)
        assert rows.few
        rows.few = few
        found.append((rows.evaluate(f, A), A, rows.T, rows.losses, rows.curvature))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-14)
    for one, other in zip(found[0][1:3], found[1][1:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=4 * np.finfo(one.dtype).eps, atol=1e-300)
    np.testing.assert_allclose(found[0][3], found[1][3], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(found[0][4], found[1][4], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_dropped_classes_count_for_nothing(variant, k):
    f, y, r = scores_of(np.random.default_rng(9))
    rng = np.random.default_rng(10)
    dropped = np.array([rng.choice(np.delete(np.arange(M), c), 2, replace=False) for c in y])

    class Loss:
        pass

    loss = Loss()
    loss.k, loss.variant, loss.dropped = k, ALPHA if variant == "alpha" else BETA, dropped
    rows = EntropyRows(loss, y, r, M)
    rows.block = rows.block[:4].copy()
    A = np.empty((9, M))
    rows.evaluate(f, A)
    single = named(f"topk_entropy_{variant}", k=k)
    for i in range(9):
        left = np.delete(np.arange(M), dropped[i])
        own = [int(np.flatnonzero(left == y[i])[0])]
        assert rows.losses[i] == pytest.approx(single.value(f[i, left], own[0]), rel=1e-12)
        expected = np.zeros(M)
        expected[left] = single.gradient(f[i, left], own[0], sample_weight=r[i : i + 1])
        np.testing.assert_allclose(A[i], expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_smooth_rows_are_the_loss_its_gradient_and_its_hessian(variant, k):
    loss = named(f"smooth_topk_hinge_{variant}", k=k, gamma=0.7)
    rng = np.random.default_rng(k)
    f, y, r = 0.8 * rng.standard_normal((12, M)), np.arange(12) % M, rng.uniform(0.3, 2.0, 12)
    rows = SmoothRows(loss, y, r, M)
    A = np.empty((12, M))
    total = rows.evaluate(f, A)
    assert total == pytest.approx(float(r @ loss.values(f, y)), rel=1e-13)
    np.testing.assert_allclose(A, loss.gradient(f, y, sample_weight=r), rtol=1e-12, atol=1e-14)
    h = 1e-7  # the gradient is piecewise linear
    for j in range(M):
        V = np.zeros((12, M))
        V[:, j] = 1.0
        rows.curve(V, np.arange(12))
        up, down = f.copy(), f.copy()
        up[:, j] += h
        down[:, j] -= h
        ends = [loss.gradient(g, y, sample_weight=r) for g in (up, down)]
        np.testing.assert_allclose(V, (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-6)
    assert rows.mean_curvature() > 0.0


HINGES = [(v, k, g, 0.0) for v in (ALPHA, BETA) for k in (1, 3) for g in (0.0, 0.6)]
HINGES += [(ALPHA, 1, 0.0, 1.0), (ALPHA, 3, 0.0, 1.0)]


def hinge(variant, k, gamma, price):
    """The loss of these numbers, from `fast.losses`."""
    if price:
        return named("squared_topk_hinge", k=k)
    name = f"topk_hinge_{'alpha' if variant == ALPHA else 'beta'}"
    return named(f"smooth_{name}", k=k, gamma=gamma) if gamma else named(name, k=k)


class Problem:
    """A small multiclass problem with a feasible dual point in lists."""

    def __init__(self, loss, seed=0, capacity=M - 1):
        rng = np.random.default_rng(seed)
        self.loss, (self.variant, self.k, self.gamma, self.price) = loss, loss
        self.X = rng.standard_normal((N, D))
        self.y, self.r = np.arange(N) % M, rng.uniform(0.3, 2.0, N)
        self.squares = (self.X**2).sum(axis=1)
        self.index = np.zeros((N, capacity), np.int32)
        self.value, self.count = np.zeros((N, capacity)), np.full(N, M - 1)
        self.mass = np.zeros(N)
        for i in range(N):
            self.index[i, : M - 1] = rng.permutation([j for j in range(M) if j != self.y[i]])
            raw = rng.random(M - 1) * (rng.random(M - 1) < 0.7)
            self.value[i, : M - 1] = self.feasible(i, raw)
        self.lists = self.index, self.value, self.count
        self.W = np.zeros((M, D))
        working_set.primal_from_dual(as_rows(self.X), self.y, self.lists, self.mass, self.W)

    def feasible(self, i, raw):
        """The nearest point of the domain of the conjugate."""
        radius = np.inf if self.price else self.r[i]
        x, work = np.empty(M - 1), np.empty(M - 1)
        working_set.project_row(self.variant, 0.6 * self.r[i] * raw, self.k, radius, 0.0, x, work)
        return x

    def blocks(self, value=None):
        """The dual matrix: -x_ij at the others, their sum at the own class."""
        A = np.zeros((N, M))
        value = self.value if value is None else value
        for i in range(N):
            for j, v in zip(self.index[i, : self.count[i]], value[i], strict=False):
                A[i, j] -= v
                A[i, self.y[i]] += v
        return A

    def dual(self, value=None):
        """Sum of <x,1> - r conj(x/r) less half the squared norm."""
        A = self.blocks(value)
        x = np.where(A < 0.0, -A, 0.0)
        s, square = x.sum(axis=1), (x**2).sum(axis=1)
        linear = (s - 0.5 * (self.gamma * square + self.price * s**2) / self.r).sum()
        return linear - 0.5 * ((A.T @ self.X) ** 2).sum()


@pytest.fixture(params=HINGES, ids=str)
def problem(request):
    return Problem(request.param)


@pytest.mark.parametrize("reach", [0.0, 0.3, 50.0, np.inf])
def test_refreshed_lists_hold_losses_gaps_and_every_class_in_reach(problem, reach):
    p = problem
    scores = p.X @ np.random.default_rng(1).standard_normal((M, D)).T
    scores[0] = -9.0  # a loss of zero
    scores[0, p.y[0]] = 9.0
    own = scores[np.arange(N), p.y]
    margins = scores - own[:, None] + 1.0
    losses = hinge(*p.loss).values(scores, p.y)
    before = -p.blocks()
    before[np.arange(N), p.y] = 0.0
    gaps = p.r * losses - (before * margins).sum(axis=1)
    s = before.sum(axis=1)
    gaps += 0.5 / p.r * (p.gamma * (before**2).sum(axis=1) + p.price * s**2)
    results, work = (np.empty(N), np.empty(N)), np.empty((6, M))
    for first in (0, 4):
        part = scores[first : first + 4].copy()
        crowded, longest = working_set.refresh_rows(
            part, first, (p.y, p.r), (np.full(N, reach), 0.0, M - 1), p.loss, p.lists, results, work
        )
        assert crowded == 0
        if not p.gamma:
            assert longest == 0
    np.testing.assert_allclose(results[0], losses, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(results[1], gaps, rtol=1e-11, atol=1e-13)
    after = -p.blocks()
    after[np.arange(N), p.y] = 0.0
    np.testing.assert_array_equal(after, before)
    for i in range(N):
        listed = p.index[i, : p.count[i]]
        assert len(set(listed)) == len(listed)
        assert p.y[i] not in listed
        others = np.sort(np.delete(scores[i], p.y[i]))
        if gaps[i] > 1e-9 and reach >= 50.0:
            assert len(listed) == M - 1
        if gaps[i] > 1e-9 and not p.gamma:  # the k largest are always there
            largest = {j for j in range(M) if j != p.y[i] and scores[i, j] >= others[-p.k]}
            assert largest <= set(listed)
        if gaps[i] > 1e-9 and reach == 0.0:  # what is far below neither carries mass nor is listed
            extra = [j for j in listed if before[i, j] == 0.0]
            z = margins[i, extra]
            assert (
                np.count_nonzero(z < np.sort(np.delete(margins[i], p.y[i]))[-p.k]) == 0 or p.gamma
            )


@pytest.mark.parametrize(("third", "crowded"), [(1.0, 1), (0.5, 0)])
def test_a_list_of_all_that_was_seen_says_where_others_may_belong(third, crowded):
    """Of five other classes three are looked at, and all three are listed; the fourth is as near as the third."""
    lists = np.array([[1, 2, 3, 0]], np.int32), np.array([[0.1, 0.1, 0.1, 0.0]]), np.array([3])
    scores, out = np.array([[0.0, 1.0, 1.0, third, third, -3.0]]), (np.empty(1), np.empty(1))
    one, near = np.ones(1), (np.zeros(1), 0.0, 3)
    for unused in (-np.inf, np.inf):
        found, _ = working_set.refresh_rows(
            scores, 0, (np.zeros(1, np.int64), one), near, (ALPHA, 2, 0.0, 0.0), lists, out,
            np.full((6, M), unused),
        )  # fmt: skip
        assert found == crowded


@pytest.mark.parametrize("passes", [1, 3])
def test_a_pass_gains_what_it_says_and_each_block_is_a_maximum(problem, passes):
    p = problem
    order, idle = np.arange(N), np.zeros(N, np.int8)
    kept = N
    for _ in range(passes):
        before = p.dual()
        gain, kept, visited = working_set.active_pass(
            as_rows(p.X), p.y, p.r, p.squares, p.loss, p.lists, p.mass, p.W, order, kept, idle,
            np.empty((4, M)),
        )  # fmt: skip
        assert gain == pytest.approx(p.dual() - before, rel=1e-9, abs=1e-12)
    assert visited == kept * M or kept < N
    A = p.blocks()
    np.testing.assert_allclose(p.W, A.T @ p.X, rtol=0, atol=1e-12)
    np.testing.assert_allclose(p.mass, A[np.arange(N), p.y], rtol=0, atol=1e-13)
    last, rng, best = order[kept - 1] if kept else N - 1, np.random.default_rng(3), p.dual()
    for _ in range(30):  # no other value of the block visited last is better
        trial = p.value.copy()
        raw = trial[last, : M - 1] + 0.2 * rng.standard_normal(M - 1)
        trial[last, : M - 1] = p.feasible(last, raw / (0.6 * p.r[last]))
        assert p.dual(trial) <= best + 1e-12


def test_a_zero_row_gets_all_its_mass_and_leaves_when_it_rests():
    p = Problem((ALPHA, 3, 0.0, 0.0))
    p.X[2] = 0.0
    p.squares[2] = 0.0
    order, idle, kept, counts = np.arange(2, 3), np.zeros(N, np.int8), 1, []
    for _ in range(3):
        _, kept, _ = working_set.active_pass(
            as_rows(p.X), p.y, p.r, p.squares, p.loss, p.lists, p.mass, p.W, order, kept, idle,
            np.empty((4, M)),
        )  # fmt: skip
        counts.append(kept)
    np.testing.assert_allclose(p.value[2, : M - 1], np.repeat([p.r[2] / 3, 0.0], [3, 2]))
    assert p.mass[2] == pytest.approx(p.r[2])
    assert counts == [1, 1, 0]


def faces(p):
    """What `FaceNewton.step` makes of all examples."""
    members, saturated = np.empty(N, np.int64), np.empty(N, np.bool_)
    kinds = np.zeros((N, p.index.shape[1]), np.int8)
    q, dimension = active_face_newton.find_faces(
        np.arange(N), p.r, p.squares, p.loss, p.lists, p.mass, members, kinds, saturated
    )
    return (members[:q], kinds[:q], saturated[:q]), dimension


def directions(p, i):
    """An orthonormal basis, as rows, of the tangent space of the face that block i lies in, from its definition."""
    x, s, k = p.value[i, : M - 1], p.mass[i], p.k
    full = not p.price and s >= p.r[i] * (1 - 1e-12)
    cap = np.inf if k == 1 else (s if p.variant == ALPHA else p.r[i]) / k * (1 - 1e-12)
    rows = []
    for j in range(M - 1):
        unit = np.eye(M - 1)[j]
        if x[j] <= 0.0 or (x[j] >= cap and p.variant == BETA):
            rows.append(unit)
        elif x[j] >= cap:
            rows.append(unit - 1 / k)
    if full:
        rows.append(np.ones(M - 1))
    if not rows:
        return np.eye(M - 1)
    _, sizes, basis = np.linalg.svd(np.array(rows))
    return basis[np.count_nonzero(sizes > 1e-9) :]


def test_conjugate_gradients_predict_what_a_step_on_the_face_gains(problem):
    p = problem
    face, _ = faces(p)
    members = face[0]
    q, rows, V = len(members), as_rows(p.X), np.zeros((M, D))
    arrays = tuple(np.zeros((q, M - 1)) for _ in range(4))
    proximal = 0.25
    predicted, done = active_face_newton.conjugate_gradients(
        rows, p.y, p.r, p.squares, p.loss, p.lists, face, p.mass[members], p.W, proximal, 100, arrays, V
    )  # fmt: skip
    step = arrays[0]
    assert 0 < done <= 100
    before = p.dual()
    along = []
    cost = 0.5 * proximal * float(p.squares[members] @ (step**2).sum(axis=1))
    for scale in (1.0, 0.5, 0.0):
        trial = p.value.copy()
        trial[members] += scale * step
        A = np.zeros((N, M))
        for i in range(N):
            A[i, p.index[i]] = -trial[i]
        s = -A.sum(axis=1)
        square = (A**2).sum(axis=1)
        A[np.arange(N), p.y] += s
        value = (s - 0.5 * (p.gamma * square + p.price * s**2) / p.r).sum()
        along.append(value - 0.5 * ((A.T @ p.X) ** 2).sum())
    assert along[2] == pytest.approx(before, rel=1e-12)
    assert predicted == pytest.approx(along[0] - before - cost, rel=1e-8)
    # nearly the best on the face: within the tolerance of the last step
    gradient = np.zeros((q, M - 1))
    active_face_newton.face_gradient(
        rows, p.y, p.r, p.loss, p.lists, face, p.W, 1.0, p.mass[members], gradient
    )
    for t, i in enumerate(members):
        z = (p.W[p.index[i]] - p.W[p.y[i]]) @ p.X[i] + 1.0
        g = z - (p.gamma * p.value[i] + p.price * p.mass[i]) / p.r[i]
        basis = directions(p, i)
        np.testing.assert_allclose(gradient[t], basis.T @ (basis @ g), rtol=0, atol=1e-12)
    assert (gradient * step).sum() == pytest.approx(2 * predicted, rel=0.05)


def test_steps_stay_in_the_domain_and_gain_what_they_say(problem):
    p = problem
    face, _ = faces(p)
    members = face[0]
    rng = np.random.default_rng(6)
    step = np.zeros((len(members), M - 1))
    for t, i in enumerate(members):
        basis = directions(p, i)
        step[t] = 3.0 * basis.T @ rng.standard_normal(len(basis))
    length = active_face_newton.feasible_length(p.r, p.loss, p.lists, face, step, p.mass)
    assert 0.0 < length < 1.0
    value = p.value.copy()
    value[members] += length * step
    beyond = p.value.copy()
    beyond[members] += (length + 1e-3) * step

    def outside(x):
        s, radius = x.sum(axis=1), np.inf if p.price else p.r
        cap = np.inf if p.k == 1 else (s if p.variant == ALPHA else p.r)[:, None] / p.k
        return max((-x).max(), (x - cap).max(), (s - radius).max())

    assert outside(value) <= 1e-12
    assert outside(beyond) > 1e-6
    trial, V = np.empty((len(members), M - 1)), np.empty((M, D))
    gain = active_face_newton.try_step(
        as_rows(p.X), p.y, p.r, p.loss, p.lists, face, step, 1.0, trial, V, np.empty((2, M - 1))
    )
    for t, i in enumerate(members):
        np.testing.assert_allclose(
            trial[t], p.feasible(i, (p.value[i] + step[t]) / (0.6 * p.r[i])), rtol=0, atol=1e-13
        )
    moved = p.value.copy()
    moved[members] = trial
    change = (p.blocks(moved) - p.blocks()).T @ p.X
    np.testing.assert_allclose(V, change, rtol=0, atol=1e-12)
    quadratic = (p.W * V).sum() + 0.5 * (V**2).sum()
    assert gain - quadratic == pytest.approx(p.dual(moved) - p.dual(), rel=1e-9, abs=1e-12)
    active_face_newton.accept_step(p.lists, face, trial, p.mass)
    np.testing.assert_array_equal(p.value, moved)
    np.testing.assert_allclose(p.mass, p.value.sum(axis=1), rtol=1e-14)


def test_a_step_of_one_moves_the_weights():
    p = Problem((ALPHA, 1, 0.0, 0.0))
    p.value[:], p.r[:] = 0.0, 1.0
    face = np.arange(N), np.zeros((N, M - 1), np.int8), np.zeros(N, np.bool_)
    step, trial, V = np.zeros((N, M - 1)), np.empty((N, M - 1)), np.empty((M, D))
    step[:, 1] = 1.0
    gain = active_face_newton.try_step(
        as_rows(p.X), p.y, p.r, p.loss, p.lists, face, step, 1.0, trial, V, np.empty((2, M - 1))
    )
    assert gain == N
    np.testing.assert_array_equal(trial, step)
    np.testing.assert_allclose(V, p.blocks(step).T @ p.X, rtol=0, atol=1e-14)


@pytest.mark.parametrize("start", ["on faces", "at 0"])
def test_a_newton_step_gains_what_it_says(problem, start):
    """At 0 every face is a point: nothing is gained there."""
    p = problem
    if start == "at 0":
        p.value[:], p.mass[:], p.W[:] = 0.0, 0.0, 0.0
    before, newton = p.dual(), active_face_newton.FaceNewton(M, D)
    given = as_rows(p.X), p.y, p.r, p.squares, p.loss, p.lists, p.mass
    gain, visited = newton.step(given, p.W, np.arange(N), np.empty((6, M)), 1e3)
    assert gain == pytest.approx(p.dual() - before, rel=1e-9, abs=1e-12)
    assert (gain > 0.0) == (visited > 0.0) == (start == "on faces")
    np.testing.assert_allclose(p.W, p.blocks().T @ p.X, rtol=0, atol=1e-12)


def logistic_problem(q, sparse=False, n=400, d=30):
    rng = np.random.default_rng(q)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < (0.3 if sparse else 1.0))
    y, r = rng.integers(0, max(q, 2), n), rng.uniform(0.1, 5.0, n)
    rows = sp.csr_array(X) if sparse else X
    return BinaryLogistic(rows, y, np.arange(q), r, 0), X, y, r, rng


def test_kernels_of_two_class_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.6)
    X[2] = 0.0
    X[3] = 1.0  # four entries at a time, and what is left
    t, v = rng.random(7), rng.standard_normal(5)
    for dtype, digits in ((np.float64, 1e-14), (np.float32, 1e-6)):
        csr = sp.csr_array(X.astype(dtype))
        scores, image = np.empty(7, dtype), np.ones(5, dtype)
        given = csr.data, csr.indices, csr.indptr, t.astype(dtype), v.astype(dtype)
        binary_logistic.sparse_curvature(*given, scores, image)
        np.testing.assert_allclose(scores, X @ v, rtol=digits, atol=digits)
        np.testing.assert_allclose(image, 1.0 + X.T @ (t * (X @ v)), rtol=digits, atol=10 * digits)
        rows = as_rows(X.astype(dtype))[0]
        squares, scaled = np.empty(7), np.empty((7, 5), dtype)
        binary_logistic.row_squares(rows, squares)
        binary_logistic.scaled_rows(rows, t, scaled)
        np.testing.assert_allclose(squares, (X**2).sum(axis=1), rtol=digits, atol=0.0)
        np.testing.assert_allclose(scaled, np.sqrt(t)[:, None] * X, rtol=digits, atol=0.0)


def test_a_step_of_conjugate_gradients():
    rng = np.random.default_rng(1)
    some, image, V = rng.standard_normal((2, 4)), rng.standard_normal((2, 4)), rng.random((2, 6))
    image[1] = -3.0 * some[1]  # no curvature
    D, residual, scores, rho = rng.random((3, 4)), rng.random((3, 4)), rng.random((3, 6)), rng.random(3)
    found = [a.copy() for a in (D, scores, residual)]
    left = np.full(3, 7.0)
    binary_logistic.advance(np.array([2, 0]), some, V, image.copy(), rho, *found, left)
    step = rho[2] / (some[0] @ (some[0] + image[0]))
    D[2] += step * some[0]
    scores[2] += step * V[0]
    residual[2] -= step * (some[0] + image[0])
    for a, b in zip(found, (D, scores, residual), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    np.testing.assert_allclose(left, [-1.0, 7.0, residual[2] @ residual[2]], rtol=1e-13)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(("q", "sparse"), [(1, False), (1, True), (3, False), (3, True)])
def test_newton_directions_leave_what_they_say(q, sparse, rough, monkeypatch):
    if rough:  # some of the rows, and several steps of conjugate gradients
        monkeypatch.setattr(binary_logistic, "EXACT", 0.0)
        monkeypatch.setattr(binary_logistic, "LEAST", 100)
    problem, X, y, r, rng = logistic_problem(q, sparse)
    problem.W = 0.1 * rng.standard_normal((q, X.shape[1]))
    F, A, T, _, gradient = problem._at(problem.W, problem.X64)
    goal = np.full(q, 1e-6)
    D, G, left = problem._direction(np.arange(q), F, A, T, -gradient, goal)
    np.testing.assert_allclose(G, D @ X.T, rtol=1e-9, atol=1e-10)
    own = y[None] == np.arange(q)[:, None]
    p = 1.0 / (1.0 + np.exp(-np.where(own, -1.0, 1.0) * (problem.W @ X.T)))
    for j in range(q):
        H = np.eye(X.shape[1]) + X.T @ (X * (r * p[j] * (1 - p[j]))[:, None])
        e = -gradient[j] - H @ D[j]
        np.testing.assert_allclose(0.5 * e @ e, left[j], rtol=1e-4, atol=1e-18)
        assert left[j] <= 1e-6
    ahead, A1, T1, _, B, divergences = problem._predicted(np.arange(q), F, A, T, G)
    np.testing.assert_allclose(ahead, F + G)
    s = np.where(own, 1.0, -1.0)
    assert ((s * B >= 0.0) & (s * B <= r)).all()
    np.testing.assert_allclose(B, s * np.clip(s * (A - T * G), 0.0, r), atol=1e-12)
    np.testing.assert_allclose(divergences, 0.5 * ((B - A1) ** 2 / T1).sum(axis=1), rtol=1e-10)


def test_the_predicted_dual_point_makes_the_gap_of_the_next_weights():
    problem, X, y, r, rng = logistic_problem(1)
    problem.W = 0.2 * rng.standard_normal((1, X.shape[1]))
    F, A, T, _, gradient = problem._at(problem.W, X)
    D, G, _left = problem._direction(np.arange(1), F, A, T, -gradient, np.zeros(1))
    ahead, A1, _T1, losses, B, divergences = problem._predicted(np.arange(1), F, A, T, G)
    W = problem.W + D
    s = np.where(y == 0, 1.0, -1.0)
    p, q = 1.0 / (1.0 + np.exp(s * ahead[0])), s * B[0] / r
    entropy = -(r * (xlogy(q, q) + xlogy(1.0 - q, 1.0 - q))).sum()
    e = W[0] - X.T @ B[0]
    divergence = (r * (xlogy(q, q / p) + xlogy(1.0 - q, (1.0 - q) / (1.0 - p)))).sum()
    primal = 0.5 * W[0] @ W[0] + losses[0]
    gap = primal - (entropy - 0.5 * np.sum((X.T @ B[0]) ** 2))
    assert gap == pytest.approx(divergence + 0.5 * e @ e, rel=1e-6)
    assert divergences[0] == pytest.approx(divergence, rel=0.5)
    square = 0.5 * np.sum((W[0] - X.T @ A1[0]) ** 2)
    assert gap < 0.2 * square  # half the gradient's square there
    problem.W = W
    P, dual = problem.claims(1.0, B)
    assert primal * (1 - 1e-15) <= P
    assert P - dual == pytest.approx(gap, rel=1e-6)
    np.testing.assert_array_equal(problem.dual_variables(), B)
