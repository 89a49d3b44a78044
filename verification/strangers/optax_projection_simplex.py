"""``optax.projections.projection_simplex`` (the code of JAXopt's), in the float32 that is JAX's default."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.adapters import adapt

PROBLEM = "simplex.projection"
PACKAGES = ("optax",)
BATCH = False
FAILS = ()
FOUND = ""


def project(a: Any, r: float) -> Any:
    """One vector of float32."""
    from optax.projections import projection_simplex

    return np.asarray(projection_simplex(a, r))


candidate = adapt(project, PROBLEM, dtype="float32")
