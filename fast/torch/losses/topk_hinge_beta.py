"""Top-k hinge S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the m - 1 other classes.

Subgradient: 1/k at those of k largest z_j that are positive. Lapin, Hein and Schiele 2015, equation (5).
"""

from fast.torch._hinges import Hinge
from fast.torch._row_functions import row_loss

topk_hinge_beta = row_loss(__name__, __doc__, Hinge, bounded=False, beta=True)
