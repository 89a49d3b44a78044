"""Smooth top-k hinge (<z,p> - ||p||^2/2)/gamma, p the projection of z on Delta_k^alpha(gamma).

z_j = f_j - f_y + c_j over the m - 1 other classes; gradient p/gamma. Lapin, Hein and Schiele 2016,
Propositions 6 and 10.
"""

from fast.torch._row_functions import row_loss
from fast.torch._smooth import Smooth

smooth_topk_hinge_alpha = row_loss(__name__, __doc__, Smooth)
