"""Bad input to the models of rankings and to their certificates is named at once."""

import numpy as np
import pytest

import refsolve
from refsolve import models
from refsolve.errors import InvalidParameterError

GOOD = {
    "ap_svm": {"X": np.eye(4), "y": [1, 1, 0, 0], "C": 1.0},
    "ap_svm_appx": {
        "X": np.eye(4),
        "y": [1, 1, 0, 0],
        "easy": np.array([True, False, False, True]),
        "C": 1.0,
    },
    "binary_svm": {"X": np.eye(2), "y": [0, 1], "C": 1.0},
    "latent_ap_svm": {"X": np.eye(4), "bags": [0, 0, 1, 1], "y": [0, 1], "C": 1.0},
    "ap_ramp": {"X": np.eye(4), "y": [1, 0, 0, 1], "C": 1.0},
}
BAD = {
    "ap_svm": [
        ({"X": [[np.nan], [1.0], [1.0], [1.0]]}, "X = .*NaN"),
        ({"X": [1.0, 2.0, 3.0, 4.0]}, "X = "),
        ({"y": [1, 0, 0]}, "y = .*4 labels"),
        ({"y": [1, 1, 1, 1]}, "y = '4 positives, 0 negatives"),
        ({"y": [0, 0, 0, 0]}, "y = '0 positives, 4 negatives"),
        ({"y": [1, 0, -1, 0]}, "y = "),
        ({"y": [1, 0, np.nan, 0]}, "y = "),
        ({"y": [2, 1, 1, 2]}, "y = "),
        ({"y": list("abab")}, "y = "),
        ({"C": -1.0}, "C = -1"),
        ({"C": 0.0}, "C = 0"),
        ({"C": np.inf}, "C = inf"),
        ({"C": True}, "C = True"),
        ({"C": [1.0]}, "C = "),
        ({"groups": [0, 0, 0]}, "groups"),
        ({"groups": [0, 0, 0, np.nan]}, "groups"),
        ({"rankings": "some"}, "rankings = 'some'"),
        ({"lam": 1.0}, "lam = 1.0"),
        ({"X": np.eye(9), "y": [1] * 4 + [0] * 5, "rankings": "all"}, "at most 8 examples, not 9"),
    ],
    "ap_svm_appx": [
        ({"easy": [1, 0, 0, 1]}, "easy = "),
        ({"easy": np.array([True, False])}, "easy = .*4 booleans"),
        ({"y": [1, 1, 0]}, "y = .*4 labels"),
        ({"y": [1, 2, 0, 0]}, "y = "),
        ({"C": -1.0}, "C = -1"),
        ({"X": [[np.inf]] * 4}, "X = "),
        ({"bias": 1}, "bias = 1"),
        ({"rankings": "none"}, "rankings = 'none'"),
        ({"groups": [1, 1, 1, 1]}, "groups"),
    ],
    "binary_svm": [
        ({"X": [[np.nan, 0], [0, 1.0]]}, "X = .*NaN"),
        ({"y": [0, 1, 1]}, "y = .*2 labels"),
        ({"y": [0, 2]}, "y = "),
        ({"C": 0}, "C = 0"),
        ({"bias": None}, "bias = None"),
        ({"bias": "some"}, "bias = 'some'"),
        ({"labels": "most"}, "labels = 'most'"),
        ({"X": np.eye(11), "y": [0] * 11, "labels": "all"}, "n <= 10"),
        ({"lam": 1.0}, "lam = 1.0"),
    ],
    "latent_ap_svm": [
        ({"bags": [0, 0, 1]}, "bags = .*4 integers"),
        ({"bags": [0.0, 0.5, 1.0, 1.0]}, "bags = "),
        ({"y": [0, 1, 1, 0]}, "y = .*2 labels, one for each bag"),
        ({"y": [1, 1]}, "y = "),
        ({"C": -2.0}, "C = -2"),
        ({"X": [[np.nan]] * 4}, "X = .*NaN"),
        ({"start": [0.0]}, "start = "),
        ({"groups": [0, 0]}, "groups"),
    ],
}
MODELS = {
    "ap_svm": [
        ({}, "pass the model"),
        ({"rankings": [[0, 0, 0, 0]]}, "weights = None"),
        ({"w": np.zeros(4), "weights": [1.0]}, "rankings = None"),
        ({"w": np.zeros(3)}, "w = "),
        ({"w": [np.nan, 0, 0, 0]}, "w = .*NaN"),
        ({"rankings": [[0, 0, 0, 0]], "weights": [1.0, 1.0]}, "weights = "),
        ({"rankings": [[0, 0, 0, 0]], "weights": [-1.0]}, "sum to C = 1"),
    ],
    "ap_svm_appx": [
        ({}, "pass the model"),
        ({"w": np.zeros(4), "rankings": [[0, 0]]}, "weights = None"),
        ({"w": np.zeros(4), "b": np.nan}, "b = nan"),
        ({"w": np.zeros(4), "b": 1.0, "bias": False}, "b = 1.0"),
        ({"w": np.zeros(4), "mu": [1.0]}, "mu = .*2 or 4"),
        ({"w": np.zeros(4), "mu": [1.0, 1.0, 0.0, 0.0]}, "mu = .*0 for the other"),
        ({"rankings": [[1, 0]], "weights": [1.0]}, "rankings.0. = "),
        ({"rankings": [[1, 1, 1]], "weights": [1.0]}, "rankings = .*2 or 4"),
    ],
    "binary_svm": [
        ({}, "w = None"),
        ({"w": [1.0]}, "w = "),
        ({"w": [1.0, 0.0], "b": 1.0}, "bias=True"),
        ({"w": [1.0, 0.0], "bias": True}, "pass b="),
        ({"w": [1.0, 0.0], "b": np.inf, "bias": True}, "b = inf"),
        ({"alpha": [0.1]}, "alpha = "),
        ({"labels": [[1, 1]]}, "labels with weights"),
        ({"labels": [[1, 1]], "weights": [1.0], "alpha": [0.1, 0.1]}, "labels with weights"),
        ({"labels": [[1, 0]], "weights": [1.0]}, "entries -1 and 1"),
    ],
    "latent_ap_svm": [
        ({"chosen": [0, 0]}, "chosen = .*one of each"),
        ({"chosen": [0]}, "chosen = "),
        ({"rankings": [[0, 0]]}, "candidates and weights"),
        ({"rankings": [[0, 1]], "candidates": [[0, 2]], "weights": [1.0]}, "rankings.0. = "),
        ({"rankings": [[0, 0]], "candidates": [[0, 9]], "weights": [1.0]}, "candidates = "),
        (
            {"chosen": [0, 2], "rankings": [[1, 1]], "candidates": [[0, 3]], "weights": [1.0]},
            "positive bags as chosen",
        ),
    ],
    "ap_ramp": [
        ({"w": [0.0]}, "w = "),
        ({"reference": [1, 0, 0, 0]}, "^reference = "),
        ({"rankings": [[0, 0, 0, 0]]}, "weights = None"),
    ],
}


@pytest.mark.parametrize(
    ("stem", "change", "message"), [(stem, *case) for stem, cases in BAD.items() for case in cases]
)
def test_bad_input_is_named(stem, change, message):
    for operation in {"primal", "dual"} & set(refsolve.catalogue.operations(stem)):
        with pytest.raises(InvalidParameterError, match=message):
            refsolve.solve(f"{stem}.{operation}", **GOOD[stem] | change)


@pytest.mark.parametrize(
    ("stem", "model", "message"),
    [(stem, *case) for stem, cases in MODELS.items() for case in cases],
)
def test_models_that_cannot_be_certified_are_named(stem, model, message):
    given = {"w": np.zeros(4)} if stem in ("latent_ap_svm", "ap_ramp") else {}
    with pytest.raises(InvalidParameterError, match=message):
        getattr(models, stem).certificate(**GOOD[stem] | given | model)
