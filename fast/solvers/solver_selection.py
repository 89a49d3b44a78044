"""Which algorithm trains a loss on given data; see `fast.models.multiclass_erm`."""

import importlib
from typing import Any

import numpy as np

from fast.data.source import Source
from fast.errors import InvalidParameterError
from fast.families import Loss
from fast.solvers.orthonormal import badly_scaled
from fast.solvers.rows import squared_norms

SOLVERS = {
    "active": ("active_set", "ActiveSetSolver"),
    "newton": ("primal_newton", "PrimalNewtonSolver"),
    "lbfgs": ("quasi_newton", "QuasiNewtonSolver"),
    "sdca": ("blocked_sdca", "BlockedSDCASolver"),
    "fista": ("fista", "FistaSolver"),
    "interior": ("simplex_interior", "SimplexInteriorSolver"),
}
WITHIN = {  # "active" on CSR data with too many weights for "interior", and on rows that are read;
    # "newton" for logistic losses of two classes, "active" for the hinge of two with many features,
    # and "sdca" for the consistent top-k hinge, with few weights and more
    "sparse": ("sparse_set", "SparseSetSolver"), "blocks": ("block_lists", "BlockListSolver"),
    "binary": ("binary_logistic", "TwoClassNewtonSolver"), "pair": ("binary_hinge", "TwoClassHinge"),
    "lagrangian": ("augmented_lagrangian", "AugmentedLagrangianSolver"), "faces": ("face_ascent", "FaceAscentSolver"),
}  # fmt: skip
GENERAL = ("newton", "lbfgs", "sdca", "active", "fista")  # the order that "auto" looks in
WEAK = 0.02  # mean r_i ||x_i||^2 / gamma from which on the class lists win
AMPLE, WIDE = 50, 0.5  # examples per weight, and gamma, from which on Newton's method of a smooth hinge wins at once
POLISHED_SIZE = 20_000  # n m d up to which problems are solved to rounding
STRONG, SMOOTH = 1.0, 5.0  # mean r_i ||x_i||^2, also / gamma, from which on those are left to the interior point
AT_ONCE = 5000  # weights up to which scales alone call for the interior point: factors of kernels have any


def solver_class(name: str) -> Any:
    """The algorithm of this name; its ``NEEDS`` is one of the loss's ``capabilities``."""
    module, cls = (SOLVERS | WITHIN)[name]
    return getattr(importlib.import_module(f"fast.solvers.{module}"), cls)


def choose_solver(solver: str, X: Any, r: np.ndarray, loss: Loss, m: int = 2) -> str:
    """Resolve "auto", and refuse a solver that needs what the loss does not have.

    Measured on digits, Letter and Gaussian mixtures: the class lists win by up to 30x, unless the
    smoothing outweighs the data, mean r_i ||x_i||^2 <= 0.02 gamma. Then nearly every class carries
    mass, the Hessian is close to the identity, and Newton's matrix products win by up to 2.5x.
    They win as much where a wide smoothing meets at least 50 examples per weight. Small problems, but for those
    of weak losses, which take the class lists less than 3 ms, are up to 9 times faster by the interior point.
    """
    able, object_name = loss.capabilities, type(loss).__module__.rpartition(".")[2]
    if isinstance(X, Source):
        return of_passes(solver, able, object_name)
    if solver == "auto" and m == 2 and "logistic" in able:
        return "newton"
    few = "simplex" in able and m * min(X.shape) <= AT_ONCE
    if solver == "auto" and few and solver_class("interior").affordable(X, m) and badly_scaled(X):
        return "interior"
    if solver == "auto" and "lists" in able:
        gamma = float(getattr(loss, "gamma", 0.0))
        small = few and m * X.shape[0] * X.shape[1] <= POLISHED_SIZE and solver_class("interior").quick(X, m)
        size = float(np.mean(r * squared_norms(X))) if small or gamma > 0.0 else np.inf
        newton = gamma >= WIDE and len(r) >= AMPLE * m * X.shape[1]
        newton |= gamma > 0.0 and size <= WEAK * gamma
        if not newton and small and size >= max(STRONG, SMOOTH * gamma):
            return "interior"
        return "newton" if newton else "active"
    if solver == "auto" and "curvature" in able and solver_class("lbfgs").pays(X, m):
        return "lbfgs"
    fitting = [name for name in GENERAL if solver_class(name).NEEDS in able]
    if not fitting:
        raise InvalidParameterError(
            "loss",
            object_name,
            "a loss with a solver",
            "give it an sdca_update, or a gradient if smooth, and the margins of its family",
        )
    if solver == "auto":
        return fitting[0]
    if solver not in SOLVERS or solver_class(solver).NEEDS not in able:
        needs = f", which needs {solver_class(solver).NEEDS}" if solver in SOLVERS else ""
        known = ["auto", *(name for name in SOLVERS if solver_class(name).NEEDS in able)]
        raise InvalidParameterError(
            "solver", f"{solver!r} for {object_name}{needs}", f"one of {known}", "use 'auto'"
        )
    return solver


def of_passes(solver: str, able: frozenset[str], object_name: str) -> str:
    """The solver for rows that are not in memory."""
    fitting = [name for name in ("lbfgs", "active") if solver_class(name).NEEDS in able]
    if not fitting or solver not in ("auto", *fitting):
        raise InvalidParameterError(
            "solver", f"{solver!r} for {object_name} on rows in blocks", f"one of {['auto', *fitting]}",
            "use 'auto', or load the rows: X[:]",
        )  # fmt: skip
    return fitting[0] if solver == "auto" else solver
