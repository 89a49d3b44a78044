"""What every linear multiclass estimator shares: fitting with certificates, scores, top-k."""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight

from fast._threads import one_blas_thread
from fast._validation import check_k, moderate
from fast.certificates import Certificate, of_estimator
from fast.data import Source
from fast.data.constant import with_ones
from fast.errors import InvalidParameterError
from fast.estimators._blocks import checked
from fast.estimators._evaluation import Evaluation, watched
from fast.estimators._kernel import KernelMap, check_kernel, kernel_objectives, two_classes
from fast.estimators._prediction import ClassScores
from fast.estimators._progress import Monitor
from fast.estimators._settings import (
    CertifiedClassifier,
    arrays_of,
    check_settings,
    check_weights,
    seed_of,
    transaction,
)
from fast.models.multiclass_erm import (
    SOLVERS,
    TopKHinge,
    TrainingResult,
    rescaled_dual,
    train,
)
from fast.models.svm import FEW, WHOLE
from fast.solvers.box_interior_point import MatrixGram
from fast.solvers.kernel_rows import KernelRows
from fast.solvers.multiclass_bounds import claims
from fast.solvers.rounding import consistent
from fast.solvers.rows import as_csr, dense, is_sparse
from fast.solvers.state import Counted, TrainingState, certified_gap

SMALL = 10_000  # numbers


class Problem(NamedTuple):
    """What a fit minimises, and how far."""

    features: Any
    encoded: np.ndarray
    r: np.ndarray
    loss: Any
    tol: float


