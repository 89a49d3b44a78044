"""Trainers of SVM+ with the squared hinge: another problem, another Q, another model of the same multipliers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from verification.faulty_solvers import wrong, wrong_step
from verification.reference_solvers import svm as sound
from verification.reference_solvers.svm import Array, Data

PRIMAL, DUAL = "svm_plus_squared_hinge.primal", "svm_plus_squared_hinge.dual"
Parts = dict[str, Any]
Solved = tuple[Array, Array, float]

_kept: dict[int, Array] = {}


def primal(given: Parts, **step: Any) -> Parts:
    """The model, sound but for the steps that are given."""
    return sound.primal(sound.train_plus(given, True, **step))


def dual(given: Parts, **step: Any) -> Parts:
    """The multipliers, sound but for the steps that are given."""
    return sound.dual(sound.train_plus(given, True, **step))


def taking(side: Callable[..., Parts], step: str) -> Callable[[Any], Callable[..., Parts]]:
    """A side of the sound trainer but for one step."""
    return lambda wrong: lambda **given: side(given, **{step: wrong})


# ---- another problem


@wrong(DUAL)
def svm_plus_c_and_lam_swapped(C: float, lam: float, **given: Any) -> Parts:
    """C and lam have changed places."""
    return dual({**given, "C": lam, "lam": C})


@wrong(PRIMAL)
def svm_plus_c_is_a_mean(**given: Any) -> Parts:
    """C/n: the loss is a mean, as in Pegasos, and C multiplies a sum."""
    return primal({**given, "C": given["C"] / len(given["y"])})


@wrong(PRIMAL)
def svm_plus_lambda_without_half(**given: Any) -> Parts:
    """lam ||vt||^2 where lam/2 ||vt||^2 belongs."""
    return primal({**given, "lam": 2 * given["lam"]})


@wrong(PRIMAL)
def svm_plus_ignores_weights(**given: Any) -> Parts:
    """sample_weight is accepted and ignored."""
    return primal({**given, "sample_weight": None})


@wrong(DUAL, erratum="xu_2016/degenerate_input")
def svm_plus_weightless_rows_stay(**given: Any) -> Parts:
    """A weight of zero is taken for a tiny one: the constraints of the example stay."""
    weight = given["sample_weight"]
    if weight is not None:
        given["sample_weight"] = np.maximum(weight, 1e-9 * weight.max())
    return dual(given)


@wrong(PRIMAL)
def svm_plus_z_is_standardised(**given: Any) -> Parts:
    """Z is standardised in silence, and v belongs to that Z."""
    Z = given["Z"]
    if Z is not None:
        spread = Z.std(axis=0)
        given["Z"] = (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return primal(given)


@wrong(DUAL)
def svm_plus_own_slacks_in_k(**given: Any) -> Parts:
    """delta is added to the kernel of x, not to that of z."""
    data = sound.prepare({**given, "free_slack": 0.0}, True)
    data.K = data.K + given["free_slack"] * np.eye(len(data.y))
    return dual({}, data=data)


@wrong(DUAL, erratum="xu_2016/nonnegative_slack")
def svm_plus_slack_is_kept_nonnegative(**given: Any) -> Parts:
    """xi >= 0 is kept where it is dropped: the other of the two problems, with its own multipliers."""
    found = dual({**given, "nonneg_slack": True})
    return found if given["nonneg_slack"] else {"alpha": found["alpha"]}


@wrong(PRIMAL, erratum="xu_2016/nonnegative_slack")
def svm_plus_slack_of_any_sign(**given: Any) -> Parts:
    """xi >= 0 is dropped as if that made no difference, also where it is asked for."""
    return primal({**given, "nonneg_slack": False})


# ---- another kernel, another Q


def without_the_one(data: Data) -> Array:
    """Kz + delta diag(1/w)."""
    return data.Kz + np.diag(data.delta)


@wrong(DUAL, erratum="xu_2016/correcting_kernel")
def svm_plus_dual_without_the_one(**given: Any) -> Parts:
    """The multipliers of k(z, z') where k(z, z') + 1 belongs: feasible, and not optimal."""
    return dual(given, kernel=without_the_one)


@wrong(PRIMAL, erratum="xu_2016/correcting_kernel")
def svm_plus_without_the_one(**given: Any) -> Parts:
    """The correcting kernel without its 1: g(z) = <v,z>, and rho = 0."""
    return {**primal(given, kernel=without_the_one), "rho": 0.0}


@wrong(PRIMAL, erratum="xu_2016/cancellation")
def svm_plus_formula_5_by_a_solve(**given: Any) -> Parts:
    """(5) with a solve for its inverse, and the correcting function from it: (v, rho) = Zt'(alpha - C Q alpha)/lam."""

    def inverse(data: Data, kernel: Array) -> Array:
        """A difference of nearly equal matrices."""
        inner = np.linalg.solve(np.diag(data.lam / data.cost) + kernel, kernel)
        Q = (kernel - kernel @ inner) / data.lam
        return np.asarray((Q + Q.T) / 2)

    data = sound.prepare(given, True)
    found = sound.train_plus(given, True, inverse=inverse)
    gamma = (found["alpha"] + found["beta"])[data.kept]
    xi = inverse(data, sound.augmented(data)) @ gamma
    r = (gamma - data.cost * xi) / data.lam  # what cancels in Q is divided by lam once more
    return {**sound.primal(found), "v": data.weights(data.Z, r), "rho": float(np.sum(r))}


