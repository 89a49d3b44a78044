"""Smooth multilabel hinge (<z,p> - ||p||^2/2)/gamma, p the projection on the bipartite simplex.

z = f + c on N = {y = 0} and c - f on P = {y = 1}; p >= 0 has the same sum <= gamma on both.
Lapin, Hein and Schiele 2018.
"""

from fast.torch._row_functions import label_loss
from fast.torch._signed import Bipartite

multilabel_smooth_hinge = label_loss(__name__, __doc__, Bipartite, "1 on N and 0 on P")
