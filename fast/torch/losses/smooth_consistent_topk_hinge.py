"""Smooth consistent top-k hinge: the max over p in the simplex of <u,p> - S_k(p) + 1 - gamma/2 (||p||^2 - 1) - u_y.

u = f + c over all m classes; gradient p - e_y, 1/gamma-Lipschitz.
"""

from fast.torch._consistent import SmoothConsistent
from fast.torch._row_functions import row_loss

smooth_consistent_topk_hinge = row_loss(__name__, __doc__, SmoothConsistent, linear=True)
