"""Smooth top-k hinge, alpha variant: Moreau envelope of the top-k hinge, parameter gamma.

L(y, f) = min_p phi(z - p) + ||p||^2/(2 gamma), phi the top-k hinge (alpha) over the other classes.
"""

from dataclasses import replace

from refsolve import calculus
from refsolve.losses import topk_hinge_alpha as hinge

SPEC = replace(
    hinge.SPEC,
    title="Smooth top-k hinge loss, alpha variant",
    formulas={
        **hinge.SPEC.formulas,
        "value": (
            "min_p phi(z - p) + ||p||^2/(2 gamma)\n"
            "= (<z,p> - 1/2 ||p||^2)/gamma,  phi the loss topk_hinge_alpha,\n"
            "p the projection of z on the set times gamma"
        ),
        "conjugate": "gamma/2 ||x||^2 - <c,x> on {x >= 0, s <= 1, x_i <= s/k}, s = <1,x>; +inf elsewhere",
        "gradient": "x_j at j != y, -s at y, with x = p/gamma",
        "sdca_update": (
            "den = K_ii + gamma/(omega C), b = (q - q_y + c)/den over the others,\n"
            "x = argmin ||x - b||^2 + (K_ii/den) <1,x>^2 over the set scaled by omega C,\n"
            "a = -x, a_y = s"
        ),
    },
    symbols=(*hinge.SPEC.symbols, calculus.GAMMA),
    source="Lapin et al. 2016, Propositions 6 and 10",
    notes=(
        "0 <= phi - L <= gamma/(2k); the gradient is 1/gamma-Lipschitz in z",
        (
            "not an upper bound on the top-k error: its infimum over errors is 1 - gamma/(2k) "
            "for small gamma (erratum E11)"
        ),
    ),
)

dual_set = hinge.dual_set
generator = calculus.generator
value, conjugate = calculus.moreau(hinge)
