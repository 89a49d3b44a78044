"""Multilabel hinge max{0, max z_N + max z_P}, z = f + c on N = {y = 0} and c - f on P = {y = 1}.

0 where N or P is empty. Subgradient: 1 at a largest z of N, -1 at one of P. Crammer and Singer 2003.
"""

from fast.torch._row_functions import label_loss
from fast.torch._signed import Bipartite

multilabel_hinge = label_loss(__name__, __doc__, Bipartite, "1 on N and 0 on P", gamma=0.0)
