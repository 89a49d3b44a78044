"""Scikit-learn estimators, and whatever has their interface, as trained models.

What has to be matched, for scikit-learn's own:

==========================  ==========================================================================
``LinearSVC``               sums C L over examples; the default loss is the squared hinge; **the
                            intercept is penalised** (a column ``intercept_scaling`` of X): give
                            ``fit_intercept=False``. ``multi_class="crammer_singer"`` is
                            ``multiclass_hinge``, ``"ovr"`` with ``loss="hinge"`` is ``ova_hinge``
``LogisticRegression``      sums C L; the intercept is free; with two classes it trains one w with
                            1/2 ||w||^2 where softmax has two with 1/4 ||w||^2 in all: pass 2 C
``SVC``                     sums C L; ``dual_coef_`` is y_i alpha_i of the support vectors, which are
                            ``support_``; the intercept is free
``SGDClassifier``           ``alpha`` is lambda = 1/(C n)
==========================  ==========================================================================
"""

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from verification import problems
from verification.adapters._steps import Formula
from verification.adapters.options import adapt
from verification.errors import InvalidArgumentError

Reader = Callable[..., Any]


def class_rows(model: Any, of_two: float = 0.5) -> np.ndarray:
    """``coef_`` with one row per class, also for two classes, of which scikit-learn keeps one.

    Parameters
    ----------
    model : estimator
    of_two : float
        With two classes the rows are -w and w times this: 1/2 where the classes share a loss (each
        row of the sum-zero solution), 1 where they have one each (one-vs-rest).
    """
    coef = np.asarray(model.coef_, dtype=float)
    coef = coef[None, :] if coef.ndim == 1 else coef
    return coef if len(coef) > 1 else np.vstack([-coef, coef]) * of_two


def support_values(model: Any, n: int) -> np.ndarray:
    """alpha_i >= 0 of all n examples from ``dual_coef_`` of a binary `SVC`."""
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(np.ravel(model.dual_coef_))
    return alpha


READERS: dict[str, Reader] = {
    "W": lambda model: class_rows(model),
    "w": lambda model: np.ravel(model.coef_),
    "b": lambda model: float(np.ravel(model.intercept_)[0]),
    "alpha": lambda model, n: support_values(model, n),
}


def trained(
    make: Callable[..., Any],
    problem: str,
    *,
    read: Mapping[str, Reader] | None = None,
    data: str = "X",
    weights: bool = False,
    quiet: bool = True,
    **options: Any,
) -> Any:
    """A trainer made of an estimator: fits ``make(...)`` to the data, reads off the parts.

    Parameters
    ----------
    make : callable
        The unfitted estimator, as a function of the problem's arguments by name (and of n, m, d):
        ``lambda C, tol: LinearSVC(C=C, tol=tol, ...)``.
    problem : str
        ``"<model>.primal"`` or ``"<model>.dual"``.
    read : mapping, optional
        Part -> function of the fitted model (and of arguments by name). By default W from ``coef_``
        with one row per class, w and b from ``coef_`` and ``intercept_``, alpha from ``dual_coef_``;
        the parts of the side that the problem asks for.
    data : str
        What is fitted beside y: "X", or "K" for precomputed Gram matrices.
    weights : bool
        Pass ``sample_weight`` to ``fit``; otherwise instances that have one are skipped.
    quiet : bool
        Do not show ConvergenceWarning; the certificate says how far from the optimum the model is.
    **options
        Those of `adapt`: scale, labels, ...

    Returns
    -------
    Adapted
    """
    task = problems.lookup(problem)
    if task.kind != "models":
        raise InvalidArgumentError(
            f"problem={problem!r}: an estimator solves a trained model, e.g. 'multiclass_erm.primal'"
        )
    maker, readers = Formula(make, "make"), _readers(task, read)

    def fit(**given: Any) -> dict[str, Any]:
        from sklearn.exceptions import ConvergenceWarning

        model = maker(given)
        more = {"sample_weight": given["sample_weight"]} if weights else {}
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(given[data], given["y"], **more)
        return {name: reader(given, model) for name, reader in readers.items()}

    asked = [n for f in (maker, *readers.values()) for n in f.names]
    names = [data, "y", *asked, *(["sample_weight"] if weights else [])]
    kind, listed = inspect.Parameter.KEYWORD_ONLY, _listed(task, names)
    fit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind) for n in listed]
    )
    fit.__qualname__ = getattr(make, "__qualname__", "fit")
    adapted = adapt(fit, problem, **options)
    adapted.__module__ = sys._getframe(1).f_globals.get("__name__", "__main__")
    return adapted


def _readers(task: problems.Problem, read: Mapping[str, Reader] | None) -> dict[str, Formula]:
    """The given readers, or those that are known for the parts of the answer."""
    wanted = read if read is not None else {n: READERS[n] for n in task.unknowns if n in READERS}
    if not wanted:
        raise InvalidArgumentError(
            f"read=None: nothing is known to read {', '.join(task.unknowns)} from; say how, e.g. "
            f"read={{{task.unknowns[0]!r}: lambda model: model.coef_}}"
        )
    return {name: Formula(f, f"read[{name!r}]", 1) for name, f in wanted.items()}


def _listed(task: problems.Problem, names: list[str]) -> list[str]:
    """The arguments among these names, of which there may be no others but n, m and d."""
    derived = {"n", "m", "d"} - set(task.arguments)
    if unknown := [n for n in names if n not in task.arguments and n not in derived]:
        raise InvalidArgumentError(
            f"make and read ask for {', '.join(unknown)}: {task.name} has {', '.join(task.arguments)}, "
            "and n, m, d"
        )
    return [n for n in task.arguments if n in names]


__all__ = ["READERS", "class_rows", "support_values", "trained"]
