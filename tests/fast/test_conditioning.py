"""Features with offsets and scales: the interior point of every loss, judged in extended precision."""

import _naive_entropy_erm
import _naive_erm
import numpy as np
import pytest
import scipy.sparse as sp
from _problems import quietly
from sklearn.datasets import load_digits

from fast import TopKLogisticRegression, TopKSVC
from fast.models.multiclass_erm import TopKEntropy, TopKHinge, choose_solver, train

LONG = np.longdouble
MODELS = {
    "softmax": (TopKLogisticRegression, {}),
    "alpha": (TopKLogisticRegression, {"k": 2}),
    "beta": (TopKLogisticRegression, {"k": 2, "variant": "beta"}),
    "hinge": (TopKSVC, {"k": 2, "gamma": 0.5}),
    "hinge 1": (TopKSVC, {}),
    "hinge alpha": (TopKSVC, {"k": 2}),
    "hinge beta": (TopKSVC, {"k": 3, "variant": "beta"}),
}
FORMS = ["offset", "large", "small", "mixed", "offset or scale", "offset and scale"]
TOL = 1e-5


def blobs(n=50, d=6, m=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % m
    return rng.standard_normal((m, d))[y] + rng.standard_normal((n, d)), y


def transformed(form, Z):
    d = Z.shape[1]
    scales = 10.0 ** np.resize([-8.0, 0.0, 8.0], d)
    far = 1e6 * (np.arange(d) % 2)
    return {
        "offset": Z + 1e6,
        "large": 1e8 * Z,
        "small": 1e-8 * Z,
        "mixed": Z * scales,
        "offset or scale": np.where(far > 0.0, Z + far, Z * scales),
        "offset and scale": Z * scales + far,
    }[form]


def _dense(A):
    return A.toarray() if sp.issparse(A) else A


def judged(model, X, y, r=None):
    """Relative gap of the model, which must not be better than it says."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, LONG)
    W, A, at = model.coef_, model.dual_coef_, np.searchsorted(model.classes_, y)
    r = np.full(len(y), model.C) if r is None else r
    if model.fit_intercept:
        X, W = np.column_stack([X, np.ones(len(X), LONG)]), np.column_stack([W, model.intercept_])
    A, W = _dense(A), W.astype(LONG)
    kind = model.variant, model.k
    if isinstance(model, TopKSVC):
        primal = _naive_erm.primal(W, X, at, r, *kind, model.gamma)
        dual = _naive_erm.dual(A.astype(LONG), X, at, r, model.gamma)
    else:
        value = _naive_entropy_erm.loss_value
        primal = _naive_entropy_erm.primal(W, X, at, r, lambda u: value(u, *kind))
        dual = _naive_entropy_erm.dual(A, X, at, r)
    assert _naive_erm.violation(A, at, r, *kind) <= 1e-12 * r.max()
    gap, plain = (primal - dual) / max(abs(primal), abs(dual)), getattr(model, "gamma", 1.0) == 0.0
    rounding = 1e-12 if plain else 1e-9
    assert primal <= model.primal_objective_ * (1.0 + rounding)
    assert dual >= model.dual_objective_ - rounding * abs(primal) - 1e-15 * r.sum()
    assert gap <= model.dual_gap_ or not plain
    return gap


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", MODELS)
def test_offsets_and_scales_certify(loss, form):
    intercept = ([*MODELS].index(loss) + FORMS.index(form)) % 2 == 0  # each has both
    Z, y = blobs(
        n=90 if loss.startswith("hinge") else 50
    )  # 50 can be separated: P is below the rounding of losses
    X = transformed(form, Z)
    cls, params = MODELS[loss]
    model = cls(**params, tol=TOL, fit_intercept=intercept).fit(X, y)
    assert model.dual_gap_ <= TOL
    assert judged(model, X, y) <= TOL * (1.0 + 1e-6)
    if form != "small":
        assert model.solver_ == "interior"


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_truncated(form, intercept):
    Z, y = blobs(n=80, m=3)
    X = transformed(form, Z)
    model = TopKLogisticRegression(k=2, truncated=True, tol=TOL, fit_intercept=intercept).fit(X, y)
    assert model.dual_gap_ <= TOL
    assert (np.diff(model.truncated_objectives_) <= 0.0).all()


def shapes():
    """Features that differ in more than offset and scale."""
    Z, y = blobs()
    rng = np.random.default_rng(1)
    X = transformed("offset or scale", Z)
    return {
        "correlated": (X @ (np.eye(6) + 0.999), y),
        "constant": (np.column_stack([X, np.full(len(X), 3e8)]), y),
        "duplicated": (np.column_stack([X, X[:, 1], 1e3 * X[:, 2]]), y),
        "zero": (np.column_stack([X, np.zeros(len(X))]), y),
        "all zero but one": (np.column_stack([0.0 * X, X[:, 1]]), y),
        "wide": (transformed("offset or scale", rng.standard_normal((12, 30))), np.arange(12) % 3),
        "one": (1e8 * Z[:, :1], y),
        "one far": (Z[:, :1] + 1e6, y),
        "two classes": (X, y % 2),
        "sparse": (sp.csr_array(np.where(np.abs(Z) > 1.0, Z, 0.0) * 10.0 ** np.arange(-8, 10, 3)), y),
        "single": (X.astype(np.float32), y),
        "tiny": (X * 1e-30, y),
        "larger": (X * 1e3, y),
        "separable": (Z + 20.0 * np.eye(4, 6)[y], y),
        "repeated": (np.repeat(Z[:12], 4, axis=0), np.repeat(y[:12], 4)),
        "zeros": (0.0 * Z, y),
    }  # fmt: skip


@pytest.mark.parametrize("name", shapes())
@pytest.mark.parametrize("loss", ["softmax", "alpha", "hinge 1", "hinge alpha", "hinge beta"])
def test_other_features(loss, name):
    X, y = shapes()[name]
    cls, params = MODELS[loss]
    params = params if name != "two classes" else {}
    params = params if name != "wide" or params.get("k", 1) < 3 else {"variant": "beta", "k": 2}
    tol = (1e-5 if name == "duplicated" else 1e-6) if loss.startswith("hinge") else 1e-4
    model = cls(**params, tol=tol, fit_intercept=True, max_iter=200)
    model.set_params(solver="interior" if loss.startswith("hinge") else "auto")
    model = quietly(model, X, y)
    assert model.dual_gap_ <= tol
    assert judged(model, X, y) <= tol


@pytest.mark.parametrize("loss", ["softmax", "alpha", "beta", "last"])
def test_separable_classes(loss):
    """Pixels that few images have, some of them large: Newton's steps would not end."""
    X, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < 4)[:300]
    X, y = X[kept][:, ::2] / 16.0, y[kept]
    X = X * 10.0 ** np.resize([-8.0, 0.0, 8.0], 32)
    params = {"last": {"k": 3}}.get(loss) or MODELS[loss][1]
    model = TopKLogisticRegression(**params, tol=1e-4).fit(X, y)
    assert model.solver_ == "interior"
    assert model.dual_gap_ <= 1e-4
    assert judged(model, X, y) <= 1e-4 + 1e-15 * len(y) / model.primal_objective_


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("form", ["offset", "mixed", "offset or scale"])
@pytest.mark.parametrize("loss", ["softmax", "hinge 1", "hinge alpha", "hinge beta"])
def test_any_regularisation(loss, form, C):
    Z, y = blobs(n=80, d=3)
    X = transformed(form, Z)
    cls, params = MODELS[loss]
    assert judged(cls(**params, C=C, tol=1e-4).fit(X, y), X, y) <= 1e-4


