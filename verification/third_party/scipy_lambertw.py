"""``scipy.special.lambertw`` of e^t, as one writes it down."""

from typing import Any

import numpy as np

PROBLEM = "lambert_w_exp.value"
PACKAGES = ("scipy",)
FOUND = """The exponential overflows from t = 710 on, and W of infinity is infinity; everywhere else the composition is
right. SciPy has `scipy_wrightomega` for this, which is."""
REPRODUCE = """
import numpy as np
from scipy.special import lambertw

with np.errstate(over="ignore"):
    returned = lambertw(np.exp(1000.0)).real
right = 993.1007602388088
"""


def candidate(t: Any) -> Any:
    """Element by element."""
    from scipy.special import lambertw

    with np.errstate(over="ignore"):
        return np.real(lambertw(np.exp(t)))
