"""``refsolve predict MODEL FILE``: labels, scores and probabilities of new examples."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, stage, stderr
from verification.app.data_options import (
    DataFile,
    Features,
    Force,
    Header,
    Ignore,
    IndexBase,
    for_model,
    words,
)

app = typer.Typer(add_completion=False)

_ModelFile = Annotated[Path, typer.Argument(help="A model that `refsolve train` wrote.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Predictions, .csv or .parquet. Default: FILE's name with .predictions.csv.",
    ),
]
_Top = Annotated[
    int | None, typer.Option("-k", help="Labels per example, best first; default: the model's k.")
]
_Scores = Annotated[
    bool, typer.Option(help="Write the scores of all classes, and their probabilities.")
]


@app.command()
def predict(
    model: _ModelFile,
    file: DataFile,
    output: _Output = None,
    force: Force = False,
    k: _Top = None,
    scores: _Scores = True,
    ignore: Ignore = None,
    features: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    as_json: JsonOption = False,
) -> None:
    """Label examples with a trained model: best labels, scores, probabilities.

    Columns go by their names, in any order; those of the training data that were no features, such as
    the label, may be there or not.

        refsolve predict flowers.refsolve new.csv -k 2
        refsolve predict flowers.refsolve new.parquet -o labels.parquet
    """
    from verification.app.dataset import Roles
    from verification.app.model_file import load_model
    from verification.app.predicting import predictions, summary
    from verification.app.training import check_files
    from verification.report.render import replace_files

    found = load_model(model)
    with stage(f"read {file}"):
        roles = Roles(
            ignore=words(ignore), features=words(features), header=header, index_base=index_base
        )
        examples = for_model(file, found, roles, labelled=False)
    target = output or file.with_suffix(".predictions.csv")
    check_files([target], force)
    with stage("predicted"):
        table = predictions(found, examples, k, scores, target)
    replace_files({target: table.data})
    if not as_json:
        stderr().print(f"wrote {target}", style="dim", highlight=False)
    finish(summary(table, target), as_json)
