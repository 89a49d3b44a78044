"""Binary SVM over the mean hinge: 1/2||w||^2 + (C/n) sum_i max(0, 1 - y_i (<x_i, w> + b)).

w is (d,), b a number, alpha (n,) in [0, C/n] with w = sum_i alpha_i y_i x_i. bias False: b = 0; True: b
is the weight of a constant feature and regularised, b = sum_i alpha_i y_i; "free": it is not, and
sum_i alpha_i y_i = 0, as in LIBSVM at the constant C/n. y is 0 or 1, of one kind if need be.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from refsolve.models import binary_svm as declared
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.models import ModelTask, Params, Side, Violation, _ap_families, _shrink, svm
from verification.models._ap_families import Rng
from verification.models.ap_svm import MOST

ROWS = {"X": (0,), "y": (0,)}
KINDS = (False, True, "free")


def with_bias(draw: _ap_families.Draw) -> _ap_families.Draw:
    """No bias, or a regularised one."""

    def drawn(rng: Rng, largest: int) -> Params:
        return draw(rng, largest) | {"bias": bool(rng.random() < 0.5)}

    return drawn


def free(rng: Rng, largest: int) -> Params:
    """A bias that is not regularised."""
    return _ap_families.random(rng, largest) | {"bias": "free"}


def one_class(rng: Rng, largest: int) -> Params:
    """Only positives, or only negatives."""
    given = _ap_families.random(rng, largest)
    given["y"][:] = int(rng.integers(2))
    return given


def uncertain(rng: Rng, largest: int) -> Params:
    """C so small that every example is inside the margin, whose solution is known: all at C/n."""
    given = _ap_families.random(rng, largest)
    reach = float((given["X"] ** 2).sum(axis=1).max()) + 1
    return given | {"C": 0.25 / reach}


DRAWS = _ap_families.PLAIN | {"one class": one_class, "all inside the margin": uncertain}


def signs(params: Params) -> np.ndarray:
    """-1 and 1."""
    return np.where(params["y"] > 0, 1, -1)


def _free(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> dict[str, Any]:
    n = len(y)
    if len(np.unique(y)) == 1:  # the bias alone is right about every example
        return {"w": np.zeros(X.shape[1]), "b": np.asarray(2.0 * y[0] - 1), "alpha": np.zeros(n)}
    found = svm.TASK.train(X, np.where(y > 0, 1, -1), C / n, tol=tol)
    return {name: np.asarray(found[name]) for name in ("w", "b", "alpha")}


class BinarySvm(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w", "b"), "dual": ("alpha",)}
    modulus = 1.0
    no_dual = "w alone does not say what the examples on the margin weigh"
    families = {name: _ap_families.forever(with_bias(draw)) for name, draw in DRAWS.items()} | {
        "free bias": _ap_families.forever(free)
    }

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), b (), alpha (n,)."""
        n, d = params["X"].shape
        return {"w": (d,), "b": (), "alpha": (n,)}

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        X, y = params["X"], params["y"]
        known = params["bias"] in KINDS and len(y) > 0 and bool(np.isin(y, (0, 1)).all())
        return known and _ap_families.sound(X, len(y), params["C"])

    def simpler(self, params: Params) -> Iterator[Params]:
        """No bias; fewer rows and columns; then round numbers."""
        yield from _shrink.defaults(params, {"bias": False})
        yield from _shrink.fewer(params, ROWS, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def complete(self, params: Params, primal: dict[str, Any]) -> dict[str, Any]:
        """No b where there is none, the best one where it is free; a regularised one must be given."""
        if "w" not in primal or params["bias"] is True:
            return primal
        w = np.asarray(primal["w"], np.longdouble)
        b = (
            declared.check_data(**self.given(params)).best_bias(w)
            if params["bias"] == "free"
            else 0.0
        )
        return primal | {"b": np.asarray(float(b))}

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of (w, b) and alpha; of alpha alone with the (w, b) it stands for."""
        given = self.given(params) | {"alpha": self.required(dual)["alpha"]}
        if primal is not None:
            given |= {"w": primal["w"], "b": float(primal["b"]) if params["bias"] else None}
        return declared.certificate(**given)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Of the box and of the balance, in units of C/n and C; a b where there is none."""
        found: dict[str, Violation] = {}
        if primal is not None and params["bias"] is False:
            found["b = 0 without a bias"] = Violation(abs(float(primal["b"])), 0.0, 0.0)
        if dual is not None:
            alpha, n = np.asarray(dual["alpha"], dtype=np.longdouble), len(params["y"])
            top = params["C"] / n
            outside = np.maximum(np.maximum(-alpha, alpha - top), 0).max() / top
            found["0 <= alpha_i <= C/n"] = Violation(float(outside), 1.0, 8 * EPS)
            if params["bias"] == "free":
                off = abs(float((alpha * signs(params)).sum())) / params["C"]
                found["sum_i alpha_i y_i = 0"] = Violation(off, 1.0, 4 * (n + 2) * EPS)
        return found

    def train(
        self, X: np.ndarray, y: np.ndarray, C: float, bias: bool | str = False, tol: float = 1e-6
    ) -> dict[str, Any]:
        """The training function of `fast`; a free bias is that of its ordinary SVM."""
        if bias == "free":
            return _free(X, y, C, tol)
        from fast.models import binary_svm

        found = binary_svm.train(X, y, C, bias=bool(bias), tol=tol, max_iter=MOST)
        return {"w": found.w, "b": np.asarray(found.b), "alpha": found.alpha}


TASK = BinarySvm()
