"""The small quadratic programs and the stores of the trainers, against naive twins."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InseparableError
from fast.solvers import hard_margin, interior_point, simplex_qp
from fast.solvers.cuts import Cuts, Product
from fast.solvers.hard_margin import Margins


def by_faces(A, c):
    """min 1/2 ||A'x||^2 + <c, x> over the simplex: stationary points of every face."""
    best, unit = np.inf, max(np.abs(A).max(), np.sqrt(np.abs(c).max()))
    A, c = A / unit, c / unit**2
    for size in range(1, len(c) + 1):
        for face in map(list, combinations(range(len(c)), size)):
            K = np.zeros((size + 1, size + 1))
            K[:size, :size] = A[face] @ A[face].T
            K[size, :size] = K[:size, size] = 1.0
            x = np.linalg.lstsq(K, np.append(-c[face], 1.0), rcond=None)[0][:size]
            if (x >= -1e-12).all() and abs(x.sum() - 1.0) < 1e-9:
                best = min(best, 0.5 * np.sum((A[face].T @ x) ** 2) + c[face] @ x)
    return best * unit**2


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("seed", range(6))
def test_simplex_program(seed, scale):
    rng = np.random.default_rng(seed)
    m, d = rng.integers(2, 7), rng.integers(1, 5)
    A, c = scale * rng.standard_normal((m, d)), rng.standard_normal(m)
    if seed % 2:
        A[1], c[1] = A[0], c[0]  # a repeated row
    found = simplex_qp.minimise(A, c, 0.0)
    size = max(np.abs(A @ A.T).max(), np.abs(c).max())
    for start in np.eye(m):  # also where it is far
        warm = simplex_qp.minimise(A, c, 1e-10 * size, start=start)
        assert warm.gap <= 1e-10 * size
        assert (warm.x >= 0.0).all()
        assert warm.x.sum() == pytest.approx(1.0, rel=1e-14)
    assert (found.x >= 0.0).all()
    assert found.x.sum() == pytest.approx(1.0, rel=1e-14)
    value = 0.5 * np.sum((A.T @ found.x) ** 2) + c @ found.x
    size = max(np.sum(A**2, axis=1).max(), np.abs(c).max())
    assert 0.0 <= found.gap <= 1e-11 * size
    assert value == pytest.approx(by_faces(A, c), abs=1e-11 * size)


def test_simplex_program_with_one_vertex_and_without_curvature():
    assert simplex_qp.minimise(np.ones((1, 3)), np.ones(1), 0.0).x == 1.0
    flat = simplex_qp.minimise(np.zeros((3, 2)), np.array([2.0, 1.0, 3.0]), 1e-12)
    np.testing.assert_allclose(flat.x, [0.0, 1.0, 0.0], atol=1e-11)
    same = simplex_qp.minimise(np.zeros((3, 2)), np.ones(3), 0.0)
    assert same.gap == 0.0


def test_two_equalities():
    """Nearest points of two segments: (0,0)-(0,2) and (1,1)-(3,1), at distance 1."""
    points = np.array([[0.0, 0.0], [0.0, 2.0], [-1.0, -1.0], [-3.0, -1.0]])
    sums = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    x = interior_point.minimise(points, np.zeros(4), sums, np.ones(2), np.full(4, 0.5), 1e-14)
    np.testing.assert_allclose(x, [0.5, 0.5, 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(sums @ x, 1.0, rtol=1e-12)


@pytest.mark.parametrize("n", [4, 50, 3000])
def test_separation_is_feasible_and_nearly_shortest(n):
    rng = np.random.default_rng(n)
    signs = np.where(rng.permutation(n) < n // 2, 1.0, -1.0)
    X = rng.standard_normal((n, 3))
    X[:, 0] = signs * (1.0 + np.abs(X[:, 0]))
    margins = Margins(sp.csr_array(X), signs)
    found = hard_margin.separate(margins, accuracy=1e-6)
    reached, b = margins.of(found.w)
    np.testing.assert_allclose(reached, signs * (X @ found.w + b), rtol=1e-12)
    assert reached.min() == pytest.approx(1.0)
    rough = hard_margin.separate(margins)
    assert np.linalg.norm(rough.w) <= 1.06 * np.linalg.norm(found.w)
    for other in np.random.default_rng(0).standard_normal((300, 3)) * 0.05 + found.w:
        least = margins.of(other)[0].min()
        if least > 0.0:
            assert np.linalg.norm(other / least) >= np.linalg.norm(found.w) * (1 - 1e-5)


def test_touching_hulls_are_inseparable():
    X, signs = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    with pytest.raises(InseparableError) as error:
        hard_margin.separate(Margins(X, signs))
    np.testing.assert_allclose(error.value.mu, [0.0, 0.5, 0.5, 0.0], atol=1e-15)
    assert error.value.norm == 0.0


def test_products_in_both_precisions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4000)).astype(np.float32)  # several blocks
    w, a = rng.standard_normal(4000), rng.standard_normal((2, 300))
    for data in (X, sp.csr_array(X), X.astype(np.float64)):
        product = Product(data)
        wide = X.astype(np.float64)
        np.testing.assert_allclose(product.scores(w), wide @ w, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(product.gradients(a[0]), wide.T @ a[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            product.gradients(sp.csr_array(a)), a @ wide, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(product.scores(w, exact=False), wide @ w, atol=1e-3)
        np.testing.assert_allclose(product.gradients(a[0], exact=False), wide.T @ a[0], atol=1e-3)


def test_cuts_grow_forget_and_do_not_repeat():
    rng = np.random.default_rng(1)
    X, A = rng.standard_normal((9, 3)), rng.standard_normal((20, 9))
    A[np.abs(A) < 0.5] = 0.0
    cuts = Cuts(9, 3, capacity=2)
    for t in range(20):
        assert cuts.add(float(t), A[t], A[t] @ X)
        assert not cuts.add(float(t), A[t].copy(), A[t] @ X)
    kept = np.array([0, 3, 4, 19])
    cuts.keep(kept)
    assert cuts.add(5.0, A[5], A[5] @ X)
    kept = np.append(kept, 5)
    np.testing.assert_array_equal(cuts.b, kept)
    np.testing.assert_array_equal(cuts.coefficients().toarray(), A[kept])
    np.testing.assert_allclose(cuts.G, A[kept] @ X, rtol=1e-14)
    np.testing.assert_allclose(cuts.gram, cuts.G @ cuts.G.T, rtol=1e-14, atol=1e-14)
    cuts.recompute(Product(X.astype(np.float32)))
    np.testing.assert_allclose(cuts.G, A[kept] @ X.astype(np.float32).astype(float), atol=1e-14)
