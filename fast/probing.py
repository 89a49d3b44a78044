"""Linear probes: a classifier on frozen features for each C, every one with a certified gap."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_features, _num_samples

from fast._threads import resolve
from fast._validation import check_k, label_vector
from fast.data import Source, groups_ahead
from fast.data.columns import aligned, feature_names, listed, tabular
from fast.data.in_memory import InMemory
from fast.errors import InvalidParameterError, InvalidTypeError, UnjudgedWarning
from fast.estimators.topk_logistic_regression import TopKLogisticRegression
from fast.estimators.topk_svc import TopKSVC
from fast.path import accuracies, fits, grid_of
from fast.solvers.state import TrainingState

__all__ = [
    "LOSSES",
    "PRESETS",
    "Preset",
    "ProbeResult",
    "checked",
    "estimator_of",
    "plan_of",
    "probe",
]

HELD_OUT = 0.1  # of the rows, without validation data
#: Names of losses; all but the softmax are made for k guesses.
LOSSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "softmax": (TopKLogisticRegression, {}),
    "entropy": (TopKLogisticRegression, {}),
    "hinge": (TopKSVC, {}),
    "smooth_hinge": (TopKSVC, {"gamma": 1.0}),
}


class Preset(NamedTuple):
    """A protocol: values of C, and examples per class of each draw (None: all), and draws."""

    Cs: tuple[float, ...]
    shots: int | None = None
    draws: int = 1


#: Known protocols; `probe` says where they are from.
PRESETS = {
    "clip": Preset(tuple(10.0 ** np.linspace(-6, 6, 97))),
    "dinov2": Preset(tuple(10.0 ** np.linspace(-6, 5, 45))),
    "mteb": Preset((1.0,), shots=8, draws=10),
}
USUAL = Preset(tuple(10.0 ** np.linspace(-2, 3, 10)))


@dataclass(frozen=True)
class ProbeResult:
    """What `probe` found, an entry per fit: in the order of draws, and in each of growing C.

    Attributes
    ----------
    Cs, gaps, seconds : array (n_fits,)
        C, certified relative duality gap, seconds of training.
    passes : array of int (n_fits,)
        ``n_iter_`` of the models.
    models : list of estimators
        Without ``dual_coef_``, which is as large as all scores.
    ks : tuple of int
    accuracies : array (n_ks, n_fits)
        Top-k accuracy; ties count as errors.
    judged_on : str
        What accuracy was measured on.
    best : estimator
        Of the C with the largest accuracy (top-``k``, mean of the draws), among equals the smallest.
        Where rows were held out, it is trained again on all of them, as ``GridSearchCV`` does.
    complete : bool
        False after Ctrl-C, or if ``report`` stopped.
    unjudged : tuple
        Classes of which no row was measured on.
    """

    Cs: np.ndarray
    models: list[Any]
    gaps: np.ndarray
    passes: np.ndarray
    seconds: np.ndarray
    ks: tuple[int, ...]
    accuracies: np.ndarray
    judged_on: str
    best: Any
    complete: bool
    unjudged: tuple[Any, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether every model reached the gap that was asked for."""
        return all(model.dual_gap_ <= model.tol for model in [*self.models, self.best])


