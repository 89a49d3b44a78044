"""Sparsemax loss: the max over p in the simplex of <f + c,p> - ||p||^2/2 + 1/2 - f_y.

Gradient p - e_y, p the projection of f + c on the simplex. Martins and Astudillo 2016.
"""

from fast.torch._row_functions import row_loss
from fast.torch._smooth import Simplex

sparsemax = row_loss(__name__, __doc__, Simplex, linear=True)
