"""`fast.audit` of whole models: what they minimised is read from them, and P is that of the naive formula."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _naive_losses import loss_value
from sklearn import config_context
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, TargetEncoder
from sklearn.svm import SVC, LinearSVC

from fast.auditing import audit
from fast.data import rows
from fast.errors import ColumnWarning, InvalidParameterError, InvalidTypeError

N, D, M = 120, 4, 3
RNG = np.random.default_rng(0)
X = 3.0 * RNG.standard_normal((N, D)) + 1.0
Y = (X @ RNG.standard_normal((D, M)) + 4.0 * RNG.standard_normal((N, M))).argmax(axis=1)
NAMES = np.array(["d", "a", "c"])
WEIGHTS = RNG.uniform(0.2, 3.0, N)
FRAME = pd.DataFrame(X, columns=["u", "v", "w", "z"])
TIGHT: dict[str, Any] = {"tol": 1e-10, "max_iter": 50_000}
HALF = 0.5


class Mine(LogisticRegression):
    """A subclass."""


def risk(loss: str, model: Any, Z: Any, y: np.ndarray, C: float, w: Any = 1.0) -> float:
    """P of one linear model, by the naive formula; rows go by the sorted labels."""
    place, b = np.searchsorted(model.classes_, y), model.intercept_
    f = np.asarray(Z) @ np.reshape(model.coef_, (-1, np.shape(Z)[1])).T + b
    bias = np.square(b).sum() / 2.0 if isinstance(model, LinearSVC) else 0.0
    squares = np.square(model.coef_).sum() / 2.0 + bias
    return float(C * np.sum(w * loss_value(loss, f, place)) + squares)


def whole(loss: str, model: Any, y: np.ndarray) -> float:
    """P of what a search, a pipeline or one-vs-rest hold: the sum over their problems."""
    Z, model = X, getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        Z, model = model[:-1].transform(X), model[-1]
    if not hasattr(model, "estimators_"):
        C = model.C_ if hasattr(model, "C_") else model.C
        return risk(loss, model, Z, y, float(np.ravel(C)[0]))
    positives = model.classes_[1:] if len(model.estimators_) == 1 else model.classes_
    parts = zip(model.estimators_, positives, strict=True)
    return sum(risk(loss, e, Z, (y == c) * 1, e.C) for e, c in parts)


SEARCH = {"C": [0.03, 0.3]}
SVM = SVC(C=HALF, kernel="linear", tol=1e-7)
#: Model, classes, and its loss.
MODELS: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "subclass": (Mine(C=HALF, **TIGHT), (2, M), "softmax"),
    "LogisticRegressionCV": (
        LogisticRegressionCV(Cs=[0.03, 0.3], cv=3, l1_ratios=(0,), scoring="accuracy",
                             use_legacy_attributes=False, **TIGHT), (2, M), "softmax"),
    "search": (GridSearchCV(LogisticRegression(**TIGHT), SEARCH, cv=3), (2, M), "softmax"),
    "pipeline": (make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(C=HALF, **TIGHT)), (2, M),
                 "softmax"),
    "search of a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression(**TIGHT)),
                     {"logisticregression__C": [0.03, 0.3]}, cv=3), (M,), "softmax"),
    "one-vs-rest, logistic": (OneVsRestClassifier(LogisticRegression(C=HALF, **TIGHT)), (2, M), "softmax"),
    "one-vs-rest, LinearSVC": (OneVsRestClassifier(LinearSVC(C=HALF, **TIGHT)), (2, M), "ova_squared_hinge"),
    "one-vs-rest, SVC": (OneVsRestClassifier(SVM), (2, M), "ova_hinge"),
    "pipeline of one-vs-rest": (
        make_pipeline(StandardScaler(), OneVsRestClassifier(LinearSVC(C=HALF, **TIGHT))), (M,), "ova_squared_hinge"),
    "SVC": (SVM, (2,), "ova_hinge"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "classes"), [(name, m) for name, (_, each, _) in MODELS.items() for m in each]
)
def test_models_that_hold_or_extend_known_ones(name: str, classes: int) -> None:
    model, _, loss = MODELS[name]
    y = NAMES[np.minimum(Y, classes - 1)]
    model.fit(X, y)
    found = audit(model, X, y[:, None], tol=1e-5)
    assert found.primal == pytest.approx(whole(loss, model, y), rel=1e-10)
    assert found.relative_gap <= 1e-4
    assert found.accuracy == np.mean(model.predict(X) == y)


def weighed(y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Of "balanced": n/(m times its weight), n the sum of all."""
    return np.array([w.sum() / (2 * w[y == c].sum()) for c in np.unique(y)])[y]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["rows", "weights"])
