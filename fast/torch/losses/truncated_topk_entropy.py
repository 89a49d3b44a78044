"""Truncated top-k entropy log(1 + sum_J e^{u_j}), J the m - k smallest of the other classes.

u_j = f_j - f_y + c_j. Not convex for k >= 2; gradient of the piece that is kept. Lapin, Hein and
Schiele 2016, equation (15).
"""

from fast.torch._entropies import TRUNCATED, Entropy
from fast.torch._row_functions import row_loss

truncated_topk_entropy = row_loss(__name__, __doc__, Entropy, variant=TRUNCATED)
