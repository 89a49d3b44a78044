"""What SVMPlusClassifier does around the training: checks, kernels, attributes, warnings."""

from typing import Any

import numpy as np

from fast._validation import moderate, number
from fast.errors import CollapseWarning, InvalidParameterError, InvalidTypeError
from fast.estimators._kernel import check_kernel
from fast.estimators._log_odds import log_odds
from fast.estimators._privileged import (
    KERNELS,
    check_coef0,
    check_gamma,
    kernel_of,
    named,
    scaled,
    square,
)
from fast.estimators._settings import (
    CertifiedClassifier,
    check_count,
    check_settings,
    check_weights,
)
from fast.estimators._svm_plus_training import Problem, Solution

LOSSES = ("squared_hinge", "hinge")


class PrivilegedModel(CertifiedClassifier):
    """Base of SVMPlusClassifier, which documents the parameters."""

    classes_: np.ndarray

    def __init__(
        self,
        loss: str = "squared_hinge",
        C: float = 1.0,
        lam: float = 1.0,
        kernel: Any = "linear",
        kernel_z: Any = "linear",
        gamma: Any = "scale",
        gamma_z: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        standardize_z: bool = True,
        nonneg_slack: bool | None = None,
        free_slack: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.lam = lam
        self.kernel = kernel
        self.kernel_z = kernel_z
        self.gamma = gamma
        self.gamma_z = gamma_z
        self.degree = degree
        self.coef0 = coef0
        self.standardize_z = standardize_z
        self.nonneg_slack = nonneg_slack
        self.free_slack = free_slack
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _check_settings(self) -> dict[str, Any]:
        C, tol, max_iter = check_settings(self, ("standardize_z",), {"loss": LOSSES})
        moderate("C", C)
        lam = moderate("lam", number("lam", self.lam, positive=True))
        delta = number("free_slack", self.free_slack)
        if delta > 0.0:
            moderate("free_slack", delta)
        nonneg = self.nonneg_slack
        if not (nonneg is None or isinstance(nonneg, bool | np.bool_)):
            raise InvalidTypeError(
                "nonneg_slack", repr(nonneg), "True, False or None", "leave it at None"
            )
        for name in ("kernel", "kernel_z"):
            check_kernel(getattr(self, name), name, KERNELS)
        for name in ("gamma", "gamma_z"):
            check_gamma(name, getattr(self, name))
        check_count("degree", self.degree, "pass 3")
        check_coef0(self.coef0)
        squared = self.loss == "squared_hinge"
        return {
            "squared": squared,
            "C": C,
            "lam": lam,
            "nonneg": not squared if nonneg is None else bool(nonneg),
            "free_slack": delta,
            "tol": tol,
            "max_iter": max_iter,
        }

    def _weights(
        self, sample_weight: Any, X: Any, classes: np.ndarray, encoded: np.ndarray, C: float
    ) -> np.ndarray:
        weight = check_weights(sample_weight, X)
        empty = classes[np.bincount(encoded, weight, len(classes)) == 0.0]
        if len(empty):
            raise InvalidParameterError(
                "sample_weight",
                f"all zero in class {empty.tolist()[0]!r}",
                "a positive weight in each class",
                "leave that class out of X and y, or give it weight",
            )
        largest = C * float(weight.max())
        moderate("C", largest, "C times the largest weight is ", "rescale C or sample_weight")
        return weight

    def _features(
        self, problem: Problem, X: Any, Z: Any, weight: np.ndarray, kept: np.ndarray
    ) -> dict[str, Any]:
        """Fills in X or K, Z or Kz on the rows that count; returns the attributes of the maps."""
        n = X.shape[0]
        every = len(kept) == n
        fitted: dict[str, Any] = {"_map": None, "_map_z": None, "z_scaler_": None}
        if self.kernel == "linear":
            problem.X = X if every else X[kept]
        else:
            fitted["_map"] = self._kernel(self.kernel, self.gamma, X, weight)
            with named(kernel_params="kernel"):
                K = square("X", fitted["_map"].between(X), n)
            problem.K = K if every else K[np.ix_(kept, kept)]
            if self.kernel != "precomputed":
                fitted["X_fit_"] = X
        if Z is None:
            return fitted
        fitted["n_privileged_features_in_"] = Z.shape[1]
        if self.standardize_z and self.kernel_z != "precomputed":
            Z, fitted["z_scaler_"] = scaled(Z, weight)
        if self.kernel_z == "linear":
            problem.Z = Z if every else Z[kept]
        else:
            fitted["_map_z"] = self._kernel(self.kernel_z, self.gamma_z, Z, weight)
            with named(kernel="kernel_z", kernel_params="kernel_z"):
                Kz = square("Z", fitted["_map_z"].between(Z), n)
            problem.Kz = Kz if every else Kz[np.ix_(kept, kept)]
            if self.kernel_z != "precomputed":
                fitted["Z_fit_"] = Z
        return fitted

    def _kernel(self, kernel: Any, gamma: Any, X: Any, weight: np.ndarray) -> Any:
        return kernel_of(kernel, gamma, self.degree, self.coef0, X, weight)

    def _store(
        self,
        solutions: list[Solution],
        fitted: dict[str, Any],
        problem: Problem,
        n: int,
        kept: np.ndarray,
    ) -> None:
        self.__dict__.update(fitted)

        def expanded(name: str) -> np.ndarray:
            out = np.zeros((len(solutions), n))
            out[:, kept] = [getattr(s, name) for s in solutions]
            return out

        if self._map is None:
            self.coef_ = np.array([s.w for s in solutions])
        else:
            self.kernel_coef_ = expanded("coef")
        self.intercept_ = np.array([s.b for s in solutions])
        known = problem.K if problem.X is None else problem.X
        lines = []
        for s, y in zip(solutions, problem.labels.T, strict=True):
            f = np.asarray(known @ (s.coef if problem.X is None else s.w), dtype=np.float64) + s.b
            lines.append(log_odds(f, y > 0.0, problem.omega))
        self.odds_ = np.array(lines)
        self.dual_coef_ = expanded("alpha")
        self.dual_coef_[:, kept] *= problem.labels.T
        if not problem.plain:
            self.correction_intercept_ = np.array([s.rho for s in solutions])
            if self._map_z is None:
                self.correction_coef_ = np.array([s.v for s in solutions])
            else:
                self.correction_kernel_coef_ = expanded("correction_coef")
            self.slack_dual_coef_ = expanded("beta")
        results = [s.result for s in solutions]
        self.primal_objective_ = np.array([r.primal for r in results])
        self.dual_objective_ = np.array([r.dual for r in results])
        self.dual_gaps_ = np.array([r.gap for r in results])
        self.dual_gap_ = float(self.dual_gaps_.max())
        self.collapsed_ = np.array([s.collapsed and s.result.gap <= self.tol for s in solutions])
        self.n_iter_ = sum(r.n_iter for r in results)
        entries = [{"class": j} | entry for j, r in enumerate(results) for entry in r.history]
        names = ("class", "iteration", "time", "primal", "dual", "gap")
        self.history_ = {name: np.array([entry[name] for entry in entries]) for name in names}
        self.solver_ = ", ".join(sorted({r.solver for r in results}))

    def _concerns(self, tol: float, result: list[Solution], X: Any = None) -> list[Warning]:
        """Also if w = 0 is optimal for a class."""
        first = next((s.result for s in result if s.result.interrupted), result[0].result)
        concerns = super()._concerns(tol, first, X)
        if not self.collapsed_.any():
            return concerns
        which = self.classes_[self.collapsed_] if len(self.classes_) > 2 else self.classes_[1:]
        message = (
            f"SVMPlusClassifier: w = 0 is optimal for {len(which)} of {len(self.collapsed_)} "
            f"problems (class {which.tolist()[0]!r} against the rest): the correcting function takes the "
            "blame for every example, so X is not used. Let slacks differ from it by "
            "free_slack > 0, or raise lam, or choose another kernel_z or other privileged features."
        )
        return [*concerns, CollapseWarning(message)]

    def _reconstruction(self, state: Any, X: Any, y: Any) -> dict[str, Any] | None:
        """Attributes of a model with the best weights so far, for callbacks."""
        if self.kernel != "linear" or any(m is None or not hasattr(m, "w") for m in state.models):
            return None  # with a kernel W has coordinates of its own
        m = 1 if len(self.classes_) == 2 else len(self.classes_)
        coef, intercept = np.zeros((m, X.shape[1])), np.full(m, -1.0)  # -1: not trained yet
        for j, model in enumerate(state.models):
            coef[j], intercept[j] = model.w, model.b
        return {"coef_": coef, "intercept_": intercept}
