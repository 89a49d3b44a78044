"""Top-k entropy loss log(1 + e^v), the softmax loss with its dual restricted to Delta_k^alpha(1).

v = rho log k + sum_U u/k + (1-rho) log(Z/(1-rho)), rho = |U|/k, U the capped classes;
u_j = f_j - f_y + c_j over the m - 1 other classes. Lapin, Hein and Schiele 2016, Proposition 8.
"""

from fast.torch._entropies import Entropy
from fast.torch._row_functions import row_loss

topk_entropy_alpha = row_loss(__name__, __doc__, Entropy)
