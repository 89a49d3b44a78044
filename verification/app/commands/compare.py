"""``refsolve compare TRAIN``: losses for top-k error side by side on anybody's data, in the papers' protocol."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, progress, stage, stderr
from verification.app.data_options import (
    Categories,
    Features,
    Force,
    Header,
    Ignore,
    Impute,
    IndexBase,
    Label,
    LabelsFile,
    Positive,
    Privileged,
    words,
)
from verification.errors import InvalidArgumentError

app = typer.Typer(add_completion=False)

_Train = Annotated[
    Path | None,
    typer.Argument(help="Examples, in any format that `refsolve train` reads."),
]
_Validation = Annotated[
    Path | None, typer.Option(help="Examples to choose C on. Default: drawn from TRAIN.")
]
_Test = Annotated[
    Path | None, typer.Option(help="Examples to measure on. Default: drawn from TRAIN.")
]
_PartLabels = Annotated[Path | None, typer.Option(help="Labels of that part, as LABELS.")]
_Splits = Annotated[
    int, typer.Option(min=1, help="Draw the parts so often, and show means and deviations.")
]
_Method = Annotated[
    list[str] | None,
    typer.Option(
        help="A row: SVM-OVA, LR-OVA, SVM-Multi, LR-Multi, top-3 SVM (beta), smooth top-3 SVM, top-3 Ent, "
        "top-3 Ent_tr; of two classes: SVM, LR, AP-SVM, SVM+; repeatable. Default: all of these for the k asked for."
    ),
]
_Guesses = Annotated[
    str | None,
    typer.Option(
        "-k", "--k", help="Guesses: a column each, and a loss of each kind. Default: 1,3,5."
    ),
]
_Cs = Annotated[
    str, typer.Option("--Cs", help="P = 1/2 ||W||^2 + C * sum of losses: the values tried.")
]
_Further = Annotated[
    int,
    typer.Option(
        min=0, help="Values beyond an end of --Cs at most, where the best is at that end."
    ),
]
_Tol = Annotated[float, typer.Option(help="Certified relative duality gap of every model.")]
_Scale = Annotated[
    str, typer.Option(help="standard, minmax (to [-1, 1]), maxabs or none, by the training part.")
]
_Bias = Annotated[
    bool, typer.Option("--bias", help="Add the constant feature 1; the papers do not.")
]
_Gram = Annotated[
    str | None,
    typer.Option(help="npz, mat: the array with the Gram matrix of all examples, in place of X."),
]
_Like = Annotated[
    str | None,
    typer.Option(
        help="A data set of the papers: its protocol, and the printed figures beside yours."
    ),
]
_Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the table, the plot and what is known.")
]
_Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where a run that was ended left --out.")
]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of the first split.")]


@app.command()
def compare(
    train: _Train = None,
    labels_file: LabelsFile = None,
    validation: _Validation = None,
    validation_labels: _PartLabels = None,
    test: _Test = None,
    test_labels: _PartLabels = None,
    splits: _Splits = 1,
    method: _Method = None,
    k: _Guesses = None,
    cs: _Cs = "0.001,0.01,0.1,1,10,100",
    further: _Further = 3,
    tol: _Tol = 1e-3,
    label: Label = None,
    gram: _Gram = None,
    scale: _Scale = "standard",
    bias: _Bias = False,
    impute: Impute = None,
    categories: Categories = None,
    ignore: Ignore = None,
    features: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    positive: Positive = None,
    privileged: Privileged = None,
    like: _Like = None,
    out: _Out = Path("compare"),
    force: Force = False,
    resume: _Resume = False,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare losses for top-k error: C by validation per method and k, refit, a table as the papers have it.

    Every row is shown and kept once it is known; Ctrl-C keeps what there is, and --resume goes on. Ends with
    exit code 1 if a certified gap stays above --tol, or rows are missing.

        refsolve compare flowers.csv -k 1,2 --splits 5
        refsolve compare train.npz --validation val.npz --test test.npz -k 1,3,5,10
        refsolve compare kernels.npz --gram K --method "top-5 SVM" --method SVM-Multi
        refsolve compare ranked.csv --positive yes --privileged late1,late2 --splits 5
        refsolve compare --like indoor67
    """
    from verification.app.comparing import Settings, digest, guesses_of, load, rows_of, run
    from verification.app.comparison import document, save
    from verification.app.known import about, find, printed
    from verification.app.path import values
    from verification.app.rows import Kept
    from verification.benchmarks.timing import one_thread

    if train is None:
        if like is None:
            raise InvalidArgumentError("TRAIN: expected a file of examples, or --like with a name")
        finish(about(like), as_json)
        return
    if like is not None:
        find(like)  # refused now, not after reading
    guesses = guesses_of(k)
    labels = (labels_file, validation_labels, test_labels)
    files = tuple(digest(f) for f in (train, validation, test, *labels) if f is not None)
    settings = Settings(
        files, (), guesses, tuple(sorted(set(values(cs)))), further, tol, scale, bias, splits, seed,
        label, gram, impute, words(categories), words(ignore), positive, words(privileged),
        words(features), header, index_base,
    )  # fmt: skip
    with stage(f"read {train}"):
        data = load((train, validation, test), labels, settings)
    guesses = guesses_of(k, len(data.classes))  # of two classes one
    rows = rows_of(method, guesses, len(data.classes), privileged is not None)
    settings = replace(settings, guesses=guesses, methods=tuple(row.name for row in rows))
    paper = None if like is None else printed(like, settings.methods, guesses)
    kept = Kept("out", out, asdict(settings), resume, force)
    fits = splits * len(rows) * (len(settings.grid) + 2)
    with one_thread(), progress(fits) as task:
        found = run(data, rows, settings, kept, task)
    complete = len(found) == splits * len(rows)
    made = document(data, rows, settings, found, complete, paper, f"Losses on {train.name}")
    written = save(made, out)
    if not as_json:
        stderr().print("wrote " + ", ".join(str(p) for p in written), style="dim", highlight=False)
    finish(made, as_json)
