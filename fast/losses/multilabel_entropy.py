"""Multilabel cross-entropy: softmax against the uniform distribution on the right labels.

L(y, f) = log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}, 0 elsewhere.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Multilabel
from fast.kernels.signed import ENTROPY


@dataclass(frozen=True)
class MultilabelEntropy(Multilabel):
    """The loss, with its parameters."""

    variant = ENTROPY
    cost = 0.0
    smooth = True
    signs = ("w_i (p - t)", "-w_i C (p - t)")
    indicator = "Indicator: 1 for the right labels P, at least one per row; 0 for the others."


value, gradient, conjugate, prox, sdca_update = module_functions(
    MultilabelEntropy,
    value="""
Losses: the mean over P of log sum_j e^{z_j - z_l}, at least log |P|.

Lapin, Hein and Schiele 2018, "Analysis and Optimization of Loss Functions for Multiclass,
Top-k, and Multilabel Classification". With one right label it is the softmax loss.
""",
    gradient="x = p - t, p_j = e^{z_j}/sum e^z; rows sum to 0.",
    conjugate="L*(x) = <p,log p> - <c,x> with p = x + t, on {p >= 0, <1,p> = 1}.",
    prox="""
v - t x with t x_j + log(x_j + 1/|P| on P) = v_j + c_j - lambda, <1,x> = 0 (t: the step).
""",
    sdca_update="""
With r = w C and b = q + c: alpha x_j + log(x_j + t_j) = b_j - lambda, alpha = r k_ii, with the
lambda at which <1,x> = 0, by Newton's method; a = -r x, rows sum to 0.
""",
)
_warmup = MultilabelEntropy.warm_up
