"""``jax.grad`` of ``optax.losses.softmax_cross_entropy_with_integer_labels``, in float32."""

from typing import Any

from verification.third_party._jax import compiled, single

PROBLEM = "softmax.gradient"
PACKAGES = ("optax", "jax")
BATCH = False
FOUND = """Right to the accuracy of single precision on every instance that the quick profile draws, the saturated ones
included."""


@single(PROBLEM)
def candidate(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("optax.losses:softmax_cross_entropy_with_integer_labels", gradient=True)(
        scores, y
    )
