#!/usr/bin/env bash
# skl2onnx 1.20.0 with onnx 1.23.2, scikit-learn 1.9.1 and onnxruntime 1.32.0: two meta-estimators convert without a word and answer
# otherwise than the model, with scikit-learn's own LogisticRegression inside.
#
# TunedThresholdClassifierCV: the converted model has no threshold; it labels by the largest probability.
# CalibratedClassifierCV(method="isotonic"): the converted model takes the calibrated value of the nearest knot;
# scikit-learn interpolates between knots.
# Seen: labels equal in 97.4 % at a threshold of .364; probabilities off by up to .070.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check \
    skl2onnx==1.20.0 onnx==1.23.2 onnxruntime==1.32.0 scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
"$place/venv/bin/python" - <<'END'
import numpy as np
from onnxruntime import InferenceSession
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from skl2onnx import to_onnx

X, y = make_classification(1000, 6, weights=[0.8], flip_y=0.1, random_state=0)
X = X.astype(np.float32)


def converted(model):
    session = InferenceSession(
        to_onnx(model, X[:1], options={"zipmap": False}).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: X})


tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1").fit(X, y)
labels = converted(tuned)[0]
equal = np.mean(labels == tuned.predict(X))
plain = np.mean(labels == tuned.estimator_.predict(X))
print(f"threshold {tuned.best_threshold_:.3f}: labels equal to the model's in {equal:.1%}, to those without it in {plain:.1%}")
assert equal < 0.98 and plain > 0.999, "no longer so"

smooth = CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2).fit(X, y)
off = np.abs(converted(smooth)[1] - smooth.predict_proba(X)).max()
print(f"isotonic: probabilities off by up to {off:.3f}")
assert off > 0.01, "no longer so"
sigmoid = CalibratedClassifierCV(LogisticRegression(), method="sigmoid", cv=2).fit(X, y)
assert np.abs(converted(sigmoid)[1] - sigmoid.predict_proba(X)).max() < 1e-5
END
echo "as described"
