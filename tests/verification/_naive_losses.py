"""Losses of rows of scores, one column for two classes, as the papers print them."""

import numpy as np
from scipy.special import logsumexp


def loss_value(loss, f, y, gamma=0.5):
    """Of rows of scores, as the papers print it."""
    if f.shape[1] == 1 and loss in ("softmax", "multiclass_hinge"):
        loss = {"softmax": "ova_logistic", "multiclass_hinge": "ova_hinge"}[loss]
    own = (y == 1)[:, None] if f.shape[1] == 1 else np.eye(f.shape[1], dtype=bool)[y]
    if loss == "softmax":
        return logsumexp(f, axis=1) - f[own]
    if loss == "multiclass_hinge":
        return np.maximum(0.0, (np.where(own, -np.inf, f) + 1.0).max(axis=1) - f[own])
    z = np.where(own, -f, f)
    if loss == "ova_logistic":
        return np.logaddexp(0.0, z).sum(axis=1)
    z = np.maximum(1.0 + z, 0.0)
    if loss == "ova_smooth_hinge":
        return np.where(z < gamma, z * z / (2.0 * gamma), z - gamma / 2.0).sum(axis=1)
    return (z * z if loss == "ova_squared_hinge" else z).sum(axis=1)
