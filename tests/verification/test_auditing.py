"""`fast.audit`: anybody's weights, against the judge's certificates, naive formulas and optima found elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from _naive_losses import loss_value
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import LinearSVC

import fast
from fast.auditing import audit
from fast.data import npy, rows
from fast.errors import FastError, InvalidParameterError, InvalidTypeError
from verification.certificates import erm

N, D, M = 60, 5, 4
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
Y = (X @ RNG.standard_normal((D, M)) + RNG.standard_normal((N, M))).argmax(axis=1)
NAMES = np.array(["d", "a", "c", "b"])  # labels of the classes 0..3
LOOSE = {name: {} for name in ("softmax", "ova_logistic", "ova_squared_hinge")}
LOOSE["ova_smooth_hinge"] = {"gamma": 0.5}
SHARP = ("multiclass_hinge", "ova_hinge")
TIGHT = {"tol": 1e-10, "max_iter": 20_000}


def objective(loss, W, b, y, C, w=1.0, regularised=0.0):
    """P of the naive formula."""
    return C * np.sum(w * loss_value(loss, X @ W.T + b, y)) + (W * W).sum() / 2.0 + regularised


def least(loss, y, C, m):
    """min P by a quasi-Newton method of scipy, for smooth losses; W and b."""

    def split(v):
        return v.reshape(m, D + 1)[:, :D], v.reshape(m, D + 1)[:, D]

    found = minimize(lambda v: objective(loss, *split(v), y, C), np.zeros(m * (D + 1)), tol=1e-10)
    return found.fun, *split(found.x)


@pytest.mark.parametrize(
    ("loss", "settings", "form"),
    [("softmax", {}, np.asarray), ("softmax", {}, sp.csr_array), ("softmax", {}, np.float32),
     ("topk_entropy_alpha", {"k": 2}, np.asarray), ("topk_entropy_beta", {"k": 2}, sp.csr_array),
     ("smooth_topk_hinge_alpha", {"k": 2, "gamma": 1.0}, np.float32), ("ova_logistic", {}, sp.csr_array),
     ("ova_smooth_hinge", {"gamma": 0.5}, np.float32), ("ova_smooth_hinge", {"gamma": 0.5}, np.asarray)],
)  # fmt: skip
def test_one_pass_says_what_the_judge_says(loss, settings, form):
    C, w, W = 0.3, RNG.uniform(0.0, 2.0, N), 0.1 * RNG.standard_normal((M, D))
    given = {"loss": loss, "C": C, "sample_weight": w, **settings}
    found, judged = audit(W, form(X), Y, **given), erm(W, form(X), Y, **given)
    assert found.passes == 1
    assert 0.0 <= found.primal - float(judged.primal) <= 1e-11 * found.primal
    # a multiple of its point may be better
    assert found.dual >= float(judged.dual) - 1e-11 * found.primal
    best = audit(W, form(X), Y, refit=True, tol=1e-9, **given)
    assert found.dual <= best.dual <= best.optimum.primal <= found.primal
    assert best.optimum.relative_gap < 1e-8


@pytest.mark.parametrize("away", [0.0, 1e-4, 0.1, 3.0])
@pytest.mark.parametrize("m", [1, M])
@pytest.mark.parametrize("loss", LOOSE)
def test_a_free_intercept_keeps_its_bound_and_its_sharpness(loss, m, away):
    y, C, rng = (Y if m > 1 else np.minimum(Y, 1)), 0.7, np.random.default_rng(1)
    optimum, W, b = least(loss, y, C, m)
    W, b = W + away * rng.standard_normal(W.shape), b + away * rng.standard_normal(m)
    found = audit(W, X, y, loss=loss, C=C, intercept=b, **LOOSE[loss])
    assert found.primal == pytest.approx(objective(loss, W, b, y, C), rel=1e-11)
    assert found.dual <= optimum * (1 + 1e-12)
    if away < 0.01:
        assert found.relative_gap <= 2e3 * away**2 + 1e-7
    again = audit(W, X, y, loss=loss, C=C, intercept=b, refit=True, tol=1e-7, **LOOSE[loss])
    assert again.dual == pytest.approx(optimum, rel=1e-4)
    assert again.least_above == pytest.approx(found.primal / optimum - 1.0, abs=2e-4, rel=1e-3)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("loss", SHARP)
@pytest.mark.parametrize("m", [1, M])
def test_hinges_take_a_dual_or_find_one_and_no_dual_lies(loss, m, free):
    y, C, rng = (Y if m > 1 else np.minimum(Y, 1)), 0.5, np.random.default_rng(2)
    b = 0.1 * rng.standard_normal(m) if free else None
    W = rng.standard_normal((m, D))
    given = {"loss": loss, "C": C, "intercept": b}
    best = audit(W, X, y, refit=True, tol=1e-8, **given)
    if not free:
        assert best.optimum.relative_gap < 1e-8
        assert audit(W, X, y, **given).dual == pytest.approx(best.dual, rel=1e-7)
    assert best.primal == pytest.approx(objective(loss, W, 0.0 if b is None else b, y, C))
    for scale in (0.1, 1.0, 10.0):
        for shift in (0.0, 0.5):
            dual = scale * C * (rng.uniform(size=(N, m)) - shift)
            found = audit(W, X, y, dual=dual, **given)
            assert 0.0 <= found.dual <= best.optimum.primal
            assert audit(W, X, y, dual=sp.csr_array(dual), **given).dual == found.dual
    if m > 1 and loss == "multiclass_hinge" and not free:
        model = fast.TopKSVC(C=C, tol=1e-6).fit(X, y)
        dual_variables = np.maximum(-model.dual_coef_.toarray(), 0.0)
        assert audit(model.coef_, X, y, dual=dual_variables, **given).relative_gap <= 1e-6


MODELS = {
    "softmax": LogisticRegression(C=0.7, **TIGHT),
    "softmax, no intercept": LogisticRegression(C=0.7, fit_intercept=False, **TIGHT),
    "weights of classes": LogisticRegression(C=0.7, class_weight="balanced", **TIGHT),
    "squared hinge": LinearSVC(C=0.4, intercept_scaling=2.5, **TIGHT),
    "hinge": LinearSVC(C=0.4, loss="hinge", **TIGHT),
    "Crammer and Singer": LinearSVC(C=0.4, multi_class="crammer_singer", class_weight="balanced", **TIGHT),
    "liblinear": LogisticRegression(C=0.7, solver="liblinear", intercept_scaling=2.0, **TIGHT),
    "sgd": SGDClassifier(loss="log_loss", alpha=0.05, max_iter=20_000, tol=None, average=True, random_state=0),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "classes"),
    [(name, c) for name in MODELS for c in (2, M) if (name, c) != ("liblinear", M)],
)
def test_models_of_scikit_learn_are_read_with_their_scalings(name, classes):
    model, y = MODELS[name], np.minimum(Y, classes - 1)
    model.fit(X, NAMES[y])
    found = audit(model, X, NAMES[y], tol=1e-6)
    assert found.relative_gap <= (1e-3 if name == "sgd" else 1e-5)
    place = np.searchsorted(model.classes_, NAMES[y])  # rows go by the sorted labels
    b, settings = model.intercept_, model.get_params()
    share = 1.0 / (0.05 * N) if name == "sgd" else settings["C"]
    share *= 1 + (classes == 2 and name.startswith("Cr"))  # two rows, whose squares are added
    counts = np.bincount(place)
    w = (N / (classes * counts))[place] if settings["class_weight"] else 1.0
    bias = ((b / settings.get("intercept_scaling", 1.0)) ** 2).sum() / 2.0
    bias *= isinstance(model, LinearSVC) or name == "liblinear"
    expected = objective(found.loss, model.coef_, b, place, share, w, bias)
    right = np.average(model.predict(X) == NAMES[y], weights=w * np.ones(N))
    assert (found.primal, found.accuracy) == pytest.approx((expected, right))


def test_what_stops_early_is_told_from_what_arrived():
    F, y = fast.datasets.make_deep_features(300, 60, 32, random_state=0)
    model = LogisticRegression(C=10, fit_intercept=False, tol=1e-2).fit(F, y)
    found = audit(model, F, y, refit=True)
    assert found.least_above > 0.1
    assert found.above >= found.least_above
    assert found.optimum.accuracy > found.accuracy
    assert found.optimum.relative_gap <= 1e-3


def test_order_names_and_storage_do_not_matter(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    W, b = rng.standard_normal((M, D)).astype(np.float32), rng.standard_normal(M)
    given, order = {"loss": "softmax", "C": 2.0}, [2, 0, 3, 1]
    plain = audit(W, X, Y, intercept=b, **given)
    again = audit(W[order], X, NAMES[Y], intercept=b[order], classes=NAMES[order], **given)
    assert (again.primal, again.dual) == pytest.approx((plain.primal, plain.dual))
    assert again.accuracy == plain.accuracy
    assert abs(audit(W[order], X, Y, intercept=b[order], **given).primal - plain.primal) > 1.0
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(npy, "GROUP", 7 * D * 8)
    source = rows(tmp_path / "x.npy")
    filed = audit(W, source, Y, intercept=b, n_jobs=2, refit=True, **given)
    assert len(source.groups) > 8
    assert filed.primal == pytest.approx(plain.primal)
    assert filed.optimum.relative_gap < 1e-2
    inside = audit(np.column_stack([W, b]), X, Y, intercept_scaling=1.0, **given)
    beside = audit(W, X, Y, intercept=b, intercept_scaling=1.0, **given)
    assert (inside.primal, inside.dual) == (beside.primal, beside.dual)
    np.testing.assert_array_equal(inside.intercept, b)


def spoilt(value):
    return {"X": np.where(np.arange(N * D).reshape(N, D) == 7 * D + 2, value, X)}


SVC = {"loss": "multiclass_hinge"}
REFUSED = [
    ({"W": np.ones((D, M))}, "it looks transposed"), ({"W": np.ones((M, D + 1))}, "intercept_scaling=1.0"),
    ({"W": np.ones((M + 1, D))}, "4 labels for 5 rows"), ({"W": np.ones((1, D))}, "4 labels for 2 rows"),
    ({"W": np.full((M, D), 1e300), "X": 1e60 * X}, "W: scores beyond"), ({"W": np.full((M, D), np.nan)}, "W"),
    *((spoilt(value), "row 7, column 2") for value in (np.nan, np.inf, 1e200)),
    ({"y": Y[:-1]}, "60 labels"), ({"y": None}, "came without labels"),
    ({"C": None}, "C: None"), ({"loss": None}, "loss: None"), ({"C": 0.0}, "C"), ({"loss": "softmax", "k": 2}, "k"),
    *(({"loss": loss}, "loss") for loss in ("truncated_topk_entropy", "sparsemax", "multilabel_hinge")),
    ({"loss": "topk_entropy_alpha", "k": 2, "intercept": np.ones(M)}, "k = 2"),
    ({"intercept": np.ones(3)}, "intercept"), ({"sample_weight": -np.ones(N)}, "sample_weight"),
    ({"intercept": np.ones(M), "sample_weight": (Y > 0) * 1.0}, "no example of class '0'"), ({"tol": np.nan}, "tol"),
    ({"classes": [0, 1, 2, 7]}, "the label '3'"), ({"classes": [0, 1, 1, 3]}, "classes"),
    ({"dual": np.ones((N, M))}, "dual"), (SVC | {"dual": np.ones((N, 2))}, "dual"),
    ({"W": LogisticRegression(), "loss": None, "C": None}, "not fitted"),
    ({"W": MODELS["softmax"].fit(X, Y), "loss": None}, "C: given with a fitted model"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "says"), REFUSED)
def test_what_has_no_bound_is_refused_by_name(changes, says):
    given = {"W": np.ones((M, D)), "X": X, "y": Y, "loss": "softmax", "C": 1.0} | changes
    with pytest.raises(InvalidParameterError, match=says) as caught:
        audit(given.pop("W"), given.pop("X"), given.pop("y"), **given)
    assert caught.value.fix


UNBOUNDED = [
    LogisticRegression(C=np.inf), LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=9999),
    LinearSVC(penalty="l1"), RidgeClassifier(), SGDClassifier(penalty="l1"), SGDClassifier(loss="perceptron"),
    SGDClassifier(alpha=0.0, learning_rate="constant"),
    LinearSVC(class_weight="balanced"), SGDClassifier(class_weight={0: 2.0}),  # not weights of examples
]  # fmt: skip


@pytest.mark.parametrize("model", UNBOUNDED)
def test_models_without_a_bound_are_refused(model):
    with pytest.raises((InvalidParameterError, InvalidTypeError)):
        audit(model.fit(X, Y), X, Y)
    with pytest.raises(FastError):
        audit(type(model)(), X, Y)


def test_no_bound_is_above_what_somebody_reaches():
    rng = np.random.default_rng(5)
    for trial in range(60):
        n, d, m = rng.integers(6, 30), rng.integers(1, 5), rng.integers(2, 5)
        Z = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3)
        y = np.r_[np.arange(m), rng.integers(0, m, n - m)]
        loss = [*LOOSE, *SHARP][trial % 6]
        W, b = rng.standard_normal((m, d)), rng.standard_normal(m)
        given = {"loss": loss, "C": 10.0 ** rng.uniform(-3, 2), **LOOSE.get(loss, {})}
        given["intercept"] = b if trial % 4 else None
        found = audit(W, Z, y, refit=True, **given)
        alone = found if loss in SHARP else audit(W, Z, y, **given)
        assert alone.dual <= min(found.optimum.primal, found.primal)
        zero = audit(0 * W, Z, y, dual=np.zeros((n, m)) if loss in SHARP else None, **given)
        assert max(zero.dual, found.dual) <= found.optimum.primal
        assert replace(found, dual=0.0).above == np.inf
