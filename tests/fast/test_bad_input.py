"""Bad parameters and bad data: every estimator names the argument, and the fix; never a crash."""

from functools import partial

import _bad_input as bad
import _problems
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _bad_input import COMMON, HUGE, INF, NAN, PRICES, name, refused
from _certified import check_certificate
from _multiclass import Cut
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fast import (
    APSVM,
    LatentAPSVM,
    MultilabelClassifier,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
    WsabieClassifier,
)
from fast.errors import FastError, InvalidParameterError, InvalidTypeError
from fast.models import ap_svm, ap_svm_appx, latent_ap_svm, recall_at_k, svm, svm_2k, top_push
from fast.ranking.queries import Queries

RNG = np.random.default_rng(0)
Y = np.arange(12)
X = RNG.standard_normal((12, 3)) + Y[:, None] % 4
Z = RNG.standard_normal((12, 2))
BAGS, B = _problems.bags(12, n=8, d=3)
BINARY = Y % 3 == 0
LABELS = RNG.random((12, 3)) < 0.5
DATA = {
    TopKSVC: (X, Y % 4),
    TopKLogisticRegression: (X, Y % 4),
    OneVsAllClassifier: (X, Y % 4),
    MultilabelClassifier: (X, LABELS),
    WsabieClassifier: (X, Y % 4),
    APSVM: (X, BINARY),
    LatentAPSVM: (BAGS, B),
    SVMPlusClassifier: (X, Y % 3, Z),
    SVM2KClassifier: (X, Y % 3, Z),
    TopPush: (X, BINARY),
    RecallAtK: (X, BINARY),
}

# ---- parameters -------------------------------------------------------------------------------------
TYPED = {TopKSVC: ("k", "C", "gamma"), APSVM: ("C", "easy_fraction")}
RANKS = (0, -1, 4, 5, 10**30, 1.0, 1.5, NAN, "1", None, True, [1], np.array([1]))
KERNELS = ("gauss", "", None, 3, ["rbf"])
WIDTHS = (-1.0, NAN, INF, "wide", None, [1.0])
WRONG = {
    TopKSVC: {
        "k": RANKS,
        "gamma": (-1e-9, NAN, INF, HUGE, 1 / HUGE, "1", None, [0.5, 0.5], 1j),
        "solver": ("newtons", "", None, 3, "ACTIVE", ["auto"], "newton", "fista"),
        "variant": ("gamma", "", None, 1, "Alpha", ["alpha"]),
        "class_weight": ({0: -1.0}, {0: NAN}, {0: INF}),
    },
    TopKLogisticRegression: {
        "k": RANKS,
        "variant": ("gamma", None, 1),
        "truncated": ("yes", None, 2),
        "solver": ("active", "adam", None),
        "kernel": KERNELS,
        "kernel_params": ({"gamma": 1.0},),
        "max_iter": (True,),
        "verbose": ("yes",),
        "fit_intercept": ("no",),
        "warm_start": ("no",),
    },
    OneVsAllClassifier: {"loss": ("entropy", None), "solver": ("lbfgs", "adam")},
    MultilabelClassifier: {"loss": ("logistic",), "solver": ("newton",)},
    APSVM: {
        "max_iter": (True,),
        "solver": ("newton", "", None, 3, "BUNDLE", ["auto"]),
        "method": ("yue", "", None, 3, "Greedy", ["greedy"]),
        "easy_fraction": (-0.1, 1.01, NAN, INF, "0.5", None, [0.5]),
        "ramp": (1, 0, None, "yes"),
        "warm_start": (1, None),
        "verbose": (None, "1", 0.5),
    },
    LatentAPSVM: {
        "max_rounds": (0, 1.5, None, True),
        "solver": ("lbfgs", None),
        "method": ("yue", None),
        "warm_start": (1, None),
    },
    SVMPlusClassifier: {
        "loss": ("squared", "", None, 1, ["hinge"]),
        "lam": PRICES,
        "free_slack": (-1e-9, NAN, INF, "1", None, [1.0], HUGE, 1 / HUGE),
        "kernel": KERNELS,
        "kernel_z": KERNELS,
        "gamma": WIDTHS,
        "gamma_z": WIDTHS,
        "degree": (0, -1, 2.5, "2", None, True),
        "coef0": (NAN, INF, "1", None, [0.0]),
        "standardize_z": (None, 1, "yes"),
        "nonneg_slack": (1, "yes", 0.0),
        "verbose": ("1", None, 0.5),
    },
    SVM2KClassifier: {
        "C_z": PRICES,
        "D": (-1e-9, NAN, INF, "1", None, [1.0], HUGE, 1 / HUGE),
        "eps": (-1e-9, NAN, INF, "1", None, [1.0]),
        "kernel": KERNELS,
        "kernel_z": KERNELS,
        "gamma_z": WIDTHS,
        "standardize_z": (None, 1, "yes"),
    },
    RecallAtK: {
        "k": (0, -1, 12, 1.5, "3", True, [2], NAN),
        "solver": ("newton", None),
        "warm_start": (1, None),
    },
    TopPush: {"warm_start": (1, None), "max_iter": (True,), "verbose": (None, "1", 0.5)},
    WsabieClassifier: {
        "rank": (0, 1.5),
        "epochs": (0, None),
        "learning_rate": (0.0, NAN),
        "max_norm": (0.0, "1"),
        "verbose": (None,),
    },
}
CASES = [
    (estimator, argument, value)
    for estimator, own in WRONG.items()
    for argument, value in [
        *(COMMON if estimator is not WsabieClassifier else ()),
        *((a, v) for a, values in own.items() for v in values),
    ]
]


