"""The loss that an estimator was fitted with, without the certificates, which take long to import."""

from typing import Any


def loss_of(estimator: Any) -> tuple[str, dict[str, Any]]:
    """Object of the loss that an estimator was fitted with, and its parameters."""
    if hasattr(estimator, "object_names"):  # one-vs-all, multilabel
        gamma = float(estimator.gamma) if estimator.loss == "smooth_hinge" else None
        return estimator.object_names[estimator.loss], {"gamma": gamma}
    k = int(estimator.k)
    if getattr(estimator, "beta", None) is not None:
        return "ordered_weighted_hinge", {"beta": estimator.beta}
    if not hasattr(estimator, "truncated"):
        gamma = float(estimator.gamma)
        variant = estimator.variant
        name = f"{variant}_topk_hinge" if variant == "consistent" else f"topk_hinge_{variant}"
        object_name = f"{'smooth_' if gamma > 0 else ''}{name}"
        return object_name, {"k": k, "gamma": gamma if gamma > 0 else None}
    if estimator.truncated:
        return "softmax", {"kept": estimator.kept_}
    return ("softmax", {}) if k == 1 else (f"topk_entropy_{estimator.variant}", {"k": k})
