"""The model card that `refsolve train` writes into its report: data, loss, certificate, versions, use and limits."""

import hashlib
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from verification.app.dataset import Examples
from verification.app.trained_model import Model
from verification.report.document import Block, Code, Document, Paragraph, table

#: Classes with fewer examples than this are named among the limits, of many names this many.
FEW = 10


def with_card(
    document: Document, model: Model, examples: Examples, sums: Mapping[str, str], command: Sequence[str]
) -> Document:
    """The report of a training with its model card at the end.

    Parameters
    ----------
    document : the report.
    model, examples : what was trained, and on what.
    sums : SHA-256 of the files of examples and labels.
    command : of `refsolve audit`, as words; empty where that command does not take the model.
    """
    names = formulas(model)
    found = {"python": platform.python_version(), "numpy": np.__version__, "refsolve": model.written_by}
    check = shlex.join(command)
    use, limits = uses(model), limitations(model, examples, document)
    rows = [*((f"SHA-256 of {Path(file).name}", digest) for file, digest in sums.items()), *names.items(),
            ("versions", ", ".join(f"{name} {v}" for name, v in found.items()))]  # fmt: skip
    again = "`refsolve audit` does not take this model: the same command on the same file trains it again."
    blocks: list[Block] = [
        table("Model card", ("", ""), rows),
        Code("To check the certificate", check, "sh") if check else Paragraph(again),
        Paragraph(f"Intended use: {use}"),
        Paragraph(f"Limits: {' '.join(limits)}"),
    ]
    card = {"sha256": dict(sums), **names, "versions": found, "check": check, "intended use": use, "limits": limits}
    return replace(document, blocks=(*document.blocks, *blocks), data={**document.data, "card": card})


def checksum(file: Path) -> str:
    """SHA-256 of a file; of a folder that of the lines that `sha256sum` prints of the files in it."""
    if file.is_dir():
        parts = sorted(part for part in file.rglob("*") if part.is_file())
        lines = "".join(f"{checksum(part)}  {part.relative_to(file).as_posix()}\n" for part in parts)
        return hashlib.sha256(lines.encode()).hexdigest()
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def formulas(model: Model) -> dict[str, str]:
    """The loss and the objective as their declarations in `refsolve` print them."""
    classifier, settings = model.classifier, model.classifier.get_params()
    kind = type(classifier).__name__
    if kind == "SVMPlusClassifier":
        name = f"svm_plus_{classifier.loss}"
        return {"loss": name, "objective": _declared("models", name)["primal"]}
    name = model.loss
    spec = _declared("losses", name)
    parts = ("Delta", "value") if kind == "APSVM" else ("z", "value")
    numbers = [f"{n} = {settings[n]:g}" for n in ("k", "gamma") if n in _symbols(name)]
    value = spec[parts[1]].removeprefix("L(s) = ")
    loss = "; ".join([f"{name}: L = {value}", spec[parts[0]], *_costs(name), *numbers])
    if kind == "APSVM":
        objective = "P = 1/2 ||w||^2 + C L(Xw), L averaged over the queries"
    else:
        weights = " w_i" * (settings.get("class_weight") is not None)
        objective = f"P = 1/2 ||W||^2 + C sum_i{weights} L(y_i, W'x_i), x_i as prepared"
        objective += " and a constant feature 1" * bool(classifier.fit_intercept)
    return {"loss": " ".join(loss.split()), "objective": f"{objective}; C = {classifier.C:g}"}


def _declared(kind: str, name: str) -> dict[str, str]:
    return dict(import_module(f"refsolve.{kind}.{name}").SPEC.formulas)


def _costs(name: str) -> list[str]:
    """What the costs are that z has in it: training leaves them at their defaults."""
    if name == "average_precision":
        return []
    cost = getattr(import_module(f"refsolve.losses.{name}"), "default_cost", 1.0)
    return [f"c_j = {cost:g}" + " on N, 0 on P" * (cost > 0 and name.startswith("multilabel"))]


def _symbols(name: str) -> set[str]:
    return {symbol.name for symbol in import_module(f"refsolve.losses.{name}").SPEC.symbols}


def uses(model: Model) -> str:
    """What the model is for, in a sentence."""
    names = _named(model.names)
    what = f"the labels {names}" if model.labels else f"one of the classes {names}"
    if type(model.classifier).__name__ == "APSVM":
        what = f"a ranking with {model.names[1]} first"
    return f"A linear model that predicts {what} for examples from the same source as those of the training."


def limitations(model: Model, examples: Examples, document: Document) -> list[str]:
    """What the certificate and the measurements do not say, in sentences."""
    found = [
        "The certificate bounds the training objective; it says nothing about errors on new examples.",
        "Weights do not show causes.",
        "Errors on subgroups of the examples were not measured.",
    ]
    if not document.ok:
        found.append("Training ended before it reached the declared tolerance.")
    if len(document.data["accuracy"]) == 1:
        found.append("Accuracy was measured on the training examples alone; on others it is lower.")
    if "path" in document.data:
        found.append("C was chosen on the examples that accuracy was measured on: the latter is a little too good.")
    if not hasattr(model.classifier, "predict_proba"):
        found.append("Scores are not probabilities.")
    if model.impute is None:
        found.append("Examples with missing values are refused.")
    else:
        found.append(f"Missing values are filled with the column's {model.impute.replace('_', ' ')} in training.")
    if model.categories:
        found.append(f"Values of {_named(model.categories)} that did not occur in training are treated as none.")
    if not model.labels:
        classes, counts = np.unique(np.asarray(examples.y), return_counts=True)
        shown = model.names if len(model.names) == len(classes) else classes
        if rare := [c for c, n in zip(shown, counts, strict=True) if n < FEW]:
            found.append(f"Classes with fewer than {FEW} training examples: {_named(rare)}.")
    return found


def _named(names: Iterable[object]) -> str:
    """The first of some names, and how many more there are."""
    words = [f"{name!s:.40}" for name in names]
    return ", ".join(words[:FEW]) + f" and {len(words) - FEW} more" * (len(words) > FEW)
