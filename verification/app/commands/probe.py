"""``refsolve probe FEATURES LABELS``: linear classifiers on frozen features, a certified one for each C."""

from dataclasses import dataclass, replace
from pathlib import Path

import typer

from verification.app.console import say, stage, wrote
from verification.app.data_options import Columns
from verification.app.options import argument, command, option
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(Columns):
    """Features and labels, the values of C, the loss, and where the model goes."""

    rows: Path = argument(
        "Rows of features: .npy, .safetensors, .h5, .parquet, .feather, a folder of such, or any other file "
        "that `refsolve train` reads."
    )
    labels: Path | None = argument(
        "Their labels: .npy, a table (--label names its column), or a folder of parts; else --label.", None
    )  # fmt: skip
    validation: Path | None = option(
        "Features to choose C on. Default: a tenth of the rows is held out."
    )
    validation_labels: Path | None = option("Labels of --validation.")
    c: str | None = option(
        "P = 1/2 ||W||^2 + C * sum of losses, for several C, comma-separated. Default: ten from 0.01 to 1000.",
        None, "-C", "--C",
    )  # fmt: skip
    preset: str | None = option(
        "Values of C of a protocol: clip (97 from 1e-6 to 1e6), dinov2 (45 from 1e-6 to 1e5), or mteb "
        "(C = 1, 8 examples per class, drawn ten times)."
    )
    loss: str = option("softmax, entropy, hinge or smooth_hinge.", "softmax")
    k: int = option("Guesses that count: C is the best in top-k accuracy.", 1, "-k", "--k")
    tol: float = option("Certified relative duality gap to reach.", 1e-3)
    max_iter: int = option("Limit on epochs for each C.", 1000)
    jobs: int | None = option("Threads.")
    workers: int | None = option("Processes of a Dask cluster on this machine.", min=1)
    scheduler: str | None = option(
        "Address of a Dask scheduler, whose workers see the files: tcp://host:8786."
    )
    label: str | None = option(
        "The column, tensor or dataset of labels, beside the features or in LABELS."
    )
    fit_intercept: bool = option("Learn a bias per class, a weight of the constant feature 1.", True)
    output: Path = option(
        "Folder for the best model, the report and the plot.", Path("probe"), "--output", "-o"
    )
    force: bool = option("Replace files that are there.", False, "--force")
    resume: bool = option("Go on where a run that was ended left --output.", False, "--resume")
    seed: int = option("Seed of what is held out or drawn.", 0)


@command(app)
def probe(options: Options) -> Document:
    """Train linear probes along C, each with a certified gap, and keep the best.

    Says first what it will cost. Ctrl-C keeps what there is, and --resume goes on from there, also
    after a crash. Ends with exit code 1 if a gap stays above --tol. `refsolve predict` uses the model, and
    in Python `verification.load_model` reads it.

        refsolve probe features.npy labels.npy
        refsolve probe train.npy y.npy --validation val.npy --validation-labels y_val.npy --preset dinov2
        refsolve probe features.parquet --label class --features embedding --loss entropy -k 5 -C 0.1,1,10
        refsolve probe img_emb/ metadata/ --label class
    """
    from shutil import rmtree

    from verification.app.cluster import cluster, spread, workers_of
    from verification.app.path import values
    from verification.app.probing import check_folder, expected, read, run, save

    o = options
    kept = check_folder(o.output, o.force, o.resume)
    roles = o.roles(labels=None)
    with stage(f"read {o.rows}"):
        data = read(o.rows, o.labels, roles)
        judged = None
        if o.validation is not None or o.validation_labels is not None:
            judged = read(o.validation, o.validation_labels, roles, data)
    say(*(each.taken for each in (data, judged) if each is not None))
    given = {
        name: getattr(o, name)
        for name in ("loss", "k", "tol", "max_iter", "preset", "fit_intercept")
    }
    given |= {"n_jobs": o.jobs, "random_state": o.seed, "folder": kept}
    Cs = None if o.c is None else values(o.c)
    with cluster(o.workers, o.scheduler) as client:
        forecast = expected(data, judged, Cs, given, workers_of(client))
        say(forecast.text)
        if not o.resume:  # nothing is wrong with files or options
            rmtree(kept, ignore_errors=True)
        if client is not None:
            data = replace(data, X=spread(data.file, data.X))
        trained = run(data, judged, Cs, given, forecast)
    wrote(*save(trained, o.output, kept))
    return trained.document
