"""Regularisation paths: a whole grid of C, each model certified, each begun at the one before."""

import copy
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, column_or_1d, gen_batches
from sklearn.utils.validation import _num_samples

from fast._validation import label_array, number
from fast.data import Source
from fast.data.columns import blocks, by_name, tabular
from fast.data.in_memory import InMemory
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.estimators import CertifiedClassifier
from fast.estimators.multiclass import MulticlassLinearModel
from fast.metrics import score_columns, topk_accuracy
from fast.path_record import PathRecord
from fast.solvers.state import TrainingState

#: Powers of ten, the range of Lapin et al. 2016, section 5.
PAPER_GRID = tuple(10.0**e for e in range(-5, 4))
AT_ONCE = 1 << 20  # scores of a block of rows
FARTHEST = 2.0  # times the last step of log C that weights are continued along


@dataclass(frozen=True)
class RegularizationPath:
    """Fitted models in the order of increasing C; every one carries its own ``dual_gap_``."""

    Cs: np.ndarray
    models: list[Any]
    seconds: np.ndarray

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def best(self, X: Any, y: Any, k: int | None = None, **data: Any) -> Any:
        """The model with the largest score on (X, y); among equals the smallest C.

        Of rows of labels: with the largest share of rows without a wrong label.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            Validation data.
        y : array (n_samples,)
        k : int, optional
            Guesses by whose accuracy is chosen. Default: the k of the models; models without one go
            by their own `scores`, rankers by average precision.
        **data
            What ``score`` takes besides, such as ``groups``.
        """
        ranked = not isinstance(self.models[0], MulticlassLinearModel)
        if len(np.shape(y)) == 2 or (k is None and ranked):
            return self.models[int(np.argmax(self.scores(X, y, **data)))]
        chosen = int(self.models[0].k if k is None else k)
        return self.models[int(np.argmax(self.accuracies(X, y, [chosen])[0]))]

    def scores(self, X: Any, y: Any, **data: Any) -> np.ndarray:
        """What the ``score`` of every model says on (X, y): accuracy, of rankers average precision.

        ``data``: what it takes besides, such as ``groups``.
        """
        return np.array([model.score(X, y, **data) for model in self.models])

    def accuracies(self, X: Any, y: Any, ks: Sequence[int]) -> np.ndarray:
        """Top-k accuracy of every model on (X, y), a row per k."""
        return accuracies(self.models, X, y, ks)


