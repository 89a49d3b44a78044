"""Pictures of fits in the style of scikit-learn's displays: gap over time, top-k accuracy, paths of C."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fast.errors import InvalidParameterError, InvalidTypeError
from fast.metrics import score_columns, topk_accuracy
from fast.path import RegularizationPath

__all__ = ["GapDisplay", "PathDisplay", "TopKDisplay"]


def _axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("displays need matplotlib: in a clone of refsolve, pip install '.[plot]'") from error
    return plt.subplots()[1]


def _legend(ax: Any) -> None:
    """Above the axes, off the curves."""
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)


class GapDisplay:
    """The certified relative duality gap over the seconds of a fit.

    Parameters
    ----------
    seconds, gaps : array (n_checks,)
        Of each certificate, as in ``history_``.
    tol : float
        What was asked for.
    name : str, default="gap"
        Label of the line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import TopKLogisticRegression
    >>> from fast.displays import GapDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> display = GapDisplay.from_estimator(TopKLogisticRegression().fit(X / 16, y))
    """

    def __init__(self, seconds: Any, gaps: Any, tol: float, name: str = "gap") -> None:
        self.seconds, self.gaps = np.asarray(seconds), np.asarray(gaps)
        self.tol, self.name = tol, name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, name: str | None = None) -> Any:
        """Draw the history of a fitted estimator of `fast`.

        Raises
        ------
        InvalidTypeError
            It has no ``history_``: it is not fitted, or not one of ours.
        """
        history = getattr(estimator, "history_", None)
        if history is None:
            raise InvalidTypeError(
                "estimator", repr(estimator), "a fitted estimator of fast", "call fit first"
            )
        name = type(estimator).__name__ if name is None else name
        return cls(history["time"], history["gap"], estimator.tol, name).plot(ax)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw; ``options`` go to ``Axes.plot``."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        shown = np.maximum(self.gaps, np.finfo(float).tiny)
        options = {"marker": "o", "markersize": 3, "label": self.name, **options}
        (self.line_,) = self.ax_.plot(self.seconds, shown, **options)
        self.ax_.axhline(self.tol, color="grey", linestyle=":", label=f"tol = {self.tol:g}")
        self.ax_.set(yscale="log", xlabel="seconds", ylabel="certified relative duality gap")
        self.ax_.locator_params(axis="x", nbins=5)  # labels of milliseconds are wide
        _legend(self.ax_)
        return self


class TopKDisplay:
    """Top-k accuracy over k.

    Parameters
    ----------
    ks : array of int
    accuracies : array
        Fraction of examples whose class is among the k best; ties count as errors.
    name : str, default="accuracy"
        Label of the line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    """

    def __init__(self, ks: Any, accuracies: Any, name: str = "accuracy") -> None:
        self.ks, self.accuracies, self.name = np.asarray(ks), np.asarray(accuracies), name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ks: Iterable[int] | None = None,
        ax: Any = None,
        name: str | None = None,
    ) -> Any:
        """Draw the accuracy of any fitted classifier with ``decision_function`` or probabilities.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : examples and their labels
        ks : numbers of guesses, by default 1 to 10, or to n_classes - 1 if that is less
        ax : matplotlib Axes, optional
        name : label of the line, by default the estimator's class
        """
        scores = getattr(estimator, "decision_function", None) or estimator.predict_proba
        f = score_columns(scores(X))
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, f, classes=estimator.classes_, ks=ks, ax=ax, name=name)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        *,
        classes: Any = None,
        ks: Iterable[int] | None = None,
        ax: Any = None,
        name: str = "accuracy",
    ) -> Any:
        """Draw the accuracy of scores (n, m); the columns belong to ``classes`` (0 to m - 1)."""
        m = np.shape(scores)[1]
        ks = list(range(1, min(10, max(m - 1, 1)) + 1)) if ks is None else [int(k) for k in ks]
        if not ks:
            raise InvalidParameterError("ks", "empty", "numbers of guesses", "leave it out")
        return cls(ks, [topk_accuracy(y_true, scores, k, classes=classes) for k in ks], name).plot(
            ax
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw; ``options`` go to ``Axes.plot``."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        options = {"marker": "o", "label": self.name, **options}
        (self.line_,) = self.ax_.plot(self.ks, self.accuracies, **options)
        self.ax_.set(xlabel="guesses k", ylabel="top-k accuracy")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        _legend(self.ax_)
        return self


class PathDisplay:
    """Top-k accuracy, or another score, along a path of C.

    Parameters
    ----------
    Cs : array
    accuracies : array (n_ks, n_Cs)
    ks : numbers of guesses, or the name of a score, one per line

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
    """

    def __init__(self, Cs: Any, accuracies: Any, ks: Sequence[int | str]) -> None:
        self.Cs, self.accuracies, self.ks = np.asarray(Cs), np.asarray(accuracies), list(ks)

    @classmethod
    def from_path(
        cls, path: RegularizationPath, X: Any, y: Any, *, ks: Iterable[int] = (1,), ax: Any = None
    ) -> Any:
        """Draw what `fast.regularization_path` found, measured on (X, y)."""
        if not isinstance(path, RegularizationPath):
            raise InvalidTypeError(
                "path",
                repr(path),
                "a RegularizationPath",
                "pass what fast.regularization_path returns",
            )
        ks = [int(k) for k in ks]
        return cls(path.Cs, path.accuracies(X, y, ks), ks).plot(ax)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw; ``options`` go to ``Axes.plot``."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        options = {"marker": "o", **options}
        self.lines_ = [
            self.ax_.plot(self.Cs, row, label=k if isinstance(k, str) else f"top-{k}", **options)[0]
            for k, row in zip(self.ks, self.accuracies, strict=True)
        ]
        named = [k for k in self.ks if isinstance(k, str)]
        self.ax_.set(xscale="log", xlabel="C", ylabel=", ".join(named) or "accuracy")
        _legend(self.ax_)
        return self
