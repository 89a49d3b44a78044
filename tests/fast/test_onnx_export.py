"""Exported models say what ours say."""

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fast import APSVM, SVMPlusClassifier, TopKLogisticRegression, TopKSVC
from fast.errors import InvalidParameterError

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 4, 10_000)
X = RNG.standard_normal((4, 6))[Y] + RNG.standard_normal((10_000, 6))
MODELS = {
    "hinge": (TopKSVC(k=2, fit_intercept=True), Y),
    "two classes": (TopKSVC(), Y > 1),
    "softmax": (TopKLogisticRegression(), np.array(["a", "bc", "d", "e"])[Y]),
    "entropy": (TopKLogisticRegression(k=3), Y),
    "ranking": (APSVM(), Y == 2),
    "privileged": (SVMPlusClassifier(), Y),
}


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "pipeline"])
@pytest.mark.parametrize("name", MODELS)
def test_ten_thousand_rows_agree(name: str, piped: bool) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    from fast.onnx_export import register

    register()
    estimator, y = MODELS[name]
    model = (make_pipeline(StandardScaler(), estimator) if piped else estimator).fit(
        X[:500], y[:500]
    )
    if hasattr(model, "predict_proba"):
        right = model.predict_proba(X)
    else:
        prepared = model[0].transform(X) if piped else X
        last = model[-1] if piped else model
        right = last.decision_function(prepared)
        right = np.column_stack([-right, right]) if right.ndim == 1 else right
    labels = model.predict(X)
    labels = labels.astype(int) if labels.dtype == bool else labels
    for kind, dtype, near in (
        (FloatTensorType, np.float32, 1e-6),
        (DoubleTensorType, np.float64, 1e-13),
    ):
        made = skl2onnx.convert_sklearn(model, initial_types=[("X", kind([None, 6]))])
        session = onnxruntime.InferenceSession(
            made.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        label, scores = session.run(None, {"X": X.astype(dtype)})
        assert np.abs(scores - right).max() <= near * max(1.0, np.abs(right).max())
        margins = np.diff(np.sort(right, axis=1)[:, -2:]).ravel()
        sure = margins > 2 * near * max(1.0, np.abs(right).max())
        assert sure.mean() > 0.99
        np.testing.assert_array_equal(label[sure], labels[sure])


def test_a_kernel_is_no_linear_model() -> None:
    from skl2onnx.common.data_types import FloatTensorType

    from fast.onnx_export import register

    register()
    model = TopKSVC(kernel="rbf").fit(X[:40], Y[:40])
    with pytest.raises(InvalidParameterError, match="only linear models"):
        skl2onnx.convert_sklearn(model, initial_types=[("X", FloatTensorType([None, 6]))])


INSIDE = {
    "calibrated": lambda e: CalibratedClassifierCV(e, cv=3),
    "calibrated once": lambda e: CalibratedClassifierCV(e, cv=3, ensemble=False),
    "one-vs-rest": OneVsRestClassifier,
    "bagging": lambda e: BaggingClassifier(e, n_estimators=3, random_state=0),
    "soft vote": lambda e: VotingClassifier(
        [("a", e), ("b", LogisticRegression(C=0.01))], voting="soft", flatten_transform=False
    ),
    "hard vote": lambda e: VotingClassifier(
        [("a", e), ("b", LogisticRegression(C=0.01))], flatten_transform=False
    ),
    "stacked": lambda e: StackingClassifier([("a", e)], LogisticRegression(), cv=3),
    "search": lambda e: GridSearchCV(e, {"C": [0.1, 1.0]}, cv=3),
}


def exported(model: Any, **options: Any) -> list[np.ndarray]:
    from fast.onnx_export import register

    register()
    options = {id(model): options}
    made = skl2onnx.to_onnx(model, X[:1], options=options).SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    found: list[np.ndarray] = session.run(None, {"X": X[500:3500]})
    return found


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), TopKLogisticRegression(), TopKSVC(), SVMPlusClassifier(), APSVM()],
    ids=lambda e: type(e).__name__,
)
def test_other_models_take_these_as_they_take_those_of_scikit_learn(
    estimator: Any, inside: str, classes: int
) -> None:
    if isinstance(estimator, APSVM) and classes > 2:
        return
    sure = hasattr(estimator, "predict_proba")
    if (inside == "soft vote" and not sure) or (inside == "stacked" and classes == 2 and not sure):
        return  # the first needs probabilities, the second cannot be exported with LinearSVC either
    y = Y % classes
    model = INSIDE[inside](estimator).fit(X[:500], y[:500])
    if inside in ("one-vs-rest", "bagging") and not sure:  # which ask for probabilities
        with pytest.raises(InvalidParameterError, match="raw_scores: False") as refused:
            exported(model, zipmap=False)
        assert "'raw_scores': True" in refused.value.fix
        return
    label, scores = exported(model, zipmap=False)
    np.testing.assert_array_equal(label, model.predict(X[500:3500]))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(scores, model.predict_proba(X[500:3500]), atol=1e-12)


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "pipeline"])
@pytest.mark.parametrize("name", MODELS)
def test_raw_scores_are_those_of_the_decision_function(name: str, piped: bool) -> None:
    estimator, y = MODELS[name]
    model = make_pipeline(StandardScaler(), estimator) if piped else estimator
    model.fit(X[:500], y[:500])
    right = model.decision_function(X[500:3500])
    right = np.column_stack([-right, right]) if right.ndim == 1 else right
    label, scores = exported(model, raw_scores=True)
    np.testing.assert_allclose(scores, right, atol=1e-12 * np.abs(right).max())
    np.testing.assert_array_equal(label, model.predict(X[500:3500]))


def test_raw_scores_of_one_vs_rest_go_by_the_option() -> None:
    model = OneVsRestClassifier(TopKSVC()).fit(X[:500], Y[:500])
    label, scores = exported(model, raw_scores=True, zipmap=False)
    np.testing.assert_allclose(scores, model.decision_function(X[500:3500]), atol=1e-10)
    np.testing.assert_array_equal(label, model.predict(X[500:3500]))


def test_labels_beyond_int64_are_refused() -> None:
    model = TopKSVC().fit(X[:500], np.array([3, 2**63], np.uint64)[Y[:500] % 2])
    with pytest.raises(
        InvalidParameterError, match=r"y: labels of uint64, such as .*9223372036854775808"
    ):
        exported(model)


@pytest.mark.parametrize("kind", [np.uint64, np.int8, float, str, object])
def test_labels_that_a_graph_has_are_kept(kind: type) -> None:
    y = np.array(["u", "v"], object)[Y % 2] if kind is object else (Y % 2 + 7).astype(kind)
    model = TopKSVC().fit(X[:500], y[:500])
    np.testing.assert_array_equal(exported(model)[0], model.predict(X[500:3500]))
