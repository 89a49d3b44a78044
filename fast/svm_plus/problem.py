"""What training an SVM+ returns, and the checks of what it is given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._validation import (
    MAGNITUDE,
    check_k,
    finite_array,
    moderate,
    number,
    per_row,
    raise_bad_entry,
    real_array,
)
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.solvers.rows import expanded, is_sparse
from fast.solvers.state import Solution, TrainingRun
from fast.svm_plus.data import Bound, Model, SVMPlusData
from fast.svm_plus.working_set import WorkingSetState

AS_GOOD = 1e-5  # relative difference of objectives that counts as none
MEETING = 1e-3  # distance between points of two hulls, in spreads of the data, that counts as none


@dataclass
class SVMPlusResult(Solution):
    """A certified model f(x) = w'x + b with the correcting function g(z) = v'z + rho.

    w (d,), v (s,), multipliers alpha (n,) of the margins and beta (n,) of xi >= 0 (zeros where that
    is not asked), primal and dual objective at these very points, relative gap, rounds (n_iter)
    and their history.
    ``collapsed``: w is 0 as far as the certificate can tell: the correcting function takes the
    blame for every example (own slacks, another Z or a kernel on Z are the cure).
    """

    w: np.ndarray
    b: float
    v: np.ndarray
    rho: float
    alpha: np.ndarray
    collapsed: bool
    beta: np.ndarray


@dataclass
class CheckedInput:
    """Arguments of ``train`` in the form the trainers want; ``kept``: rows of positive weight."""

    X: Any
    y: np.ndarray
    Z: Any
    omega: np.ndarray
    C: float
    lam: float
    tol: float
    free_slack: float
    kept: np.ndarray
    n: int
    max_iter: int


def check_matrix(name: str, value: Any) -> Any:
    """A finite matrix, dense C-ordered or CSR, float32 or float64."""
    if is_sparse(value):
        if value.ndim != 2 or value.shape[1] == 0:
            raise InvalidParameterError(
                name, f"shape {value.shape}", "a matrix with at least one column", f"reshape {name}"
            )
        matrix = sp.csr_array(value)
        if matrix.dtype.kind in "iub":
            matrix = matrix.astype(np.float64)
        if matrix.dtype not in (np.float32, np.float64):
            raise InvalidTypeError(
                name, f"dtype {matrix.dtype}", "real numbers", "convert it to float64"
            )
        raise_bad_entry(name, matrix.data, limit=MAGNITUDE)
        return matrix
    array = real_array(name, value, (2,))
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    if not largest <= MAGNITUDE:  # also for nan
        raise_bad_entry(name, array, limit=MAGNITUDE)
    return array


def check_labels(y: Any, n: int) -> np.ndarray:
    """Labels -1 and 1 (n,) as float64."""
    labels = finite_array("y", y, (1,)).astype(np.float64)
    if labels.shape != (n,):
        raise InvalidParameterError(
            "y", f"shape {labels.shape}", f"{n} labels, one per row of X", "match y to the rows"
        )
    wrong = labels[np.abs(labels) != 1.0]
    if len(wrong):
        raise InvalidParameterError(
            "y", f"label {wrong[0]:g}", "labels -1 and 1", "recode y, e.g. np.where(y == c, 1, -1)"
        )
    return labels


def check_two_classes(y: np.ndarray, weighted: bool) -> None:
    """Both labels must occur."""
    if not (np.any(y > 0.0) and np.any(y < 0.0)):
        found = "no rows" if not len(y) else f"only label {y[0]:+g}"
        where = " among the rows of positive weight" if weighted else ""
        raise InvalidParameterError(
            "y", f"{found}{where}", "both labels, -1 and 1", "add examples of the other class"
        )


def check_prices(C: Any, lam: Any, free_slack: Any) -> tuple[float, float, float]:
    """C, lam > 0 and free_slack >= 0, not so small or large that products under- or overflow."""
    values = []
    for name, value in (("C", C), ("lam", lam), ("free_slack", free_slack)):
        price = number(name, value, positive=name != "free_slack")
        values.append(moderate(name, price) if price > 0.0 else price)
    return values[0], values[1], values[2]


def check_rounds(max_iter: Any) -> int:
    """A bound on the rounds: at least one."""
    return check_k(max_iter, name="max_iter")


def check_signed(label_signed: Any, squared: bool, nonneg: Any, free_slack: float) -> bool:
    """Whether slacks are y_i g(z_i), where a feasible point can be told."""
    if not isinstance(label_signed, bool | np.bool_):
        raise InvalidTypeError("label_signed", repr(label_signed), "True or False", "pass True")
    if not label_signed:
        return False
    if not (squared or nonneg):
        raise InvalidParameterError(
            "label_signed", "True", "nonneg_slack=True with the hinge",
            "keep xi >= 0: C sum y_i rho omega_i, with b = -rho, is unbounded or constant without it",
        )  # fmt: skip
    if nonneg and not free_slack > 0.0:
        raise InvalidParameterError(
            "label_signed", "True", "free_slack > 0 where slacks xi_i = y_i g(z_i) >= 0 are kept",
            "pass free_slack > 0: without own slacks g alone has to separate the classes, or is 0",
        )  # fmt: skip
    return True


def infeasible() -> InvalidParameterError:
    """No point was found with y_i f(x_i) + xi_i >= 1."""
    return InvalidParameterError(
        "free_slack", "0, and no model was found with y_i f(x_i) + xi_i >= 1 for all i",
        "slacks of their own, or classes that (x, z) separates", "pass free_slack > 0",
    )  # fmt: skip


def check_input(
    X: Any, y: Any, Z: Any, C: Any, lam: Any, sample_weight: Any, free_slack: Any, tol: Any,
    max_iter: Any = 1000,
) -> CheckedInput:  # fmt: skip
    """Check everything; rows of weight zero leave."""
    X, Z = check_matrix("X", X), check_matrix("Z", Z)
    n = X.shape[0]
    if Z.shape[0] != n:
        raise InvalidParameterError(
            "Z", f"{Z.shape[0]} rows", f"{n} rows, as many as X", "pass one row of Z per row of X"
        )
    labels = check_labels(y, n)
    C, lam, free_slack = check_prices(C, lam, free_slack)
    tol, rounds = number("tol", tol), check_rounds(max_iter)
    kept = np.arange(n)
    omega = np.ones(n)
    if sample_weight is not None:
        omega = per_row("sample_weight", sample_weight, n)
        kept = np.flatnonzero(omega > 0.0)
    check_two_classes(labels[kept], len(kept) < n)
    if len(kept) < n:
        X, Z, labels, omega = X[kept], Z[kept], labels[kept], omega[kept]
    return CheckedInput(X, labels, Z, omega, C, lam, tol, free_slack, kept, n, rounds)


def settled(data: SVMPlusData, model: Model, bound: Bound, tol: float) -> tuple[Model, bool]:
    """The model, w = 0 exactly if it has collapsed, and whether it has.

    w = sum_i alpha_i y_i x_i is half of sum(alpha) times the distance between two points of the
    classes' hulls: small against the spread of the data only if the hulls meet. A small C makes w
    small too, but not that distance.
    """
    pull = data.back_x(bound.alpha)
    reach = 0.5 * float(bound.alpha.sum()) * data.spread()
    if float(np.linalg.norm(pull)) > MEETING * reach:
        if not model.w.any():  # so small that P does not tell it from 0
            other = data.certified(Model(pull, model.b, model.v, model.rho, np.inf))
            if other.w.any() and other.primal - bound.dual <= tol * abs(other.primal):
                model = other
        return model, not model.w.any()
    bare = data.certified(Model(np.zeros(data.d), model.b, model.v, model.rho, np.inf))
    if bare.primal <= model.primal:
        return bare, True
    return model, bare.primal - bound.dual <= AS_GOOD * abs(model.primal)


def finished(
    data: SVMPlusData, given: CheckedInput, state: WorkingSetState, run: TrainingRun
) -> SVMPlusResult:
    """The result, its objectives computed anew from (w, b, v, rho) and from alpha, beta."""
    if not (np.isfinite(state.model.primal) or run.stopped or state.n_iter >= given.max_iter):
        raise infeasible()
    model = data.certified(state.model)
    bound = data.bound(state.bound.alpha, state.bound.beta)
    model, collapsed = settled(data, model, bound, given.tol)
    if not state.history:  # interrupted before the first round
        state.note(0)
    state.claim(model.primal, bound.dual)
    alpha, beta = (expanded(mu, given.kept, given.n) for mu in (bound.alpha, bound.beta))
    found = model.w, model.b, model.v, model.rho, alpha, collapsed, beta
    return SVMPlusResult(*found, **run.outcome(state, "working_set"))
