"""``refsolve predict MODEL FILE``: labels, scores and probabilities of new examples."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import say, stage, wrote
from verification.app.data_options import DataFile, Files, ModelFile, for_model, group
from verification.app.options import command, option
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(Files, DataFile, ModelFile):
    """A model, examples, and what is written of them."""

    output: Path | None = option(
        "Predictions, .csv or .parquet. Default: FILE's name with .predictions.csv.", None, "--output", "-o"
    )  # fmt: skip
    k: int | None = option("Labels per example, best first; default: the model's k.", None, "-k")
    group: str | None = group()
    scores: bool = option("Write the scores of all classes, and their probabilities.", True)


@command(app)
def predict(options: Options) -> Document:
    """Label examples with a trained model: best labels, scores, probabilities.

    Columns go by their names, in any order; those of the training data that were no features, such as
    the label, may be there or not. A ranker's ranks are those within each query, if the file says which.

        refsolve predict flowers.refsolve new.csv -k 2
        refsolve predict flowers.refsolve new.parquet -o labels.parquet
    """
    from verification.app.model_file import load_model
    from verification.app.predicting import predictions, summary
    from verification.app.training import check_files
    from verification.report.render import replace_files

    o = options
    found = load_model(o.model)
    with stage(f"read {o.file}"):
        examples = for_model(o.file, found, o.roles(), labelled=False)
    say(*found.unknown_values(examples))
    target = o.output or o.file.with_suffix(".predictions.csv")
    target = target if target.suffix else target.with_suffix(".csv")
    check_files([target], o.force)
    with stage("predicted"):
        table = predictions(found, examples, o.k, o.scores, target)
    replace_files({target: table.data})
    wrote(target)
    return summary(table, target)
