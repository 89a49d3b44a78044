"""Exported models say what ours say."""

import numpy as np
import pytest
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
        right = prepared @ last.coef_.T + last.intercept_
        right = np.column_stack([-right, right]) if right.shape[1] == 1 else right
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
