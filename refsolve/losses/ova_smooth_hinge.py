"""Smooth one-vs-all hinge: the sum of the m smooth binary hinges, parameter gamma.

L(y, f) = sum_j min_p max{0, z_j - p} + p^2/(2 gamma), z_j = f_j + c_j at j != y, z_y = -f_y + c_y.
"""

from dataclasses import replace

from refsolve import calculus
from refsolve.losses import ova_hinge as hinge

SPEC = replace(
    hinge.SPEC,
    title="Smooth one-vs-all hinge loss",
    formulas={
        **hinge.SPEC.formulas,
        "value": "sum_j (z_j p_j - p_j^2/2)/gamma,  p = clip(z, 0, gamma)",
        "conjugate": "gamma/2 ||x||^2 - <c,x> on 0 <= x_j <= 1; +inf elsewhere",
        "gradient": "x_j at j != y, -x_y at y, with x = p/gamma",
        "sdca_update": (
            "b_j = q_j + c_j at j != y, b_y = -q_y + c_y,\n"
            "x = clip(b/(omega C K_ii + gamma), 0, 1),  a_j = -omega C x_j, a_y = omega C x_y"
        ),
    },
    symbols=(*hinge.SPEC.symbols, calculus.GAMMA),
    scaling="the binary losses are added, not averaged; see ova_hinge",
    source="Lapin et al. 2016, long version, equation (9), with margin alpha = 1 - z and beta = -x",
    notes=(
        "0 <= hinge - L <= m gamma/2; the gradient is 1/gamma-Lipschitz",
        "Shalev-Shwartz and Zhang 2014 smooth the binary hinge in the same way",
    ),
)

family = "ova"
dual_set = "box"
generator = calculus.generator
value, conjugate = calculus.moreau(hinge)
