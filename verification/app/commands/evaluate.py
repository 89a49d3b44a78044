"""``refsolve evaluate MODEL FILE``: how good a model is on labelled examples."""

from dataclasses import dataclass, replace
from pathlib import Path

import typer

from verification.app.console import say, stage, wrote
from verification.app.data_options import (
    DataFile,
    Labelled,
    LabelsFile,
    ModelFile,
    for_model,
    group,
    one_against_rest,
)
from verification.app.options import command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document, Paragraph

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(Labelled, LabelsFile, DataFile, ModelFile):
    """A model, examples, and where the report goes."""

    output: Path | None = option(
        "Report with pictures: this name with .html, .md and .json.", None, "--output", "-o"
    )
    labels: Path | None = option("The same as LABELS.", None, metavar="LABELS")
    group: str | None = group()


@command(app)
def evaluate(options: Options) -> Document:
    """Measure a trained model on labelled examples: accuracy, and what it confuses.

    The model remembers which columns are the label and the groups, and what training left out.
    With --output a page shows the result in pictures.

        refsolve evaluate flowers.refsolve test.csv
        refsolve evaluate flowers.refsolve test.csv -o test.html
    """
    from verification.app.metrics import blocks, measure
    from verification.app.model_card import checksum
    from verification.app.model_file import load_model
    from verification.app.plots import pictures
    from verification.app.training import check_files, title_of
    from verification.report.render import beside, rendered, replace_files

    o = options
    if o.labels is not None and o.labels_file is not None:
        raise InvalidArgumentError("--labels and LABELS are the same; give one of them")
    labels = o.labels if o.labels_file is None else o.labels_file
    found = load_model(o.model)
    with stage(f"read {o.file}"):
        examples = for_model(o.file, found, o.roles(labels=None), True, labels)
    examples = one_against_rest(examples, o.positive or found.positive)
    say(*found.unknown_values(examples))
    with stage("measured"):
        measured = measure(found, examples)
    data = {"accuracy": measured.data, "examples": measured.examples, "confused": measured.confused,
            **measured.by_class}  # fmt: skip
    title = f"{title_of(found.classifier)} on {o.file.name}"
    shown = blocks({o.file.name: measured})
    if found.trained_on and checksum(o.file) in found.trained_on:
        seen = f"The model was trained on {o.file.name}, or a part of it: on new examples accuracy is lower."
        shown.append(Paragraph(seen, "warn"))
        data["training data"] = True
    document = Document(title, tuple(shown), None, data)
    if o.output is not None:
        check_files(beside(o.output), o.force)
        replace_files(rendered(replace(document, appendix=pictures(found, examples)), o.output))
        wrote(*beside(o.output))
    return document