def test_balanced_classes_count_what_the_library_counts(kind: str, weighted: bool) -> None:
    """In scikit-learn 1.9 SGDClassifier and SVC count rows, others weights."""
    Z = (X - 1.0) / 3.0
    y, w = np.minimum(Y, 1), WEIGHTS * (1.0 + 3.0 * (Y == 0)) if weighted else np.ones(N)
    counted = w * weighed(y, np.ones(N) if kind == "rows" else w)
    cases: list[tuple[Any, str, float]] = [
        (SVC(C=HALF, kernel="linear", class_weight="balanced", tol=1e-7), "ova_hinge", HALF),
        (SGDClassifier(loss="log_loss", alpha=0.5, class_weight="balanced", max_iter=20_000, tol=None,
                       average=True, random_state=0), "softmax", 1.0 / (0.5 * N)),
    ] if kind == "rows" else [
        (LogisticRegression(C=HALF, class_weight="balanced", **TIGHT), "softmax", HALF),
        (OneVsRestClassifier(LogisticRegression(C=HALF, class_weight="balanced", **TIGHT)), "softmax", HALF),
    ]  # fmt: skip
    for model, loss, C in cases:
        with config_context(enable_metadata_routing=True):
            if hasattr(model, "estimator"):
                model.estimator.set_fit_request(sample_weight=True)
            model.fit(Z, y, sample_weight=w)
        inner = model.estimators_[0] if hasattr(model, "estimators_") else model
        found = audit(model, Z, y, sample_weight=w, tol=1e-5)
        P = risk(loss, inner, Z, y, C, counted)
        assert found.primal == pytest.approx(P, rel=1e-10)
        assert found.relative_gap <= 1e-3


def test_a_layer_of_torch_brings_its_bias_and_its_numbers_of_classes() -> None:
    torch = pytest.importorskip("torch")
    model = LogisticRegression(C=HALF, **TIGHT).fit(X, Y)
    layer = torch.nn.Linear(D, M).double()
    with torch.no_grad():
        layer.weight[:] = torch.from_numpy(model.coef_)
        layer.bias[:] = torch.from_numpy(model.intercept_)
    given = {"loss": "softmax", "C": HALF}
    found = audit(layer, X, Y, **given)
    assert found.primal == pytest.approx(risk("softmax", model, X, Y, HALF))
    assert found.relative_gap <= 1e-6
    with pytest.raises(InvalidParameterError, match="intercept: given beside the bias"):
        audit(layer, X, Y, intercept=np.zeros(M), **given)
    with pytest.raises(InvalidParameterError, match="C: None"):
        audit(layer, X, Y, loss="softmax")
    some = Y < 2  # the third class has a row, and no example
    bare = torch.nn.Linear(D, M, bias=False).double()
    assert audit(bare, X[some], Y[some] * 2, **given).n_classes == M
    one = torch.nn.Linear(D, 1).double()
    w, b = one.weight.detach().numpy(), one.bias.detach().numpy()
    P = HALF * loss_value("softmax", X @ w.T + b, Y > 0).sum() + (w**2).sum() / 2.0
    assert audit(one, X, Y > 0, **given).primal == pytest.approx(P)


