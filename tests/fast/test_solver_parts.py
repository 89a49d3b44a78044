"""The parts of the trainers of functions of scores, and what all trainers share, each against a naive twin."""

import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InvalidParameterError, InvalidTypeError
from fast.solvers import (
    cuts,
    cutting_plane,
    proximal_bundle,
    score_problem,
    structured,
)  # fmt: skip
from fast.solvers.score_problem import ScoreCut, ScoreProblem

FORMS = [np.asarray, sp.csr_array]


def hinges(y):
    """The mean hinge of signed scores, as an oracle."""

    def oracle(scores):
        on = y * scores < 1.0
        value, offset = np.maximum(1.0 - y * scores, 0.0).mean(), on.mean()
        return ScoreCut(float(value), float(offset), -y * on / len(y), int(on.sum()))

    return oracle


def score_problem_of(rng, n=30, d=4, C=5.0, dtype=np.float64):
    X = rng.standard_normal((n, d)).astype(dtype)
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return ScoreProblem(X, hinges(y), C), X, y


# ---- cuts and products ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [cuts.BLOCK, 12, 4])
def test_products_are_exact_or_in_the_precision_of_the_data(rng, form, block, monkeypatch):
    monkeypatch.setattr(cuts, "BLOCK", block)
    for dtype in (np.float64, np.float32):
        X = (rng.standard_normal((11, 5)) * (rng.random((11, 5)) < 0.7)).astype(dtype)
        wide, product = X.astype(np.float64), cuts.Product(form(X))
        w, dense = rng.standard_normal(5), rng.standard_normal(11)
        few = np.where(np.arange(11) % 7 == 3, dense, 0.0)
        one = np.where(np.arange(11) == 6, dense, 0.0)
        np.testing.assert_allclose(product.gradients(one), dense[6] * wide[6], rtol=1e-12)
        rows = sp.csr_array(np.array([dense, few, 0.0 * few]))
        for exact in (True, False):
            size = 1e-14 if exact or dtype == np.float64 else 1e-5
            found = [product.scores(w, exact), product.gradients(dense, exact)]
            found += [product.gradients(few, exact), product.gradients(rows, exact)]
            expected = [wide @ w, dense @ wide, few @ wide, rows.toarray() @ wide]
            for a, b in zip(found, expected, strict=True):
                assert type(a) is np.ndarray
                assert a.dtype == np.float64
                np.testing.assert_allclose(a, b, rtol=0, atol=size)
        if dtype == np.float32:  # twice as fast, where the caller allows it
            rounded = form(X).T @ dense.astype(dtype)
            np.testing.assert_array_equal(product.gradients(dense, False), rounded)
            np.testing.assert_array_equal(product.scores(w, False), form(X) @ w.astype(dtype))


@pytest.mark.parametrize("X", [np.ones((2, 2), int), [[1.0]], sp.csr_array(np.ones((2, 2), int))])
def test_products_refuse_what_would_round(X):
    with pytest.raises(InvalidTypeError, match="X"):
        cuts.Product(X)


def test_products_refuse_vectors():
    with pytest.raises(InvalidParameterError, match="reshape"):
        cuts.Product(np.ones(3))


def test_stored_cuts_are_those_that_were_added_and_kept(rng):
    X = rng.standard_normal((6, 3))
    store, twin = cuts.Cuts(6, 3, capacity=2), []
    for step in range(40):
        a = np.where(rng.random(6) < 0.5, rng.standard_normal(6), 0.0)
        offset = float(rng.integers(3))
        if step % 5 == 4 and twin:
            offset, a = twin[int(rng.integers(len(twin)))]
        new = not any(o == offset and np.array_equal(a, b) for o, b in twin)
        assert store.add(offset, a, X.T @ a) == new
        twin += [(offset, a)] if new else []
        if step % 11 == 10:
            which = np.flatnonzero(rng.random(len(twin)) < 0.5)
            store.idle[:] = np.arange(store.m) - 2
            kept = store.idle[which]
            store.keep(which)
            np.testing.assert_array_equal(store.idle, kept)
            assert store.in_use == np.count_nonzero(kept < 0)
            twin = [twin[t] for t in which]
        A = np.array([a for _, a in twin]).reshape(-1, 6)
        assert store.m == len(twin) == len(store.idle)
        np.testing.assert_array_equal(store.b, [o for o, _ in twin])
        np.testing.assert_array_equal(store.coefficients().toarray(), A)
        np.testing.assert_allclose(store.G, A @ X, rtol=0, atol=1e-14)
        np.testing.assert_allclose(store.gram, A @ X @ X.T @ A.T, rtol=0, atol=1e-13)
    Y = X + 1.0
    store.recompute(cuts.Product(Y))
    np.testing.assert_allclose(store.G, A @ Y, rtol=0, atol=1e-14)
    np.testing.assert_allclose(store.gram, A @ Y @ Y.T @ A.T, rtol=0, atol=1e-13)