def probe(
    X: Any,
    y: Any = None,
    validation: tuple[Any, Any] | None = None,
    Cs: Sequence[float] | None = None,
    *,
    loss: str = "softmax",
    k: int = 1,
    topk: Sequence[int] = (1, 5),
    tol: float = 1e-3,
    max_iter: int = 1000,
    fit_intercept: bool = False,
    n_jobs: int | None = None,
    preset: str | None = None,
    random_state: int = 0,
    folder: str | PathLike[str] | None = None,
    report: Callable[[float, TrainingState], bool | None] | None = None,
) -> ProbeResult:
    """Train a linear classifier for every C, each to a certified gap, and choose by accuracy.

    P(W) = C sum_i L(y_i, W x_i) + 1/2 ||W||^2, from the smallest C on, each begun at those before.

    Parameters
    ----------
    X : array, sparse matrix, data frame or `fast.data.Source` (n, d)
        Features, as they are: what is to be centred, scaled or normalised is the caller's.
    y : array (n,), optional
        Labels; by default those that came with a source.
    validation : pair (X, y), optional
        y may be None where X came with labels; named columns are taken by name.
        What C is chosen on. By default a tenth of the rows, drawn with the same share of each
        class, is kept out of training until C is chosen.
    Cs : sequence of float, optional
        Values > 0; by default ten from 1e-2 to 1e3.
    loss : {"softmax", "entropy", "hinge", "smooth_hinge"}
        Softmax; top-k entropy, hinge, and smooth hinge with gamma = 1, all of them "alpha".
    k : int
        Guesses that count: C is chosen by top-k accuracy, and top-k losses are made for it.
    topk : sequence of int
        Numbers of guesses to measure besides; those that are no less than the number of classes
        are left out.
    tol, max_iter, n_jobs
        As of the estimators.
    fit_intercept : bool
        A weight of the constant feature 1 for every class, regularised like others.
    preset : {"clip", "dinov2", "mteb"}, optional
        Values of C, and draws, of a known protocol (see Notes); ``Cs`` go before it.
    random_state : int
        Seed of what is drawn.
    folder : path-like, optional
        Where models are kept as they are found, and the state of a run on rows in blocks. The same
        call again goes on from there: with softmax and smooth losses to the same bits.
    report : callable, optional
        ``report(C, state)`` after every pass of smooth losses (``state.passes``, and an estimate of the
        gap, ``state.estimate``) and every certificate (``state.n_iter``, ``state.gap``); true stops as
        Ctrl-C does.

    Returns
    -------
    ProbeResult
        After Ctrl-C with what there is.

    Raises
    ------
    fast.errors.InvalidParameterError
        An unknown loss or preset, rows that cannot be held out, none to measure on; else as ``fit``.

    Warns
    -----
    fast.errors.UnjudgedWarning, fast.errors.ColumnWarning
        Names classes of which no row is measured on; columns that ``validation`` alone has.

    Notes
    -----
    All three protocols use this P, with intercepts that are not regularised and tolerances that are
    no gap.

    * ``clip`` (Radford et al. 2021, appendix A.3): scikit-learn's lbfgs, at most 1000 iterations, 8 values
      of C per decade from 1e-6 to 1e6, of which they try those that a search by halving meets;
      then trained on training and validation data together.
    * ``dinov2`` (facebookresearch/dinov2, eval/log_regression.py): cuML's L-BFGS, whose C is
      scikit-learn's; 45 values from 1e-6 to 1e5, features as they come, tol = 1e-12, at most 1000
      iterations; C from a random tenth of the training data, then trained on all.
    * ``mteb`` (embeddings-benchmark/mteb, abstasks/classification.py): scikit-learn's lbfgs, C = 1,
      at most 100 iterations, on 8 examples per class (16 or 32 for many tasks), drawn ten times.
    """
    X = tabular(X)
    y = getattr(X, "labels", None) if y is None else y
    if y is None:
        raise InvalidTypeError("y", "None", "labels (n,)", "pass y: X came without labels")
    y = label_vector("y", y)
    X = X[:] if isinstance(X, Source) and X.in_memory and X.columns is None else X
    if validation is not None:
        validation = _judged(validation, X)
    estimator, plan, m, held_out = checked(
        X, y, validation, Cs, loss=loss, k=k, preset=preset, random_state=random_state,
        tol=tol, max_iter=max_iter, fit_intercept=fit_intercept, n_jobs=n_jobs,
    )  # fmt: skip
    ks = tuple(sorted({k, *(int(t) for t in topk if 0 < t < m)}))
    if unjudged := _unjudged(y, validation, plan, held_out):
        said = f"no row to measure on is of {len(unjudged)} of {m} classes: {listed(unjudged)}"
        warnings.warn(f"{said}; accuracy is that of the others", UnjudgedWarning, stacklevel=2)
    draws = _draws(X, y, plan, validation, held_out, random_state)
    found = _fitted(draws, estimator, plan, ks, report, folder)
    complete = len(found) == len(plan.Cs) * plan.draws and not found[-1][0]._interrupted
    models = [model for model, _, _ in found]
    table = np.hstack([shares for _, _, shares in found])
    best = _best(models, table[ks.index(k)])
    if held_out is not None and complete:
        best, complete = _trained_again(best, X, y, report, folder)
    told = "the validation data" if validation is not None else "rows that were held out"
    return ProbeResult(
        np.array([model.C for model in models]), models,
        np.array([model.dual_gap_ for model in models]),
        np.array([model.n_iter_ for model in models]),
        np.array([seconds for _, seconds, _ in found]), ks, table, told, best, complete, unjudged,
    )  # fmt: skip


