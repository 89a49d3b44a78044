"""Whatever the scales, no estimator claims a smaller gap than its attributes have."""

import warnings
from fractions import Fraction
from functools import partial

import _problems
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from fast import (
    APSVM,
    LatentAPSVM,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
)
from fast.errors import CollapseWarning
from verification import certificates


def draw(rng):
    n, d, m = int(rng.integers(6, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    y = np.arange(n) % m
    centres = rng.standard_normal((m, d)) * rng.choice([0.3, 3.0])
    X = centres[y] + rng.standard_normal((n, d)) * rng.choice([0.1, 1.0])
    return X * 10.0 ** rng.integers(-6, 9), y


quietly = partial(_problems.quietly, ignored=(ConvergenceWarning, CollapseWarning))


def check(model, X, y, Z=None):
    """The claims against the same numbers in extended precision.

    Those are upper bounds: rounding is in them up to twice in the slacks and twice in the sum.
    """
    found = certificates.trained(model, X, y, Z=Z)
    parts = getattr(found, "parts", (found,))
    names = ("primal_objective_", "dual_objective_")
    claims = np.column_stack([np.ravel(getattr(model, name)) for name in names])
    gaps = np.ravel(getattr(model, "dual_gaps_", model.dual_gap_))
    for part, (primal, dual), gap in zip(parts, claims, gaps, strict=True):
        scale = max(abs(part.primal), abs(part.dual))
        assert gap == pytest.approx((primal - dual) / max(abs(primal), abs(dual)), rel=1e-12)
        assert (part.gap - 4.0 * part.error) / scale <= gap * (1.0 + 1e-14)
        assert part.primal - 4.0 * part.error <= primal * (1.0 + 1e-14)
    return found


def any_model(kind, rng, m, width):
    C, tol = 10.0 ** rng.integers(-8, 9), float(rng.choice([1e-3, 1e-6, 1e-10]))
    limits = {"C": C, "tol": tol, "max_iter": 100}
    if kind == "ranking":
        return APSVM(easy_fraction=float(rng.choice([0.0, 0.5])), **limits)
    if kind == "recall":
        return RecallAtK(k=int(rng.choice([1, m - 1])) if rng.random() < 0.5 else None, **limits)
    if kind == "top":
        return TopPush(**limits)
    if kind == "two views":
        return SVM2KClassifier(
            C_z=10.0 ** rng.integers(-8, 9),
            D=float(rng.choice([0.0, 1.0, 1e4])),
            eps=float(rng.choice([0.0, 0.1])),
            kernel=str(rng.choice(["linear", "rbf"])),
            kernel_z=str(rng.choice(["linear", "rbf"])),
            gamma=width,
            gamma_z=0.5,
            **limits,
        )
    if kind == "plus":
        return SVMPlusClassifier(
            loss=str(rng.choice(["hinge", "squared_hinge"])),
            lam=10.0 ** rng.integers(-4, 5),
            kernel=str(rng.choice(["linear", "linear", "rbf"])),
            kernel_z=str(rng.choice(["linear", "rbf"])),
            gamma=width,  # "scale" computed twice differs by rounding, and so do the kernels
            gamma_z=0.5,
            free_slack=float(rng.choice([0.0, 1.0])),
            nonneg_slack=[None, True, False][rng.integers(3)],
            **limits,
        )
    common = {
        "k": int(rng.integers(1, m)),
        "variant": str(rng.choice(["alpha", "beta"])),
        "fit_intercept": bool(rng.random() < 0.5),
        "kernel": str(rng.choice(["linear", "linear", "rbf"])),
        **limits,
    }
    if kind == "entropy":
        return TopKLogisticRegression(**common)
    return TopKSVC(gamma=float(rng.choice([0.0, 1.0, 1e-4, 1e4])), random_state=0, **common)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "kind", ["hinge", "entropy", "ranking", "recall", "top", "plus", "two views", "plain"]
)
def test_no_gap_is_smaller_than_the_true_one(kind, seed):
    rng = np.random.default_rng(seed)
    X, y = draw(rng)
    model = any_model("plus" if kind == "plain" else kind, rng, int(y.max()) + 1, 1.0 / X.var())
    Z = rng.standard_normal((len(y), 2)) * 10.0 ** rng.integers(-3, 4)
    Z = Z if kind in ("plus", "two views") else None
    if kind == "ranking" or (kind in ("recall", "top") and seed % 2):  # else of all classes
        y = y == 0
    quietly(model, X, y, *(() if Z is None else (Z,)))
    check(model, X, y, Z)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(4))
