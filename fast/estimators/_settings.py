"""What every estimator shares: its base, fits as transactions, checks of what it is given."""

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_n_features,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from fast._interrupts import Interrupts
from fast._validation import MAGNITUDE, data_frame, label_array, number, refuse_masked
from fast.data import Source
from fast.data.columns import by_name
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.solvers.orthonormal import badly_scaled
from fast.solvers.rows import is_sparse

DTYPES = (np.float64, np.float32)
SINGLE = 1e36  # of scores in float32
NAMED = 5  # columns in a warning


def generator(random_state: Any) -> np.random.RandomState:
    """The generator of a fit; None is 0: two fits of the same data give the same bits."""
    return check_random_state(0 if random_state is None else random_state)


def seed_of(random_state: Any) -> int:
    """The seed of a fit's solver: the first number that the generator draws."""
    known = random_state is None or type(random_state) is int
    return _first(random_state or 0) if known else _drawn(random_state)


def _drawn(random_state: Any) -> int:
    return int(generator(random_state).randint(2**31 - 1))


_first = functools.lru_cache(_drawn)  # making a generator takes longer than a small fit's step


class Classifier(ClassifierMixin, BaseEstimator):
    """Base of all estimators."""

    def _new(self, X: Any) -> Any:
        """Features to predict from, checked."""
        check_is_fitted(self)
        return checked_data(self, X, reset=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict`, as scikit-learn's classifiers have it; ``y`` may be any column of labels."""
        return float(ClassifierMixin.score(self, X, label_array("y", y), sample_weight))


class CertifiedClassifier(CallbackSupportMixin, Classifier):
    """Base of the estimators with a duality gap."""

    # parameters of the subclasses
    C: float
    tol: float
    max_iter: int
    random_state: Any
    verbose: int
    dual_gap_: float
    n_iter_: int
    _interrupted: bool

    def _concerns(self, tol: float, result: Any, X: Any = None) -> list[Warning]:
        """What is to be said of a fit that ended before its gap reached ``tol``, also of features ``X``."""
        self._interrupted = bool(result.interrupted)
        if self.dual_gap_ <= tol:
            return []
        reason = (
            "was interrupted" if result.interrupted else f"stopped after {self.n_iter_} iterations"
        )
        message = (
            f"{type(self).__name__} {reason} with a certified relative duality gap of "
            f"{self.dual_gap_:.3g} > tol = {tol:g}; the best model is kept. {self._advice(result, X)}, "
            "or lower C."
        )
        return [ConvergenceWarning(message)]

    def _advice(self, result: Any, X: Any) -> str:
        """What would help: more iterations, or other columns where these are badly scaled.

        The interior point, which no scale slows down, stops early where float64 has no digits left.
        """
        columns = {} if X is None else badly_scaled(X)
        early = result.n_iter < self.max_iter and not result.stopped
        if not columns or (result.solver == "interior" and not early):
            return "Raise max_iter" if columns else "Raise max_iter, or scale the features"
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        said = [f"{names[j]} {what}" for j, what in list(columns.items())[:NAMED]]
        more = f" and {len(columns) - NAMED} more" if len(columns) > NAMED else ""
        why = "centre and scale the features whose weights need more digits than float64 has: "
        return f"{'C' if early else 'Raise max_iter, or c'}{why[1:]}{'; '.join(said)}{more}"


def transaction(fit: Callable[..., list[Warning]]) -> Callable[..., Any]:
    """A ``fit`` that changes nothing until its model is certified and whole.

    It runs on a twin that has the parameters, the callbacks and no fitted attributes (names that end
    in "_"), and returns the warnings that are to be said. The estimator then takes over the twin's
    attributes in one step, and parameters that were set meanwhile stay set.
    """
    managed = with_callbacks(fit)

    @functools.wraps(fit)
    def transact(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        trial = object.__new__(type(self))
        vars(trial).update({name: before[name] for name in before if not name.endswith("_")})
        with Interrupts():
            concerns = managed(trial, *args, **kwargs)
            for name, value in vars(self).items():
                if name[0] != "_" and name[-1] != "_" and value is not before.get(name, self):
                    setattr(trial, name, value)
            self.__dict__ = vars(trial)
            for concern in concerns:
                warnings.warn(concern, stacklevel=2)
        return self

    return transact


def check_weights(sample_weight: Any, X: Any) -> np.ndarray:
    """Weights >= 0 of the examples, (n,)."""
    refuse_masked("sample_weight", sample_weight)
    if sample_weight is None:
        return np.ones(X.shape[0])
    weight = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=False
    )
    return np.asarray(weight)


def arrays_of(history: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """The entries of a history by name."""
    return {name: np.array([entry[name] for entry in history]) for name in history[0]}


def check_settings(
    estimator: Any, flags: Iterable[str], choices: Mapping[str, Iterable[str]]
) -> tuple[float, float, int]:
    """C, tol and max_iter; flags must be booleans, choices one of the strings given."""
    C = number("C", estimator.C, positive=True)
    tol = number("tol", estimator.tol, positive=True)
    max_iter = check_count("max_iter", estimator.max_iter, "pass 1000")
    if not isinstance(estimator.verbose, int | np.integer):
        raise InvalidTypeError("verbose", repr(estimator.verbose), "0, 1 or 2", "pass verbose=1")
    for name in flags:
        given = getattr(estimator, name)
        if not isinstance(given, bool | np.bool_):
            raise InvalidTypeError(name, repr(given), "True or False", f"pass {name}=True or False")
    for name, allowed in choices.items():
        given = getattr(estimator, name)
        if not isinstance(given, str) or given not in allowed:
            first, *others = allowed
            raise InvalidParameterError(
                name, repr(given), f"'{first}' or one of {sorted(others)}", f"use '{first}'"
            )
    return C, tol, max_iter


def check_count(name: str, value: Any, fix: str) -> int:
    """An integer >= 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidTypeError(name, repr(value), "an integer >= 1", fix)
    if value < 1:
        raise InvalidParameterError(name, repr(value), "an integer >= 1", fix)
    return int(value)


def check_data(
    estimator: Any, X: Any, y: Any, reset: bool = True, order: str | None = "C", **options: Any
) -> tuple[Any, np.ndarray]:
    """Features as float32 or float64, C-contiguous or canonical CSR, of bounded magnitude, and labels."""
    y = X.labels if y is None and isinstance(X, Source) else y
    y = label_array("y", y)
    known = isinstance(X, np.ndarray) and isinstance(y, np.ndarray) and y.dtype.kind in "biu"
    with np.errstate(invalid="ignore"):  # inf beside numbers whose sum overflows
        if known and not options and y.ndim == 1 and X.shape[:1] == y.shape:  # nothing to say of y
            if _plain(estimator, X, reset):
                return X, y
            X = checked_data(estimator, X, reset=reset, order=order)
        else:
            X, y = checked_data(estimator, X, y, reset=reset, order=order, **options)
    return settled("X", X), y


def checked_data(estimator: Any, X: Any, *y: Any, reset: bool, **options: Any) -> Any:
    """`validate_data` of scikit-learn for sources and data frames of any library, too.

    The columns of a source are put into the order of the fit by their names; frames, as everywhere in
    scikit-learn, are refused where these differ.
    """
    if not y and not reset and _plain(estimator, X, reset):
        return X
    refuse_masked("X", X)
    options = {"accept_sparse": "csr", "dtype": DTYPES} | options
    if not isinstance(X, Source):
        frame = data_frame("X", X)
        return validate_data(estimator, X if frame is None else frame, *y, reset=reset, **options)
    X = by_name(estimator, X, reset=reset)[:]
    if y and y[0] is not None:
        found = check_X_y(X, *y, estimator=estimator, **options)
    else:
        found = check_array(X, input_name="X", estimator=estimator, **options)
    _check_n_features(estimator, found[0] if y else found, reset=reset)
    return found


def _plain(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is finite, of bounded magnitude, and as trainers take it; with ``reset`` notes its width.

    One product says so of most arrays, where `validate_data` and `settled` read them three times.
    """
    if type(X) is not np.ndarray or X.dtype not in DTYPES or not X.flags.c_contiguous:
        return False
    if X.ndim != 2 or not X.size or "feature_names_in_" in vars(estimator):
        return False
    if not reset and getattr(estimator, "n_features_in_", None) != X.shape[1]:
        return False
    if not float(np.vdot(X, X)) <= MAGNITUDE * MAGNITUDE:
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
    return True


def settled(name: str, X: Any) -> Any:
    """Canonical CSR if sparse; refused are entries of which a product of several would overflow."""
    if is_sparse(X) and not X.has_canonical_format:  # summing duplicates works in place
        X = X.copy()
        X.sum_duplicates()
    largest = float(max(X.max(), -X.min()))
    if largest > MAGNITUDE:
        raise InvalidParameterError(
            name, f"an entry of magnitude {largest:g}", f"at most {MAGNITUDE:g}", f"rescale {name}"
        )
    return X


def in_range(X: Any, C: float) -> Any:
    """X, as float64 if scores of weights C X'a, |a| <= 2, might overflow in float32."""
    largest = float(max(X.max(), -X.min()))
    return X.astype(np.float64) if C * largest * largest * X.shape[1] > SINGLE else X


def _numbered(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different numbers, sorted, and the place of each of ``y`` among them."""
    if y.dtype.kind in "iu" and y.ndim == 1 and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < len(y) and high < 1 << 62:  # counting takes less than sorting
            places = y.astype(np.int64) - low
            found = np.flatnonzero(np.bincount(places))
            number = np.zeros(high - low + 1, np.int64)
            number[found] = np.arange(len(found))
            return (found + low).astype(y.dtype), number[places]
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the number of each label; at least two classes."""
    try:
        if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
            classes, encoded = _numbered(y)
            if y.dtype.kind == "f" or y.ndim > 1 or 2 * len(classes) > len(y):
                # by scikit-learn looked for in the metadata, else counted twice
                check_classification_targets(y.view(np.dtype(y.dtype, metadata={"unique": classes})))
        else:
            check_classification_targets(y)
            classes, encoded = np.unique(y, return_inverse=True)
    except TypeError as error:  # such labels have no order
        raise InvalidTypeError(
            "y", f"labels of several types ({error})", "labels of one type", "convert y"
        ) from None
    if len(classes) < 2:
        raise InvalidParameterError(
            "y", "one class", "at least 2 classes", "add examples of another class"
        )
    return classes, encoded.astype(np.int64, copy=False)
