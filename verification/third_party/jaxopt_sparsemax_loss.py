"""``jaxopt.loss.multiclass_sparsemax_loss``, in the float32 that is JAX's default."""

from typing import Any

from verification.third_party._jax import compiled, single

PROBLEM = "sparsemax.value"
PACKAGES = ("jaxopt", "jax")
BATCH = False
FOUND = """Right in single precision, ties and large scores included; ``value`` is a difference of numbers of the size
of the scores' differences, not of the scores."""


@single(PROBLEM)
def candidate(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("jaxopt.loss:multiclass_sparsemax_loss")(y, scores)
