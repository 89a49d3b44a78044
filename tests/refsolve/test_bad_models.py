"""Bad input to any model, to either side of it or to its certificate: an error that names the argument, at once."""

import numpy as np
import pytest
import scipy.sparse
from _privileged import draw

import refsolve
from refsolve import catalogue, models
from refsolve.errors import InvalidGramError, InvalidParameterError

X, Y, Z = draw(6, 2, 2, 0)
EASY = np.array([True, False, False, True])
PLUS = ("svm_plus_hinge", "svm_plus_squared_hinge")
GOOD = {
    "ap_svm": {"X": np.eye(4), "y": [1, 1, 0, 0], "C": 1.0},
    "ap_svm_appx": {"X": np.eye(4), "y": [1, 1, 0, 0], "easy": EASY, "C": 1.0},
    "ap_ramp": {"X": np.eye(4), "y": [1, 0, 0, 1], "C": 1.0},
    "binary_svm": {"X": np.eye(2), "y": [0, 1], "C": 1.0},
    "latent_ap_svm": {"X": np.eye(4), "bags": [0, 0, 1, 1], "y": [0, 1], "C": 1.0},
    "svm": {"X": X, "y": Y, "C": 1.0},
    "svm_plus_hinge": {"X": X, "y": Y, "Z": Z, "C": 1.0, "lam": 1.0},
    "svm_plus_squared_hinge": {"X": X, "y": Y, "Z": Z, "C": 1.0, "lam": 1.0},
    "svm_2k": {"X": X, "y": Y, "Z": Z, "CA": 1.0, "CB": 1.0, "D": 1.0},
    "multiclass_erm": {"loss": "topk_hinge_alpha", "X": [[1.0], [2.0]], "y": [0, 1], "C": 1.0, "k": 1},
    "indicators": {"loss": "multilabel_hinge", "X": np.eye(2), "y": [[0, 1], [1, 1]], "C": 1.0},
    "pointwise_risk": {"loss": "softmax", "p": [0.5, 0.3, 0.2]},
    "recall_at_k": {"X": X, "y": (Y > 0).astype(int), "C": 1.0, "k": 3},
    "top_push": {"X": X, "y": (Y > 0).astype(int), "C": 1.0},
}  # fmt: skip
NUMBERS = (-1.0, np.nan, np.inf, "1", True, [1.0])
KERNELS = [object_name for object_name, given in GOOD.items() if object_name.startswith("svm")]
#: What is wrong for every model that has the argument.
ANYWHERE = {
    "X": [[1.0, 2.0], np.zeros((0, 2)), np.zeros((2, 0)), None, np.array([["a"], ["b"]], dtype=object)],
    "y": [[1, 0, 0, 1, 1, 0, 1], [1, np.nan], [[[0]]], None],
    "C": (*NUMBERS, 0.0), "lam": (*NUMBERS, 0), "CA": (*NUMBERS, 0), "CB": (*NUMBERS, 0), "D": NUMBERS,
    "Z": [Z[:5], np.where(Z[2, 1] == Z, np.inf, Z), None],
    "p": [[0.5, -0.5], [1.0], [0.0, 0.0], [0.5, np.nan], None],
}  # fmt: skip
#: The model, the argument or what the message has instead of it, and what is changed; ... is left out.
SPECIAL = [
    ("ap_svm", "y = '4 positives, 0 negatives", {"y": [1, 1, 1, 1]}),
    ("ap_svm", "y = '0 positives, 4 negatives", {"y": [0, 0, 0, 0]}),
    *(("ap_svm", "y", {"y": y}) for y in ([1, 0, -1, 0], [2, 1, 1, 2], list("abab"))),
    ("ap_svm", "rankings", {"rankings": "some"}),
    ("ap_svm", "at most 8 examples, not 9", {"X": np.eye(9), "y": [1] * 4 + [0] * 5, "rankings": "all"}),
    ("ap_svm_appx", "y", {"y": [1, 2, 0, 0]}),
    ("ap_svm_appx", "easy", {"easy": [1, 0, 0, 1]}),
    ("ap_svm_appx", "easy = .*4 booleans", {"easy": EASY[:2]}),
    ("ap_svm_appx", "bias", {"bias": 1}),
    ("ap_svm_appx", "rankings", {"rankings": "none"}),
    *(("ap_svm", "groups", {"groups": groups}) for groups in ([0, 0, 0], [0, 0, 0, np.nan])),
    ("ap_svm_appx", "groups", {"groups": [1, 1, 1, 1]}),
    ("latent_ap_svm", "groups", {"groups": [0, 0]}),
    ("binary_svm", "y", {"y": [0, 2]}),
    *(("binary_svm", "bias", {"bias": bias}) for bias in (None, "some")),
    ("binary_svm", "labels", {"labels": "most"}),
    ("binary_svm", "n <= 10", {"X": np.eye(11), "y": [0] * 11, "labels": "all"}),
    ("latent_ap_svm", "bags = .*4 integers", {"bags": [0, 0, 1]}),
    ("latent_ap_svm", "bags", {"bags": [0.0, 0.5, 1.0, 1.0]}),
    ("latent_ap_svm", "y = .*2 labels, one for each bag", {"y": [0, 1, 1, 0]}),
    ("latent_ap_svm", "y", {"y": [1, 1]}),
    ("latent_ap_svm", "start", {"start": [0.0]}),
    *((s, "y", {"y": y}) for s in KERNELS for y in (np.ones(6), [1, -1, 1, -1, 1, 2], Y[:5])),
    *((s, "y", {"X": X[:1], "y": [1], "Z": Z[:1]}) for s in KERNELS),
    *((s, "y", {"sample_weight": (Y > 0).astype(float)}) for s in KERNELS),
    *((s, "X", {"K": X @ X.T}) for s in KERNELS),
    *((s, "sample_weight", {"sample_weight": w}) for s in KERNELS
      for w in (np.zeros(6), np.append(np.ones(5), -1), np.ones(5))),
    *((s, "Z", {"Kz": Z @ Z.T}) for s in KERNELS[1:]),
    *((s, "Kz", {"Z": None, "Kz": K}) for s in KERNELS[1:]
      for K in (-Z @ Z.T, Z, np.triu(np.ones((6, 6))), np.eye(5))),
    *((s, "free_slack", {"free_slack": value}) for s in PLUS for value in (-1, np.nan)),
    *((s, flag, {flag: 1}) for s in PLUS for flag in ("nonneg_slack", "label_signed", "penalize_bias")),
    *((s, "lam", {"lam": None}) for s in PLUS),
    ("svm_plus_hinge", "label_signed", {"label_signed": True, "nonneg_slack": False}),
    ("svm", "loss", {"loss": "logistic"}),
    ("svm_2k", "eps", {"eps": -0.1}),
    ("multiclass_erm", "X", {"X": scipy.sparse.csr_matrix([[np.inf], [1.0]])}),
    ("multiclass_erm", "exactly one", {"K": np.eye(2)}),
    ("multiclass_erm", "exactly one", {"lam": 1.0}),
    ("multiclass_erm", "y = .*2 integer class indices", {"y": [0, 1, 1]}),
    ("multiclass_erm", "y", {"y": [0.0, 1.0]}),
    ("multiclass_erm", "y = .*-1", {"y": [0, -1]}),
    ("multiclass_erm", "at least two classes", {"y": [0, 0]}),
    ("multiclass_erm", "y = .*0..3", {"y": [0, 3], "n_classes": 2}),
    ("multiclass_erm", "k", {"k": 0}),
    ("multiclass_erm", "k = 2: .*d = 1", {"k": 2}),
    ("multiclass_erm", "gamma", {"gamma": 1.0}),
    *(("multiclass_erm", "sample_weight", {"sample_weight": w}) for w in ([1.0, -1.0], [1.0])),
    ("multiclass_erm", "row 1", {"costs": [[0.0, 1.0], [1.0, 0.5]]}),
    ("multiclass_erm", "costs", {"costs": np.ones((3, 2))}),
    ("multiclass_erm", "pass loss", {"loss": ...}),
    ("multiclass_erm", "choose a loss", {"loss": "simplex"}),
    ("indicators", "0/1 indicator matrix of 2 rows", {"y": [0, 1]}),
    ("indicators", "0/1 indicator matrix of 2 rows", {"y": [[0, 1, 1]]}),
    ("indicators", "entry 1 is not", {"y": [[0, 2], [1, 0]]}),
    ("indicators", "at least two columns", {"y": [[1], [0]]}),
    ("indicators", "n_classes = 5", {"n_classes": 5}),
    ("indicators", "costs", {"costs": [1.0]}),
    *(("recall_at_k", "k", {"k": k}) for k in (0, 6)),
    *((s, "y", {"y": np.ones(6, int)}) for s in ("recall_at_k", "top_push")),
    ("pointwise_risk", "p=", {"p": ...}),
    *(("pointwise_risk", "loss", {"loss": loss}) for loss in ("simplex", "multilabel_hinge")),
    ("pointwise_risk", "k", {"loss": "topk_hinge_alpha", "k": 3}),
    *(("pointwise_risk", "behind", {"behind": behind}) for behind in ((0, 0), (0, 3))),
    ("pointwise_risk", "costs", {"costs": [1, 2, 3]}),
    ("pointwise_risk", "gamma", {"gamma": 1.0}),
    *((s, "X", {"X": np.where(np.arange(np.size(given["X"])).reshape(np.shape(given["X"])) == 1, np.nan, given["X"])})
      for s, given in GOOD.items() if "X" in given),
    *((s, "nonsense", {"nonsense": 1}) for s in GOOD),
    *((s, name, {name: value}) for name, values in ANYWHERE.items() for value in values
      for s in GOOD if name in GOOD[s]),
]  # fmt: skip
TWO = [[0, 0, 0, 0]]
#: Of certificates: the model, what is said, and what is passed.
CERTIFICATES = [
    ("ap_svm", "pass the model", {}),
    ("ap_svm", "weights = None", {"rankings": TWO}),
    ("ap_svm", "rankings = None", {"w": np.zeros(4), "weights": [1.0]}),
    ("ap_svm", "w = ", {"w": np.zeros(3)}),
    ("ap_svm", "w = .*NaN", {"w": [np.nan, 0, 0, 0]}),
    ("ap_svm", "weights = ", {"rankings": TWO, "weights": [1.0, 1.0]}),
    ("ap_svm", "sum to C = 1", {"rankings": TWO, "weights": [-1.0]}),
    *(("ap_svm", "rankings.1. = ", {"rankings": [*TWO, row], "weights": [0.5, 0.5]}) for row in (
        [1, 0, 0, 0],  # a negative above nothing
        [0, 0, 1, 0],
        [2, 0, 2, 0],  # one negative stands above the first positive, not two
        [3, 0, 1, 1],
        [-1, 1, 0, 0],
    )),
    ("ap_svm", "integer", {"rankings": [[0.0, 0.0, 0.0, 0.0]], "weights": [1.0]}),
    ("ap_svm", r"rankings = .*\(m, 4\)", {"rankings": [[0, 0, 0]], "weights": [1.0]}),
    ("ap_svm_appx", "pass the model", {}),
    ("ap_svm_appx", "weights = None", {"w": np.zeros(4), "rankings": [[0, 0]]}),
    ("ap_svm_appx", "b = nan", {"w": np.zeros(4), "b": np.nan}),
    ("ap_svm_appx", "b = 1.0", {"w": np.zeros(4), "b": 1.0, "bias": False}),
    ("ap_svm_appx", "mu = .*2 or 4", {"w": np.zeros(4), "mu": [1.0]}),
    ("ap_svm_appx", "mu = .*0 for the other", {"w": np.zeros(4), "mu": [1.0, 1.0, 0.0, 0.0]}),
    ("ap_svm_appx", "rankings.0. = ", {"rankings": [[1, 0]], "weights": [1.0]}),
    ("ap_svm_appx", "rankings = .*2 or 4", {"rankings": [[1, 1, 1]], "weights": [1.0]}),
    ("ap_ramp", "w = ", {"w": [0.0]}),
    ("ap_ramp", "^reference = ", {"w": np.zeros(4), "reference": [1, 0, 0, 0]}),
    ("ap_ramp", "weights = None", {"w": np.zeros(4), "rankings": TWO}),
    ("binary_svm", "w = None", {}),
    ("binary_svm", "w = ", {"w": [1.0]}),
    ("binary_svm", "bias=True", {"w": [1.0, 0.0], "b": 1.0}),
    ("binary_svm", "pass b=", {"w": [1.0, 0.0], "bias": True}),
    ("binary_svm", "b = inf", {"w": [1.0, 0.0], "b": np.inf, "bias": True}),
    ("binary_svm", "alpha = ", {"alpha": [0.1]}),
    ("binary_svm", "labels with weights", {"labels": [[1, 1]]}),
    ("binary_svm", "labels with weights", {"labels": [[1, 1]], "weights": [1.0], "alpha": [0.1, 0.1]}),
    ("binary_svm", "entries -1 and 1", {"labels": [[1, 0]], "weights": [1.0]}),
    *(("latent_ap_svm", said, {"w": np.zeros(4), **passed}) for said, passed in (
        ("chosen = .*one of each", {"chosen": [0, 0]}),
        ("chosen = ", {"chosen": [0]}),
        ("candidates and weights", {"rankings": [[0, 0]]}),
        ("rankings.0. = ", {"rankings": [[0, 1]], "candidates": [[0, 2]], "weights": [1.0]}),
        ("candidates = ", {"rankings": [[0, 0]], "candidates": [[0, 9]], "weights": [1.0]}),
        ("positive bags as chosen",
         {"chosen": [0, 2], "rankings": [[1, 1]], "candidates": [[0, 3]], "weights": [1.0]}),
    )),
    *((s, f"^{name} = ", {"alpha": np.ones(6), **passed}) for s in PLUS for name, passed in (
        ("alpha", {"alpha": None}),
        ("alpha", {"alpha": np.ones(5)}),
        ("alpha", {"alpha": np.full(6, np.nan)}),
        ("w", {"w": np.ones(3)}),
        ("coef", {"w": np.ones(2), "coef": np.ones(6)}),
        ("coef", {"coef": np.ones(5)}),
        ("rho", {"v": np.ones(2)}),
        ("rho", {"rho": 1.0}),
        ("rho", {"v": np.ones(2), "rho": np.nan}),
        ("b", {"b": "0"}),
        ("eta", {"v": np.ones(2), "rho": 0.0, "eta": np.ones(6)}),
        ("beta", {"beta": np.ones(6), "nonneg_slack": False}),
    )),
    *(("svm_plus_squared_hinge", "with a kernel",
       {"X": None, "K": X @ X.T, "Z": None, "Kz": Z @ Z.T, "alpha": np.ones(6), name: np.ones(6), "rho": 0.0})
      for name in "wv"),
    *(("recall_at_k", f"{name} = ", {"sets": Y[None] > 0, "weights": np.zeros(1), name: value}) for name, value in (
        ("sets", np.ones((1, 6), bool)), ("sets", np.ones((1, 6), int)), ("weights", np.zeros(2)), ("w", np.zeros(3)),
    )),
    *(("top_push", f"{name} = ", {"multipliers": np.zeros(6), name: value}) for name, value in (
        ("w", np.zeros(3)), ("multipliers", np.zeros(5)),
    )),
    ("multiclass_erm", "W, B or A", {}),
    ("multiclass_erm", "not both", {"W": np.zeros((1, 2)), "B": np.zeros((2, 2))}),
    ("multiclass_erm", r"W = .*shape \(2, 1\)", {"W": np.zeros((2, 2))}),
    ("multiclass_erm", "pass B", {"W": np.zeros((2, 2)), "X": None, "K": np.eye(2)}),
    *(("multiclass_erm", said, {"A": np.zeros((2, 2)), "X": None, "K": np.array(K)}) for said, K in (
        ("square", np.ones((2, 3))),
        ("symmetric", [[1.0, 2.0], [0.0, 1.0]]),
        ("least eigenvalue is -1", [[1.0, 2.0], [2.0, 1.0]]),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("object_name", "says", "change"), SPECIAL)
def test_bad_input_is_named(object_name, says, change):
    given = {
        n: v
        for n, v in (GOOD[object_name] | change).items()
        if n != "Z" or "Z" in GOOD[object_name]
    }
    given = {n: v for n, v in given.items() if v is not ...}
    name = "multiclass_erm" if object_name == "indicators" else object_name
    for operation in {"primal", "dual"} & set(catalogue.operations(name)):
        with pytest.raises(InvalidParameterError, match=says) as caught:
            refsolve.solve(f"{name}.{operation}", **given)
        assert not says.isidentifier() or caught.value.argument == says
        assert caught.value.fix


@pytest.mark.parametrize(("object_name", "says", "passed"), CERTIFICATES)
def test_what_cannot_be_certified_is_named(object_name, says, passed):
    with pytest.raises(InvalidParameterError, match=says):
        getattr(models, object_name).certificate(**GOOD[object_name] | passed)


@pytest.mark.parametrize("object_name", KERNELS)
@pytest.mark.parametrize("K", [-X @ X.T, np.triu(np.ones((6, 6))), X])
def test_kernels_must_be_kernels(object_name, K):
    with pytest.raises(InvalidGramError) as caught:
        refsolve.solve(f"{object_name}.primal", **{**GOOD[object_name], "X": None, "K": K})
    assert caught.value.argument == "K"


def test_a_gap_asks_for_what_it_needs():
    with pytest.raises(InvalidParameterError, match="use certificate"):
        models.svm_plus_squared_hinge.relative_gap(
            np.ones(6), X, Y, Z, C=1.0, lam=1.0, nonneg_slack=True
        )


@pytest.mark.parametrize("object_name", GOOD)
def test_arguments_are_not_changed(object_name):
    given = {n: np.array(v) if isinstance(v, list) else v for n, v in GOOD[object_name].items()}
    before = {n: np.array(v, copy=True) for n, v in given.items()}
    name = "multiclass_erm" if object_name == "indicators" else object_name
    refsolve.solve(f"{name}.primal", **given)
    for n, value in before.items():
        np.testing.assert_array_equal(given[n], value)
