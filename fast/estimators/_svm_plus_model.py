"""What SVMPlusClassifier and SVM2KClassifier do around the training: checks, kernels, attributes, warnings."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fast._validation import moderate
from fast.data.columns import aligned, feature_names, tabular
from fast.errors import CollapseWarning, InvalidParameterError
from fast.estimators._kernel import check_kernel
from fast.estimators._log_odds import log_odds
from fast.estimators._privileged import (
    KERNELS,
    check_coef0,
    check_gamma,
    check_privileged,
    kernel_of,
    named,
    scaled,
    square,
)
from fast.estimators._progress import Monitor
from fast.estimators._settings import (
    CertifiedClassifier,
    check_count,
    check_data,
    check_weights,
    encode,
    transaction,
)
from fast.estimators._svm_plus_training import Problem, Reporter, Solution, solve
from fast.models.svm import FEW
from fast.solvers.rows import expanded


class PrivilegedModel(CertifiedClassifier):
    """Base of the classifiers with privileged features, which document the parameters."""

    classes_: np.ndarray
    kernel: Any
    kernel_z: Any
    gamma: Any
    gamma_z: Any
    degree: int
    coef0: float
    standardize_z: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _check_settings(self) -> dict[str, Any]:
        """What a `Problem` takes besides the data."""
        raise NotImplementedError

    def _check_kernels(self) -> None:
        for name in ("kernel", "kernel_z"):
            check_kernel(getattr(self, name), name, KERNELS)
        for name in ("gamma", "gamma_z"):
            check_gamma(name, getattr(self, name))
        check_count("degree", self.degree, "pass 3")
        check_coef0(self.coef0)

    @transaction
    def fit(self, X: Any, y: Any, Z: Any = None, *, sample_weight: Any = None) -> Any:
        """Train until the duality gap of every class is certified.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            float64 or float32; CSR stays CSR. The kernel matrix (n_samples, n_samples) for
            ``kernel="precomputed"``.
        y : array (n_samples,)
            At least two classes.
        Z : array or sparse matrix (n_samples, n_privileged_features), optional
            Privileged features, or the second view, or their kernel matrix for
            ``kernel_z="precomputed"``. Not a list: scikit-learn splits arrays only. None: the
            ordinary SVM.
        sample_weight : array (n_samples,), optional
            Factors of C (and of C_z and D) per example, >= 0; zero removes an example.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range, Z does not fit X, a kernel is not positive
            semidefinite (the message says which, and the fix).
        ValueError
            From scikit-learn: nan, inf, wrong shapes, mismatched rows.

        Warns
        -----
        ConvergenceWarning
            Stopped by ``max_iter``, a callback or Ctrl-C before ``tol``; the best certified models
            are kept (classes not begun by then get one round).
        CollapseWarning
            w = 0 is optimal for a class of an SVM+.
        """
        settings = self._check_settings()
        X, y = check_data(self, X, y)
        classes, encoded = encode(y)
        n = X.shape[0]
        weight = self._weights(sample_weight, X, classes, encoded, settings["C"])
        Z = tabular(Z, "Z")
        names = feature_names(Z)
        Z = None if Z is None else check_privileged(Z, n, self)
        kept = np.flatnonzero(weight > 0.0)
        positives = [1] if len(classes) == 2 else range(len(classes))
        labels = np.stack([np.where(encoded[kept] == j, 1.0, -1.0) for j in positives], axis=1)
        definite = all(kernel in ("linear", "rbf") for kernel in (self.kernel, self.kernel_z))
        problem = Problem(labels=labels, omega=weight[kept], definite=definite, **settings)
        fitted = self._features(problem, X, Z, weight, kept)
        self.classes_ = classes
        monitor = Monitor(self, X, y, settings["tol"], settings["max_iter"] * labels.shape[1])
        single = any(matrix is not None and matrix.dtype == np.float32 for matrix in (X, Z))
        with monitor, named(single, K="kernel", Kz="kernel_z"):
            solutions = solve(problem, Reporter(monitor, problem))
        self._store(solutions, fitted, problem, n, kept)
        if names is not None:
            self.privileged_feature_names_in_ = np.array(names, dtype=object)
        return self._concerns(settings["tol"], solutions)

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
                if Z is None and len(kept) > FEW:
                    problem.K = fitted["_map"].rows(X if every else X[kept])
                if problem.K is None:
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

        def whole(name: str) -> np.ndarray:
            return expanded(np.array([getattr(s, name) for s in solutions]), kept, n)

        if self._map is None:
            self.coef_ = np.array([s.w for s in solutions])
        else:
            self.kernel_coef_ = whole("coef")
        self.intercept_ = np.array([s.b for s in solutions])
        known = problem.K if problem.X is None else problem.X
        lines = []
        for s, y in zip(solutions, problem.labels.T, strict=True):
            f = np.asarray(known @ (s.coef if problem.X is None else s.w), dtype=np.float64) + s.b
            lines.append(log_odds(f, y > 0.0, problem.omega))
        self.odds_ = np.array(lines)
        self.dual_coef_ = whole("alpha")
        self.dual_coef_[:, kept] *= problem.labels.T
        if not problem.plain:
            self.correction_intercept_ = np.array([s.rho for s in solutions])
            if self._map_z is None:
                self.correction_coef_ = np.array([s.v for s in solutions])
            else:
                self.correction_kernel_coef_ = whole("correction_coef")
            self._store_other(whole("beta"), kept, problem.labels)
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

    def _store_other(self, beta: np.ndarray, kept: np.ndarray, labels: np.ndarray) -> None:
        """The multipliers of what there is besides the margins of X."""
        self.slack_dual_coef_ = beta

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

    # -- prediction ---------------------------------------------------------------------------
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores w'x + b of each class against the rest, (n, n_classes); (n,) for two classes."""
        X = self._new(X)
        if not hasattr(self, "kernel_coef_"):
            f = np.asarray(X @ self.coef_.T) + self.intercept_
        else:
            K = self._map.between(X, getattr(self, "X_fit_", None))
            f = K @ self.kernel_coef_.T + self.intercept_
        return f[:, 0] if len(self.classes_) == 2 else f

    def log_odds(self, X: Any) -> np.ndarray:
        """Scores that compare across classes: log-odds of each against the rest; (n,) for two classes.

        ``decision_function`` scores each class in a unit of its own: a class that is rare, whose slacks
        are large, or whose w is 0, has small ones. Here a line (``odds_``) goes through the training
        scores of each class, by the likelihood of its labels (Platt 1999), and the unit is the same.
        The largest one names a class, as ``predict`` does by the largest score: for 26 letters, from
        800 examples with 8 features, 20 to 31 % right instead of 12 to 28, over six settings. Not
        everywhere: with a tenth of four digits' examples 69 to 73 instead of 59 to 77; odds know how
        frequent classes were in training, and a class between two others can lose by it.

        Parameters
        ----------
        X : as in ``fit``
        """
        f = self.decision_function(X)
        if not hasattr(self, "odds_"):
            raise InvalidParameterError(
                "odds_", "a model that was read from a file", "one that was fitted", "fit(X, y, Z)"
            )
        lines = self.odds_[0] if f.ndim == 1 else self.odds_.T
        return np.asarray(lines[0] * f + lines[1])

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score; for two classes ``classes_[1]`` where it is positive."""
        return self._named(self.decision_function(X))

    def _named(self, f: np.ndarray) -> np.ndarray:
        return self.classes_[(f > 0.0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def correction_function(self, Z: Any) -> np.ndarray:
        """Slacks v'z + rho that the privileged features ask for, or scores; (n, n_classes), (n,) for two.

        With ``label_signed`` the slack of an example is y_i = 1 or -1 times it.

        Parameters
        ----------
        Z : array or sparse matrix (n, n_privileged_features)
            As given to ``fit``, scaled here; columns of a data frame by their names. For
            ``kernel_z="precomputed"`` the kernel values with the training examples.
        """
        check_is_fitted(self)
        if not hasattr(self, "correction_intercept_"):
            raise InvalidParameterError(
                "Z", "a model that was fitted without Z", "one fitted with Z", "fit(X, y, Z)"
            )
        Z = aligned(Z, getattr(self, "privileged_feature_names_in_", None), "Z")
        Z = check_privileged(Z, None, self, self.n_privileged_features_in_)
        if self.z_scaler_ is not None:
            Z = self.z_scaler_.transform(Z)
        if self._map_z is None:
            g = np.asarray(Z @ self.correction_coef_.T) + self.correction_intercept_
        else:
            Kz = self._map_z.between(Z, getattr(self, "Z_fit_", None))
            g = Kz @ self.correction_kernel_coef_.T + self.correction_intercept_
        return g[:, 0] if len(self.classes_) == 2 else g
