"""``jaxopt.projection.projection_l1_ball``, in the float32 that is JAX's default."""

from typing import Any

from verification.third_party._jax import compiled, single

PROBLEM = "l1_ball.projection"
PACKAGES = ("jaxopt", "jax")
BATCH = False
FOUND = """Right in single precision, but for r = 0, whose ball is the origin: the entries are divided by r, which
gives nan (as with `optax_projection_simplex`, whose code it shares), and for numbers below 1e-38, which XLA
takes for 0. Optax has the same function, with the same findings."""
REPRODUCE = """
import numpy as np
from jaxopt.projection import projection_l1_ball

returned = np.asarray(projection_l1_ball(np.array([1.0, 0.0], dtype=np.float32), 0.0))
right = np.array([0.0, 0.0])
"""


@single(PROBLEM)
def candidate(a: Any, r: float) -> Any:
    """One vector of float32."""
    return compiled("jaxopt.projection:projection_l1_ball")(a, r)
