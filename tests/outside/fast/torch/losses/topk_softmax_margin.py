"""Top-k entropy (beta) of u_j = f_j - f_y + c_j over the m - 1 other classes, c_j = 1."""

from fast.torch._entropies import BETA, Entropy
from fast.torch._row_functions import row_loss

topk_softmax_margin = row_loss(__name__, __doc__, Entropy, bounded=False, variant=BETA, margin=1.0)
