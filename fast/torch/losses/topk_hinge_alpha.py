"""Top-k hinge max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 other classes.

Subgradient: 1/k at k largest z_j; 0 where the loss is 0. Lapin, Hein and Schiele 2015, equation (3).
"""

from fast.torch._hinges import Hinge
from fast.torch._row_functions import row_loss

topk_hinge_alpha = row_loss(__name__, __doc__, Hinge)