# ---- problems of scores ---------------------------------------------------------------------------


def naive_dual(X, C, cut, lam):
    """D from the formula."""
    A, b = cut.coefficients().toarray(), cut.b
    pull = C * lam @ A @ X
    return C * lam @ b - 0.5 * pull @ pull


def test_a_problem_knows_its_best_point_and_bound(rng):
    problem, X, y = score_problem_of(rng)
    known = -0.5 * y / len(y)  # half the cut of all examples, and the cut 0
    problem.begin(None, [(0.5, known), (0.0, np.zeros(len(y)))])
    assert problem.state.n_oracle == 1
    best = problem.state.primal
    assert best == 5.0
    for i in range(12):
        w = 0.3 * rng.standard_normal(4)
        primal, slope = problem.at(w)
        margins = y * (X @ w)
        assert primal == pytest.approx(0.5 * w @ w + 5.0 * np.maximum(1 - margins, 0).mean())
        np.testing.assert_allclose(slope, w - 5.0 * X.T @ (y * (margins < 1)) / len(y), atol=1e-13)
        best = min(best, primal)
        assert problem.state.primal == best
        assert problem.state.n_oracle == i + 2
        assert len(problem.weights) == problem.cuts.m <= i + 4
        models = problem.cuts.b + problem.cuts.coefficients().toarray() @ X @ w
        assert problem.model(w) == pytest.approx(0.5 * w @ w + 5.0 * models.max())
    found = problem.state.W
    assert 0.5 * found @ found + 5.0 * np.maximum(1 - y * (X @ found), 0).mean() == pytest.approx(
        best
    )
    before = problem.state.dual
    centre = rng.standard_normal(4)
    for rho in (0.0, 0.7):
        problem.cuts.idle[:] = np.arange(problem.cuts.m) - 1
        w = problem.proximal_point(centre, rho, 1e-10)
        assert problem.state.dual >= before
        idle = problem.cuts.idle
        np.testing.assert_array_equal(
            idle[idle >= 0], np.maximum(np.arange(len(idle)) - 1, 0)[idle >= 0]
        )
        assert (idle == -1).sum() == problem.cuts.in_use > 0

        def value(v, rho=rho):
            return problem.model(v) + 0.5 * rho * (v - centre) @ (v - centre)

        for _ in range(40):  # no other point is better
            assert value(w) <= value(w + 10.0 ** rng.uniform(-5, 0) * rng.standard_normal(4)) + 1e-9
    lam = problem.weights
    assert problem.state.dual == pytest.approx(naive_dual(X, 5.0, problem.cuts, lam), rel=1e-12)
    again = problem.dual_of(5.0 * lam, problem.cuts.b, problem.cuts.coefficients())
    assert again == pytest.approx(problem.state.dual, rel=1e-12)
    assert problem.cuts.in_use == np.count_nonzero(problem.cuts.idle == -1) > 0


def test_a_start_has_a_weight_per_column(rng):
    problem, _X, _ = score_problem_of(rng)
    with pytest.raises(InvalidParameterError, match="start"):
        problem.begin(np.zeros(3))
    problem.begin(np.ones(4))
    np.testing.assert_array_equal(problem.state.W, np.ones(4))


@pytest.mark.parametrize(
    ("primal", "dual", "wanted"),
    [(5.0, -np.inf, 5e-4), (10.0, 8.0, 2e-4), (10.0, 9.999, 1e-4), (10.0, -20.0, 1e-3), (1.0, -9.0, 9e-5)],
)  # fmt: skip
def test_programs_are_as_accurate_as_the_gap_needs(rng, primal, dual, wanted):
    problem, _, _ = score_problem_of(rng)
    problem.state.primal, problem.state.dual = primal, dual
    size = max(abs(primal), abs(dual))
    expected = 1e-3 * max(1e-2 * size if dual > -np.inf else 0.0, 0.1 * min(primal - dual, primal))
    assert problem.tolerance(1e-2) == pytest.approx(expected)
    assert problem.tolerance(0.0) == pytest.approx(1e-4 * min(primal - dual, primal))


