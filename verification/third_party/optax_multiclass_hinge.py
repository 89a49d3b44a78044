"""``optax.losses.multiclass_hinge_loss``, in the float32 that is JAX's default."""

from typing import Any

from verification.third_party._jax import compiled, single

PROBLEM = "multiclass_hinge.value"
PACKAGES = ("optax", "jax")
BATCH = False
FOUND = """Right in single precision: the largest of the scores + 1 off the truth, minus that of the truth, in one
subtraction."""


@single(PROBLEM)
def candidate(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("optax.losses:multiclass_hinge_loss")(scores, y)
