"""One-vs-all logistic loss sum_j log(1 + e^{z_j}) over all m classes.

z_j = f_j + c_j at j != y and z_y = c_y - f_y.
"""

from fast.torch._row_functions import row_loss
from fast.torch._signed import LOGISTIC, OneVsAll

ova_logistic = row_loss(
    __name__, __doc__, OneVsAll, signed=True, kind=LOGISTIC, margin=0.0, gamma=1.0
)
