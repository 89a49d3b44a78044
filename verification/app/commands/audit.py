"""``refsolve audit W X Y``: how far anybody's linear model is from its optimum."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from verification.app.console import say, stage, warnings_as_lines
from verification.app.data_options import Columns, drop_unlabelled, label
from verification.app.options import argument, command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(Columns):
    """Files of weights, rows and labels; the objective; what is asked for."""

    weights: Path = argument(
        "W (m, d), .npy or .csv: a row per class; or a model, .refsolve, that says all else, too."
    )
    rows: Path = argument(
        "Rows that it was trained on, in any format that `refsolve train` reads.",
        metavar="FEATURES",
    )
    labels: Path | None = argument(
        "Their labels: .npy, a table, or a folder of parts; else --label.", None
    )
    loss: str | None = option(
        "A loss that `refsolve list` names, or ova_squared_hinge. Default: softmax."
    )
    c: float | None = option("P = 1/2 ||W||^2 + C * sum of losses. Default: 1.", None, "-C", "--C")
    k: int | None = option("Of a top-k loss. Default: 1.", None, "-k", "--k")
    gamma: float | None = option("Of a smooth hinge.")
    intercept: Path | None = option("b (m,), .npy or .csv, not regularised.")
    intercept_scaling: float | None = option(
        "b is regularised as the weight of this constant feature, as LIBLINEAR has it; without --intercept the "
        "last column of W."
    )
    classes: Path | None = option("Labels of the rows of W, .npy.")
    weight: Path | None = option("Weights of the examples, .npy or .csv.")
    dual: Path | None = option("Of a hinge: dual variables (n, m), .npy or .csv.")
    label: str | None = label()
    drop_unlabelled: bool = drop_unlabelled()
    refit: bool = option("Train a better model, too.", False, "--refit")
    tol: float = option("Relative gap, for the verdict and --refit.", 1e-3)
    holdout: float | None = option("Of a model: its --holdout in training, whose examples are left out here, too.")
    seed: int = option("Of a model: its --seed in training, by which the holdout was drawn.", 0)
    jobs: int | None = option("Threads.")


@command(app)
def audit(options: Options) -> Document:
    """Bound how far a linear model is from the least P, whatever trained it.

    One epoch for smooth losses; hinges need --dual, or are trained. Exit status 1 if the gap may be above --tol.

        refsolve audit W.npy X.npy y.npy --loss softmax -C 10
        refsolve audit flowers.refsolve flowers.csv
        refsolve audit W.csv train.csv --label kind -C 10
        refsolve audit coef.npy X.npz y.npy --loss ova_squared_hinge --intercept b.npy --intercept-scaling 1
    """
    import numpy as np

    from fast.auditing import audit as bounds
    from verification.app.auditing import document, numbers_file, of_model
    from verification.app.data_options import for_model, one_against_rest
    from verification.app.io import read_rows
    from verification.app.label_files import npy_file
    from verification.app.model_file import SUFFIX, load_model
    from verification.app.training import split_holdout

    o, given = options, dict[str, Any]()
    if not o.tol > 0:
        raise InvalidArgumentError(f"tol={o.tol!r}: expected a gap > 0, e.g. 1e-3")
    if o.weights.suffix == SUFFIX:
        named = ("loss", "c", "k", "gamma", "intercept", "intercept_scaling", "classes", "dual")
        if extra := [n for n in named if getattr(o, n) is not None]:
            option = "-C" if extra[0] == "c" else f"--{extra[0].replace('_', '-')}"
            raise InvalidArgumentError(
                f"{option} goes with files of weights; {o.weights.name} says it: leave it out"
            )
        model = load_model(o.weights)
        with stage(f"read {o.rows}"):
            examples = for_model(o.rows, model, o.roles(labels=None, weight=None), True, o.labels)
        examples = one_against_rest(examples, model.positive)
        if o.holdout is not None:
            examples, _ = split_holdout(examples, o.holdout, o.seed)
        weight: Any = None if o.weight is None else np.asarray(numbers_file(o.weight)).ravel()
        with stage("audited"), warnings_as_lines():
            given = of_model(model, examples, weight)
            result = bounds(**given, refit=o.refit, tol=o.tol, n_jobs=o.jobs)
        return document(result, o.weights.name, o.tol, given["sample_weight"] is not None)
    if o.holdout is not None:
        raise InvalidArgumentError("--holdout goes with a model of `refsolve train`; leave it out")
    with stage(f"read {o.rows}"):
        X, y, found = read_rows(o.rows, o.roles(labels=None, weight=None), o.labels)
    if found is not None:
        say(found.taken)
    files = {"intercept": o.intercept, "sample_weight": o.weight, "dual": o.dual}
    given = {
        name: np.asarray(numbers_file(file)) for name, file in files.items() if file is not None
    }
    given |= {name: given[name].ravel() for name in ("intercept", "sample_weight") if name in given}
    given["classes"] = None if o.classes is None else npy_file(o.classes)
    loss, C, k = o.loss or "softmax", 1.0 if o.c is None else o.c, 1 if o.k is None else o.k
    given |= {"loss": loss, "C": C, "k": k, "gamma": o.gamma, "refit": o.refit, "tol": o.tol,
              "intercept_scaling": o.intercept_scaling, "n_jobs": o.jobs}  # fmt: skip
    with stage("audited"), warnings_as_lines():
        result = bounds(numbers_file(o.weights), X, y, **given)
    return document(result, o.weights.name, o.tol, "sample_weight" in given)