def test_columns_go_by_their_names() -> None:
    models = (LogisticRegression(C=HALF, **TIGHT), make_pipeline(StandardScaler(), LinearSVC(**TIGHT)),
              GridSearchCV(LogisticRegression(**TIGHT), {"C": [0.1]}))  # fmt: skip
    other = FRAME[["z", "u", "w", "v"]]
    for model in models:
        model.fit(FRAME, Y)
        right = audit(model, FRAME, Y)
        assert right.relative_gap <= 1e-4
        assert audit(model, other, Y).primal == right.primal
        with pytest.raises(InvalidParameterError, match="X: no column 'v'"):
            audit(model, other[["z", "u", "w"]], Y)
        with pytest.warns(UserWarning, match="left out that training did not have: .label."):
            assert audit(model, other.assign(label=Y), Y).primal == right.primal
    model = models[0]
    given = {"loss": "softmax", "C": HALF, "intercept": model.intercept_}
    W = pd.DataFrame(model.coef_, index=model.classes_, columns=FRAME.columns)
    found = audit(W.iloc[[2, 0, 1]], other, Y, **given | {"intercept": model.intercept_[[2, 0, 1]]})
    assert found.primal == pytest.approx(audit(model, FRAME, Y).primal)


def test_columns_of_a_file_go_by_name(tmp_path: Any) -> None:
    model = LogisticRegression(C=HALF, **TIGHT).fit(FRAME, Y)
    FRAME.assign(more=1.0)[["z", "u", "more", "w", "v"]].to_parquet(tmp_path / "x.parquet")
    for X in (rows(tmp_path / "x.parquet"), str(tmp_path / "x.parquet")):
        with pytest.warns(ColumnWarning, match="'more'"):
            assert audit(model, X, Y).relative_gap <= 1e-6
    right = rows(tmp_path / "x.parquet", features=list(FRAME.columns))
    assert audit(model, right, Y).relative_gap <= 1e-6
    with pytest.raises(InvalidParameterError, match="no column 'w'"):
        audit(model, rows(tmp_path / "x.parquet", features=["z", "u", "v", "more"]), Y)


REFUSED: list[tuple[Any, str]] = [
    (VotingClassifier([("a", LogisticRegression()), ("b", LogisticRegression())]), "VotingClassifier"),
    (OneVsOneClassifier(LogisticRegression()), "OneVsOneClassifier"),
    (SGDClassifier(early_stopping=True, random_state=0), "early_stopping: True"),
    (SGDClassifier(learning_rate="pa1", eta0=1.0, random_state=0), "learning_rate: 'pa1'"),
    (SVC(kernel="linear"), "3 classes"),
    (SVC(), "kernel='rbf'"),
    (GridSearchCV(LogisticRegression(), {"C": [1.0]}, refit=False), "GridSearchCV"),
    (LogisticRegressionCV(Cs=[0.1], refit=False, l1_ratios=(0,), use_legacy_attributes=False, scoring="accuracy"),
     "refit=False"),
    (LogisticRegressionCV(Cs=[0.1], l1_ratios=(0.5,), solver="saga", use_legacy_attributes=False, scoring="accuracy",
                          max_iter=9999), "l1_ratio_=0.5"),
    (make_pipeline(TargetEncoder(random_state=0), LogisticRegression()), "TargetEncoder"),
    (OneVsRestClassifier(GridSearchCV(LinearSVC(), {"C": [1.0]})), "GridSearchCV"),
    (OneVsRestClassifier(LinearSVC(class_weight="balanced")), "class_weight: 'balanced'"),
    (OneVsRestClassifier(LogisticRegressionCV(Cs=np.logspace(-4, 4, 9), l1_ratios=(0,), use_legacy_attributes=False,
                                              scoring="accuracy", max_iter=9999)), "other settings in other classes"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "says"), REFUSED)
def test_what_minimised_something_else_is_refused_by_name(model: Any, says: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=says) as caught:
        audit(model, X, Y)
    assert caught.value.fix


def test_a_pipeline_takes_rows_in_memory(tmp_path: Any) -> None:
    model = make_pipeline(StandardScaler(), LinearSVC()).fit(X, Y)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(InvalidParameterError, match="pipeline"):
        audit(model, rows(tmp_path / "x.npy"), Y)
