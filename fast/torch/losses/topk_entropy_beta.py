"""Top-k entropy loss rho log k + sum_U u/k + (1-rho) log((1+Z)/(1-rho)), rho = |U|/k.

The softmax loss with its dual restricted to Delta_k^beta(1); U are the capped classes, Z sums e^u over the
rest; u_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from fast.torch._entropies import BETA, Entropy
from fast.torch._row_functions import row_loss

topk_entropy_beta = row_loss(__name__, __doc__, Entropy, bounded=False, variant=BETA)
