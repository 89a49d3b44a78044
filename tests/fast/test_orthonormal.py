"""Coordinates without scales, and Newton matrices in them, beside their definitions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, qr

from fast.families import named
from fast.solvers import orthonormal
from fast.solvers.kronecker import SMALL, Factor, _shared, assemble
from fast.solvers.orthonormal import Orthonormal, badly_scaled
from fast.solvers.simplex_interior import SimplexInteriorSolver

EPS = float(np.finfo(float).eps)
HARD = ["plain", "scaled", "offset", "both", "dependent", "wide", "one", "empty", "constant"]
HARD += ["centred", "repeated", "uneven"]


def _data(name):
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((8, 20) if name == "wide" else (60, 6))
    scales = 10.0 ** np.resize([-8, 0, 8], Z.shape[1])
    W = rng.standard_normal((30, 700))
    moved = Z + 1e6 * (np.arange(Z.shape[1]) % 2)
    return {
        "plain": Z,
        "scaled": Z * scales,
        "offset": moved,
        "both": moved * scales,
        "dependent": np.hstack([moved * scales, moved[:, :2] * 1e8, 0.0 * Z + 1.0, 0.0 * Z]),
        "wide": moved * scales,
        "one": Z[:, :1],
        "empty": 0.0 * Z,
        "constant": np.full((5, 2), 3e8),
        "centred": W - W.mean(axis=0),
        "repeated": np.vstack([W, W[:15]]),
        "uneven": (W - W.mean(axis=0)) * 10.0 ** np.resize([-9, -3, 0, 3, 9], W.shape[1]),
    }[name]


@pytest.mark.parametrize("name", HARD)
def test_factors_weights_and_metric_are_what_they_say(name):
    X = _data(name)
    found = Orthonormal(X)
    p = found.Q.shape[1]
    assert np.abs(found.Q.T @ found.Q - np.eye(p)).max(initial=0.0) < 100 * EPS
    norms = np.linalg.norm(X, axis=0)
    assert (np.abs(found.Q @ found.R - X).max(axis=0) <= 100 * EPS * norms).all()
    U = np.random.default_rng(1).standard_normal((3, p))
    W = found.weights(U)
    reach = (np.abs(W) @ np.abs(X).max(axis=0)).max(initial=0.0)
    assert np.abs(X @ W.T - found.Q @ U.T).max() <= 100 * EPS * max(reach, 1.0)
    size = float((W * W).sum())
    assert float(np.sum((U @ found.metric) * U)) == pytest.approx(size, rel=1e-10)
    assert pytest.approx(U, abs=1e3 * EPS * max(reach, 1.0)) == W @ found.R.T


@pytest.mark.parametrize("name", ["plain", "scaled", "offset", "dependent", "wide", "constant"])
def test_no_other_weights_with_these_scores_are_smaller(name):
    """W is orthogonal to what changes no score: it lies in the row space of X, column by column."""
    X = _data(name)
    found = Orthonormal(X)
    W = found.weights(np.random.default_rng(2).standard_normal((2, found.Q.shape[1])))
    free = np.zeros((len(found.others), X.shape[1]))
    free[:, found.basis] = -found.F.T
    free[np.arange(len(free)), found.others] = 1.0
    sizes = np.abs(free) @ np.abs(W).T
    assert (np.abs(free @ W.T) <= 1e-12 * np.maximum(sizes, 1e-300)).all()


def test_ranks_are_relative_to_each_column():
    """A column of size 1e-8 counts beside one of 1e8; a sum of two others does not."""
    Z = np.random.default_rng(3).standard_normal((30, 3))
    X = np.column_stack([1e8 * Z[:, 0], 1e-8 * Z[:, 1], Z[:, 2], 1e8 * Z[:, 0] + Z[:, 2], Z[:, 1]])
    assert Orthonormal(X).Q.shape[1] == 3


@pytest.mark.parametrize("name", ["centred", "repeated", "uneven"])
def test_columns_that_depend_on_others_are_dropped_at_once(name, monkeypatch):
    """Wide rows of smaller rank: some factorisations, not one for every few of hundreds of columns."""
    done = []

    def counted(*args, **options):
        done.append(1)
        return qr(*args, **options)

    monkeypatch.setattr(orthonormal, "qr", counted)
    X = _data(name)
    assert Orthonormal(X).Q.shape[1] == (30 if name == "repeated" else 29)
    assert len(done) <= 3


def test_badly_scaled_names_the_columns():
    Z = np.random.default_rng(4).standard_normal((50, 4))
    far, uneven = np.array([0.0, 1e6, 0.0, 0.0]), np.array([1.0, 1e8, 1.0, 1e-8])
    assert badly_scaled(Z) == {}
    assert badly_scaled(np.zeros((3, 2))) == {}
    assert badly_scaled(100.0 * Z + 300.0) == {}
    assert set(badly_scaled(Z + far)) == {1}
    assert set(badly_scaled(sp.csr_array(Z + far))) == {1}
    assert set(badly_scaled((Z + far).astype(np.float32))) == {1}
    assert set(badly_scaled(Z + 1e6 * far)) == {1}
    assert "about 1e+06" in badly_scaled(Z + far)[1]
    assert set(badly_scaled(Z * uneven)) == {1, 3}
    assert set(badly_scaled(1e8 * Z)) == {0, 1, 2, 3}
    assert badly_scaled(np.hstack([Z, np.full((50, 1), 7.0)])) == {}  # constant, but not far


def test_what_is_affordable():
    for shape in ((3000, 2), (2, 3000)):  # few rows or few columns: either will do
        X = np.ones(shape)
        SimplexInteriorSolver(
            X, np.arange(len(X)) % 2, np.ones(len(X)), 2, named("multiclass_hinge"), 0
        )


@pytest.mark.parametrize("p", [1, 5, 45])
@pytest.mark.parametrize("signs", [1, 2])
def test_newton_matrix_beside_its_sum(p, signs, monkeypatch):
    monkeypatch.setattr("fast.solvers.kronecker.MANY", 256)
    rng = np.random.default_rng(5)
    n, m = 600, 4
    K = -rng.uniform(0.5, 1.0, (n, m, m)) * rng.choice([1, -1][:signs], (n, m, m))
    K = np.tril(K, -1) + np.tril(K, -1).swapaxes(1, 2)
    lower = np.tril_indices(m, -1)
    packed = K[:, lower[0], lower[1]]
    K -= np.einsum("ij,jk->ijk", K.sum(axis=2), np.eye(m))
    Q, y, G = rng.standard_normal((n, p)), np.arange(n) % m, np.diag(np.arange(1.0, p + 1))
    H = assemble(G, lambda first, last: packed[first:last], Q, y, m)
    terms = [(np.eye(m) - 1.0 / m, G), *zip(K, np.einsum("ni,nj->nij", Q, Q), strict=True)]
    naive = sum(np.kron(k[:-1, :-1], q) for k, q in terms)
    sizes = sum(np.kron(abs(k[:-1, :-1]), abs(q)) for k, q in terms)
    assert (np.abs(H - naive) <= 4 * (n + m) * EPS * sizes).all()


def test_what_two_classes_share():
    K, y = np.random.default_rng(1).standard_normal((6, 6)), np.array([0, 1, 2, 3, 1, 2])
    pairs = list(zip(*np.tril_indices(4, -1), strict=True))
    for i, own in enumerate(y):
        others = [
            abs(K[i, pairs.index((max(a, own), min(a, own)))]) if a != own else 0.0
            for a in range(4)
        ]
        np.testing.assert_array_equal(_shared(K, y, 4)[:, i], SMALL * np.array(others))


def test_small_terms_may_be_left_out():
    """What two others share beside much more shared with the true class: 2 SMALL (m - 2) of it."""
    rng = np.random.default_rng(6)
    n, m, p = 300, 5, 45
    x = np.concatenate(
        [rng.uniform(0.9, 1.0, (n, 1)), 10.0 ** rng.uniform(-6, -1, (n, m - 1))], axis=1
    )
    y = np.arange(n) % m
    x = np.take_along_axis(x, (np.arange(m) - y[:, None]) % m, axis=1)
    lower = np.tril_indices(m, -1)
    packed = -x[:, lower[0]] * x[:, lower[1]]
    Q, G = rng.standard_normal((n, p)), np.eye(p)
    found = assemble(G, lambda first, last: packed[first:last], Q, y, m)
    K = np.einsum("ij,jk->ijk", x, np.eye(m)) * x.sum(axis=1)[:, None, None] - np.einsum(
        "ij,ik->ijk", x, x
    )
    terms = [(np.eye(m) - 1.0 / m, G), *zip(K, np.einsum("ni,nj->nij", Q, Q), strict=True)]
    naive = sum(np.kron(k[:-1, :-1], q) for k, q in terms)
    ratios = eigh(found, naive, eigvals_only=True)
    assert 1.0 - 2.0 * SMALL * (m - 2) <= ratios.min() < 1.0 - 1e-6
    assert ratios.max() <= 1.0 + 1e-9


def test_solving_does_not_feel_the_scale_and_forgives_lost_pivots():
    B = np.random.default_rng(6).standard_normal((9, 6))
    scale = 10.0 ** np.array([-30, -12, 0, 3, 12, 40])
    H = B.T @ B * scale * scale[:, None]
    x = Factor(H).solve(np.ones((2, 3))).ravel()
    exact = _solved(H, np.ones(6))
    assert x == pytest.approx(exact, rel=1e-9, abs=0.0)
    several = Factor(H).solve(np.ones((3, 6)))
    assert several == pytest.approx(np.tile(exact, (3, 1)), rel=1e-9, abs=0.0)
    assert np.isfinite(Factor(np.ones((4, 4))).solve(np.ones(4))).all()


def _solved(H, right):
    """By elimination in rational numbers."""
    rows = [[*map(Fraction, row), Fraction(b)] for row, b in zip(H, right, strict=True)]
    for i, row in enumerate(rows):
        row[:] = [entry / row[i] for entry in row]
        for other in rows:
            if other is not row:
                factor = other[i]
                other[:] = [a - factor * b for a, b in zip(other, row, strict=True)]
    return np.array([float(row[-1]) for row in rows])
