"""SVM with a free bias, hinge or squared hinge, from 1/2||w||^2 + C sum_i w_i l(1 - y_i f(x_i)).

The squared hinge carries 1/2; C multiplies the sum. The unknowns are w (d,), or coefficients (n,) with
a Gram matrix K, b, and alpha (n,) >= 0 without labels: w = sum_i alpha_i y_i x_i.
"""

from typing import Any

import numpy as np

from verification.models import Params, _plus, _plus_families

LOSSES = ("hinge", "squared_hinge")


class Svm(_plus.SvmTask):
    """The task; see the module."""

    object_name, plain = "svm", True
    parts = {"primal": ("w", "b"), "dual": ("alpha",)}
    simplest = {"C": 1.0, "sample_weight": None, "loss": "hinge"}
    numbers = ("C",)
    families = _plus_families.plain()

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        return params["loss"] in LOSSES and super().valid(params)

    def train(
        self,
        X: np.ndarray | None,
        y: np.ndarray,
        C: float,
        loss: str = "hinge",
        sample_weight: np.ndarray | None = None,
        K: np.ndarray | None = None,
        tol: float = 1e-6,
    ) -> dict[str, Any]:
        """The training functions of `fast`."""
        from fast.models import svm

        given: dict[str, Any] = {"loss": loss, "sample_weight": sample_weight, "tol": tol}
        given["max_iter"] = 5000
        found = svm.train(X, y, C, **given) if K is None else svm.train_kernel(K, y, C, **given)
        w = found.coef if X is None else found.w
        return {"w": w, "b": np.asarray(found.b), "alpha": found.alpha}


TASK = Svm()
