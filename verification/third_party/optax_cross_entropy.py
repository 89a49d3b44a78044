"""``optax.losses.softmax_cross_entropy_with_integer_labels``, in the float32 that is JAX's default."""

from typing import Any

from verification.third_party._jax import compiled, single

PROBLEM = "softmax.value"
PACKAGES = ("optax", "jax")
BATCH = False
FOUND = """As `torch_cross_entropy`: the logarithm of a sum that is close to 1 keeps the absolute accuracy of single
precision, and nothing of the relative one: from a lead of 17 on the loss is 0."""
REPRODUCE = """
import numpy as np
from optax.losses import softmax_cross_entropy_with_integer_labels

scores = np.array([20.0, 0.0], dtype=np.float32)
returned = float(softmax_cross_entropy_with_integer_labels(scores, 0))
right = np.log1p(np.exp(-20.0))
"""


@single(PROBLEM)
def candidate(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("optax.losses:softmax_cross_entropy_with_integer_labels")(scores, y)
