"""Pictures of a trained model for its page."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from verification.app.dataset import Examples
from verification.app.metrics import positions, scores_of
from verification.app.path import Path
from verification.app.trained_model import Model
from verification.report.document import Picture
from verification.report.svg import Line, lines, matrix

#: Classes that a picture has room for, and lists whose curve is drawn.
MANY, LISTS = 30, 10


def pictures(model: Model, judged: Examples, path: Path | None = None) -> tuple[Picture, ...]:
    """What the training and the examples that the model was judged on have to show."""
    found = [*_training(model, path)]
    ranks = type(model.classifier).__name__ == "APSVM" or model.labels
    return (*found, *(_ranking if ranks else _classes)(model, judged))


def _training(model: Model, path: Path | None) -> Iterator[Picture]:
    if path is not None:
        along = [Line(k if isinstance(k, str) else f"top-{k}", path.Cs, row)
                 for k, row in zip(path.ks, path.accuracies, strict=True)]  # fmt: skip
        named = ", ".join(k for k in path.ks if isinstance(k, str)) or "accuracy"
        words = "Top-k accuracy for each C."
        yield lines("Accuracy along the path of C", words, along, ("C", named), (True, False))
    history = getattr(model.classifier, "history_", None)  # a model out of a file has none
    if history is not None:
        words = f"The certified gap of {len(history['gap'])} checks over seconds."
        time, tol = np.asarray(history["time"]), float(model.classifier.tol)
        shown = [Line("certified gap", time, np.maximum(history["gap"], 1e-16)),
                 Line(f"tol = {tol:g}", time[[0, -1]], np.array([tol, tol]), False, True)]  # fmt: skip
        axes = "seconds", "relative duality gap"
        yield lines("Convergence: certified gap over time", words, shown, axes, (False, True))


def _classes(model: Model, judged: Examples) -> Iterator[Picture]:
    """Top-k accuracy, and which classes are among the k best of which."""
    from fast.metrics import topk_accuracy

    scores, y, m = scores_of(model, model.fed(judged)), positions(model, judged), len(model.names)
    if m > 2:
        ks = np.arange(1, min(10, m - 1) + 1)
        shares = np.array([topk_accuracy(y, scores, k) for k in ks.tolist()])
        line = [Line("accuracy", ks, shares)]
        yield lines("Top-k accuracy", "Top-k accuracy for each k.", line, ("guesses k", "top-k accuracy"))
    if m > MANY:
        return
    k = int(getattr(model.classifier, "k", 1))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    counts = np.bincount((np.repeat(y, k) * m + best.ravel()), minlength=m * m).reshape(m, m)
    among = f"among the {k} best" if k > 1 else "predicted"
    words = f"A row per true class, a column per class {among}."
    title, axes = f"Confusion matrix: the classes {among}", (f"class {among}", "true class")
    yield matrix(title, words, counts, model.names.tolist(), axes)


def _ranking(model: Model, judged: Examples) -> Iterator[Picture]:
    """Precision over recall, a line per list or label; of many the first."""
    from sklearn.metrics import precision_recall_curve

    f, y = (
        np.asarray(model.estimator.decision_function(model.fed(judged))),
        positions(model, judged),
    )
    lists = np.array(["all"] * len(y)) if judged.group is None else judged.group
    curves = {name: (y[lists == name], f[lists == name]) for name in np.unique(lists)}
    if model.labels:
        curves = {name: (y[:, j], f[:, j]) for j, name in enumerate(model.labels)}
    names = [name for name, (right, _) in curves.items() if right.any()][:LISTS]
    shown = []
    for name in names:
        precision, recall, _ = precision_recall_curve(*curves[name])
        shown.append(Line(str(name), np.repeat(recall, 2)[1:], np.repeat(precision, 2)[:-1], False))
    kind, plural = ("label", "labels") if model.labels else ("query", "queries")
    many = f"the first {len(names)} of {len(curves)} {plural}" if len(curves) > LISTS else f"{len(names)} {kind}(s)"
    words = f"Precision over recall for {many}."
    yield lines(f"Precision–recall curve per {kind}", words, shown, ("recall", "precision"))


def drawn(
    title: str, words: str, draw: Callable[[Any], Any], size: tuple[float, float] = (5.2, 3.0)
) -> Picture:
    """A picture of one pair of axes by matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    return Picture(title, text[text.index("<svg") :], words)
