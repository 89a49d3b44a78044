"""Half the squared sum, h(x) = 1/2 <1,x>^2: the conjugate of half a squared support function.

Where sigma is the support function of a set with <1,p> <= 1, attained at <1,p> = 1 wherever it is
positive, the conjugate of 1/2 sigma^2 is half the square of the gauge: on the cone of that set, h.
"""

from dataclasses import dataclass
from typing import Any

from refsolve.generators.quadratic import Quadratic


@dataclass(frozen=True)
class SquaredSum(Quadratic):
    """1/2 <1,x>^2, to be used on a cone; its twin in fractions is that of the quadratic forms."""

    sigma: Any = 1
