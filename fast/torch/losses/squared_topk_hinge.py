"""Squared top-k hinge max{0, S_k(z)/k}^2/2, z_j = f_j - f_y + c_j over the m - 1 other classes.

Subgradient: the hinge over k at k largest z_j.
"""

from fast.torch._hinges import Hinge
from fast.torch._row_functions import row_loss

squared_topk_hinge = row_loss(__name__, __doc__, Hinge, squared=True)
