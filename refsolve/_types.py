"""Names for the types that the declarations pass around."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

#: Rows of floats or longdoubles, or of Fractions (dtype object).
Array: TypeAlias = np.ndarray[Any, Any]
#: A number that the formulas take in the precision that it has.
Scalar: TypeAlias = float | np.floating[Any] | Fraction
#: One number, or one for each row.
Number: TypeAlias = Scalar | Array
#: The same where formulas round: a proposal, or an infinite bound.
Floats: TypeAlias = float | np.floating[Any] | Array
