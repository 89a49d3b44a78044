"""``refsolve evaluate MODEL FILE``: how good a model is on labelled examples."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, stage, stderr
from verification.app.data_options import (
    DataFile,
    Features,
    Force,
    Group,
    Header,
    Ignore,
    IndexBase,
    Label,
    LabelsFile,
    Positive,
    for_model,
    one_against_rest,
    words,
)

app = typer.Typer(add_completion=False)

_ModelFile = Annotated[Path, typer.Argument(help="A model that `refsolve train` wrote.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Report with pictures: this name with .html, .md and .json."
    ),
]


@app.command()
def evaluate(
    model: _ModelFile,
    file: DataFile,
    labels_file: LabelsFile = None,
    output: _Output = None,
    force: Force = False,
    label: Label = None,
    positive: Positive = None,
    group: Group = None,
    ignore: Ignore = None,
    features: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a trained model on labelled examples: accuracy, and what it confuses.

    The model remembers which columns are the label and the groups, and what training left out.
    With --output a page shows the result in pictures.

        refsolve evaluate flowers.refsolve test.csv
        refsolve evaluate flowers.refsolve test.csv -o test.html
    """
    from verification.app.dataset import Roles
    from verification.app.metrics import blocks, measure
    from verification.app.model_file import load_model
    from verification.app.plots import pictures
    from verification.app.training import TITLES, check_files
    from verification.report.document import Document
    from verification.report.render import beside, rendered, replace_files

    found = load_model(model)
    roles = Roles(label, group=group, ignore=words(ignore), features=words(features), header=header,
                  index_base=index_base)  # fmt: skip
    with stage(f"read {file}"):
        examples = for_model(file, found, roles, True, labels_file)
    examples = one_against_rest(examples, positive or found.positive)
    with stage("measured"):
        measured = measure(found, examples)
    data = {"accuracy": measured.data, "examples": measured.examples, "confused": measured.confused}
    title = f"{TITLES[type(found.classifier).__name__]} on {file.name}"
    document = Document(title, tuple(blocks({file.name: measured})), None, data)
    if output is not None:
        check_files(beside(output), force)
        replace_files(rendered(replace(document, appendix=pictures(found, examples)), output))
        written = ", ".join(map(str, beside(output)))
        stderr().print(f"wrote {written}", style="dim", highlight=False)
    finish(document, as_json)
