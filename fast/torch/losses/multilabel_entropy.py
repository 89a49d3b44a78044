"""Multilabel cross-entropy log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}.

nan where P is empty: that row has no target. Lapin, Hein and Schiele 2018.
"""

from fast.torch._row_functions import label_loss
from fast.torch._signed import Uniform

multilabel_entropy = label_loss(__name__, __doc__, Uniform, "0")
