"""``refsolve probe FEATURES LABELS``: linear classifiers on frozen features, a certified one for each C."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, say, stage, stderr
from verification.app.data_options import Features, Force, Header, IndexBase, words

app = typer.Typer(add_completion=False)

_Rows = Annotated[
    Path,
    typer.Argument(
        help="Rows of features: .npy, .safetensors, .h5, .parquet, .feather, a folder of such, or any other file "
        "that `refsolve train` reads."
    ),
]
_Labels = Annotated[
    Path | None,
    typer.Argument(
        help="Their labels: .npy, a table (--label names its column), or a folder of parts; else --label."
    ),
]
_Validation = Annotated[
    Path | None,
    typer.Option(help="Features to choose C on. Default: a tenth of the rows is held out."),
]
_ValidationLabels = Annotated[Path | None, typer.Option(help="Labels of --validation.")]
_Cs = Annotated[
    str | None,
    typer.Option(
        "--Cs",
        help="P = 1/2 ||W||^2 + C * sum of losses, for several C, comma-separated. Default: ten from "
        "0.01 to 1000.",
    ),
]
_Preset = Annotated[
    str | None,
    typer.Option(
        help="Values of C of a protocol: clip (97 from 1e-6 to 1e6), dinov2 (45 from 1e-6 to 1e5), or mteb "
        "(C = 1, 8 examples per class, drawn ten times)."
    ),
]
_Loss = Annotated[str, typer.Option(help="softmax, entropy, hinge or smooth_hinge.")]
_K = Annotated[
    int, typer.Option("-k", "--k", help="Guesses that count: C is the best in top-k accuracy.")
]
_Tol = Annotated[float, typer.Option(help="Certified relative duality gap to reach.")]
_MaxIter = Annotated[int, typer.Option(help="Limit on passes for each C.")]
_Jobs = Annotated[int | None, typer.Option(help="Threads.")]
_Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes of a Dask cluster on this machine.")
]
_Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, whose workers see the files: tcp://host:8786."),
]
_Label = Annotated[
    str | None,
    typer.Option(help="The column, tensor or dataset of labels, beside the features or in LABELS."),
]
_Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the best model, the report and the plot.")
]
_Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where a run that was ended left --out.")
]
_FitIntercept = Annotated[
    bool, typer.Option(help="Learn a bias per class, a weight of the constant feature 1.")
]
_Seed = Annotated[int, typer.Option(help="Seed of what is held out or drawn.")]


@app.command()
def probe(
    rows: _Rows,
    labels: _Labels = None,
    validation: _Validation = None,
    validation_labels: _ValidationLabels = None,
    cs: _Cs = None,
    preset: _Preset = None,
    loss: _Loss = "softmax",
    k: _K = 1,
    tol: _Tol = 1e-3,
    max_iter: _MaxIter = 1000,
    jobs: _Jobs = None,
    workers: _Workers = None,
    scheduler: _Scheduler = None,
    label: _Label = None,
    features: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    fit_intercept: _FitIntercept = False,
    out: _Out = Path("probe"),
    force: Force = False,
    resume: _Resume = False,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Train linear probes along C, each with a certified gap, and keep the best.

    Says first what it will cost. Ctrl-C keeps what there is, and --resume goes on from there, also
    after a crash. Ends with exit code 1 if a gap stays above --tol. `refsolve predict` uses the model, and
    in Python `verification.load_model` reads it.

        refsolve probe features.npy labels.npy
        refsolve probe train.npy y.npy --validation val.npy --validation-labels y_val.npy --preset dinov2
        refsolve probe features.parquet --label class --features embedding --loss entropy --k 5 --Cs 0.1,1,10
        refsolve probe img_emb/ metadata/ --label class
    """
    from shutil import rmtree

    from verification.app.cluster import cluster, spread, workers_of
    from verification.app.dataset import Roles
    from verification.app.path import values
    from verification.app.probing import check_folder, expected, read, run, save

    kept = check_folder(out, force, resume)
    roles = Roles(label, features=words(features), header=header, index_base=index_base)
    with stage(f"read {rows}"):
        data = read(rows, labels, roles)
        judged = None
        if validation is not None or validation_labels is not None:
            judged = read(validation, validation_labels, roles, data)
    say(*(each.taken for each in (data, judged) if each is not None))
    options = {"loss": loss, "k": k, "tol": tol, "max_iter": max_iter, "preset": preset, "n_jobs": jobs,
               "fit_intercept": fit_intercept, "random_state": seed, "folder": kept}  # fmt: skip
    Cs = None if cs is None else values(cs)
    with cluster(workers, scheduler) as client:
        forecast = expected(data, judged, Cs, options, workers_of(client))
        stderr().print(forecast.text, highlight=False, soft_wrap=True)
        if not resume:  # nothing is wrong with files or options
            rmtree(kept, ignore_errors=True)
        if client is not None:
            data = replace(data, X=spread(data.file, data.X))
        trained = run(data, judged, Cs, options, forecast)
    written = save(trained, out, kept)
    if not as_json:
        stderr().print("wrote " + ", ".join(str(p) for p in written), style="dim", highlight=False)
    finish(trained.document, as_json)
