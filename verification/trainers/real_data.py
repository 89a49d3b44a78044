"""Models of real data, every certificate recomputed: letters ranked against the rest, SVM+ on digits.

The digits are trained on as coarse images, with the full ones as privileged information. Untuned: not a
comparison of the models.
"""

from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from refsolve.proofs import ranking_truth
from verification.benchmarks.peers import fit_quietly
from verification.benchmarks.protocol import Parts
from verification.benchmarks.records import Record, Section
from verification.benchmarks.timing import clock
from verification.certificates import judge_claims, trained

LETTERS, LETTER_C = "AEHO", 1000.0
CLASSES = (3, 5, 8, 9)
C, LAM = 1.0, 1.0
#: Certified relative duality gaps asked for, on digits in each class.
LETTER_TOL, TOL = 1e-5, 1e-6
_RBF = {"kernel": "rbf", "kernel_z": "rbf"}
MODELS: dict[str, dict[str, Any]] = {
    "SVM, squared hinge": {"Z": None},
    "SVM, hinge": {"Z": None, "loss": "hinge"},
    "SVM2+": {},
    "SVM2+, xi >= 0": {"nonneg_slack": True},
    "SVM1+": {"loss": "hinge"},
    "SVM2+, free slack": {"free_slack": 1.0},
    "SVM1+, free slack": {"loss": "hinge", "free_slack": 1.0},
    "SVM2+, rbf": _RBF,
    "SVM2+, rbf, free slack": {**_RBF, "free_slack": 1.0},
    "SVM1+, rbf, free slack": {"loss": "hinge", **_RBF, "free_slack": 1.0},
}
SECTIONS = {
    "letters": Section(
        "AP-SVM: a letter against the rest",
        f"C = {LETTER_C:g}, no bias; the loss of the training scores bounds 1 - AP of the training part. AP: of the "
        "worst order of tied examples.",
    ),
    "digits": Section(
        "SVM+: digits",
        f"C = {C:g}, lam = {LAM:g}, every other image of {', '.join(map(str, CLASSES))}: 4 x 4 means, and the 8 x 8 "
        "image in training only. Collapsed: classes with w = 0. Untuned: not a comparison of the models.",
    ),
}


class Digits(NamedTuple):
    """X (n, 16): means over 2 x 2 pixels; Z (n, 64): the images; labels y (n,)."""

    X: np.ndarray
    Z: np.ndarray
    y: np.ndarray


def load_digits() -> Digits:
    """All of scikit-learn's digits, pixels from 0 to 1."""
    from sklearn.datasets import load_digits as load

    images, y = load(return_X_y=True)
    Z = images / 16.0
    return Digits(Z.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(Z), 16), Z, y)


def _judged(
    model: Any, X: np.ndarray, y: np.ndarray, **given: Any
) -> tuple[dict[str, Any], str, Any]:
    """Figures of a model once fitted, what is wrong with its claims, and its certificate."""
    seconds = clock(partial(fit_quietly, model, X, y, **given), process_time)
    found = trained(model, X, y, **given)
    objection = judge_claims(model, X, y, **given).message
    return {"gap": found.relative_gap, "seconds": seconds}, objection, found


def average_precision(scores: np.ndarray, positives: np.ndarray) -> float:
    """AP of the worst order of tied scores, from its definition by counts."""
    below = np.sort(scores[~positives])
    above = len(below) - np.searchsorted(below, scores[positives], side="left")
    inversions = np.zeros(len(scores), dtype=np.int64)
    inversions[positives] = above
    return 1.0 - float(ranking_truth.loss(positives, inversions))


def letter(parts: Parts, name: str) -> Record:
    """Train one letter against the rest and judge the model."""
    from fast import APSVM

    label = ord(name) - ord("A")
    (X, y), (X_test, y_test) = parts.train, parts.test
    positives = y == label
    model = APSVM(C=LETTER_C, tol=LETTER_TOL)
    figures, objection, found = _judged(model, X, positives)
    w = model.coef_[0]
    loss = (found.primal - float(w @ w) / 2) / LETTER_C
    train = average_precision(X @ w, positives)
    figures |= {
        "oracle_calls": int(model.n_oracle_calls_),
        "loss": loss,
        "AP_train": train,
        "AP_test": average_precision(X_test @ w, y_test == label),
    }
    names = {"letter": name, "P": int(positives.sum()), "N": int((~positives).sum())}
    least = {"AP_train": 1.0 - loss - 1e-12}
    return Record(names, figures, least, {"gap": LETTER_TOL}, objection)


def letters(parts: Parts) -> list[Record]:
    """All of `LETTERS`."""
    return [letter(parts, name) for name in LETTERS]


def digits_model(name: str) -> Record:
    """Train one of `MODELS` on every other image of `CLASSES` and judge it."""
    from fast import SVMPlusClassifier

    X, Z, y = (part[np.isin(load_digits().y, CLASSES)] for part in load_digits())
    options: dict[str, Any] = {"free_slack": 0.0} | MODELS[name]
    given = {"Z": options.pop("Z", Z[::2])}
    model = SVMPlusClassifier(C=C, lam=LAM, tol=TOL, **options)
    figures, objection, _ = _judged(model, X[::2], y[::2], **given)
    figures |= {
        "collapsed": int(model.collapsed_.sum()),
        "accuracy_train": float(model.score(X[::2], y[::2])),
        "accuracy_test": float(model.score(X[1::2], y[1::2])),
    }
    names = {"model": name, "solver": model.solver_}
    return Record(names, figures, most={"gap": TOL * (1 + 1e-3)}, objection=objection)


def digits() -> list[Record]:
    """All of `MODELS`."""
    return [digits_model(name) for name in MODELS]