def checked(
    X: Any, y: np.ndarray, validation: Any, Cs: Any, *, loss: str, k: int, preset: str | None,
    random_state: int, **settings: Any,
) -> tuple[Any, Preset, int, np.ndarray | None]:  # fmt: skip
    """What is wrong with a probe is said here; its estimator, plan, classes, and rows held out."""
    estimator, plan = estimator_of(loss, k, **settings), plan_of(preset, Cs)
    estimator._check_settings()
    resolve(estimator.n_jobs)
    classes = np.unique(y)
    if validation is not None:
        _check(validation, X, classes)
    elif plan.shots is not None and np.unique(y, return_counts=True)[1].max() <= plan.shots:
        given = f"{preset!r}, which trains on {plan.shots} rows of each class: all {len(y)} of them"
        raise InvalidParameterError("preset", given, "rows beside these", "pass validation=(X, y)")
    check_k(k, max(len(classes) - 1, 1), " (the number of other classes)")
    held = validation is None and plan.shots is None
    return estimator, plan, len(classes), _held_out(y, random_state) if held else None


def estimator_of(loss: str, k: int, **options: Any) -> Any:
    """The estimator of a name of `LOSSES`."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise InvalidParameterError("loss", repr(loss), f"one of {tuple(LOSSES)}", "use 'softmax'")
    kind, settings = LOSSES[loss]
    return kind(k=1 if loss == "softmax" else k, random_state=0, **options, **settings)


def plan_of(preset: str | None, Cs: Sequence[float] | None) -> Preset:
    """Draws and growing values of C."""
    if preset is not None and preset not in PRESETS:
        raise InvalidParameterError(
            "preset", repr(preset), f"one of {tuple(PRESETS)} or None", "leave it out, and pass Cs"
        )
    plan = USUAL if preset is None else PRESETS[preset]
    return plan if Cs is None else plan._replace(Cs=tuple(grid_of(Cs)))


def _fitted(
    draws: Iterator[Any], estimator: Any, plan: Preset, ks: Any, report: Any, folder: Any
) -> list[tuple[Any, float, np.ndarray]]:
    """Models, seconds, and accuracies: all, or those before Ctrl-C, wherever it comes."""
    found: list[tuple[Any, float, np.ndarray]] = []
    try:
        for draw, (part, labels, weight, judged) in enumerate(draws):
            kept = None if folder is None else Path(folder) / f"{draw}"
            for model, seconds in fits(
                estimator, part, labels, plan.Cs, weight, watch=report, folder=kept, dual=False
            ):
                model.__dict__.pop("dual_coef_", None)
                shares = accuracies([model], judged[0], judged[1], ks, judged[2])
                found.append((model, seconds, shares))
            if len(found) < (draw + 1) * len(plan.Cs) or found[-1][0]._interrupted:
                break
    except KeyboardInterrupt:
        if not found:
            raise
    return found


def _judged(validation: Any, X: Any) -> tuple[Any, np.ndarray]:
    """Rows to measure on, with the columns of X by name, and their labels."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        kind = type(validation).__name__
        raise InvalidParameterError("validation", kind, "a pair (X, y)", "pass (X, y)")
    given, labels = tabular(validation[0], "validation"), validation[1]
    labels = getattr(given, "labels", None) if labels is None else labels
    if labels is None:
        told = "None for y, and X without labels"
        raise InvalidParameterError("validation", told, "a label per row", "pass (X, y)")
    return aligned(given, feature_names(X), "validation"), label_vector("validation", labels)


def _unjudged(y: np.ndarray, validation: Any, plan: Preset, held: Any) -> tuple[Any, ...]:
    """Classes of y of which no row is measured on, in any draw."""
    classes, sizes = np.unique(y, return_counts=True)
    if validation is None and plan.shots is not None:
        return tuple(classes[sizes <= plan.shots].tolist())
    return tuple(np.setdiff1d(classes, y[held] if validation is None else validation[1]).tolist())


