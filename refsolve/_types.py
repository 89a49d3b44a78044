"""Names for the types that the declarations pass around."""

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

#: Rows of floats or longdoubles, or of Fractions (dtype object).
Array: TypeAlias = np.ndarray[Any, Any]
#: Extended precision.
Real = np.longdouble
#: A number of an example or a bound; a float, or a longdouble with all its digits.
Float: TypeAlias = float | np.floating[Any]
#: The same where every formula is exact too.
Scalar: TypeAlias = Float | Fraction
#: One number, or one for each row.
Floats: TypeAlias = Float | Array
Number: TypeAlias = Scalar | Array
#: The ground truth, checked: a class, a 0/1 row, or one of these for each row of a batch.
Label: TypeAlias = int | np.integer[Any] | Array
