"""Lambert's W of an exponential: w = W(e^t), the root of w + log w = t, for every real t.

It is the closed form behind every entropic prox: alpha x + log x = z has the root W(e^(z + log
alpha))/alpha. Forming e^t overflows from t = 710 on; w + log w = t does not.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
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
    symbols=(Symbol("t", "logarithm of W's argument, a number or an array of any shape"),),
    scaling="w ~ e^t for t -> -inf, w ~ t - log t for t -> inf; errors are relative",
    source="Corless et al. 1996; Lapin et al. 2016, section 3 (there V(t) = W(e^t))",
    notes=("scipy.special.wrightomega on the reals",),
)


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
