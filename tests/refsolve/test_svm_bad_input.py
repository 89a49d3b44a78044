"""Bad input to the SVMs: an error that names the argument, at once, from every entry."""

import numpy as np
import pytest
from _privileged import draw

import refsolve
from refsolve import models
from refsolve.errors import InvalidGramError, InvalidParameterError

X, Y, Z = draw(6, 2, 2, 0)
SETTINGS = {
    "svm": {"X": X, "y": Y, "C": 1.0},
    "svm_plus_hinge": {"X": X, "y": Y, "Z": Z, "C": 1.0, "lam": 1.0},
    "svm_plus_squared_hinge": {"X": X, "y": Y, "Z": Z, "C": 1.0, "lam": 1.0},
    "svm_2k": {"X": X, "y": Y, "Z": Z, "CA": 1.0, "CB": 1.0, "D": 1.0},
}
PLUS = ("svm_plus_hinge", "svm_plus_squared_hinge")
NAN = np.where(np.arange(12).reshape(6, 2) == 3, np.nan, X)
EVERYWHERE = [
    ("y", {"y": np.ones(6)}),
    ("y", {"y": [1, -1, 1, -1, 1, 2]}),
    ("y", {"y": Y[:5]}),
    ("y", {"X": X[:1], "y": [1], "Z": Z[:1]}),
    ("y", {"sample_weight": (Y > 0).astype(float)}),
    ("X", {"X": NAN}),
    ("X", {"X": X[:, 0]}),
    ("X", {"X": np.zeros((0, 2))}),
    ("X", {"K": X @ X.T}),
    ("X", {"X": None}),
    ("sample_weight", {"sample_weight": np.zeros(6)}),
    ("sample_weight", {"sample_weight": np.append(np.ones(5), -1)}),
    ("sample_weight", {"sample_weight": np.ones(5)}),
    ("nonsense", {"nonsense": 1}),
]
COSTS = [("C", 0.0), ("C", -1.0), ("C", np.nan), ("C", np.inf), ("C", "1"), ("C", True)]
PRIVILEGED = [
    ("Z", {"Z": Z[:5]}),
    ("Z", {"Z": np.where(Z[2, 1] == Z, np.inf, Z)}),
    ("Z", {"Z": None}),
    ("Z", {"Kz": Z @ Z.T}),
    ("Kz", {"Z": None, "Kz": -Z @ Z.T}),
    ("Kz", {"Z": None, "Kz": Z}),
    ("Kz", {"Z": None, "Kz": np.triu(np.ones((6, 6)))}),
    ("Kz", {"Z": None, "Kz": np.eye(5)}),
]
CASES = [
    *((stem, name, change) for stem in SETTINGS for name, change in EVERYWHERE),
    *((stem, n, {n: v}) for stem in ("svm", *PLUS) for n, v in COSTS),
    *((stem, "lam", {"lam": value}) for stem in PLUS for value in (0, -1.0, np.nan, None)),
    *((stem, name, change) for stem in (*PLUS, "svm_2k") for name, change in PRIVILEGED),
    *((stem, "free_slack", {"free_slack": value}) for stem in PLUS for value in (-1, np.nan)),
    *((stem, flag, {flag: 1}) for stem in PLUS for flag in ("nonneg_slack", "label_signed", "penalize_bias")),
    ("svm_plus_hinge", "label_signed", {"label_signed": True, "nonneg_slack": False}),
    ("svm", "loss", {"loss": "logistic"}),
    ("svm_2k", "CA", {"CA": 0}),
    ("svm_2k", "CB", {"CB": -1}),
    ("svm_2k", "D", {"D": -1}),
    ("svm_2k", "eps", {"eps": -0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("stem", "name", "change"), CASES)
def test_problems_name_the_argument(stem, name, change):
    given = {**SETTINGS[stem], **change}
    if "Z" not in SETTINGS[stem]:
        given.pop("Z", None)
    for operation in ("primal", "dual"):
        with pytest.raises(InvalidParameterError) as caught:
            refsolve.solve(f"{stem}.{operation}", **given)
        assert caught.value.argument == name
        assert caught.value.fix


@pytest.mark.parametrize("stem", SETTINGS)
def test_kernels_must_be_kernels(stem):
    given = {**SETTINGS[stem], "X": None}
    for K in (-X @ X.T, np.triu(np.ones((6, 6))), X):
        with pytest.raises(InvalidGramError) as caught:
            refsolve.solve(f"{stem}.primal", **{**given, "K": K})
        assert caught.value.argument == "K"


@pytest.mark.parametrize("stem", PLUS)
@pytest.mark.parametrize(
    ("name", "change"),
    [
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
    ],
)
def test_certificates_name_the_argument(stem, name, change):
    given = {**SETTINGS[stem], "alpha": np.ones(6), **change}
    with pytest.raises(InvalidParameterError) as caught:
        getattr(models, stem).certificate(**given)
    assert caught.value.argument == name


def test_certificates_of_kernels_take_coefficients():
    given = {"K": X @ X.T, "y": Y, "Kz": Z @ Z.T, "C": 1.0, "lam": 1.0, "alpha": np.ones(6)}
    module = models.svm_plus_squared_hinge
    for name in ("w", "v"):
        with pytest.raises(InvalidParameterError, match="with a kernel"):
            module.certificate(**given, **{name: np.ones(6), "rho": 0.0})
    with pytest.raises(InvalidParameterError, match="use certificate"):
        module.relative_gap(np.ones(6), X, Y, Z, C=1.0, lam=1.0, nonneg_slack=True)


def test_arguments_are_not_changed():
    given = {"X": X.copy(), "y": Y.copy(), "Z": Z.copy(), "sample_weight": np.ones(6)}
    before = {name: value.copy() for name, value in given.items()}
    for stem in PLUS:
        refsolve.solve(f"{stem}.primal", **given, C=1.0, lam=1.0, free_slack=0.1)
    for name, value in before.items():
        np.testing.assert_array_equal(given[name], value)
