"""``refsolve evaluate MODEL FILE``: how good a model is on labelled examples."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish
from verification.app.data_options import DataFile, Group, Ignore, Label, Positive

app = typer.Typer(add_completion=False)

_ModelFile = Annotated[Path, typer.Argument(help="A model that `refsolve train` wrote.")]


@app.command()
def evaluate(
    model: _ModelFile,
    file: DataFile,
    label: Label = None,
    positive: Positive = None,
    group: Group = None,
    ignore: Ignore = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a model on labelled examples: top-k accuracy or average precision, and what it confuses."""
    from verification.app.data_options import for_model, one_against_rest, words
    from verification.app.examples import Roles
    from verification.app.measuring import blocks, measure
    from verification.app.model_file import load_model
    from verification.report.document import Document

    found = load_model(model)
    roles = Roles(label, group=group, ignore=words(ignore))
    examples = for_model(file, found, roles, labelled=True)
    examples = one_against_rest(examples, positive or found.positive)
    measured = measure(found, examples)
    data = {"accuracy": measured.data, "examples": measured.examples, "confused": measured.confused}
    title = f"{type(found.classifier).__name__} on {file.name}"
    finish(Document(title, tuple(blocks({file.name: measured})), None, data), as_json)