@pytest.mark.parametrize("loss", ["softmax", "hinge alpha"])
def test_examples_without_weight_do_not_count(loss):
    """Nor for what is large: one of them would otherwise take all digits."""
    Z, y = blobs()
    X = transformed("offset or scale", Z)
    weight = 0.5 + np.arange(len(y)) % 3
    weight[::5] = 0.0
    wild = np.where(weight[:, None] > 0.0, X, 1e40)
    cls, params = MODELS[loss]
    model = cls(**params, tol=TOL).fit(wild, y, sample_weight=weight)
    assert judged(model, wild, y, weight) <= TOL
    assert not _dense(model.dual_coef_)[weight == 0.0].any()
    alone = cls(**params, tol=TOL).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert model.primal_objective_ == pytest.approx(alone.primal_objective_, rel=TOL)


def test_interrupted_and_resumed():
    Z, y = blobs()
    X = transformed("mixed", Z)
    loss = TopKEntropy.named("alpha", 2)

    def stop(state):
        if state.n_iter == 4:
            raise KeyboardInterrupt
        return False

    broken = train(X, y, 1.0, 4, loss, tol=TOL, report=stop)
    assert broken.interrupted
    assert broken.n_iter == 4
    f = X @ broken.W.T
    assert broken.primal == pytest.approx(
        0.5 * np.vdot(broken.W, broken.W) + loss.values(f, y).sum(), rel=1e-9
    )
    whole = train(X, y, 1.0, 4, loss, tol=TOL)
    assert train(X, y, 1.0, 4, loss, tol=TOL, weights=broken.W).gap <= TOL
    assert train(X, y, 1.0, 4, loss, tol=TOL, start=whole.dual_variables).gap <= TOL


def test_choice(monkeypatch):
    Z, y = blobs()
    far, r = transformed("offset", Z), np.ones(len(y))
    smooth, hinge = TopKHinge.named("alpha", 1, 1.0), TopKHinge.named("alpha", 1, 0.0)
    assert choose_solver("auto", far, r, smooth) == "interior"
    assert choose_solver("auto", far, r, hinge) == "interior"
    assert choose_solver("auto", Z, r, smooth, 2) == choose_solver("auto", Z, r, hinge, 2) == "interior"
    size = float(np.mean(np.square(Z).sum(axis=1)))  # mean r_i ||x_i||^2, where that is 1
    for loss, least in ((hinge, 1.0), (smooth, 5.0)):
        assert choose_solver("auto", Z, np.full(len(y), 1.01 * least / size), loss, 2) == "interior"
        assert choose_solver("auto", Z, np.full(len(y), 0.99 * least / size), loss, 2) == "active"
    monkeypatch.setattr("fast.solvers.solver_selection.POLISHED_SIZE", 2 * Z.size)
    assert choose_solver("auto", Z, r, hinge, 2) == "interior"
    monkeypatch.setattr("fast.solvers.solver_selection.POLISHED_SIZE", 2 * Z.size - 1)
    assert choose_solver("auto", Z, r, hinge, 2) == choose_solver("auto", Z, r, smooth, 2) == "active"
    small = transformed("small", Z)  # one scale for all
    assert choose_solver("auto", small, r, hinge, 4) == "active"
    assert choose_solver("newton", far, r, smooth) == "newton"
    with pytest.raises(ValueError, match="curvature"):
        choose_solver("newton", far, r, hinge)
    monkeypatch.setattr("fast.solvers.solver_selection.AT_ONCE", 1)  # too many weights
    assert choose_solver("auto", far, r, smooth) == "active"
