"""`refsolve audit`: files of weights, examples and labels in, what is certain of the model out."""

from pathlib import Path
from typing import Any

import numpy as np

from fast.auditing import AuditResult
from verification.app.dataset import Examples
from verification.app.label_files import npy_file
from verification.app.labels import is_number
from verification.app.trained_model import Model
from verification.errors import DataFileError, InvalidArgumentError
from verification.report.document import Document, Paragraph, number, table


def numbers_file(source: Path) -> Any:
    """Numbers of a .npy or .csv file: an array, or a frame where a .csv file names features or classes.

    A header is a first line that is not all numbers, or that counts the columns from 0. Names of classes stand in a
    first column that is text or has no name.
    """
    if source.suffix.lower() != ".csv":
        return npy_file(source)
    import pandas as pd

    try:
        text = pd.read_csv(source, header=None, dtype=str, keep_default_na=False).to_numpy(str)
    except (OSError, ValueError) as error:
        told, expected = getattr(error, "strerror", None) or error, "numbers, separated by commas"
        raise DataFileError(f"cannot read {source}: {told}; expected {expected}") from None
    first, index, names = text[0], None, None
    header = not all(map(is_number, first)) or (
        len(first) > 1 and [*first] == [str(j) for j in range(len(first))]
    )
    if header:
        text, names = text[1:], first
        if not first[0] or not all(map(is_number, text[:, 0])):
            text, index, names = text[:, 1:], text[:, 0], names[1:]
            if all(map(is_number, index)):
                index = index.astype(float)
    for i, j in np.argwhere(~np.vectorize(is_number, otypes=[bool])(text)):
        where = f"{source}, line {i + 1 + header}, column {j + 1 + (index is not None)}"
        raise DataFileError(f"{where}: expected a number, got {str(text[i, j])!r}")
    values = text.astype(np.float64)
    if names is not None and all(map(is_number, names)):  # which count, and name nothing
        names = None
    return values if names is None and index is None else pd.DataFrame(values, index, names)


def of_model(model: Model, examples: Examples, weight: np.ndarray | None) -> dict[str, Any]:
    """What `fast.audit` takes, out of a model of `refsolve train` or `probe` and examples, prepared as in training.

    Raises
    ------
    InvalidArgumentError
        A model whose loss has no convex bound per example.
    """
    from sklearn.utils.class_weight import compute_sample_weight

    classifier, X = model.classifier, model.fed(examples)
    settings = classifier.get_params()
    kind, k, gamma = type(classifier).__name__, settings.get("k", 1), settings.get("gamma", 0.0)
    if not model.audited:
        what = f"{kind} with the loss {model.loss}" if "variant" in settings else kind
        raise InvalidArgumentError(
            f"weights: the model is a {what}; expected a top-k hinge or entropy, alpha or beta, "
            "of `refsolve train --model svm` or `--model logistic`, or of `refsolve probe`"
        )
    y = examples.y
    if (kinds := settings.get("class_weight")) is not None:
        weight = compute_sample_weight(kinds, y) * (1.0 if weight is None else weight)
    prepared = model.estimator[:-1].transform(X) if hasattr(model.estimator, "steps") else X
    given = {"W": classifier.coef_, "X": prepared, "y": y, "loss": model.loss,
             "C": classifier.C, "k": k, "classes": classifier.classes_, "sample_weight": weight}  # fmt: skip
    given |= {"gamma": gamma} if gamma else {}
    if settings["fit_intercept"]:
        given |= {"intercept": classifier.intercept_, "intercept_scaling": 1.0}
    return given


def document(found: AuditResult, name: str, tolerance: float, weighted: bool = False) -> Document:
    """What is certain, for people and as data; with weights of examples accuracy is weighted, too."""
    best, accuracy = found.optimum, "weighted accuracy" if weighted else "accuracy"
    lines = [
        ("P of the model, at most", f"{found.primal:.10g}"),
        ("P of any model, at least", f"{found.dual:.10g}"),
        ("so the model is above the optimum by at most", number(found.gap, 3)),
        ("in relation to the optimum", _share(found.above)),
        (f"{accuracy} on these rows", f"{found.accuracy:.2%}"),
        ("epochs", str(found.passes)),
    ]
    if best is not None:
        lines += [
            ("P of a model trained here, at most", f"{best.primal:.10g}"),
            ("so the model is above the optimum by at least", _share(found.least_above)),
            (f"{accuracy} of the model trained here", f"{best.accuracy:.2%}"),
        ]
    ok = found.relative_gap <= tolerance
    blocks: list[Any] = [table("What is certain", ("", ""), lines)]
    if not ok and best is None:
        text = (
            "Either these are not the rows that it was trained on, or the model is far from the optimum, or far enough "
            "that this bound is weak: --refit says which."
        )
        blocks.append(Paragraph(text, "warn"))
    sizes = f"{found.loss}, C = {found.C:g}: {found.n_samples} rows, {found.n_features} features"
    data = {**_numbers(found), "optimum": None if best is None else _numbers(best)}
    good, bad = f"within {tolerance:g} of the optimum", f"not within {tolerance:g} of the optimum"
    return Document(f"audit {name}, {sizes}", tuple(blocks), ok, data, good=good, bad=bad)


def _share(above: float) -> str:
    """Per cent, where that can be read."""
    return f"{above:.2%}" if 1e-4 <= above < 100.0 or not above else f"{number(above, 3)} times it"


def _numbers(found: AuditResult) -> dict[str, Any]:
    names = ("loss", "C", "n_samples", "n_features", "n_classes", "primal", "dual", "gap", "relative_gap", "above",
             "least_above", "accuracy", "passes")  # fmt: skip
    return {name: getattr(found, name) for name in names}