class MulticlassLinearModel(ClassScores, CertifiedClassifier):
    """Base of the linear multiclass estimators; a subclass supplies ``_loss(n_classes)``."""

    # parameters and attributes of the subclasses
    fit_intercept: bool
    class_weight: Any
    warm_start: bool
    kernel: Any
    kernel_params: dict[str, Any] | None
    solver: str
    n_jobs: int | None
    _map: KernelMap | None = None  # of a kernel

    def _loss(self, n_classes: int) -> Any:
        raise NotImplementedError

    def _check_k(self, n_classes: int) -> int:
        why = f" (the number of other classes: y has {n_classes} classes)"
        return check_k(self.k, n_classes - 1, why)

    def _check_settings(self) -> tuple[float, float, int]:
        flags, solvers = ("fit_intercept", "warm_start"), ("auto", *sorted(SOLVERS))
        return check_settings(self, flags, {"solver": solvers})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        # without a constant feature the decision regions are cones at the origin
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def _with_constant(self, X: Any) -> Any:
        """X with a last column of ones when an intercept is fitted."""
        return with_ones(X) if self.fit_intercept else X

    def _radii(
        self, y: np.ndarray, encoded: np.ndarray, sample_weight: Any, X: Any, C: float
    ) -> np.ndarray:
        """C times the weight of each example."""
        weight = check_weights(sample_weight, X)
        r = C * weight * self._factors(y, encoded, weight)
        if not r.any():
            raise InvalidParameterError(
                "sample_weight", "all zero", "a positive weight", "keep at least one example"
            )
        fix = "rescale C, sample_weight or class_weight"
        moderate("C", float(r.max()), "C times the largest weight is ", fix)
        return r

    def _factors(self, y: np.ndarray, encoded: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Those of the examples' classes."""
        if self.class_weight is None:
            return np.ones(1)
        with np.errstate(divide="ignore"):  # "balanced" divides by the weight of a class
            factors = compute_class_weight(
                self.class_weight, classes=self.classes_, y=y, sample_weight=weight
            )
        factors = np.where(np.bincount(encoded, weight) > 0.0, factors, 0.0)
        if not (np.isfinite(factors) & (factors >= 0.0)).all():
            raise InvalidParameterError(
                "class_weight", repr(self.class_weight), "factors >= 0", "use 0 to remove a class"
            )
        return np.asarray(factors[encoded])

    @transaction
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, eval_set: Any = None,
        checkpoint: Any = None,
    ) -> Any:  # fmt: skip
        """Train until the duality gap is certified.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features), or `fast.data.Source`
            float64 or float32; CSR stays CSR. The kernel matrix (n_samples, n_samples) for
            ``kernel="precomputed"``. Rows of files, from `fast.data.rows`, are read in blocks, and no
            array of n_samples times n_classes is made: there is no ``dual_coef_`` then, but for hinges
            whose dual takes no more than 256 MB, or is kept in memory for ``warm_start``. A memory map of
            numpy stays on disk, too; what solver "lbfgs" makes of it has no ``dual_coef_`` either.
            Data frames are those of any library that narwhals knows. Names of columns become
            ``feature_names_in_``: later a source is read by them, in any order, and a frame in another
            order is an error, as in scikit-learn.
        y : array (n_samples,)
            At least two classes; columns of pandas, polars and Arrow are what they hold, and nothing may
            be missing. May be left out where a source has labels.
        sample_weight : array (n_samples,), optional
            Factors of C per example, >= 0; zero removes an example.
        eval_set : list of pairs (X, y), or dict of such pairs, optional
            Data to watch: ``evals_result_`` holds their loss and accuracy at every certificate.
            Training does not depend on them.
        checkpoint : path-like, optional
            File to which solver "lbfgs" writes its state from time to time, whole or not at all. A
            fit to the same problem that finds it goes on from there, to the same bits.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range, or a label is missing (the message says which, and the fix).
        ValueError
            From scikit-learn: nan, inf, wrong shapes, mismatched rows.

        Warns
        -----
        ConvergenceWarning
            Stopped by ``max_iter``, a callback or Ctrl-C before ``tol``; the best certified model
            is kept.
        """
        C, tol, max_iter = self._check_settings()
        kept = None if isinstance(X, np.memmap) and not self.warm_start else self.warm_start
        X, y, encoded = self._examples(X, y)
        loss = self._loss(len(self.classes_))
        r = self._radii(y, encoded, sample_weight, X, C)
        pair = isinstance(loss, TopKHinge) and len(self.classes_) == 2 and self.solver == "auto"
        pair = pair and len(r) > FEW and eval_set is None and checkpoint is None
        problem = Problem(self._features(X, pair), encoded, r, loss, tol)
        monitor = Monitor(self, X, y, tol, max_iter)
        monitor.evaluation = Evaluation.of(eval_set, self, loss)
        options = {
            "max_iter": max_iter,
            "seed": seed_of(self.random_state),
            "report": monitor,
            "n_jobs": self.n_jobs,
            "dual_variables": getattr(self, "_dual_variables", kept),
            "path_cache": getattr(self, "_path_cache", None),  # of a path
        }
        if checkpoint is not None:
            options["checkpoint"] = checkpoint
        with monitor:
            result = self._train(problem, options)
        self._store(result, problem, monitor)
        unseen = self._map is not None or isinstance(X, Source)
        return self._concerns(tol, result, None if unseen else X)

    def _examples(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Features, labels, and what the trainer takes for these; sets ``classes_``."""
        return checked(self, X, y)

    def _watched(self, name: str, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """The same of data to watch."""
        return watched(self, name, X, y)

    def _features(self, X: Any, pair: bool = False) -> Any:
        """Rows to train a linear model on: X, or the factor of the kernel matrix.

        Of a hinge of two classes (``pair``) twice the kernel itself.
        """
        kernel = check_kernel(self.kernel)
        self._map = None
        if isinstance(kernel, str) and kernel == "linear":
            if self.kernel_params:
                raise InvalidParameterError(
                    "kernel_params", repr(self.kernel_params), "None", "choose another kernel"
                )
            return self._with_constant(X)
        if isinstance(X, Source):
            given, fix = f"{kernel!r} for rows in blocks", "load the rows: X[:]"
            raise InvalidParameterError("kernel", given, "'linear'", fix)
        self._map = KernelMap(kernel, self.kernel_params, 1.0 if self.fit_intercept else 0.0)
        self.X_fit_ = None if kernel == "precomputed" else X
        rows = self._map.rows(X, 2.0) if pair else None
        if rows is not None:
            return rows
        features = self._map.fit(X)
        return MatrixGram(2.0 * self._map.K) if pair else features

    def _train(self, problem: Problem, options: dict[str, Any]) -> TrainingResult:
        """One convex problem, certified."""
        features, encoded, r, loss, tol = problem
        start = self._starting_dual(encoded, r)
        if isinstance(features, MatrixGram | KernelRows):
            begin = None if start is None else np.asarray(start.sum(axis=1)).ravel()
            with nullcontext() if self.n_jobs is None else one_blas_thread():
                found = two_classes(
                    features, encoded, r, loss.gamma, tol, begin, options["max_iter"],
                    options["report"],
                )  # fmt: skip
            spent = found.stopped or found.n_iter >= options["max_iter"]
            if spent or found.gap <= tol or features.n > WHOLE:
                return found
            assert self._map is not None
            X = self.X_fit_ if isinstance(features, KernelRows) else features.K / 2.0
            features, start = self._map.fit(X), found.dual_variables
        weights = self._starting_weights(features)
        data = features, encoded, r, len(self.classes_), loss
        options = options | {"solver": self.solver}
        if self._map is None:
            return train(*data, tol=tol, start=start, weights=weights, **options)
        inner, limit = tol / 4.0, options.pop("max_iter")
        options["report"] = counted = Counted(options["report"])
        best, best_gap = None, np.inf
        while True:  # the model kept is W = sum_i a_i phi(x_i)', whose gap is another one
            result = train(
                *data, tol=inner, start=start, max_iter=limit - counted.before, **options
            )
            result = counted.finished(result)
            kept = result.dual_variables.astype(np.float64, copy=False)  # which are the model
            result.dual_variables = kept
            A = dense(self._dual_blocks(kept, encoded))
            gap = certified_gap(*kernel_objectives(self._map.K, A, encoded, r, loss))
            spent = result.stopped or result.n_iter >= limit
            over = spent or result.gap > inner or inner < 1e-14
            if best is None or gap <= best_gap:
                best, best_gap = result, gap
            else:  # stopped before it came as far as the run before
                best.n_iter, best.interrupted = result.n_iter, result.interrupted
            if over or gap <= tol:
                best.bounds = None  # of W in the coordinates of the factor, which is not kept
                return best
            inner, start = inner / 10.0, kept

    def _starting_dual(self, encoded: np.ndarray, r: np.ndarray) -> Any:
        """The dual of the last fit, scaled to the new radii, if it fits this problem."""
        if not (self.warm_start and hasattr(self, "_last_dual")) or self._last_dual[0] is None:
            return None
        dual_variables, old_r, old_y, classes, kind = self._last_dual
        if kind != self._dual_kind() or len(old_y) != len(encoded):
            return None
        if not (np.array_equal(old_y, encoded) and np.array_equal(classes, self.classes_)):
            return None
        return rescaled_dual(dual_variables, old_r, r)

    def _starting_weights(self, features: Any) -> np.ndarray | None:
        """The weights of the last fit, for methods that work in the primal."""
        if not (self.warm_start and hasattr(self, "_last_weights")) or self._map is not None:
            return None
        W, classes, intercept = self._last_weights
        fits = (
            W.shape == (len(self.classes_), features.shape[1]) and intercept == self.fit_intercept
        )
        return W if fits and np.array_equal(classes, self.classes_) else None

    def _dual_kind(self) -> tuple:
        """What the dual's domain depends on, besides the radii."""
        return (type(self).__name__, self.k, getattr(self, "variant", None))

    def _store(self, result: TrainingResult, problem: Problem, monitor: Monitor) -> None:
        features, encoded, r = problem[:3]
        self.n_iter_ = result.n_iter
        self.history_ = arrays_of(result.history)
        self.solver_ = result.solver
        if monitor.evaluation is not None:
            self.evals_result_ = monitor.evaluation.result()
        known = result.bounds
        once = known is not None and not self.warm_start  # nobody needs the masses after
        if (
            result.dual_variables is not None
        ):  # else the dual is a function of W, and as long as the data
            self.dual_coef_ = self._dual_blocks(result.dual_variables, encoded, in_place=once)
        self._claim(result, features, encoded, r)
        if self._map is None:
            d = self.n_features_in_
            W, constant = result.W[:, :d], self.fit_intercept
            order: Any = "K" if is_sparse(features) else "C"  # then W is V' of a (d, m): no copy
            self.coef_ = np.asarray(W, dtype=np.float64, order=order)
            self.intercept_ = result.W[:, d].copy() if constant else np.zeros(len(result.W))
        else:  # the model is the dual's own W, whose primal objective is evaluated with K
            A = dense(self.dual_coef_)
            self.intercept_ = A.sum(axis=0) if self.fit_intercept else np.zeros(A.shape[1])
            self._map.forget()
        if self.warm_start:
            self._last_dual = (result.dual_variables, r, encoded, self.classes_, self._dual_kind())
            self._last_weights = (result.W, self.classes_, self.fit_intercept)

    def _claim(self, result: TrainingResult, features: Any, y: np.ndarray, r: np.ndarray) -> None:
        """Objectives and gap of what is kept, with the rounding in them."""
        loss, values = self._fitted_loss(), (result.primal, result.dual)
        K, W = None, result.W
        if self._map is not None and result.bounds is None:
            features, K, A = None, self._map.K, dense(self.dual_coef_)
            values, W = kernel_objectives(K, A, y, r, loss), A.T
        bounds = result.bounds or claims(
            features, K, W, result.dual_variables, y, r, loss, values, float(self.tol)
        )
        P, D = consistent(*bounds)
        self.primal_objective_, self.dual_objective_ = P, D
        self.dual_gap_ = certified_gap(P, D)
        if self._map is None:
            self._outwards(P, D)

    def _outwards(self, P: float, D: float) -> None:
        """A history that agrees with the claims: no model was better than P, no bound than D."""
        seen = self.history_
        seen["primal"], seen["dual"] = np.maximum(seen["primal"], P), np.minimum(seen["dual"], D)
        seen["primal"][-1], seen["dual"][-1] = P, D
        pairs = zip(seen["primal"].tolist(), seen["dual"].tolist(), strict=True)
        seen["gap"] = np.array([certified_gap(primal, dual) for primal, dual in pairs])

    def _reconstruction(self, state: TrainingState, X: Any, y: Any) -> dict[str, Any] | None:
        """Attributes of a model with the best weights so far, for callbacks."""
        if self._map is not None:  # with a kernel W has coordinates of its own
            return None
        d = self.n_features_in_
        bias = state.W[:, d] if self.fit_intercept else 0.0 * state.W[:, 0]
        return {"coef_": state.W[:, :d].copy(), "intercept_": bias.copy()}

    def _fitted_loss(self) -> Any:
        """The loss of the convex problem that was certified."""
        return self._loss(len(self.classes_))

    @staticmethod
    def _dual_blocks(dual_variables: Any, encoded: np.ndarray, in_place: bool = False) -> Any:
        """A, whose rows sum to 0: CSR if the dual variables are, else dense."""
        if is_sparse(dual_variables):
            sums = np.asarray(dual_variables.sum(axis=1, dtype=np.float64)).ravel()
            if dual_variables.shape[0] * dual_variables.shape[1] <= SMALL:  # sums of sparse arrays take longer
                A = -dual_variables.toarray()
                A[np.arange(len(sums)), encoded] += sums
                return as_csr(A)
            places = (np.arange(len(sums)), encoded)
            return sp.csr_array(
                sp.csr_array((sums, places), shape=dual_variables.shape) - dual_variables
            )
        sums = np.einsum("ij->i", dual_variables, dtype=np.float64)
        A = np.negative(dual_variables, out=dual_variables if in_place else None)
        A[np.arange(len(sums)), encoded] = sums
        return A

    def certificate(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """The model and the proof of its gap, to be saved to a file that others can check.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.

        Returns
        -------
        fast.certificates.Certificate
            Of 1/2 ||W||^2 + C sum_i w_i L(y_i, W x_i) <= min P + ``bound``; ``.save(path)``.

        Raises
        ------
        InvalidParameterError
            Other data than those of the fit, a kernel, or a loss that the format does not know.
        """
        return of_estimator(self, X, y, sample_weight)

    # -- prediction ---------------------------------------------------------------------------
    def _scores(self, X: Any) -> np.ndarray:
        X = self._new(X)
        if self._map is None:
            return np.asarray(X @ self.coef_.T) + self.intercept_
        return np.asarray(self._map.between(X, self.X_fit_) @ self.dual_coef_)
