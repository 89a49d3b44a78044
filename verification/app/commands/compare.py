"""``refsolve compare TRAIN``: losses for top-k error side by side on anybody's data, in the papers' protocol."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from verification.app.console import progress, stage, wrote
from verification.app.data_options import LabelsFile, Prepared, words
from verification.app.options import argument, command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class _Train:
    train: Path | None = argument("Examples, in any format that `refsolve train` reads.", None)


@dataclass(frozen=True, kw_only=True)
class Options(Prepared, LabelsFile, _Train):
    """Parts of the data, methods, values of C, and where the table goes."""

    validation: Path | None = option("Examples to choose C on. Default: drawn from TRAIN.")
    validation_labels: Path | None = option("Labels of that part, as LABELS.")
    test: Path | None = option("Examples to measure on. Default: drawn from TRAIN.")
    test_labels: Path | None = option("Labels of that part, as LABELS.")
    splits: int = option("Draw the parts so often, and show means and deviations.", 1, min=1)
    method: list[str] | None = option(
        "A row: SVM-OVA, LR-OVA, SVM-Multi, LR-Multi, top-3 SVM (beta), smooth top-3 SVM, top-3 Ent, "
        "top-3 Ent_tr; of two classes: SVM, LR, AP-SVM, SVM+; repeatable. Default: all of these for the k asked for."
    )
    k: str | None = option(
        "Guesses: a column each, and a loss of each kind. Default: 1,3,5.", None, "-k", "--k"
    )
    c: str = option(
        "P = 1/2 ||W||^2 + C * sum of losses: the values tried.", "0.001,0.01,0.1,1,10,100", "-C", "--C"
    )
    extend_grid: int = option(
        "Values beyond an end of -C at most, where the best is at that end.", 3, min=0
    )
    tol: float = option("Certified relative duality gap of every model.", 1e-3)
    gram: str | None = option(
        "npz, mat: the array with the Gram matrix of all examples, in place of X."
    )
    scale: str = option(
        "standard, minmax (to [-1, 1]), maxabs or none, by the training part.", "standard"
    )
    fit_intercept: bool | None = option(
        "Learn a bias per class, a weight of the constant feature 1 [default: yes; as the papers, no with "
        "--paper-dataset or --gram]."
    )
    paper_dataset: str | None = option(
        "A data set of the papers: its protocol, and the printed figures beside yours."
    )
    output: Path = option(
        "Folder for the table, the plot and what is known.", Path("compare"), "--output", "-o"
    )
    resume: bool = option("Go on where a run that was ended left --output.", False, "--resume")
    seed: int = option("Seed of the first split.", 0, min=0)


@command(app)
def compare(options: Options) -> Document:
    """Compare losses for top-k error: C by validation per method and k, refit, a table as the papers have it.

    Every row is shown and kept once it is known; Ctrl-C keeps what there is, and --resume goes on. Ends with
    exit code 1 if a certified gap stays above --tol, or rows are missing.

        refsolve compare flowers.csv -k 1,2 --splits 5
        refsolve compare train.npz --validation val.npz --test test.npz -k 1,3,5,10
        refsolve compare kernels.npz --gram K --method "top-5 SVM" --method SVM-Multi
        refsolve compare ranked.csv --positive yes --privileged late1,late2 --splits 5
        refsolve compare --paper-dataset indoor67
    """
    from verification.app.comparing import Settings, digest, guesses_of, load, rows_of, run
    from verification.app.comparison import document, save
    from verification.app.known import about, find, printed
    from verification.app.path import values
    from verification.app.rows import Kept
    from verification.benchmarks.timing import one_thread

    o = options
    if o.train is None:
        if o.paper_dataset is None:
            raise InvalidArgumentError("TRAIN: expected a file of examples, or --paper-dataset with a name")
        return about(o.paper_dataset)
    if o.paper_dataset is not None:
        find(o.paper_dataset)  # refused now, not after reading
    guesses = guesses_of(o.k)
    parts = (o.train, o.validation, o.test)
    labels = (o.labels_file, o.validation_labels, o.test_labels)
    same = ("extend_grid", "tol", "scale", "splits", "seed", "label", "gram", "impute", "positive", "header",
            "index_base", "separator", "rare_classes", "drop_unlabelled")  # fmt: skip
    several = ("categories", "ignore", "keep", "privileged", "features")
    given: dict[str, Any] = {name: getattr(o, name) for name in same}
    given |= {name: words(getattr(o, name)) for name in several}
    bias = o.paper_dataset is None and o.gram is None
    given["fit_intercept"] = bias if o.fit_intercept is None else o.fit_intercept
    settings = Settings(
        files=tuple(digest(file) for file in (*parts, *labels) if file is not None),
        methods=(),
        guesses=guesses,
        grid=tuple(sorted(set(values(o.c)))),
        **given,
    )
    with stage(f"read {o.train}"):
        data = load(parts, labels, settings)
    guesses = guesses_of(o.k, len(data.classes))  # of two classes one
    rows = rows_of(o.method, guesses, len(data.classes), o.privileged is not None)
    settings = replace(settings, guesses=guesses, methods=tuple(row.name for row in rows))
    paper = None if o.paper_dataset is None else printed(o.paper_dataset, settings.methods, guesses)
    kept = Kept("output", o.output, asdict(settings), o.resume, o.force)
    with one_thread(), progress(o.splits * len(rows)) as task:
        found = run(data, rows, settings, kept, task)
    complete = len(found) == o.splits * len(rows)
    made = document(data, rows, settings, found, complete, paper, f"Losses on {o.train.name}")
    wrote(*save(made, o.output))
    return made
