"""Smooth one-vs-all hinge sum_j (z_j p_j - p_j^2/2)/gamma, p = clip(z, 0, gamma).

z_j = f_j + c_j at j != y and z_y = c_y - f_y.
"""

from fast.torch._row_functions import row_loss
from fast.torch._signed import SMOOTH, OneVsAll

ova_smooth_hinge = row_loss(__name__, __doc__, OneVsAll, signed=True, kind=SMOOTH)
