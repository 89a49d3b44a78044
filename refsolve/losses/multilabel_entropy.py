"""Multilabel cross-entropy: softmax against the uniform distribution on the right labels.

L(y, f) = log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}, 0 elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve._lazy import cp
from refsolve.generators.simplex_entropy import SimplexEntropy
from refsolve.sets import simplex
from refsolve.spec import Spec

SPEC = Spec(
    title="Multilabel cross-entropy loss",
    kind="losses",
    formulas={
        "z": "z = f + c: all m labels, no signs; t = 1/|P| on P, 0 elsewhere",
        "value": "log sum_j e^{z_j} - <t,z> = (1/|P|) sum over l in P of log sum_j e^{z_j - z_l}",
        "conjugate": "<p,log p> - <c,x>, p = x + t, on {p >= 0, <1,p> = 1}; +inf elsewhere",
        "gradient": "x = p - t, p_j = e^{z_j} / sum e^z",
        "sdca_update": (
            "b = q + c, alpha = omega C K_ii,  a = -omega C (p - t),\n"
            "p = argmin alpha/2 ||p - t||^2 - <b,p> + <p,log p> over the simplex"
        ),
    },
    symbols=(),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2018 (TPAMI), multilabel softmax",
    notes=(
        "costs are 0 by default; P must not be empty",
        "L >= log |P|, attained at p = t; with one right label it is the softmax loss",
    ),
)

family = "multilabel"
generator = SimplexEntropy()
default_cost = 0.0
dual_set = "simplex"


def _target(y: ArrayLike) -> Any:
    y = np.asarray(y, dtype=float)
    return y / y.sum()


def value(z: cp.Expression, y: ArrayLike) -> Any:
    """CVXPY expression of the loss in z."""
    return cp.log_sum_exp(z) - _target(y) @ z


def conjugate(x: cp.Expression, y: ArrayLike) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for costs."""
    p = x + _target(y)
    return -cp.sum(cp.entr(p)), simplex.constraints(p)