@wrong_step(PRIMAL, taking(primal, "inverse"), erratum="xu_2016/cancellation")
def svm_plus_formula_5_in_single_precision(data: Data, kernel: Array) -> Array:
    """(5) in float32: Q has no right digit from C/lam = 1e5 on."""
    kernel = kernel.astype(np.float32)
    inner = np.linalg.solve(np.diag(data.lam / data.cost).astype(np.float32) + kernel, kernel)
    Q = ((kernel - kernel @ inner) / np.float32(data.lam)).astype(float)
    return np.asarray((Q + Q.T) / 2)


@wrong_step(DUAL, taking(dual, "inverse"), erratum="xu_2016/cancellation")
def svm_plus_printed_formula_5(data: Data, kernel: Array) -> Array:
    """(5) as it is printed, inverse and all: Q = (Kt - Kt (lam/C W^-1 + Kt)^-1 Kt)/lam, which cancels."""
    middle = np.linalg.inv(np.diag(data.lam / data.cost) + kernel)
    Q = (kernel - kernel @ middle @ kernel) / data.lam
    return np.asarray((Q + Q.T) / 2)


@wrong_step(DUAL, taking(dual, "inverse"))
def svm_plus_remembers_q(data: Data, kernel: Array) -> Array:
    """Q is computed for the first Z of a shape, and kept: state between calls."""
    if len(data.y) not in _kept:
        _kept[len(data.y)] = sound.deformed(data, kernel)
    return _kept[len(data.y)]


@wrong_step(DUAL, taking(dual, "inverse"), erratum="xu_2016/footnote_1")
def svm_plus_signed_correction(data: Data, kernel: Array) -> Array:
    """Footnote 1: the correcting function y(<v,z> + rho), that is Q * yy' in the place of Q."""
    return sound.deformed(data, kernel) * np.outer(data.y, data.y)


@wrong_step(DUAL, taking(dual, "inverse"), erratum="libsvm/single_precision_cache")
def svm_plus_single_precision_cache(data: Data, kernel: Array) -> Array:
    """K and Q are kept in float32, as in LIBSVM's cache: the gap has a floor."""
    data.K = data.K.astype(np.float32).astype(float)
    return sound.deformed(data, kernel).astype(np.float32).astype(float)


# ---- another way to solve it


