"""Lambert's W of an exponential: w = W(e^t), the root of w + log w = t, for every real t.

It is the closed form behind every entropic prox: alpha x + log x = z has the root W(e^(z + log
alpha))/alpha. Forming e^t overflows from t = 710 on; w + log w = t does not.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Real
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Lambert W of an exponential",
    kind="functions",
    formulas={
        "definition": "w > 0 with w + log w = t, i.e. w e^w = e^t",
        "value": "argmin over w > 0 of w^2/2 + w log w - w - t w",
        "derivative": "w/(1 + w)",
        "certificate": (
            "|log(w/w*)| <= |r|/(1 + w e^{-|r|}) and |w - w*| <= |r| (w + |r|)/(1 + w + |r|),\n"
            "r = w + log w - t"
        ),
    },
    symbols=(
        Symbol(
            "t", "logarithm of W's argument, a number or an array of any shape",
            largest=sys.float_info.max,
        ),
    ),
    scaling="w ~ e^t for t -> -inf, w ~ t - log t for t -> inf; errors are relative",
    source="Corless et al. 1996; Lapin et al. 2016, section 3 (there V(t) = W(e^t))",
    notes=(
        "scipy.special.wrightomega on the reals",
        (
            "a minimum is flat: CVXPY finds half of the digits of w, and two Newton steps on\n"
            "w + log w - t, which the certificate is made of, the others"
        ),
    ),
)  # fmt: skip


def objective(
    v: cp.Expression, square: cp.Expression, entropy: cp.Expression, linear: cp.Expression
) -> Any:
    """CVXPY objective square v^2/2 + entropy (v log v - v) - linear v.

    For w = scale v these are scale : 1 : t - log scale.
    """
    return square / 2 * cp.square(v) - entropy * (cp.entr(v) + v) - linear * v


def dual_objective(p: cp.Expression, t: Any) -> Any:
    """-p^2/2 - exp(t - p), whose maximiser is w again."""
    return -cp.square(p) / 2 - cp.exp(t - p)


def refine(v: float, t: float) -> float:
    """The root near v (t - log t), or v e^t where t <= 1, by two Newton steps in longdouble.

    The minimiser v lies between 1/3 and 2; the steps square an error of it twice, down to rounding.
    For t <= 1 the unknown is log w, as w may be below every float.
    """
    at, v = Real(t), min(max(v, 1 / 3), 2.0)
    if at > 1:
        w = v * (at - np.log(at))
        for _ in range(2):
            w -= (w + np.log(w) - at) / (1 + 1 / w)
        return float(w)
    u = at + np.log(Real(v))
    for _ in range(2):
        w = np.exp(u)
        u -= (u + w - at) / (1 + w)
    return float(np.exp(u))
