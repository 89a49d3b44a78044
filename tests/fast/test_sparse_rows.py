"""The engine for CSR data: kernels against dense products, passes against the class lists' own."""

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import HINGE, SMOOTH, objectives, run

from fast import TopKSVC, datasets
from fast.families.hinges import Hinge
from fast.models import multiclass_erm
from fast.solvers import sparse_rows
from fast.solvers.active_set import ActiveSetSolver
from fast.solvers.rows import squared_norms
from fast.solvers.sparse_set import SparseSetSolver

KINDS = ["plain", "unsorted", "duplicates", "long indices", "float32", "one nonzero"]
X, Y = datasets.make_text(800, 8, 1500, words=30, random_state=0)


def awkward(kind, n=40, d=1100, m=5, seed=0):
    """Few nonzeros, more features than examples, an empty row; in memory as nobody would choose."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, d)) * (rng.random((n, d)) < 0.1)
    dense[np.arange(n), np.arange(n) % m] += 0.3 * rng.random(n)
    dense[3] = 0.0
    if kind == "one nonzero":
        dense *= np.arange(d) == dense.argmax(axis=1)[:, None]
    A = sp.csr_array(dense)
    if kind == "unsorted":
        for i in range(n):
            own = slice(*A.indptr[i : i + 2])
            A.indices[own], A.data[own] = A.indices[own][::-1].copy(), A.data[own][::-1].copy()
        A.has_sorted_indices = False
    if kind == "duplicates":
        parts = np.repeat(A.data * 0.5, 2), np.repeat(A.indices, 2), 2 * A.indptr
        A = sp.csr_array(parts, shape=A.shape)
    if kind == "long indices":
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return (A.astype(np.float32) if kind == "float32" else A), np.arange(n) % m


@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_dense_matrices(kind):
    A, y = awkward(kind)
    m, atol = sparse_rows.CHUNK + 7, 1e-5 if kind == "float32" else 1e-12
    rng, dense, rows = np.random.default_rng(1), A.toarray(), sparse_rows.parts(A)
    V, f = rng.standard_normal((A.shape[1], m)), np.empty((30, m))
    sparse_rows.block_scores(rows, V, 10, f)
    np.testing.assert_allclose(f, dense[10:] @ V, atol=atol)
    for density in (0.05, 0.5):  # scattered classes, and all of them
        B = sp.random_array((40, m), density=density, format="csr", rng=rng)
        expected = V + dense.T @ B.toarray()
        sparse_rows.pull_rows(rows, sparse_rows.parts(B), V, np.empty(m))
        np.testing.assert_allclose(V, expected, atol=atol)
    np.testing.assert_allclose(squared_norms(A), (dense**2).sum(axis=1), rtol=1e-6)
    trainer = SparseSetSolver(A, y, np.ones(40), 5, HINGE, 0)
    assert run(trainer, tol=1e-7).gap <= 1e-7


@pytest.mark.parametrize("loss", [HINGE, SMOOTH, Hinge.named("beta", 3, 0.0)], ids=str)
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_optimum_bounds_and_memory_are_those_of_the_definition(loss, C):
    r = np.full(len(Y), C)
    r[:3] = 0.0
    found = multiclass_erm.train(X, Y, r, 8, loss, tol=1e-8, solver="active")
    P, D = objectives(loss, X.toarray(), Y, r, found.W, found.dual_variables)
    assert D - 1e-13 * P <= found.primal <= P + 1e-12 * (P + r.sum())
    assert found.bounds[0] >= P * (1 - 1e-14)
    assert found.bounds[1] <= D + 1e-14 * P
    assert found.W.flags.f_contiguous
    other = run(ActiveSetSolver(X, Y, r, 8, loss, 0), tol=1e-8)
    assert other.W.flags.c_contiguous
    assert max(found.dual, other.dual) <= min(found.primal, other.primal)


@pytest.mark.parametrize("single", [False, True])
def test_starts_and_ends(single, monkeypatch):
    """From another dual, in float32, beyond all digits, and interrupted."""
    if single:
        monkeypatch.setattr("fast.solvers.sparse_set.SMALL", 0)
    model = TopKSVC(C=0.5, tol=1e-4, warm_start=True, random_state=0).fit(X, Y)
    again = model.set_params(C=1.0, tol=1e-6).fit(X, Y)
    assert again.dual_gap_ <= 1e-6
    loss = Hinge.named("alpha", 1, 0.0)
    last = multiclass_erm.train(X, Y, 1.0, 8, loss, tol=1e-17, max_iter=100)
    assert last.n_iter < 100
    assert last.gap < 1e-11
    assert last.bounds is None

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseSetSolver, "_judge", stop)
    found = multiclass_erm.train(X, Y, 1.0, 8, loss)
    assert found.interrupted
    assert found.bounds is None
    assert (found.W == 0.0).all()


def test_features_that_are_alike_are_left_to_newtons_steps(monkeypatch):
    monkeypatch.setattr("fast.solvers.sparse_set.CRAWL", -1)
    A = sp.csr_array(sp.hstack([X, sp.csr_array(np.ones((len(Y), 3)))], format="csr"))
    seen = []
    found = multiclass_erm.train(
        A, Y, 1.0, 8, HINGE, tol=1e-9, report=lambda state: seen.append(state.dual)
    )
    assert found.gap <= 1e-9
    assert found.n_iter == len(seen) > 1
    P, D = objectives(HINGE, A.toarray(), Y, np.ones(len(Y)), found.W, found.dual_variables)
    np.testing.assert_allclose((P, D), (found.primal, found.dual), rtol=1e-12)
    seen.clear()

    def stop(state):
        seen.append(state.dual)
        if len(seen) == 3:  # the second certificate of the lists
            raise KeyboardInterrupt

    found = multiclass_erm.train(A, Y, 1.0, 8, HINGE, tol=1e-9, report=stop)
    assert found.interrupted
    assert found.dual >= (1 - 1e-12) * seen[2] > seen[0]