@wrong_step(DUAL, taking(dual, "solve"), erratum="xu_2016/box")
def svm_plus_box_is_c(data: Data, Q: Array) -> Solved:
    """An SVM solver with its own C as a box: 0 <= alpha <= C, where alpha has no upper bound."""
    y, n = data.y, len(data.y)
    H, upper = data.K * np.outer(y, y) + Q, np.full(n, data.C)
    start = 0.5 * data.C * sound.even(y)
    found = sound.qp(H, np.ones(n), y[None, :], np.zeros(1), start, upper)
    return found.x, np.zeros(n), 0.0


@wrong_step(DUAL, taking(dual, "solve"))
def svm_plus_forgets_the_balance(data: Data, Q: Array) -> Solved:
    """The equation <alpha,y> = 0 is forgotten, as if there were no b."""
    y, n = data.y, len(data.y)
    H = data.K * np.outer(y, y) + Q
    none = np.zeros((1, n))
    none[0, 0] = 1e-12
    even = np.ones(n) / max(float(np.ones(n) @ H @ np.ones(n)), 1e-300) * n
    found = sound.qp(H, np.ones(n), none, np.zeros(1), even, most=40)
    return found.x, np.zeros(n), 0.0


@wrong_step(DUAL, taking(dual, "solve"))
def svm_plus_stops_early(data: Data, Q: Array) -> Solved:
    """Stops at a complementarity of 1e-3, and says that it has converged."""
    y, n = data.y, len(data.y)
    H = data.K * np.outer(y, y) + Q
    start = sound.even_start(H, y)
    return sound.qp(H, np.ones(n), y[None, :], np.zeros(1), start, tol=1e-3).x, 0 * y, 0.0


@wrong(DUAL)
def svm_plus_falls_back_to_zero(**given: Any) -> Parts:
    """Where K is singular the solver is given up, and 0 is returned."""
    data, found = sound.prepare(given, True), dual(given)
    if np.linalg.matrix_rank(data.K) < min(len(data.y), 1 + data.K.shape[0] // 4):
        return {name: 0 * value for name, value in found.items()}
    return found


# ---- another model of the same multipliers


def mean_bias(y: Array, margins: Array, alpha: Array) -> float:
    """The mean of what each point would like."""
    return float((y * (1 - margins)).mean())


@wrong(PRIMAL, erratum="xu_2016/bias")
def svm_plus_average_bias(**given: Any) -> Parts:
    """The bias averaged over all points, support vectors or not."""
    return primal(given, offset=mean_bias)


@wrong(PRIMAL)
def svm_plus_bias_negated(**given: Any) -> Parts:
    """f = <w,x> - b is meant, f = <w,x> + b is said: the bias has the other sign."""
    found = primal(given)
    return {**found, "b": -found["b"]}


@wrong(PRIMAL)
def svm_plus_model_half_scaled(**given: Any) -> Parts:
    """w and b are scaled until all margins hold, v and rho are not."""
    found = primal(given)
    return {**found, "w": 1.01 * found["w"], "b": 1.01 * found["b"]}


@wrong(PRIMAL, erratum="xu_2016/collapse")
def svm_plus_collapse_falls_back(**given: Any) -> Parts:
    """Where w = 0 is optimal the ordinary SVM is returned: nobody likes a classifier that is constant."""
    found = sound.train_plus(given, True)
    data = sound.prepare(given, True)
    alpha = found["alpha"][data.kept]
    pulled = (alpha * data.y) @ data.K @ (alpha * data.y)
    if pulled > 1e-8 * (alpha**2 @ data.K.diagonal()):  # w is not tiny beside what alpha could pull
        return sound.primal(found)
    plain = sound.train_plain({**given, "loss": "squared_hinge"})
    f = data.K @ (plain["alpha"][data.kept] * data.y) + plain["b"]
    rho = float((1 - data.y * f).max())
    return {"w": plain["w"], "b": plain["b"], "v": 0 * found["v"], "rho": max(rho, 0.0)}