def test_cuts_that_rest_are_forgotten_once_there_are_many(rng, monkeypatch):
    monkeypatch.setattr(score_problem, "CROWDED", 4)
    monkeypatch.setattr(score_problem, "IDLE", 3)
    problem, _X, _y = score_problem_of(rng)
    for _ in range(4):
        problem.at(rng.standard_normal(4))
    problem.weights = np.array([0.0, 1.0, 0.0, 0.0])
    for _ in range(6):
        problem.tidy()
    assert problem.cuts.m == 4  # not many
    np.testing.assert_array_equal(problem.cuts.idle, 6)
    problem.at(np.zeros(4))
    problem.cuts.idle[:] = [3, 9, 2, 1, 0]
    offsets = problem.cuts.b.copy()
    problem.tidy()  # the first rests for too long; so does the second, which the bound needs
    np.testing.assert_array_equal(problem.cuts.b, offsets[1:])
    np.testing.assert_array_equal(problem.weights, [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(problem.cuts.idle, [10, 3, 2, 1])
    problem.weights[:] = 0.0
    problem.cuts.idle[:] = 9
    problem.tidy()
    assert problem.cuts.m == 4


def test_single_precision_is_made_exact_in_the_end(rng):
    problem, X, _y = score_problem_of(rng, dtype=np.float32)
    assert not problem.exact
    problem.begin(None)
    for _ in range(3):
        problem.at(0.2 * rng.standard_normal(4))
    w = problem.state.w.copy()
    problem.make_exact()
    wide = X.astype(float)
    assert problem.exact
    primal = 0.5 * w @ w + 5.0 * problem.oracle(wide @ w).value
    assert problem.state.primal == pytest.approx(primal, rel=1e-14)
    A = problem.cuts.coefficients().toarray()
    np.testing.assert_allclose(problem.cuts.G, A @ wide, rtol=0, atol=1e-14)
    assert problem.state.dual == pytest.approx(naive_dual(wide, 5.0, problem.cuts, problem.weights))


@pytest.mark.parametrize("algorithm", [cutting_plane.run, proximal_bundle.run])
def test_iterations_end_where_they_should(rng, algorithm):
    def fresh(dtype=np.float64):
        made, _, _ = score_problem_of(np.random.default_rng(8), dtype=dtype)
        made.begin(None)
        return made

    lines = lambda problem: [line["iteration"] for line in problem.state.history]  # noqa: E731
    problem = fresh()
    algorithm(problem, 1e-9, 5, lambda state: False)
    assert lines(problem) == [1, 2, 3, 4, 5]
    problem = fresh()
    algorithm(problem, 1e-9, 50, lambda state: state.n_iter == 3)
    assert lines(problem) == [1, 2, 3]
    assert not problem.state.done
    for dtype, tol in ((np.float64, 1e-6), (np.float32, 1e-10)):
        problem = fresh(dtype)
        gaps, switched, switch = [], [], problem.make_exact
        problem.make_exact = lambda *tol: switched.append(problem.state.gap) or switch(*tol)  # noqa: B023
        algorithm(problem, tol, 500, lambda state, gaps=gaps: gaps.append((state.gap, state.done)))
        assert [done for _, done in gaps] == [False] * (len(gaps) - 1) + [True]
        assert problem.exact
        assert problem.state.gap <= tol
        assert len(switched) == (dtype == np.float32)
        assert not switched or switched[0] <= 1e-4  # in float32 even 0, by rounding
        assert min(gap for gap, _ in gaps[:-1]) > 1e-6 or dtype == np.float32
        assert len(gaps) < (60 if algorithm is cutting_plane.run else 30)
    problem = fresh()
    algorithm(problem, 0.0, 400, lambda state: False)  # rounding rules in the end
    assert problem.state.gap <= 1e-13


def test_a_bundle_that_stands_still_ends(rng, monkeypatch):
    monkeypatch.setattr(proximal_bundle, "STALLED", 7)
    problem, _, _ = score_problem_of(rng)
    problem.begin(None)
    proximal_bundle.run(problem, -1.0, 1000, lambda state: False)
    ends = [(line["primal"], line["dual"]) for line in problem.state.history]
    assert len(set(ends[-8:])) == 1
    assert all(len(set(ends[i : i + 8])) > 1 for i in range(len(ends) - 8))


def test_small_weights_are_left_out_if_the_bound_allows_it():
    """Offsets and orthogonal gradients chosen so that D is known."""
    problem = ScoreProblem(np.eye(3), lambda s: None, 1.0)
    problem.state.W = np.zeros(3)
    weights, offsets, rows, dual = structured.without_negligible(problem, 1.0)
    assert (len(weights), len(offsets), rows.shape, dual) == (0, 0, (0, 3), 0.0)
    for offset, a in ((1.0, [1.0, 0, 0]), (0.9, [0, 1.0, 0]), (0.5, [0, 0, 1e-3])):
        problem.cuts.add(offset, np.array(a), np.array(a))

    def left(lam, primal):
        problem.weights = np.array(lam)
        weights, offsets, rows, dual = structured.without_negligible(problem, primal)
        A = rows.toarray()
        assert weights.sum() == pytest.approx(1.0)
        assert dual == pytest.approx(
            weights @ offsets - 0.5 * ((weights @ A) ** 2).sum(), rel=1e-14
        )
        return [int(np.flatnonzero(row)[0]) for row in A], dual

    assert left([0.6, 0.4 - 1e-7, 1e-7], 0.71)[0] == [0, 1]
    assert left([0.6, 0.4 - 1e-10, 1e-10], 0.71)[0] == [0, 1]
    at = naive = left([0.6, 0.4, 0.0], 0.71)[1]
    assert naive == pytest.approx(0.96 - 0.26)
    # leaving out the smallest costs more than a hundredth of the gap: it stays
    problem.cuts.add(1e4, np.array([0, 0, 200.0]), np.array([0, 0, 200.0]))
    assert left([0.6, 0.4 - 1e-7, 0.0, 1e-7], at + 1.01e-3)[0] == [0, 1, 2]
    assert left([0.6, 0.4 - 1e-7, 0.0, 1e-7], at + 1.0)[0] == [0, 1]
    # one cut alone may be a better bound than all of them
    assert left([0.0, 1e-300, 0.0, 0.0], 1.0) == ([0], 0.5)
    assert left([0.0, 0.0, 0.0, 0.0], 1.0) == ([0], 0.5)
    assert left([0.0, 1e-7, 1.0 - 1e-7, 0.0], 1.0)[0] == [0]


@pytest.mark.parametrize(
    ("given", "found"), [("auto", "bundle"), ("bundle", "bundle"), ("cutting_plane",) * 2]
)
def test_names_of_solvers(given, found):
    assert structured.check_solver(given) == found


def test_other_names_are_refused():
    with pytest.raises(InvalidParameterError, match="'auto', 'bundle', 'cutting_plane'"):
        structured.check_solver("simplex")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_result_is_certified_anew(rng, dtype):
    _, X, y = score_problem_of(rng, dtype=dtype)
    oracle, seen = hinges(y), []
    for solver in ("bundle", "cutting_plane"):
        found = structured.train(
            X, oracle, 5.0, tol=1e-5, solver=solver, report=lambda state: seen.append(state.n_iter)
        )
        wide = X.astype(float)
        primal = 0.5 * found.w @ found.w + 5.0 * oracle(wide @ found.w).value
        assert found.primal == pytest.approx(primal, rel=1e-14)
        A = found.coefficients.toarray()
        pull = found.weights @ A @ wide
        assert found.weights.min() > 0
        assert found.weights.sum() == pytest.approx(5.0)
        assert found.dual == pytest.approx(
            found.weights @ found.offsets - 0.5 * pull @ pull, rel=1e-13
        )
        assert found.gap == (found.primal - found.dual) / found.primal <= 1e-5
        assert (found.solver, found.interrupted, found.stopped) == (solver, False, False)
        last = found.history[-1]
        assert (last["primal"], last["dual"], last["gap"]) == (found.primal, found.dual, found.gap)
        assert (last["iteration"], last["oracle_calls"]) == (found.n_iter, found.n_oracle)
        assert seen == list(range(1, found.n_iter + 1))
        seen.clear()
        np.testing.assert_array_equal(np.array(list(found.cuts())), A)
        ranked = found.rankings(lambda a: np.arange(len(y)) * int(a[0] != 0), len(y))
        np.testing.assert_array_equal(ranked, (A[:, :1] != 0) * np.arange(len(y)))
        again = structured.train(
            X, oracle, 5.0, tol=1e-3, start=found.w, cuts=zip(found.offsets, A, strict=True)
        )
        assert (again.n_iter == 0) == (dtype == np.float64)
        stopped = structured.train(
            X, oracle, 5.0, tol=1e-9, solver=solver, report=lambda state: state.n_iter == 2
        )
        assert (stopped.n_iter, stopped.stopped, stopped.interrupted) == (2, True, False)
