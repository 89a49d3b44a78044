"""Pictures of a trained model for its page; none where matplotlib is not installed."""

import importlib.util
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from verification.app.dataset import Examples
from verification.app.metrics import positions, scores_of
from verification.app.path import Path
from verification.app.trained_model import Model
from verification.report.document import Picture

#: Classes that a picture has room for, and lists whose curve is drawn.
MANY, LISTS = 30, 10
#: Of a figure whose texts are known: matplotlib would draw all of it twice to find them.
MARGINS = {"left": 0.15, "right": 0.97, "bottom": 0.17, "top": 0.86}


def pictures(model: Model, judged: Examples, path: Path | None = None) -> tuple[Picture, ...]:
    """What the training and the examples that the model was judged on have to show."""
    if importlib.util.find_spec("matplotlib") is None:
        return ()
    found = [*_training(model, path)]
    ranks = type(model.classifier).__name__ == "APSVM" or model.labels
    return (*found, *(_ranking if ranks else _classes)(model, judged))


def _training(model: Model, path: Path | None) -> Iterator[Picture]:
    from fast.displays import GapDisplay, PathDisplay

    if path is not None:
        shown = PathDisplay(path.Cs, path.accuracies, path.ks)
        yield drawn("Accuracy along the path of C", "Top-k accuracy for each C.", shown.plot)
    history = getattr(model.classifier, "history_", None)  # a model out of a file has none
    if history is not None:
        words = f"The certified gap of {len(history['gap'])} checks over seconds."
        yield drawn("Convergence: certified gap over time", words,
                     lambda ax: GapDisplay.from_estimator(model.classifier, ax=ax), margins=MARGINS)  # fmt: skip


def _classes(model: Model, judged: Examples) -> Iterator[Picture]:
    """Top-k accuracy, and which classes are among the k best of which."""
    from sklearn.metrics import ConfusionMatrixDisplay

    from fast.displays import TopKDisplay

    scores, y, m = scores_of(model, model.fed(judged)), positions(model, judged), len(model.names)
    if m > 2:
        yield drawn("Top-k accuracy", "Top-k accuracy for each k.",
                     lambda ax: TopKDisplay.from_predictions(y, scores, ax=ax))  # fmt: skip
    if m > MANY:
        return
    k = int(getattr(model.classifier, "k", 1))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    counts = np.zeros((m, m), int)
    np.add.at(counts, (np.repeat(y, k), best.ravel()), 1)
    shown = ConfusionMatrixDisplay(counts, display_labels=model.names)
    among = f"among the {k} best" if k > 1 else "predicted"
    size = 3.0 + 0.28 * m

    def draw(ax: Any) -> None:
        shown.plot(
            ax=ax, cmap="Blues", colorbar=False, xticks_rotation="vertical", values_format="d"
        )
        ax.set(xlabel=f"class {among}", ylabel="true class")

    yield drawn(f"Confusion matrix: the classes {among}",
                 f"A row per true class, a column per class {among}.", draw, (size, size))  # fmt: skip


def _ranking(model: Model, judged: Examples) -> Iterator[Picture]:
    """Precision over recall, a line per list or label; of many the first."""
    from sklearn.metrics import PrecisionRecallDisplay

    f, y = (
        np.asarray(model.estimator.decision_function(model.fed(judged))),
        positions(model, judged),
    )
    lists = np.array(["all"] * len(y)) if judged.group is None else judged.group
    curves = {name: (y[lists == name], f[lists == name]) for name in np.unique(lists)}
    if model.labels:
        curves = {name: (y[:, j], f[:, j]) for j, name in enumerate(model.labels)}
    names = [name for name, (right, _) in curves.items() if right.any()][:LISTS]

    def draw(ax: Any) -> None:
        for name in names:
            PrecisionRecallDisplay.from_predictions(*curves[name], name=name, ax=ax)
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02), aspect="auto")
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))

    kind, plural = ("label", "labels") if model.labels else ("query", "queries")
    many = f"the first {len(names)} of {len(curves)} {plural}" if len(curves) > LISTS else f"{len(names)} {kind}(s)"
    words = f"Precision over recall for {many}."
    yield drawn(f"Precision–recall curve per {kind}", words, draw, (5.2, 4.0))


def drawn(
    title: str, words: str, draw: Callable[[Any], Any], size: tuple[float, float] = (5.2, 3.0),
    margins: Mapping[str, float] | None = None,
) -> Picture:  # fmt: skip
    """A picture of one pair of axes; with ``margins`` in shares of its size, or those that its texts need."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained" if margins is None else None)
    draw(figure.subplots(gridspec_kw=None if margins is None else dict(margins)))
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    return Picture(title, text[text.index("<svg") :], words)
