"""Ordered weighted hinge sum_i beta_i max(z_[i], 0), z_j = f_j - f_y + c_j over the m - 1 other classes.

Subgradient: beta_i at the class of the i-th largest z, where that is positive. Usunier, Buffoni and Gallinari 2009.
"""

from fast.torch._hinges import Ordered
from fast.torch._row_functions import row_loss

BETA = (
    "float or Tensor, shape (m - 1,), default 1.0",
    "Weights beta_1 >= beta_2 >= ... >= 0, of the largest margin first; one number for all.",
)
ordered_weighted_hinge = row_loss(__name__, __doc__, Ordered, about={"beta": BETA})
