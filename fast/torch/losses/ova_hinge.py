"""One-vs-all hinge sum_j max{0, z_j} over all m classes.

z_j = f_j + c_j at j != y and z_y = c_y - f_y. Subgradient 1 where z_j > 0, else 0.
"""

from fast.torch._row_functions import row_loss
from fast.torch._signed import OneVsAll

ova_hinge = row_loss(__name__, __doc__, OneVsAll, signed=True, gamma=1.0)
