"""SVM1+: privileged features z model the slacks of an SVM with hinge.

P = 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2 with y_i (<w,x_i> + b) >= 1 - xi_i,
xi_i = <v,z_i> + rho >= 0 and rho free. The dual has alpha and beta >= 0 with sum (alpha_i + beta_i
- C w_i) = 0 and <alpha,y> = 0. X (n, d) and Z (n, s), or Gram matrices K and Kz (n, n).
"""

from __future__ import annotations

from typing import Any

from refsolve import fenchel
from refsolve.models import _svm_plus as core
from refsolve.models import _svm_plus_program, _svm_plus_proof
from refsolve.models._svm_plus import BOX, LAM, OWN, Model, PlusCertificate
from refsolve.oracle import Posed
from refsolve.spec import Spec

SPEC = Spec(
    title="SVM with privileged information, hinge (SVM1+)",
    kind="models",
    formulas={
        "primal": (
            "P = 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2,\n"
            "xi_i = <v,z_i> + rho >= 0, y_i (<w,x_i> + b) >= 1 - xi_i"
        ),
        "dual": (
            "D(alpha,beta) = sum_i alpha_i - 1/2 <alpha, (K * yy') alpha> - 1/(2 lam) <e, Kz e>,\n"
            "e_i = alpha_i + beta_i - C w_i, sum e = 0, <alpha,y> = 0, alpha, beta >= 0"
        ),
        "maps": "w = sum_i alpha_i y_i x_i, v = sum_i e_i z_i/lam; b and rho are the best for them",
        "gap": (
            "sum_i alpha_i (y_i f_i - 1 + xi_i) + sum_i beta_i xi_i + 1/2||w - X'(alpha y)||^2\n"
            "+ lam/2 ||v - Z'e/lam||^2 = P - D"
        ),
    },
    symbols=(BOX, LAM, OWN),
    scaling="C and lam multiply sums, without 1/n; rho is free, and Kz has no 1",
    source="Vapnik and Vashist 2009; Xu et al. 2016, problems (1) and (2)",
    notes=(
        "X2: without xi >= 0 (nonneg_slack=False) the dual has n variables too: beta = 0, and",
        "each class has alpha of sum C sum(w)/2, so that P is bounded below",
        "X3: label_signed=True has g = y (<v,z> + rho), which can be infeasible",
        "X4: uninformative z can make w = 0 the optimum (collapsed); free_slack=delta > 0 adds own",
        "slacks at lam/(2 delta) sum eta_i^2, that is Kz + delta I",
        "X8: rows of weight zero are dropped; one class alone is refused",
        "penalize_bias=True adds 1/2 b^2, and <alpha,y> is free",
        "w and v are unique; alpha, beta, b and rho need not be",
    ),
)


def declaration(X: Any = None, y: Any = None, Z: Any = None, **given: Any) -> fenchel.Model:
    """The model as norms and losses, from which its programs follow."""
    return _svm_plus_program.declared(core.check_data(False, {"X": X, "y": y, "Z": Z, **given}))


def recover(
    alpha: Any, X: Any = None, y: Any = None, Z: Any = None, *, beta: Any = None, **given: Any
) -> Model:
    """(w, b, v, rho, xi) that the multipliers stand for; see `certificate` for the arguments."""
    data = core.check_data(False, {"X": X, "y": y, "Z": Z, **given})
    parts = _svm_plus_proof.multipliers(data, alpha, beta)
    return _svm_plus_proof.to_model(data, *core.model_of(data, *data.repair_dual(*parts)[:2]))


def certificate(
    X: Any = None,
    y: Any = None,
    Z: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    w: Any = None,
    coef: Any = None,
    b: Any = None,
    v: Any = None,
    correction_coef: Any = None,
    rho: Any = None,
    eta: Any = None,
    **given: Any,
) -> PlusCertificate:
    """Primal-dual gap of a model and of multipliers, whoever computed them.

    Parameters
    ----------
    X, Z : (n, d) and (n, s) arrays or sparse matrices
        Or ``K`` and ``Kz`` (n, n), in any combination.
    y : (n,) array
        Labels: booleans, 0/1 or -1/1.
    alpha : (n,) array
        Multipliers of the margins; alpha and beta are moved onto the dual's constraints.
    beta : (n,) array, optional
        Multipliers of xi >= 0; 0 by default, then raised until the sums agree.
    w : (d,) array, or coef : (n,) array, optional
        w = sum_i coef_i x_i; by default the one of alpha.
    b : float, optional
        By default the best for w and xi.
    v : (s,) array, or correction_coef : (n,) array, with rho : float, optional
        By default those of the multipliers, rho the best. An infeasible model is repaired: rho raised, all
        scaled up, or own slacks, whichever is cheapest.
    eta : (n,) array, optional
        Own slacks; by default the best.
    **given
        ``C``, ``lam``, ``sample_weight`` (n,), ``nonneg_slack``, ``label_signed``,
        ``penalize_bias``, ``free_slack``, ``K``, ``Kz``.

    Raises
    ------
    InvalidParameterError
        Naming the argument; `InvalidGramError` for a Gram matrix that is none.
    """
    return _svm_plus_proof.certificate(
        False, {"X": X, "y": y, "Z": Z, **given}, alpha=alpha, beta=beta, w=w, coef=coef, b=b, v=v,
        correction_coef=correction_coef, rho=rho, eta=eta,
    )  # fmt: skip


def primal(
    X: Any = None, y: Any = None, Z: Any = None, *, w: Any = None, coef: Any = None, b: Any,
    v: Any = None, correction_coef: Any = None, rho: Any, eta: Any = None, **given: Any,
) -> float:  # fmt: skip
    """P of a model, +inf if it breaks a constraint by more than rounding; see `certificate`."""
    point = {"w": w, "coef": coef, "b": b, "v": v, "correction_coef": correction_coef}
    return _svm_plus_proof.primal(
        False, {"X": X, "y": y, "Z": Z, **given}, rho=rho, eta=eta, **point
    )


def dual(
    X: Any = None, y: Any = None, Z: Any = None, *, alpha: Any, beta: Any = None, **given: Any
) -> float:
    """D(alpha, beta), and -inf outside its domain (up to rounding); see `certificate`."""
    return _svm_plus_proof.dual(False, {"X": X, "y": y, "Z": Z, **given}, alpha, beta)


def pose_primal(given: dict[str, Any]) -> Posed:
    """Instance of ``svm_plus_hinge.primal``: x is w (d,), or coef (n,) with K; dual alpha.

    The certificate holds the whole model, beta and whether it collapsed.
    """
    return _svm_plus_program.pose(False, "primal", given)


def pose_dual(given: dict[str, Any]) -> Posed:
    """Instance of ``svm_plus_hinge.dual``: x is alpha (n,), dual is w or coef."""
    return _svm_plus_program.pose(False, "dual", given)
