"""SVM-2K: two SVMs on two views, 1/2||w||^2 + 1/2||v||^2 + CA sum h(y f_A) + CB sum h(y f_B) + disagreement.

The disagreement is D sum w_i max(0, |f_A - f_B| - eps), h(m) = max(0, 1 - m). Unknowns: f_A = <w,x> + b,
f_B = <v,z> + rho (coefficients (n,) with Gram matrices K and Kz), and alpha (3, n) of rows alpha_A,
alpha_B >= 0 and beta of either sign: w = sum (alpha_A y - beta)_i x_i, v = sum (alpha_B y + beta)_i z_i.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from refsolve.models import svm_2k as declared
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.models import ModelTask, Params, Side, Violation, _plus, _plus_families

Array = np.ndarray
Rows = Array | None


class Svm2k(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w", "b", "v", "rho"), "dual": ("alpha",)}
    families = _plus_families.two_views()
    no_dual = "dual=None: hinges are not smooth, so a model has no multipliers"

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        return _plus.valid(params)

    def shapes(self, params: Params) -> dict[str, tuple[int, ...]]:
        """Shape of every unknown."""
        n = len(params["y"])
        w = (n,) if params["X"] is None else (params["X"].shape[1],)
        v = (n,) if params["Z"] is None else (params["Z"].shape[1],)
        return {"w": w, "b": (), "v": v, "rho": (), "alpha": (3, n)}

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows and columns, then plain arguments, then round numbers."""
        plain = {"CA": 1.0, "CB": 1.0, "D": 1.0, "eps": 0.0, "sample_weight": None}
        yield from _plus.simpler(params, plain, ("CA", "CB", "D", "eps"))

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of both views' models and the multipliers; multipliers alone with the model they stand for."""
        given = self.given(params) | {"alpha": self.required(dual)["alpha"]}
        if primal is not None:
            w = "w" if params["K"] is None else "coef"
            v = "v" if params["Kz"] is None else "correction_coef"
            given |= {w: primal["w"], v: primal["v"], "b": primal["b"], "rho": primal["rho"]}
        return declared.certificate(**given)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Bounds and sums of the multipliers; what is within tol is repaired, and its cost is in the gap."""
        if dual is None:
            return {}
        n, weight = len(params["y"]), params["sample_weight"]
        weight = np.ones(n) if weight is None else weight
        alpha, y = np.asarray(dual["alpha"], float), params["y"]
        found = {}
        for part, name, bound in zip(alpha, ("alpha_A", "alpha_B", "|beta|"), "AB-", strict=True):
            top = params["D"] if bound == "-" else params[f"C{bound}"]
            label = "D" if bound == "-" else f"C{bound}"
            size = float(max((top * weight).max(), np.abs(part).max()))
            values = np.abs(part) if bound == "-" else part
            excess = float(max(0.0, (values - top * weight).max()))
            found[f"{name} <= {label} w_i"] = Violation(excess, size, EPS * size)
            if bound != "-":
                found[f"{name} >= 0"] = Violation(
                    float(max(0.0, -part.min())), size, n * EPS * size
                )
        live = weight > 0
        mass = float(np.abs(alpha[:, live]).sum())
        for name, part, sign in (("A", alpha[0], -1), ("B", alpha[1], 1)):
            off = abs(float((part * y + sign * alpha[2])[live].sum()))
            found[f"sum g_{name} = 0"] = Violation(off, mass, n * EPS * mass)
        return found

    def witness(self, params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
        """From the oracle: what is judged is no witness."""
        import refsolve

        asked = {n: params[n] for n in self.arguments if n != "tol" and params[n] is not None}
        proof: Any = refsolve.solve("svm_2k.primal", **asked).certificate
        primal = {
            "w": proof.w,
            "b": np.float64(proof.b),
            "v": proof.v,
            "rho": np.float64(proof.rho),
        }
        return primal, {"alpha": proof.alpha}

    def train(
        self, X: Rows, y: Array, Z: Rows, CA: float, CB: float, D: float, eps: float = 0.0,
        sample_weight: Rows = None, K: Rows = None, Kz: Rows = None, tol: float = 1e-6,
    ) -> dict[str, Any]:  # fmt: skip
        """The training function of `fast`."""
        from fast.models import svm_2k

        found = svm_2k.train(
            X, y, Z, CA, CB, D, eps=eps, K=K, Kz=Kz, sample_weight=sample_weight, tol=tol
        )
        return {
            "w": found.coef if found.w is None else found.w,
            "b": np.asarray(found.b),
            "v": found.correction_coef if found.v is None else found.v,
            "rho": np.asarray(found.rho),
            "alpha": found.alpha,
        }


TASK = Svm2k()