@pytest.mark.parametrize(("estimator", "argument", "value"), CASES, ids=name)
def test_parameters_out_of_range(estimator, argument, value):
    refused(
        estimator(**{argument: value}), argument, *DATA[estimator], typed=TYPED.get(estimator, ())
    )


# ---- data -------------------------------------------------------------------------------------------
ROWWISE = [TopKSVC(), TopKSVC(solver="sdca"), TopKLogisticRegression(), OneVsAllClassifier()]
ROWWISE += [APSVM(), TopPush(), RecallAtK()]
MISSING = r"^y: nan in row \d; expected a label for every row"


@pytest.mark.parametrize("model", ROWWISE, ids=repr)
@pytest.mark.parametrize("row", range(21))
def test_features_and_labels(model, row):
    y = DATA[type(model)][1]
    flat = [(X[0, 0], y, "2D array"), (np.array(5.0), y, "2D array")]
    rows = [*bad.data(X, y), *flat, (X, np.where(y, np.nan, 0.0), MISSING)]
    bad.refused_data(model, rows[row][2], *rows[row][:2])


@pytest.mark.parametrize("model", ROWWISE[:4], ids=repr)
@pytest.mark.parametrize(("weight", "message"), bad.weights(Y % 4))
def test_sample_weights(model, weight, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y % 4, sample_weight=weight)


