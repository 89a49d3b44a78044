"""``optax.projections.projection_simplex`` (the code of JAXopt's), in the float32 that is JAX's default."""

from typing import Any

import numpy as np

from verification.adapters import adapt

PROBLEM = "simplex.projection"
PACKAGES = ("optax",)
BATCH = False
FOUND = """Right in single precision, which is JAX's default, ties and large entries included: the
first entry is always counted. Only r = 0, whose simplex is the origin, gives nan, because the
entries are divided by r; a scale of 0 is not excluded by the documentation, and of no use."""
REPRODUCE = """
import numpy as np
from optax.projections import projection_simplex

returned = np.asarray(projection_simplex(np.array([1.0, 0.0], dtype=np.float32), 0.0))
right = np.array([0.0, 0.0])
"""


def project(a: Any, r: float) -> Any:
    """One vector of float32."""
    from optax.projections import projection_simplex

    return np.asarray(projection_simplex(a, r))


candidate = adapt(project, PROBLEM, dtype="float32")
