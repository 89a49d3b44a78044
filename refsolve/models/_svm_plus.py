"""SVM+ with either loss: checked data, and the certificate as the public functions give it.

The formulas are those of `refsolve.proofs.svm_plus`.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from refsolve import initial_guess
from refsolve.errors import MISSING, InvalidParameterError
from refsolve.models._svm_space import Space, check_flag, check_rows, check_views
from refsolve.models._symbols import (
    GRAM,
    GRAM_Z,
    OR_GRAM,
    OWN,
    PENALIZED,
    PRIVILEGED,
    SIGNED,
    SIGNS,
    SLACKS,
    SUM,
    WEIGHTS,
)
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.svm_plus import Point
from refsolve.spec import Symbol

LAM = Symbol("lam", "weight of the correcting function, 1/2 ||v||^2", low=0, low_open=True)
WEIGHING = (SUM, LAM, OWN)
OPTIONS = (PENALIZED, SIGNED)


def arguments(nonneg: bool) -> tuple[Symbol, ...]:
    """All of an SVM+ in calling order; ``nonneg``: whether xi >= 0 is asked for unless it is said."""
    slacks = replace(SLACKS, default=nonneg)
    return OR_GRAM, SIGNS, PRIVILEGED, SUM, LAM, WEIGHTS, slacks, OWN, GRAM, GRAM_Z


class Model(NamedTuple):
    """A model: f(x) = <w,x> + b and its slacks.

    ``w`` (d,) and ``v`` (s,) are coefficients (n,) on the examples where a Gram matrix was given.
    ``xi`` (n,) are the slacks of all rows; one of weight zero has none of its own.
    """

    w: Array
    b: float
    v: Array
    rho: float
    xi: Array


@dataclass(frozen=True)
class PlusCertificate(ModelCertificate):
    """A `ModelCertificate` with the residuals of the examples, (n,).

    Attributes
    ----------
    model : Model
        The feasible model that P was taken at.
    alpha, beta : ndarray of shape (n,)
        The repaired multipliers.
    collapsed : bool
        w = 0 is as good as the certificate can tell (X4): the correcting function explains all.
    """

    model: Model = field(repr=False)
    alpha: Array = field(repr=False)
    beta: Array = field(repr=False)
    collapsed: bool

    @property
    def w(self) -> Array:
        """The weights of the model."""
        return self.model.w

    @property
    def named(self) -> dict[str, Any]:
        """w, b, v, rho and xi of the model, alpha and beta, and whether it collapsed."""
        found = super().named
        return found.pop("model")._asdict() | found


class Data(initial_guess.Problem):
    """One checked instance; arrays are of the examples of positive weight.

    Parameters
    ----------
    x, z : Space
    labels : (N,) array of -1 and 1
        Of all rows.
    cost : (n,) array
    **variant
        See `refsolve.proofs.svm_plus.Problem`.
    """

    x: Space
    z: Space

    def __init__(self, x: Space, z: Space, labels: Array, cost: Array, **variant: Any) -> None:
        super().__init__(x, labels[x.kept], cost, z, **variant)
        self.labels = labels

    @property
    def penal(self) -> bool:
        """Whether b is penalised."""
        return self.bias == "penalised"

    def snapped(self, point: Point) -> Point:
        """The same with the slacks that are about 0 moved onto 0: rho cannot raise signed ones."""
        if not (self.signed and self.nonneg) or self.soft:
            return point
        assert point.v is not None
        G = self.z.factor()
        rows = self.s.astype(float)[:, None] * np.column_stack([G, np.ones(len(G))])
        xi = self.at(point.v, point.rho).xi
        near = xi < 1e-6 * max(1, abs(xi).max())
        v, rho = point.v, point.rho
        for _ in range(3 if near.any() else 0):
            short = -self.at(v, rho).xi[near].astype(float)
            step = np.linalg.lstsq(rows[near], short, rcond=None)[0]
            v, rho = v + self.z.from_factor(step[:-1]), rho + step[-1]
        return point._replace(v=v, rho=rho)


def check_data(squared: bool, given: dict[str, Any]) -> Data:
    """Validated arguments of an SVM+; unknown names are refused."""
    rest = dict(given)
    X, K, Z, Kz = (rest.pop(name, None) for name in ("X", "K", "Z", "Kz"))
    fix, blur = "pass privileged data of the rows", rest.pop("blur", 0.0)
    views, n = check_views(X, K, Z, Kz, fix, blur)
    y = rest.pop("y", None)
    if y is None:
        raise InvalidParameterError("y", MISSING, "n labels -1/1", "pass y=...")
    labels, weight, kept = check_rows(y, n, rest.pop("sample_weight", None))
    for name in ("C", "lam"):
        if rest.get(name) is None:
            raise InvalidParameterError(name, MISSING, "a number > 0", f"pass {name}=...")
    C, lam = SUM.check(rest.pop("C")), LAM.check(rest.pop("lam"))
    delta = OWN.check(rest.pop("free_slack", 0.0))
    nonneg = check_flag("nonneg_slack", rest.pop("nonneg_slack", not squared))
    signed = check_flag("label_signed", rest.pop("label_signed", False))
    penal = check_flag("penalize_bias", rest.pop("penalize_bias", False))
    if rest:
        name = next(iter(rest))
        raise InvalidParameterError(
            name, rest[name], "X or K, Z or Kz, y, C, lam, sample_weight, nonneg_slack, "
            "label_signed, penalize_bias, free_slack", f"drop {name}",
        )  # fmt: skip
    if signed and not squared and not nonneg:
        raise InvalidParameterError(
            "label_signed", True, "nonneg_slack=True with the hinge",
            "keep xi >= 0: C sum y_i rho w_i, with b = -rho, is unbounded or constant without it",
        )  # fmt: skip
    return Data(
        *views(kept),
        labels,
        C * weight,
        lam=lam,
        delta=delta / weight,
        squared=squared,
        nonneg=nonneg,
        signed=signed,
        bias="penalised" if penal else "free",
    )


def scaled(data: Data, alpha: Array, beta: Array) -> Real:
    """The t for which t (alpha, beta) has the largest dual value; squared loss only."""
    u = data.x.pull(alpha * data.y)
    q = data.x.square(u) + ((alpha + beta) * data.best(alpha + beta)[0].xi).sum()
    q += (alpha * data.y).sum() ** 2 if data.penal else 0
    return alpha.sum() / q if q > 0 and alpha.sum() > 0 else Real(1)