G = np.repeat([5, 3], 6)
OTHERS = [
    (TopKSVC(class_weight=dict.fromkeys(range(4), 0.0)), {}, r"^sample_weight: all zero.*Fix: "),
    (TopKSVC(k=2), {"y": Y > 6}, r"^k: 2.*<= 1.*2 classes"),
    (TopKSVC(solver="newton"), {}, r"^solver: .*gamma = 0.*Fix: set gamma > 0"),
    (TopKLogisticRegression(truncated=True, variant="beta", k=2), {}, r"^variant: 'beta' with truncated=True"),
    (TopKLogisticRegression(truncated=True, solver="sdca", k=2), {}, "'sdca' with truncated=True"),
    (APSVM(), {"y": Y % 3}, r"^y: 3 classes.*Only binary classification.*y == label"),
    (APSVM(), {"y": np.where(BINARY, "a", None)}, "label|y: "),
    (APSVM(), {"groups": G[:-1]}, r"^groups: shape \(11,\).*Fix: "),
    (APSVM(), {"groups": G[:, None]}, r"^groups: shape \(12, 1\)"),
    (APSVM(), {"groups": 3}, r"^groups: shape \(\)"),
    (APSVM(), {"groups": np.where(BINARY, 7, 8)}, r"^groups: .*without a positive \(8\).*Fix: drop"),
    (APSVM(), {"groups": np.where(Y == 3, "odd", "rest")}, r"^groups: .*without a negative \(odd\)"),
    (APSVM(), {"groups": Y}, r"^groups: 8 without a positive \(1, 2, 4, 5, 7, \.\.\.\)"),
    (APSVM(), {"groups": np.where(BINARY, None, "a")}, r"^groups: a missing label"),
    (APSVM(), {"groups": np.array([NAN, *"ab" * 5, "a"], dtype=object)}, r"^groups: a missing label"),
    (APSVM(), {"groups": pd.Series(["a", None] * 6)}, r"^groups: a missing label"),
    (APSVM(), {"groups": pd.Series([1, None] * 6, dtype="Int64")}, r"^groups: a missing label"),
    (APSVM(), {"groups": np.array([1, "a"] * 6, dtype=object)}, r"^groups: labels of several types.*Fix: convert"),
    (APSVM(), {"groups": G + 0.5}, r"^groups: dtype float64"),
    (APSVM(), {"groups": G, "query_weight": 1.0 + (Y == 0)}, r"^query_weight: .*2 and 1 in one query.*same weight"),
    (APSVM(), {"groups": G, "query_weight": np.where(G == 5, -1.0, 1.0)}, r"^query_weight: .*least -1"),
    (APSVM(), {"groups": G, "query_weight": np.where(G == 5, NAN, 1.0)}, r"^query_weight: .*least nan"),
    (APSVM(), {"groups": G, "query_weight": np.zeros(12)}, r"^query_weight: .*least 0, largest 0"),
    (APSVM(), {"groups": G, "query_weight": np.ones(3)}, r"^query_weight: .*shape \(3,\)"),
    (APSVM(), {"groups": G, "query_weight": np.ones((12, 1))}, r"^query_weight: .*shape"),
    (APSVM(), {"groups": G, "query_weight": ["a"] * 12}, r"^query_weight: .*number"),
    (APSVM(), {"easy_mask": np.zeros(11, bool)}, r"^easy_mask: shape \(11,\)"),
    (APSVM(), {"easy_mask": np.zeros((12, 1), bool)}, r"^easy_mask: shape \(12, 1\)"),
    (APSVM(), {"easy_mask": np.zeros(12)}, r"^easy_mask: dtype float64.*Fix: pass booleans"),
    (APSVM(), {"easy_mask": Y}, r"^easy_mask: dtype int64"),
    (APSVM(), {"easy_mask": np.full(12, None)}, r"^easy_mask: dtype object"),
    (APSVM(easy_fraction=0.5), {"groups": G}, r"^easy_fraction: 0.5, with groups.*Fix: "),
    (APSVM(), {"groups": G, "easy_mask": BINARY}, r"^easy_mask: given, with groups.*Fix: "),
    (APSVM(easy_fraction=0.5, ramp=True), {}, r"^easy_fraction: 0.5, with ramp.*Fix: "),
    (APSVM(ramp=True), {"easy_mask": BINARY}, r"^easy_mask: given, with ramp.*Fix: "),
    (LatentAPSVM(), {"groups": np.arange(8)}, r"^groups: .*without a"),
    (LatentAPSVM(), {"groups": B[:-1] * 1}, r"^groups: .*shape \(7,\)"),
    (LatentAPSVM(), {"groups": B * 1}, r"^groups: .*without a"),
    (OneVsAllClassifier("logistic"), {"checkpoint": "a"}, r"^checkpoint: .*leave it out"),
    (OneVsAllClassifier(), {"X": Cut(X)}, r"^X: .*load the rows"),
    (MultilabelClassifier("smooth_hinge", gamma=0.0), {}, r"^gamma: 0.0; .*Fix: "),
    (MultilabelClassifier(), {"y": 2 * LABELS}, r"^y: y\[.*0 or 1 everywhere"),
    (MultilabelClassifier(), {"y": np.resize([0, 5], (12, 3))}, r"^y: .*0 or 1 everywhere"),
    (MultilabelClassifier(), {"y": np.zeros(12)}, r"^y: one class"),
    (MultilabelClassifier("entropy"), {"y": np.zeros((12, 3), int)}, r"^sample_weight: all zero"),
    (MultilabelClassifier(), {"eval_set": [(X, LABELS[:, :2])]}, r"^eval_set: 2 labels"),
    (MultilabelClassifier(), {"eval_set": [(X, 2 * LABELS)]}, r"^y: .*0 or 1 everywhere"),
    (SVM2KClassifier(kernel_z="precomputed"), {"Z": -np.eye(12)}, r"^kernel_z: "),
    (TopPush(C=1e200), {}, r"^C: "),
    (LatentAPSVM(), {"X": [np.ma.masked_equal(np.eye(2), 1.0)] * 8}, r"^X\[0\]: a masked array"),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(OTHERS)))
