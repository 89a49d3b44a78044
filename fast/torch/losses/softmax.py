"""Softmax loss log(1 + sum_j e^{u_j}), u_j = f_j - f_y + c_j over the m - 1 other classes.

Relative accuracy where `torch.nn.functional.cross_entropy` has an absolute one: near certainty that loses
digits, and its gradient at the true class, 1 - p_y, with them.
"""

from fast.torch._entropies import Entropy
from fast.torch._row_functions import row_loss

softmax = row_loss(__name__, __doc__, Entropy, linear=True, k=1)
