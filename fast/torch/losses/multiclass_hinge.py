"""Multiclass hinge max{0, max_j z_j}, z_j = f_j - f_y + c_j over the m - 1 other classes.

Subgradient: 1 at a largest z_j; 0 where the loss is 0. Crammer and Singer 2001.
"""

from fast.torch._hinges import Hinge
from fast.torch._row_functions import row_loss

multiclass_hinge = row_loss(__name__, __doc__, Hinge, k=1)
