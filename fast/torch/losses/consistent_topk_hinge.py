"""Consistent top-k hinge 1 + max{u_[1] - 1, tau} - u_y, sum_j (u_j - tau)_+ = k over all m classes.

u = f + c. Subgradient p - e_y: p is 1 at the largest score if that less 1 exceeds tau, else the same at all scores
above tau. Of all minimisers of its risk the k largest scores are the best guesses; no upper bound of the top-k error.
"""

from fast.torch._consistent import Consistent
from fast.torch._row_functions import row_loss

consistent_topk_hinge = row_loss(__name__, __doc__, Consistent, linear=True)
