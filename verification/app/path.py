"""Several values of C: a certified model for each, of which the best on other examples is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.report.document import Cell, Table, number, table, verdict_cell


@dataclass(frozen=True)
class Path:
    """Models in the order of growing C, and their top-k accuracy, a row per k of ``ks``; that of ``k`` chose.

    Of models without a k it is a score by its name.
    """

    models: Sequence[Any]
    seconds: np.ndarray
    k: int | str
    ks: tuple[int | str, ...]
    accuracies: np.ndarray

    @property
    def best(self) -> Any:
        """The model with the largest accuracy; among equals that of the smallest C."""
        return self.models[int(np.argmax(self.accuracies[self.ks.index(self.k)]))]

    @property
    def Cs(self) -> list[float]:
        """The values of C."""
        return [float(model.C) for model in self.models]

    @property
    def data(self) -> dict[str, Any]:
        """For JSON."""
        shares = dict(zip(self.ks, self.accuracies.tolist(), strict=True))
        gaps = [float(model.dual_gap_) for model in self.models]
        return {"C": self.Cs, "accuracy": shares, "gap": gaps, "seconds": self.seconds.tolist()}

    @property
    def block(self) -> Table:
        """A row per C."""
        tops = [k if isinstance(k, str) else f"top-{k}" for k in self.ks]
        rows: list[list[str | Cell]] = [
            [f"{m.C:g}", *(f"{100 * share:.2f}" for share in shares), number(m.dual_gap_),
             f"{s:.3g}", verdict_cell(m.dual_gap_ <= m.tol, "certified", "NOT CERTIFIED"),
             "kept" if m is self.best else ""]
            for m, shares, s in zip(self.models, self.accuracies.T, self.seconds, strict=True)
        ]  # fmt: skip
        note = "The best here was kept, so that its accuracy here is a little too good: evaluate on other examples."
        columns = ("C", *tops, "gap", "seconds")
        return table("Path of C: accuracy in percent", (*columns, "", " "), rows, columns, note)


def values(text: str) -> tuple[float, ...]:
    """The numbers of ``-C 0.1,1,10``."""
    try:
        found = tuple(float(word) for word in text.split(",") if word.strip())
    except ValueError:
        found = ()
    if not found:
        raise InvalidArgumentError(f"C={text!r}: expected a number > 0, or several: -C 0.01,0.1,1")
    return found


def fit_path(
    classifier: Any, Cs: Sequence[float], X: Any, y: np.ndarray, options: dict[str, Any],
    judged: tuple[Any, Any, Any],
) -> Path:  # fmt: skip
    """Train one model per C, each begun at the one before, and measure them on the examples ``judged``.

    ``options`` go to ``fit``; ``judged`` are X, y and groups.
    """
    from fast import regularization_path

    found, (X_test, y_test, groups) = regularization_path(classifier, X, y, Cs, **options), judged
    if "k" not in classifier.get_params():
        ranks = "groups" in options
        name = "average precision" if ranks else "accuracy"
        scores = found.scores(X_test, y_test, **({"groups": groups} if ranks else {}))
        return Path(found.models, found.seconds, name, (name,), scores[np.newaxis])
    top = max(len(found.models[0].classes_) - 1, 1)
    ks = tuple(sorted({k for k in (classifier.k, 1, 3, 5) if k <= top}))
    return Path(found.models, found.seconds, classifier.k, ks, found.accuracies(X_test, y_test, ks))
