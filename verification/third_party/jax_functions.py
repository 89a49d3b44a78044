"""Functions of JAX's family on one vector of float32, JAX's default."""

from typing import Any

import numpy as np

from verification.third_party._making import adapted, compiled, single


@single
def jaxopt_box_section(a: Any, b: Any, low: Any, high: Any, capacity: float) -> Any:
    """One vector of float32; weights "should be positive"."""
    if not (np.all(b > 0) and np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        raise NotImplementedError("positive weights and finite bounds")
    return compiled("jaxopt.projection:projection_box_section")(a, (low, high, b, capacity))


@single
def jaxopt_projection_l1_ball(a: Any, r: float) -> Any:
    """One vector of float32."""
    return compiled("jaxopt.projection:projection_l1_ball")(a, r)


@single
def jaxopt_sparsemax_loss(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("jaxopt.loss:multiclass_sparsemax_loss")(y, scores)


@single
def optax_cross_entropy(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("optax.losses:softmax_cross_entropy_with_integer_labels")(scores, y)


@single
def optax_cross_entropy_gradient(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    slope = compiled("optax.losses:softmax_cross_entropy_with_integer_labels", gradient=True)
    return slope(scores, y)


@single
def optax_multiclass_hinge(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    return compiled("optax.losses:multiclass_hinge_loss")(scores, y)


@adapted(dtype="float32")
def optax_projection_simplex(a: Any, r: float) -> Any:
    """One vector of float32."""
    from optax.projections import projection_simplex

    return np.asarray(projection_simplex(a, r))


@single
def optax_sigmoid_cross_entropy(scores: Any, y: Any) -> Any:
    """One vector of float32."""
    labels = (np.arange(len(scores)) == y).astype(scores.dtype)
    return compiled("optax.losses:sigmoid_binary_cross_entropy")(scores, labels).sum()
