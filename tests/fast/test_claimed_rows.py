"""The compiled bounds of a multiclass model: those of numpy, and on the right side of the truth."""

import numpy as np
import pytest
import scipy.sparse as sp

from fast import TopKSVC
from fast.errors import ContradictionError
from fast.models.multiclass_erm import TopKEntropy, TopKHinge
from fast.solvers.multiclass_bounds import _Level
from fast.solvers.rounding import confirmed

KINDS = ("alpha", "beta")
LOSSES = [TopKHinge.named(v, k, gamma) for v in KINDS for k in (1, 2, 4) for gamma in (0.0, 0.5)]
LOSSES += [TopKEntropy.named(v, k) for v in KINDS for k in (1, 3)]


def level(rng, loss, real, *, n=60, d=7, m=5, sparse=False, feasible=True, kernel=False):
    """A model of no merit; masses that are infeasible have every fault there is."""
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    y, r = np.arange(n) % m, rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.9)
    x = rng.random((n, m)) * (rng.random((n, m)) < 0.6)
    x[np.arange(n), y] = 0.0
    x *= (r * rng.random(n) / (m * max(1.0, x.max())))[:, None]
    if loss.variant == 0 and loss.k > 1:  # equal masses are never above the cap
        x[:] = x.sum(axis=1, keepdims=True) / (m - 1)
    x[np.arange(n), y] = 0.0
    if not feasible:
        x += rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.3)
    W, K = rng.standard_normal((m, d)), None
    if kernel:
        K, A = X @ X.T, -x
        A[np.arange(n), y] = 0.0
        A[np.arange(n), y] = -A.sum(axis=1)
        W, X = np.ascontiguousarray(A.T), None
    elif sparse:
        X = sp.csr_array(X * (rng.random(X.shape) < 0.5))
    dual_variables = sp.csr_array(x) if isinstance(loss, TopKHinge) else x
    return _Level(X, K, W, dual_variables, y, r, loss, real)


@pytest.mark.parametrize("eps", [np.finfo(float).eps, 1e-6])  # larger ones show what they add
@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_compiled_bounds_are_those_of_numpy(monkeypatch, loss, feasible, kind, eps):
    monkeypatch.setattr("fast.solvers.multiclass_bounds.AT_ONCE", 23)
    options = {"feasible": feasible, "sparse": kind == "sparse", "kernel": kind == "kernel"}
    one = level(np.random.default_rng(5), loss, np.float64, **options)
    other = level(np.random.default_rng(5), loss, np.float64, **options)
    assert one.compiled
    other.compiled = False
    one.eps = other.eps = eps
    (primal, dual), (P, D) = one.bounds(), other.bounds()
    assert primal == pytest.approx(P, rel=1e-12)
    assert dual == pytest.approx(D, rel=1e-12, abs=1e-12 * abs(P))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_compiled_bounds_are_outside_those_of_extended_precision(loss):
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        pytest.skip("no extended precision here")
    for seed in range(5):
        primal, dual = level(np.random.default_rng(seed), loss, np.float64).bounds()
        P, D = level(np.random.default_rng(seed), loss, np.longdouble).bounds()
        assert primal >= P
        assert dual <= D
        assert primal - P + D - dual <= 1e-11 * abs(P)


@pytest.mark.parametrize(
    "loss", [TopKHinge.named("alpha", 1, 0.0), TopKHinge.named("beta", 3, 0.0)], ids=str
)
def test_scores_that_overflow_bound_nothing(loss):
    one = level(np.random.default_rng(0), loss, np.float64)
    one.W = one.W * 1e308
    with np.errstate(all="ignore"):
        assert one.bounds()[0] == np.inf


def test_bounds_that_contradict_each_other_certify_nothing():
    with pytest.raises(
        ContradictionError, match=r"2\.5 on the optimum above an upper one 2\.0"
    ) as raised:
        confirmed([np.float64], lambda real: (2.0, 2.5), (2.0, 2.0), 1e-3)
    assert (raised.value.primal, raised.value.dual) == (2.0, 2.5)
    pairs = iter([(3.0, 1.0), (0.5, 0.0)])  # of two arithmetics
    with pytest.raises(ContradictionError):
        confirmed([np.float64, np.longdouble], lambda real: next(pairs), (1.5, 1.5), 1e-9)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_a_fit_whose_bounds_are_wrong_ends_in_an_error(monkeypatch, gamma):
    """Were the lower bound too high, a gap of 0 would be claimed."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    X = np.eye(4)[y] + 0.5 * rng.standard_normal((80, 4))
    TopKSVC(gamma=gamma).fit(X, y)
    bounds = _Level.bounds
    monkeypatch.setattr(_Level, "bounds", lambda self: (bounds(self)[0], 1.01 * bounds(self)[0]))
    with pytest.raises(ContradictionError):
        TopKSVC(gamma=gamma).fit(X, y)
