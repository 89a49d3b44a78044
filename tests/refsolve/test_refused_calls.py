"""Calls with one thing wrong, and the words that name it; operations and models have tables of their own."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import refsolve
from refsolve import certificates, exact
from refsolve.catalogue import load, object_names
from refsolve.errors import InvalidParameterError, UnknownProblemError
from refsolve.exact import average_precision as ranked
from refsolve.exact import faces
from refsolve.losses import average_precision as ap
from refsolve.models import multiclass_erm
from refsolve.spec import Symbol

AP = "average_precision"
S, Y, NONE = [0.5, 0.25, 0.0], [1, 0, 1], np.zeros(3)
UNKNOWN = [
    (r"did you mean 'topk_cone\.projection'", refsolve.solve, ("topk_kone.projection",), {"a": [1.0], "k": 1}),
    ("topk_cone'", refsolve.solve, ("topk_cone",), {}),
    ("'topk_hinge_alpha'", load, ("topk_hinge_alfa",), {}),
    ("kind", object_names, ("lossess",), {}),
    ("topk_cone", exact.project, ("topk_con", [1.0]), {"k": 1}),
]  # fmt: skip
REFUSED = [
    ("k = 4: expected integer, 1 <= k <= d with d = 3", Symbol("k", "", "integer", low=1, high="d").check, (4, 3), {}),
    ("0 < gamma", Symbol("gamma", "", low=0, low_open=True).check, (0.0,), {}),
    ("k = 0", exact.project, ("topk_cone", [1.0]), {"k": 0}),
    ("rho", exact.project, ("simplex", [1.0]), {"rho": Fraction(-1, 2)}),
    ("r = ", exact.project, ("simplex", [Fraction(1)]), {"r": Fraction(-1, 2)}),
    ("at most 5", faces.project, ("simplex", [Fraction(1)] * 6), {"r": Fraction(1)}),
    (r"x = .*shape \(2,\)", certificates.projection, ("simplex", [0.5, 0.5, 0.0], [1.0, 2.0]), {}),
    ("NaN", certificates.projection, ("simplex", [0.5, np.nan], [1.0, 2.0]), {}),
    ("one of", certificates.prox, ("simplex", [0.5], [1.0]), {}),
    ("a convex loss", multiclass_erm.dual, ("truncated_topk_entropy", [0, 1]),
     {"A": np.zeros((2, 2)), "X": np.eye(2), "C": 1.0, "k": 1}),
    ("off by 1", ap.delta, ([1, 0], [1, 0]), {}),
    ("inversions", ap.coefficients, ([1, 0], [np.nan, 0]), {}),
    ("2 entries", ap.coefficients, ([1, 0, 0], [0, 0]), {}),
    ("at most 8 samples", ap.all_rankings, ([1] + [0] * 8,), {}),
    ("ties", ap.ranking_from_scores, ([1.0, 2.0], [0, 1]), {"ties": "sklearn"}),
    ("query 3", ap.queries, ([1, 0, 1, 0, 0], [7, 3, 7, 7, 7]), {}),
    *(("groups", ap.queries, ([1, 0, 1, 0, 0], wrong), {})
      for wrong in ([1, 2], np.ones((5, 1)), [1.0, np.nan, 1.0, 1.0, 1.0])),
    *((r"^y = ", ap.all_rankings, (y,), {}) for y in
      ([1, 1], [0, 0], [-1, -1], [1, 2], [0, -1, 1], [1, np.nan], "ab", [[0, 1]], [], [None, 1])),
    *(("coefficients", certificates.loss_augmented_inference, (AP, x, S, Y), {}) for x in ([np.nan, 0, 0], [0.0, 0.0])),
    ("dual", certificates.loss_augmented_inference, (AP, NONE, S, Y), {"dual": np.zeros((3, 1))}),
    ("object_name", certificates.loss_augmented_inference, ("softmax", NONE, S, Y), {}),
    ("costs", certificates.loss_value, (AP, 0.5, S, Y), {"costs": [1.0, 1.0, 1.0]}),
    ("sample_weight", certificates.loss_value, (AP, 0.5, S, Y), {"sample_weight": 2.0}),
    ("loss", certificates.gradient, (AP, NONE, S, Y), {}),
    ("interleavings", ap.value, (cp.Variable(20), [1] * 10 + [0] * 10), {}),
    ("greedy", ranked.enumerate_rankings, (np.zeros(24), [1] * 12 + [0] * 12), {}),
    ("greedy", ranked.permute, (np.zeros(9), [1] + [0] * 8), {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "says", "call", "arguments", "named"),
    [(UnknownProblemError, *row) for row in UNKNOWN]
    + [(InvalidParameterError, *row) for row in REFUSED],
)
def test_what_is_wrong_is_named(error, says, call, arguments, named):
    with pytest.raises(error, match=says):
        call(*arguments, **named)