def test_what_does_not_fit_the_others(row):
    model, given, message = OTHERS[row]
    data = dict(zip(("X", "y", "Z"), DATA[type(model)], strict=False)) | given
    with pytest.raises(InvalidParameterError, match=message) as caught:
        model.fit(**data)
    assert caught.value.fix
    assert isinstance(caught.value, InvalidTypeError) or "dtype" not in message
    assert not hasattr(model, "coef_")


def test_scores_say_what_is_wrong():
    model = APSVM().fit(X, BINARY)
    for asked, message in (
        ((X, BINARY[:-1]), r"^y: 11 labels for 12 rows"),
        ((X, np.where(BINARY, "a", "b")), r"^y: label .*Fix: "),
        ((X, np.zeros(12, bool)), r"^y: no example of class .*True.*Fix: "),
        ((X, BINARY, G[:-1]), r"^groups: shape"),
        (
            (X, BINARY, np.where(BINARY, 7, 8)),
            r"^groups: no example of class .*True.* in query .*8",
        ),
        ((X, BINARY, None, np.ones(12)), r"^sample_weight: given"),
        ((X[:, :2], BINARY), "3 features"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(*asked)
    assert model.score(X, np.ones(12, bool)) == 1.0  # nothing to rank below them
    with pytest.raises(InvalidParameterError, match="groups"):
        TopPush().fit(X, Y % 3).score(X, Y % 3, groups=G)
    with pytest.raises(TypeError, match="sample_weight"):
        TopPush().fit(X, BINARY, sample_weight=np.ones(12))


# ---- trainers ---------------------------------------------------------------------------------------
V, U = np.where(BINARY, 1.0, -1.0), BINARY
TRAINERS = {
    svm.train: ({"X": X, "y": V, "C": 1.0}, [
        ({"C": 0.0}, "C"), ({"C": NAN}, "C"), ({"loss": "hinges"}, "loss"), ({"y": np.ones(12)}, "y"),
        ({"y": V[:-1]}, "y"), ({"y": V > 0}, "y"), ({"sample_weight": -np.ones(12)}, "sample_weight"),
        ({"sample_weight": 1.0 * (V > 0)}, "y"), ({"max_iter": 0}, "max_iter"), ({"tol": -1.0}, "tol"),
        ({"X": np.where(X > 2, NAN, X)}, "X"),
    ]),
    svm.train_kernel: ({"K": np.eye(12), "y": V, "C": 1.0}, [
        ({"K": -np.eye(12)}, "K"), ({"K": np.triu(np.ones((12, 12)))}, "K"), ({"K": np.ones((12, 3))}, "K"),
    ]),
    svm_2k.train: ({"X": X, "y": V, "Z": Z, "CA": 0.5, "CB": 2.0, "D": 0.7}, [
        ({"CA": 0.0}, "CA"), ({"CB": NAN}, "CB"), ({"D": -1.0}, "D"), ({"eps": INF}, "eps"),
        ({"y": np.ones(12)}, "y"), ({"y": V[:-1]}, "y"), ({"Z": Z[:-1]}, "Z"),
        ({"Z": None, "Kz": np.eye(11)}, "Kz"), ({"K": np.eye(12)}, "X, K"), ({"Z": None}, "Z, Kz"),
        ({"Z": None, "Kz": -np.eye(12)}, "Kz"), ({"X": None, "K": np.triu(np.ones((12, 12)))}, "K"),
        ({"sample_weight": 1.0 * (V > 0)}, "y"), ({"max_iter": 0}, "max_iter"), ({"tol": -1.0}, "tol"),
    ]),
    ap_svm.train: ({"X": X, "queries": Queries(U), "C": 1.0}, [
        ({"C": 0.0}, "C"), ({"C": NAN}, "C"), ({"tol": -1.0}, "tol"), ({"solver": "sgd"}, "solver"),
        ({"start": np.zeros(4)}, "start"), ({"X": np.ones(60)}, "X"),
        *(({"X": convert(X)}, "X") for convert in (np.float16, np.longdouble, list, lambda X: X.astype(int))),
    ]),
    ap_svm_appx.train: ({"X": X, "y": U, "C": 1.0, "easy": U}, [
        ({"easy": np.ones(12)}, "easy"), ({"easy": U[:-1]}, "easy"), ({"easy": Y}, "easy"),
    ]),
    latent_ap_svm.train: ({"X": X, "bags": Y // 2, "y": U[:6], "C": 1.0}, [
        ({"bags": np.zeros(12, int)}, "bags"), ({"bags": Y}, "bags"), ({"bags": Y / 2}, "bags"),
        ({"bags": Y[:11] // 2}, "bags"), ({"max_rounds": 0}, "max_rounds"),
    ]),
    recall_at_k.train: ({"X": X, "y": U, "C": 1.0}, [
        ({"k": 0}, "k"), ({"k": 12}, "k"), ({"k": 1.5}, "k"), ({"k": True}, "k"), ({"start": np.zeros(2)}, "start"),
    ]),
    top_push.train: ({"X": X, "y": U, "C": 1.0}, [({"start": np.zeros(2)}, "start"), ({"y": np.ones(12)}, "y")]),
}  # fmt: skip
REFUSED = [
    (train, given | change, said)
    for train, (given, rows) in TRAINERS.items()
    for change, said in rows
]


@pytest.mark.parametrize(("train", "given", "argument"), REFUSED, ids=name)
def test_trainers(train, given, argument):
    with pytest.raises(InvalidParameterError) as caught:
        train(**given)
    assert caught.value.argument == argument


# ---- bags -------------------------------------------------------------------------------------------
HOLE = np.where(np.arange(6).reshape(2, 3) == 4, np.nan, 1.0)
ODD_BAGS = [
    (np.zeros((0, 3)), r"^X\[2\]: an empty bag.*Fix: drop"),
    ([], r"^X\[2\]: an empty bag"),
    (np.zeros((2, 4)), r"^X: bag 2 has 4 features, bag 0 3.*Fix: "),
    (np.zeros((2, 0)), r"^X\[2\]: shape \(2, 0\)"),
    (np.zeros(3), r"^X\[2\]: shape \(3,\).*a matrix"),
    (1.0, r"^X\[2\]: shape \(\)"),
    ([[1.0, 2.0, 3.0], [1.0]], r"^X\[2\]: not a rectangular array"),
    (HOLE, r"^X\[2\]: X\[2\]\[1, 1\] = nan"),
    (HOLE * np.inf, r"^X\[2\]: .*inf"),
    (np.full((1, 3), 1e80), r"^X\[2\]: .*= 1e\+80.*at most 1e\+70"),
    ([["a"] * 3], r"^X\[2\]: list with dtype"),
    ("abc", r"^X\[2\]: str with dtype"),
    (np.ones((2, 3), complex), r"^X\[2\]: .*dtype complex"),
    (sp.csr_array(HOLE), r"^X\[2\]: X\[2\]\[1, 1\] = nan"),
    (sp.csr_array((0, 3)), r"^X\[2\]: an empty bag"),
    (sp.csr_array((2, 4)), r"^X: bag 2 has 4 features, bag 0 3.*Fix: "),
    (sp.coo_array(np.ones(3)), r"^X\[2\]: shape \(3,\)"),
    (sp.csr_array(np.ones((2, 3), complex)), r"^X\[2\]: .*dtype complex"),
]
ODD = [([*BAGS[:2], bag, *BAGS[3:]], B, said) for bag, said in ODD_BAGS]
ODD += [
    (np.ones((8, 3)), B, r"^X: one matrix.*or use APSVM"),
    (pd.DataFrame(np.ones((8, 3))), B, r"^X: one matrix"),
    (sp.csr_array(np.ones((8, 3))), B, r"^X: csr_array.*one matrix per bag"),
    ("bags", B, r"^X: str"),
    ((bag for bag in BAGS), B, r"^X: generator.*list with one matrix per bag"),
    (np.array(1.0), B, r"^X: ndarray"),
    (dict(enumerate(BAGS)), B, r"^X: dict"),
    (None, B, r"^X: NoneType"),
    ([], B[:0], r"^X: no bags"),
    (BAGS, B[:-1], r"^y: 7 labels for 8 bags"),
    (BAGS, None, r"^y: None"),
    (BAGS, np.zeros(8), r"^y: one class"),
    (BAGS, np.arange(8) % 3, r"^y: 3 classes.*Only binary"),
    (BAGS, np.where(B, np.nan, 1.0), "^y: nan in row 0"),
    (BAGS, np.column_stack([B, B]), "1d array"),
]


@pytest.mark.parametrize(("bags", "labels", "message"), ODD)
def test_bags(bags, labels, message):
    bad.refused_data(LatentAPSVM(), message, bags, labels)


def test_other_bags_than_those_of_the_fit():
    model = LatentAPSVM(max_iter=20).fit(BAGS, B)
    for kind, message, bags in (
        (InvalidParameterError, r"^X: bag 0 has 2 features, the fit 3", [np.ones((1, 2))]),
        (InvalidParameterError, r"^X\[1\]: an empty bag", [np.ones((1, 3)), np.ones((0, 3))]),
        (InvalidTypeError, r"^X: int", 3),
    ):
        with pytest.raises(kind, match=message):
            model.predict(bags)


# ---- anything ---------------------------------------------------------------------------------------
N = bad.ANY_NUMBER
FUZZED = {
    TopKSVC: {
        "k": st.integers(-1, 5) | N,
        "gamma": N,
        "variant": st.sampled_from(["alpha", "beta", "delta", None]),
        "solver": st.sampled_from(["auto", "active", "sdca", "newton", "x"]),
    },
    APSVM: {
        "easy_fraction": st.just(0.0) | N,
        "ramp": st.booleans(),
        "solver": st.sampled_from(["auto", "bundle", "cutting_plane", "x"]),
    },
    TopKLogisticRegression: {"k": st.integers(-1, 5) | N},
    OneVsAllClassifier: {"loss": st.sampled_from(["hinge", "logistic", "x"])},
    TopPush: {},
    RecallAtK: {"k": st.integers(-1, 5) | N},
}
ONCE = [  # what once ended otherwise
    {"gamma": 1e200, "solver": "newton"},
    {"k": 2, "C": 1e60, "gamma": 1e-200, "tol": 1e-9, "variant": "beta", "solver": "newton"},
    {"k": 2, "C": 1e-60, "gamma": 1e200, "tol": 1e-9, "variant": "beta", "solver": "active"},
    {"k": 2, "C": 1e-60, "gamma": 0.5, "tol": 1e-200, "solver": "newton"},
    {"k": 3, "C": 1e60, "solver": "active"},
]


def error_or_claims(estimator, params):
    """Either an error of ours, or a model whose claims are consistent."""
    model = estimator(**params, max_iter=5)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    error = bad.calm_fit(model, *DATA[estimator])
    if error is None:
        bad.assert_consistent(model)
        return
    assert isinstance(error, FastError)
    assert error.argument in {*params, "easy_mask"}
    assert "Fix: " in str(error)


@pytest.mark.parametrize("estimator", FUZZED, ids=name)
@settings(max_examples=100)
@given(data=st.data())
def test_fuzzed_parameters(estimator, data):
    error_or_claims(
        estimator, data.draw(st.fixed_dictionaries({"C": N, "tol": N, **FUZZED[estimator]}))
    )


@pytest.mark.parametrize("params", ONCE, ids=str)
def test_parameters_that_once_ended_otherwise(params):
    error_or_claims(TopKSVC, params)


FIVE = bad.labels(
    st.integers(-2, 2), [0.0, 1.0, -3.0, 0.5], ["", "a", "b"], ["a", "b", "c", None, 1], bad.FLAGS
)
TWO = bad.labels(st.integers(0, 1), [0.0, 1.0, 0.5], ["", "a"], ["a", "b", None, 1], bad.FLAGS)
QUERIES = st.none() | hnp.arrays(np.int64, bad.ROWS | st.integers(0, 6), elements=st.integers(0, 1))
ANYTHING = {
    "active": (partial(TopKSVC, solver="active", random_state=0), FIVE, {"sample_weight": bad.WEIGHTS}),
    "sdca": (partial(TopKSVC, solver="sdca", random_state=0), FIVE, {"sample_weight": bad.WEIGHTS}),
    "entropy": (TopKLogisticRegression, FIVE, {"sample_weight": bad.WEIGHTS}),
    "one-vs-all": (OneVsAllClassifier, FIVE, {"sample_weight": bad.WEIGHTS}),
    "ranking": (APSVM, TWO, {"groups": QUERIES}),
    "recall": (RecallAtK, TWO, {}),
    "top push": (TopPush, TWO, {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ANYTHING)
@settings(max_examples=120)
@given(X=bad.MATRIX, sparse=st.booleans(), data=st.data())
def test_fuzzed_data(kind, X, sparse, data):
    make, labels, more = ANYTHING[kind]
    y, more = data.draw(labels), {n: data.draw(s) for n, s in more.items()}
    if sparse and X.ndim == 2:
        X = sp.csr_array(X)
    model = make(max_iter=3)
    error = bad.calm_fit(model, X, y, **more)
    if error is not None:
        assert str(error)
        return
    assert model.coef_.shape[1] == X.shape[1]
    bad.assert_consistent(model)
    assert model.predict(X).shape == (X.shape[0],)


@st.composite
def sound_bags(draw):
    """Bags of two features, as many labels, and some of both classes."""
    numbers = st.sampled_from([0.0, 1.0, -2.0, 0.5, 3.0])
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    bags = [draw(hnp.arrays(np.float64, (size, 2), elements=numbers)) for size in sizes]
    labels = st.lists(st.integers(0, 1), min_size=len(sizes) - 2, max_size=len(sizes) - 2)
    return bags, [0, 1, *draw(labels)]


@settings(max_examples=100)
@given(
    problem=sound_bags(),
    C=st.sampled_from([0.1, 10.0, 1e4]),
    spoilt=st.sampled_from([np.nan, np.inf, -1e80, None, "a"]),
    where=st.integers(0, 2),
)
def test_bags_with_ties_are_certified_and_one_bad_entry_is_named(problem, C, spoilt, where):
    bags, y = problem
    model = _problems.quietly(LatentAPSVM(C=C, tol=1e-4, max_iter=50, max_rounds=3), bags, y)
    check_certificate(model, bags, y, slack=1e-7)
    assert model.predict(bags).shape == (len(bags),)
    i = where % len(bags)
    bags[i] = bags[i].astype(object if spoilt is None or spoilt == "a" else float)
    bags[i][-1, 1] = spoilt
    with pytest.raises(InvalidParameterError, match=rf"^X\[{i}\]: .*Fix: "):
        LatentAPSVM().fit(bags, y)