def _check(validation: tuple[Any, Any], X: Any, classes: np.ndarray) -> None:
    """Refuse now what could not be measured on after the first fit."""
    given, labels = _judged(validation, X)
    if not len(labels):
        raise InvalidParameterError("validation", "no rows", "rows to measure on", "leave it out")
    sizes = _num_features(given), _num_features(X)
    if sizes[0] != sizes[1] or _num_samples(given) != len(labels):
        raise InvalidParameterError(
            "validation", f"shape {(_num_samples(given), sizes[0])} and {len(labels)} labels",
            f"rows of {sizes[1]} features, and a label for each", "pass validation=(X, y)",
        )  # fmt: skip
    if (unknown := np.setdiff1d(labels, classes)).size:
        raise InvalidParameterError(
            "validation", f"the label {str(unknown[0])!r}", "labels that occur in y",
            "leave these rows out, or train on some",
        )  # fmt: skip


Draw = tuple[Any, np.ndarray, np.ndarray | None, tuple[Any, Any, np.ndarray | None]]


def _draws(
    X: Any, y: np.ndarray, plan: Preset, validation: Any, held: Any, seed: int
) -> Iterator[Draw]:
    """X, y and weights to train with; X, y and which of them to measure on."""
    rng = np.random.default_rng(seed)
    judged = None if validation is None else (*validation, None)
    for _ in range(plan.draws):
        if plan.shots is not None:
            chosen = _few_of_each(y, plan.shots, rng)
            part = _taken(X, chosen)
            yield part, y[chosen], None, judged or (X, y, ~chosen)
        elif judged is not None:
            yield X, y, None, judged
        else:
            yield X, y, np.where(held, 0.0, 1.0), (X, y, held)


def _few_of_each(y: np.ndarray, shots: int, rng: np.random.Generator) -> np.ndarray:
    """So many rows of each class, or all that there are, as booleans."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    first = np.flatnonzero(np.r_[True, y[order][1:] != y[order][:-1]])
    place = np.arange(len(y)) - np.repeat(first, np.diff(np.r_[first, len(y)]))
    chosen = np.zeros(len(y), bool)
    chosen[order[place < shots]] = True
    return chosen


def _taken(X: Any, chosen: np.ndarray) -> Any:
    """Some rows, in memory."""
    if not isinstance(X, Source):
        return _safe_indexing(X, np.flatnonzero(chosen))
    parts = [part[chosen[group]] for group, part in groups_ahead(X)]
    rows = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    names = feature_names(X)
    return rows if names is None else InMemory(rows, name=X.name, columns=names)


def _held_out(y: np.ndarray, seed: int) -> np.ndarray:
    """A tenth of the rows, or as many as there are classes with two, as booleans.

    Each class has its share up to rounding: a small one may have none. They get weight 0 in training,
    so that nothing has to be copied.
    """
    _, where, sizes = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(sizes[where] > 1)
    size = max(round(HELD_OUT * len(y)), int(np.count_nonzero(sizes > 1)))
    try:
        _, held = train_test_split(rows, test_size=size, random_state=seed, stratify=y[rows])
    except ValueError as error:
        raise InvalidParameterError(
            "validation", f"None, and no rows can be held out ({error})",
            "at least two examples of each class", "pass validation=(X, y)",
        ) from None  # fmt: skip
    return np.isin(np.arange(len(y)), held)


def _best(models: list[Any], shares: np.ndarray) -> Any:
    """The first model of the C with the largest mean accuracy."""
    Cs = np.array([model.C for model in models])
    means = [shares[Cs == C].mean() for C in np.unique(Cs)]
    return models[int(np.argmax(Cs == np.unique(Cs)[int(np.argmax(means))]))]


def _trained_again(model: Any, X: Any, y: np.ndarray, report: Any, folder: Any) -> tuple[Any, bool]:
    """The same on all rows, and True; as it was and False if that is stopped."""
    kept = None if folder is None else Path(folder) / "all"
    try:
        again = next(fits(model, X, y, [model.C], watch=report, folder=kept, dual=False))[0]
    except KeyboardInterrupt:
        return model, False
    return (model, False) if again._interrupted else (again, True)
