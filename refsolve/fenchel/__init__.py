"""Models declared as sum_b c_b/2 ||u_b||^2 + <s_b,u_b> + sum_t phi_t(sum_b A_tb u_b + a_t), and more.

Fenchel's rule: phi(z) = sup_p <p,z> - phi*(p), so that minimising over the blocks u gives

    D(p) = sum_t <a_t,p_t> - phi_t*(p_t) - sum_b ||q_b||^2/(2 c_b),  q_b = s_b + sum_t A_tb'p_t

where q_b = 0 for every block with c_b = 0. The optimum has u_b = -q_b/c_b.
"""

from refsolve.fenchel.losses import (
    Largest,
    Loss,
    Slopes,
    hinge,
    nonpositive,
    square,
    squared_hinge,
    tube,
    zero,
)
from refsolve.fenchel.model import Block, Map, Model, Term
from refsolve.fenchel.program import Program, canonicalized, dual, primal

__all__ = [
    "Block",
    "Largest",
    "Loss",
    "Map",
    "Model",
    "Program",
    "Slopes",
    "Term",
    "canonicalized",
    "dual",
    "hinge",
    "nonpositive",
    "primal",
    "square",
    "squared_hinge",
    "tube",
    "zero",
]
