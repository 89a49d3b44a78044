"""Smooth top-k hinge, beta variant: Moreau envelope of the top-k hinge, parameter gamma.

L(y, f) = min_p phi(z - p) + ||p||^2/(2 gamma), phi the top-k hinge (beta) over the other classes.
"""

from dataclasses import replace

from refsolve import calculus
from refsolve.losses import smooth_topk_hinge_alpha as alpha
from refsolve.losses import topk_hinge_beta as hinge

SPEC = replace(
    alpha.SPEC,
    title="Smooth top-k hinge loss, beta variant",
    formulas={
        **alpha.SPEC.formulas,
        "value": alpha.SPEC.formulas["value"].replace("hinge_alpha", "hinge_beta"),
        "conjugate": "gamma/2 ||x||^2 - <c,x> on {0 <= x_i <= 1/k, s <= 1}, s = <1,x>; +inf elsewhere",
    },
    symbols=(*hinge.SPEC.symbols, calculus.GAMMA),
)

dual_set = hinge.dual_set
generator = calculus.generator
value, conjugate = calculus.moreau(hinge)
