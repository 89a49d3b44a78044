"""Trainers of SVM1+, which has the hinge for its loss."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.faulty_solvers.svm_plus import Parts, Solved, mean_bias
from verification.reference_solvers import svm as sound
from verification.reference_solvers.qp import MOST
from verification.reference_solvers.svm import Array, Data

PRIMAL, DUAL = "svm_plus_hinge.primal", "svm_plus_hinge.dual"


@wrong(PRIMAL, erratum="xu_2016/bias")
def svm_plus_hinge_average_bias(**given: Any) -> Parts:
    """SVM1+ with b averaged over all points; w, v and rho are right."""
    other = sound.train_plus(given, False, offset=mean_bias)
    return {**sound.primal(sound.train_plus(given, False)), "b": other["b"]}


@wrong(DUAL)
def svm_plus_hinge_ignores_weights(**given: Any) -> Parts:
    """SVM1+ whose dual has C n on the right of its equation, whatever the examples weigh."""
    return sound.dual(sound.train_plus({**given, "sample_weight": None}, False))


@wrong(DUAL)
def svm_plus_hinge_multipliers_swapped(**given: Any) -> Parts:
    """Alpha and beta of SVM1+ have changed places."""
    found = sound.train_plus(given, False)
    return {"alpha": found["beta"], "beta": found["alpha"]}


@wrong(DUAL, erratum="xu_2016/nonnegative_slack")
def svm_plus_hinge_slack_of_any_sign(**given: Any) -> Parts:
    """SVM1+ without xi >= 0, because SVM2+ does without."""
    return sound.dual(sound.train_plus({**given, "nonneg_slack": False}, False))


@wrong(PRIMAL)
def svm_plus_only_w(**given: Any) -> Array:
    """Only w is returned, of C twice as large: what is missing is found, what is wrong too."""
    return np.asarray(sound.train_plus({**given, "C": 2 * given["C"]}, False)["w"])


@wrong(PRIMAL)
def svm_plus_own_slacks_are_ignored(**given: Any) -> Parts:
    """free_slack is accepted and ignored."""
    return sound.primal(sound.train_plus({**given, "free_slack": 0.0}, False))


@wrong(PRIMAL)
def svm_plus_hinge_stops_early(**given: Any) -> Parts:
    """SVM1+ that stops after eight steps, however far it has come."""

    def solve(data: Data, Q: Array) -> Solved:
        most = sound.qp.__defaults__
        assert most is not None
        sound.qp.__defaults__ = (*most[:-1], 8)
        try:
            return sound.solve_plus(data, Q)
        finally:
            sound.qp.__defaults__ = most

    return sound.primal(sound.train_plus(given, False, solve=solve))


def balanced_only(data: Data, most: int) -> Solved:
    """Alpha and beta with <alpha,y> = 0, and no equation for their sum."""
    y, n = data.y, len(data.y)
    Q = (data.Kz + np.diag(data.delta)) / data.lam
    H, c, A = data.K * np.outer(y, y) + Q, 1 + Q @ data.cost, y[None, :]
    if data.nonneg:
        H, c = np.block([[H, Q], [Q, Q]]), np.append(c, Q @ data.cost)
        A = np.append(A, np.zeros((1, n)), axis=1)
    x = sound.qp(H, c, A, np.zeros(1), np.full(len(c), data.cost.mean() / 2), most=most).x
    return x[:n], x[n:] if data.nonneg else np.zeros(n), 0.0


@wrong(DUAL)
def svm_plus_hinge_without_rho(**given: Any) -> Parts:
    """SVM1+ without its rho: xi = <v,z>, and no equation for the sum of alpha and beta."""
    return sound.dual(sound.train_plus(given, False, solve=lambda data, Q: balanced_only(data, 60)))


@wrong(PRIMAL)
def svm_plus_hinge_penalises_rho(**given: Any) -> Parts:
    """SVM1+ with lam/2 rho^2, as SVM2+ has it: the kernel is Kz + 1."""
    data = sound.prepare(given, False)
    data.Kz = data.Kz + 1
    data.Z = None if data.Z is None else np.column_stack([data.Z, np.ones(len(data.y))])
    found = sound.train_plus({}, False, solve=lambda data, Q: balanced_only(data, MOST), data=data)
    v = found["v"]
    v, rho = (v, float(v.sum())) if data.Z is None else (v[:-1], float(v[-1]))
    return sound.primal({**found, "v": v, "rho": rho})
