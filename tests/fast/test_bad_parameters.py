"""A parameter out of its range is named at once, by every estimator, with the fix."""

import _problems
import numpy as np
import pytest
from _bad_input import COMMON, HUGE, INF, NAN, PRICES, name, refused

from fast import (
    APSVM,
    LatentAPSVM,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
)

RNG = np.random.default_rng(0)
Y = np.arange(12)
X = RNG.standard_normal((12, 3)) + Y[:, None]
Z = RNG.standard_normal((12, 2))
DATA = {
    TopKSVC: (X, Y % 4),
    TopKLogisticRegression: (X, Y % 4),
    APSVM: (X, Y % 3 == 0),
    LatentAPSVM: _problems.bags(12, n=8, d=3),
    SVMPlusClassifier: (X, Y % 3, Z),
    SVM2KClassifier: (X, Y % 3, Z),
    TopPush: (X, Y % 3 == 0),
    RecallAtK: (X, Y % 3 == 0),
}
TYPED = {TopKSVC: ("k", "C", "gamma"), APSVM: ("C", "easy_fraction")}
RANKS = (0, -1, 4, 5, 10**30, 1.0, 1.5, NAN, "1", None, True, [1], np.array([1]))
KERNELS = ("gauss", "", None, 3, ["rbf"])
WIDTHS = (-1.0, NAN, INF, "wide", None, [1.0])
WRONG = {
    TopKSVC: {
        "k": RANKS,
        "gamma": (-1e-9, NAN, INF, HUGE, 1 / HUGE, "1", None, [0.5, 0.5], 1j),
        "solver": ("newtons", "", None, 3, "ACTIVE", ["auto"]),
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
}
CASES = [
    (estimator, argument, value)
    for estimator, own in WRONG.items()
    for argument, value in [*COMMON, *((a, v) for a, values in own.items() for v in values)]
]


@pytest.mark.parametrize(("estimator", "argument", "value"), CASES, ids=name)
def test_parameters_out_of_range(estimator, argument, value):
    refused(
        estimator(**{argument: value}), argument, *DATA[estimator], typed=TYPED.get(estimator, ())
    )