def test_optima_that_rounding_hides_are_not_claimed(loss, seed, sparse):
    """Optima near 1e-12 beside costs of 1e6: a margin that misses 1 by eps costs more than P."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = 1e6 * (rng.standard_normal((30, 3)) + 6.0 * y[:, None])
    X = sp.csr_array(X) if sparse else X
    model = quietly(SVMPlusClassifier(loss=loss, C=1e6, tol=1e-6), X, y)
    check(model, X, y)


def in_fractions(model, X, y):
    """P and D of a hinge with k = 1, without any rounding."""
    rows = [[Fraction(a) for a in row] for row in X.tolist()]
    W = [[Fraction(a) for a in row] for row in model.coef_.tolist()]
    C, A = Fraction(model.C), model.dual_coef_.toarray().tolist()
    primal = sum(a * a for row in W for a in row) / 2
    dual, V = Fraction(0), [[Fraction(0)] * len(rows[0]) for _ in W]
    for row, own, block in zip(rows, y.tolist(), A, strict=True):
        f = [sum(a * b for a, b in zip(row, w, strict=True)) for w in W]
        margins = [f[j] - f[own] + 1 for j in range(len(W)) if j != own]
        primal += C * max(0, max(margins))
        dual_variables = {
            j: max(Fraction(0), -Fraction(a)) for j, a in enumerate(block) if j != own
        }
        total = sum(dual_variables.values())
        scale = min(Fraction(1), C / total) if total else Fraction(0)
        dual += scale * total
        for j, v in enumerate(V):
            a = scale * (total if j == own else -dual_variables[j])
            V[j] = [b + a * c for b, c in zip(v, row, strict=True)]
    return primal, dual - sum(a * a for row in V for a in row) / 2


def test_a_hinge_that_rounding_hides_warns():
    """Of weights in float64 no margin is 1 to the last bit, which costs C times that bit."""
    hidden = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.arange(24) % 3
        X = 1e7 * (rng.standard_normal((24, 4)) + 8.0 * rng.standard_normal((3, 4))[y])
        model = TopKSVC(C=1e6, tol=1e-3, max_iter=200, solver="active", random_state=0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, y)
        primal, dual = in_fractions(model, X, y)
        assert dual <= primal <= Fraction(model.primal_objective_)
        assert Fraction(model.dual_objective_) <= dual
        if primal - dual > Fraction(1, 1000) * primal:
            hidden += 1
            assert any(issubclass(each.category, ConvergenceWarning) for each in said)
    assert hidden


def test_bags_of_any_scale():
    rng = np.random.default_rng(3)
    for scale, C in ((1e-4, 1e4), (1.0, 1.0), (1e6, 1e4)):
        y = np.arange(12) % 2
        X = scale * (rng.standard_normal((12, 2, 3)) + y[:, None, None])
        check(quietly(LatentAPSVM(C=C, tol=1e-6, max_iter=60, max_rounds=5), X, y), X, y)


def test_a_common_offset_costs_a_ranker_nothing():
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    X = 1e6 + rng.standard_normal((40, 3)) + y[:, None]
    for data in (X, sp.csr_array(X)):
        model = APSVM(C=10.0, tol=1e-4).fit(data, y)
        assert model.dual_gap_ <= 1e-4
        check(model, data, y)


def test_extended_precision_is_not_needed_where_float64_tells_enough(monkeypatch):
    from fast.solvers import multiclass_bounds as claims

    tried = []
    original = claims._Level.bounds
    monkeypatch.setattr(
        claims._Level, "bounds", lambda self: (tried.append(self.real), original(self))[1]
    )
    X, y = load_digits(return_X_y=True)
    model = TopKSVC(C=0.1, random_state=0).fit(X / 16.0, y)
    assert tried == [np.float64]
    tried.clear()
    model = quietly(TopKSVC(C=0.1, tol=1e-12, max_iter=3, random_state=0), X / 16.0, y)
    assert tried == [np.float64, np.longdouble]
    check(model, X / 16.0, y)


@pytest.mark.parametrize(
    "options",
    [{}, {"fit_intercept": True, "warm_start": True}, {"kernel": "rbf"}, {"k": 3}, {"tol": 1e-9}],
    ids=str,
)
def test_softmax_of_many_classes_claims_what_one_pass_finds(options):
    rng = np.random.default_rng(8)
    y = np.arange(300) % 100
    X = rng.standard_normal((100, 100))[y] + rng.standard_normal((300, 100))
    model = TopKLogisticRegression(C=0.3, solver="lbfgs", **options).fit(X, y)
    short = "kernel" not in options and "tol" not in options and "k" not in options
    assert model.dual_coef_.dtype == (np.float32 if short else np.float64)
    assert 0.0 < model.dual_gap_ <= model.tol
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1, dtype=float), 0.0, atol=1e-6)
    check(model, X, y)
    if "warm_start" in options:
        again = model.fit(X, y)
        assert again.n_iter_ <= 2
        check(again, X, y)
