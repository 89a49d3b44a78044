"""What the estimators with one signed score per class share: one-vs-all and multilabel."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from fast._validation import divisor
from fast.data import Source
from fast.errors import InvalidParameterError
from fast.estimators._settings import check_settings
from fast.estimators.multiclass import MulticlassLinearModel, Problem
from fast.families import named
from fast.models.multiclass_erm import TrainingResult
from fast.solvers.one_vs_rest_bounds import claims
from fast.solvers.one_vs_rest_training import SOLVERS, train
from fast.solvers.rounding import consistent
from fast.solvers.state import certified_gap


class SignedLinearModel(MulticlassLinearModel):
    """Base of `OneVsAllClassifier` and `MultilabelClassifier`."""

    k = 1
    kernel = "linear"
    kernel_params = None
    class_weight = None
    loss: str
    gamma: float
    object_names: ClassVar[dict[str, str]]  # of the losses, by the name that a user gives them

    def _check_settings(self) -> tuple[float, float, int]:
        choices = {"loss": tuple(self.object_names), "solver": ("auto", *sorted(SOLVERS))}
        return check_settings(self, ("fit_intercept", "warm_start"), choices)

    def _loss(self, n_classes: int) -> Any:
        gamma = divisor("gamma", self.gamma, ", or use loss='hinge'")
        return named(
            self.object_names[self.loss], **{"gamma": gamma} if self.loss == "smooth_hinge" else {}
        )

    def _examples(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        if hasattr(X, "__dask_graph__") or (isinstance(X, Source) and not X.in_memory):
            name = getattr(X, "name", "a Dask array")
            raise InvalidParameterError("X", name, "an array or CSR", "load the rows: X[:]")
        return self._checked(X, y)

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Features, labels, and what the loss takes for these."""
        return super()._examples(X, y)

    def _sides(self, encoded: np.ndarray) -> np.ndarray:
        """The right labels of every row, (n, m) bool."""
        if encoded.ndim == 2:
            return encoded
        own = np.zeros((len(encoded), len(self.classes_)), bool)
        own[np.arange(len(encoded)), encoded] = True
        return own

    def _train(self, problem: Problem, options: dict[str, Any]) -> TrainingResult:
        features, encoded, r, loss, tol = problem
        if "checkpoint" in options:
            given, fix = repr(str(options["checkpoint"])), "leave it out: these fits are short"
            raise InvalidParameterError("checkpoint", given, "no file", fix)
        names = ("max_iter", "seed", "report", "n_jobs")
        return train(
            features, encoded, self._sides(encoded), r, loss, tol=tol, solver=self.solver,
            start=self._starting_dual(encoded, r), weights=self._starting_weights(features),
            **{name: options[name] for name in names},
        )  # fmt: skip

    def _dual_kind(self) -> tuple:
        return type(self).__name__, self.loss

    @staticmethod
    def _dual_blocks(dual_variables: Any, encoded: np.ndarray, in_place: bool = False) -> Any:
        """A itself."""
        few = np.count_nonzero(dual_variables) <= dual_variables.size // 3
        return sp.csr_array(dual_variables) if few else dual_variables

    def _claim(self, result: TrainingResult, features: Any, y: np.ndarray, r: np.ndarray) -> None:
        bounds = result.bounds
        if bounds is None:
            given = features, result.W, result.dual_variables, self._sides(y), r, self._fitted_loss(), y
            bounds = claims(*given, (result.primal, result.dual), float(self.tol))
        P, D = consistent(*bounds)
        self.primal_objective_, self.dual_objective_ = P, D
        self.dual_gap_ = certified_gap(P, D)
        self._outwards(P, D)
