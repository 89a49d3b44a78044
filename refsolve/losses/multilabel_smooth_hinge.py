"""Smooth multilabel hinge: Moreau envelope of the multilabel hinge in z, parameter gamma.

L(y, f) = min_p phi(z - p) + ||p||^2/(2 gamma), phi the multilabel hinge.
"""

from dataclasses import replace

from refsolve import calculus
from refsolve.losses import multilabel_hinge as hinge

SPEC = replace(
    hinge.SPEC,
    title="Smooth multilabel hinge loss",
    formulas={
        **hinge.SPEC.formulas,
        "value": (
            "min_p phi(z - p) + ||p||^2/(2 gamma)\n"
            "= (<z,p> - 1/2 ||p||^2)/gamma,  phi the loss multilabel_hinge,\n"
            "p the projection of z on the set times gamma"
        ),
        "conjugate": "gamma/2 ||x||^2 - <c,x> on {x >= 0, <1,x_N> = <1,x_P> <= 1}; +inf elsewhere",
        "gradient": "x_j on N, -x_l on P, with x = p/gamma",
        "sdca_update": (
            "b = q + c on N, -q + c on P,\n"
            "x = argmin ||x - b/(omega C K_ii + gamma)||^2 over the set,\n"
            "a = -omega C x on N, omega C x on P"
        ),
    },
    symbols=(*hinge.SPEC.symbols, calculus.GAMMA),
    source="Lapin et al. 2018 (TPAMI), smooth multilabel SVM; the conjugate is derived in the lesson",
    notes=(
        "0 <= phi - L <= gamma, as ||x||^2 <= 2 on the set; the gradient is 1/gamma-Lipschitz in f",
        (
            "one right label: not smooth_topk_hinge_alpha with k = 1, as gamma/2 also weighs the square "
            "of the mass at that label"
        ),
    ),
)

family = "multilabel"
dual_set = "bipartite_simplex"
generator = calculus.generator
value, conjugate = calculus.moreau(hinge)