def accuracies(
    models: Sequence[Any], X: Any, y: Any, ks: Sequence[int], among: np.ndarray | None = None
) -> np.ndarray:
    """Top-k accuracy of every model, a row per k, from scores of some rows at a time.

    Parameters
    ----------
    models : fitted estimators of the same classes
    X : array, sparse matrix, data frame or `fast.data.Source`
    y : array (n,)
    ks : numbers of guesses
    among : array of bool (n,), optional
        Which rows count; by default all.
    """
    classes, y = models[0].classes_, column_or_1d(label_array("y", y))
    X = tabular(X)
    X = by_name(models[0], X) if isinstance(X, Source) else X
    n = X.shape[0] if isinstance(X, Source) else _num_samples(X)
    among = np.ones(n, bool) if among is None else among
    if len(y) != n or not among.any():
        given = f"{len(y)} labels of {n} rows, {np.count_nonzero(among)} of which count"
        fix = "pass rows to measure on, and a label for each"
        raise InvalidParameterError("y", given, "a label per row, and at least one row", fix)
    hits, names = np.zeros((len(ks), len(models))), getattr(models[0], "feature_names_in_", None)
    for at, part in _blocks(X, max(1, AT_ONCE // len(classes)), among, names):
        own = y[at][among[at]]
        for j, model in enumerate(models):
            f = score_columns(model.decision_function(part))
            hits[:, j] += [len(own) * topk_accuracy(own, f, k, classes=classes) for k in ks]
    return hits / np.count_nonzero(among)


def _blocks(X: Any, size: int, among: np.ndarray, names: Any) -> Iterator[tuple[slice, Any]]:
    """Those of so many rows at a time that count, and where these are; a source is read once."""
    whole = ((at, _safe_indexing(X, at)) for at in gen_batches(len(among), size))
    for at, part in blocks(X, size, names) if isinstance(X, Source) else whole:
        chosen = np.flatnonzero(among[at])
        if len(chosen) and len(chosen) < len(among[at]):
            named = isinstance(part, Source)
            some = _safe_indexing(part[:] if named else part, chosen)
            part = InMemory(some, name=part.name, columns=part.columns) if named else some
        if len(chosen):
            yield at, part


def regularization_path(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: Sequence[float] = PAPER_GRID,
    *,
    sample_weight: Any = None,
    eval_set: Any = None,
    **data: Any,
) -> RegularizationPath:
    """Fit ``estimator`` for every C, from the smallest on, each begun at the solutions before.

    Rankers begin at the weights and rankings of the C before, `fast.SVMPlusClassifier` anew.
    Ctrl-C keeps the models that are found, and the best certified one of the C that it stopped.

    Parameters
    ----------
    estimator : classifier of this package
        Its own C is ignored, and it is not changed.
    X, y, sample_weight, eval_set
        As in ``fit``.
    **data
        What its ``fit`` takes besides: ``groups`` of `fast.APSVM`, ``Z`` of `fast.SVMPlusClassifier`.
    Cs : sequence of float, default 1e-5, 1e-4, ..., 1e3
        Values of C > 0, in any order.

    Returns
    -------
    RegularizationPath

    Raises
    ------
    InvalidTypeError
        The estimator is another one, or ``Cs`` not a sequence.
    InvalidParameterError
        No C, or one that is not positive; data that ``fit`` does not take; else as ``fit``.
    """
    if not isinstance(estimator, CertifiedClassifier):
        raise InvalidTypeError(
            "estimator",
            repr(estimator),
            "a classifier of fast, such as TopKSVC, APSVM or SVMPlusClassifier",
            "pass, for example, TopKLogisticRegression()",
        )
    grid, multiclass = grid_of(Cs), isinstance(estimator, MulticlassLinearModel)
    data |= {"sample_weight": sample_weight, "eval_set": eval_set}
    given = {name: value for name, value in data.items() if value is not None}
    known = ["sample_weight", "eval_set"]
    known = known if multiclass else list(inspect.signature(estimator.fit).parameters)[2:]
    for name in sorted(given.keys() - set(known)):
        said = f"what {type(estimator).__name__}.fit takes: {', '.join(known)}"
        raise InvalidParameterError(name, "given", said, "leave it out")
    if multiclass:
        found = list(fits(estimator, X, y, grid, sample_weight, eval_set=eval_set))
    else:
        found = list(refits(estimator, X, y, grid, given))
    models, seconds = [model for model, _ in found], np.array([spent for _, spent in found])
    return RegularizationPath(np.array([model.C for model in models]), models, seconds)


def grid_of(Cs: Any) -> list[float]:
    """Values of C, growing, each once.

    Raises
    ------
    fast.errors.InvalidParameterError
        None, or one that is not a number > 0.
    """
    if not isinstance(Cs, Iterable):
        raise InvalidTypeError("Cs", repr(Cs), "a sequence of numbers > 0", "pass Cs=[1.0]")
    grid = sorted({number("Cs", C, positive=True) for C in Cs})
    if not grid:
        raise InvalidParameterError("Cs", "an empty sequence", "at least one C", "pass Cs=[1.0]")
    return grid


def fits(
    estimator: Any, X: Any, y: Any, grid: Sequence[float], weight: Any = None, *,
    eval_set: Any = None, watch: Callable[[float, TrainingState], bool | None] | None = None,
    folder: Path | None = None, dual: bool = True,
) -> Iterator[tuple[Any, float]]:  # fmt: skip
    """Models for growing C as they are found, and seconds; Ctrl-C ends with the one it stopped.

    ``watch(C, state)`` is called after every certificate, and every pass of quasi-Newton steps, whose
    number and uncertified gap are ``state.passes`` and ``state.estimate``; true stops as Ctrl-C does.
    Models, and the state of a run on blocks, are kept in ``folder``, from which a later call goes on.
    Without ``dual`` no ``dual_coef_`` is made where weights determine it.
    """
    worker = clone(estimator).set_params(warm_start=True)
    worker._path_cache = {}
    if not dual:
        worker._dual_variables = None
    stopped, past = False, list[tuple[float, np.ndarray]]()

    def seen(state: TrainingState) -> bool:
        nonlocal stopped
        stopped = watch is not None and bool(watch(worker.C, state))
        return stopped

    record = PathRecord(folder, worker, X, y, weight)
    for C in grid:
        start = time.perf_counter()
        _continue(worker, past, C)
        worker.set_params(C=C)._watch = seen
        known = record.found(C)
        try:
            if known is None:
                worker.fit(X, y, weight, eval_set=eval_set, **record.options())
        except KeyboardInterrupt:  # there is no certificate yet
            if not past:
                raise
            return
        seconds = time.perf_counter() - start if known is None else known
        worker._interrupted |= stopped
        if known is None and not worker._interrupted:
            record.keep(seconds)
        model = copy.copy(worker)  # a fit replaces attributes, it never changes them in place
        model.set_params(warm_start=estimator.warm_start)
        for name in ("_last_dual", "_last_weights", "_watch", "_path_cache", "_dual_variables"):
            model.__dict__.pop(name, None)
        past = [*past[-1:], (C, worker._last_weights[0])]
        if worker.solver_ == "lbfgs":  # which begins at weights: the dual would only be scaled
            worker._last_dual = (None,)
        yield model, seconds
        if worker._interrupted:
            return


def refits(
    estimator: Any, X: Any, y: Any, grid: Sequence[float], data: Mapping[str, Any]
) -> Iterator[tuple[Any, float]]:
    """Models for growing C and their seconds, as in `fits`, by what ``warm_start`` keeps, if anything."""
    worker, warm = clone(estimator), "warm_start" in estimator.get_params()
    begun = False
    for C in grid:
        start = time.perf_counter()
        try:
            worker.set_params(C=C, **({"warm_start": True} if warm else {})).fit(X, y, **data)
        except KeyboardInterrupt:  # there is no certificate yet
            if not begun:
                raise
            return
        begun, model = True, copy.copy(worker)
        if warm and not estimator.warm_start:
            model.set_params(warm_start=False)._last = None
        yield model, time.perf_counter() - start
        if worker._interrupted:
            return


def _continue(worker: Any, past: list[tuple[float, np.ndarray]], C: float) -> None:
    """Begin at the last two weights, continued along log C: half the passes of the last alone."""
    if len(past) == 2:
        (first, W), (second, last) = past
        ahead = min(np.log(C / second) / np.log(second / first), FARTHEST)
        worker._last_weights = (last + ahead * (last - W), *worker._last_weights[1:])
