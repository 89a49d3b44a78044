"""``optax.losses.sigmoid_binary_cross_entropy``, summed over the classes, in float32."""

from typing import Any

import numpy as np

from verification.third_party._jax import compiled, single

PROBLEM = "ova_logistic.value"
PACKAGES = ("optax", "jax")
BATCH = False
FOUND = """Right in single precision: -log sigmoid of the score or its negative, each of which keeps its digits;
`torch_binary_cross_entropy`, which subtracts, does not."""


@single(PROBLEM)
def candidate(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    labels = (np.arange(len(scores)) == y).astype(scores.dtype)
    return compiled("optax.losses:sigmoid_binary_cross_entropy")(scores, labels).sum()
