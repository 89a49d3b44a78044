"""Pictures of a trained model for its page; none where matplotlib is not installed."""

import importlib.util
import io
from typing import Any

from verification.app.examples import Examples
from verification.app.measuring import scores_of
from verification.app.trained_model import Model
from verification.report.document import Picture


def pictures(model: Model, judged: Examples) -> tuple[Picture, ...]:
    """The gap over time, and the top-k accuracy on the examples that the model was judged on."""
    if importlib.util.find_spec("matplotlib") is None:
        return ()
    from matplotlib.figure import Figure

    from fast.displays import GapDisplay, TopKDisplay

    figure = Figure(figsize=(6.0, 3.0), layout="constrained")
    GapDisplay.from_estimator(model.classifier, ax=figure.subplots())
    words = f"The certified gap of {len(model.classifier.history_['gap'])} checks over seconds."
    found = [Picture("How the gap closed", _svg(figure), words)]
    classes = model.classifier.classes_
    if len(classes) > 2 and judged.y is not None:
        figure = Figure(figsize=(6.0, 3.0), layout="constrained")
        scores = scores_of(model, model.fed(judged))
        TopKDisplay.from_predictions(judged.y, scores, classes=classes, ax=figure.subplots())
        found.append(Picture("Accuracy over guesses", _svg(figure), "Top-k accuracy for each k."))
    return tuple(found)


def _svg(figure: Any) -> str:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]
