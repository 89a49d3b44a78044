"""``refsolve audit W X Y``: how far anybody's linear model is from its optimum."""

from pathlib import Path
from typing import Annotated, Any

import typer

from verification.app.console import JsonOption, finish, say, stage, warnings_as_lines
from verification.app.data_options import Features, Header, IndexBase, Label, words
from verification.errors import InvalidArgumentError

app = typer.Typer(add_completion=False)

_File = Path | None


@app.command()
def audit(
    weights: Annotated[Path, typer.Argument(help="W (m, d), .npy or .csv: a row per class.")],
    features: Annotated[
        Path, typer.Argument(help="Rows that it was trained on, in any format that `refsolve train` reads.")
    ],
    labels: Annotated[
        _File, typer.Argument(help="Their labels: .npy, a table, or a folder of parts; else --label.")
    ] = None,
    loss: Annotated[str, typer.Option(help="A stem of fast.losses, or ova_squared_hinge.")] = "softmax",
    c: Annotated[float, typer.Option("--C", "-C", help="P = 1/2 ||W||^2 + C * sum of losses.")] = 1.0,
    k: Annotated[int, typer.Option("-k", "--k", help="Of a top-k loss.")] = 1,
    gamma: Annotated[float | None, typer.Option(help="Of a smooth hinge.")] = None,
    intercept: Annotated[_File, typer.Option(help="b (m,), .npy or .csv, not regularised.")] = None,
    intercept_scaling: Annotated[
        float | None,
        typer.Option(help="b is regularised as the weight of this constant feature, as LIBLINEAR has it; "
                     "without --intercept the last column of W."),
    ] = None,
    classes: Annotated[_File, typer.Option(help="Labels of the rows of W, .npy.")] = None,
    weight: Annotated[_File, typer.Option(help="Weights of the examples, .npy or .csv.")] = None,
    dual: Annotated[_File, typer.Option(help="Of a hinge: masses (n, m), .npy or .csv.")] = None,
    label: Label = None,
    columns: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    refit: Annotated[bool, typer.Option("--refit", help="Train a better model, too.")] = False,
    tolerance: Annotated[float, typer.Option(help="Relative gap, for the verdict and --refit.")] = 1e-3,
    jobs: Annotated[int | None, typer.Option(help="Threads.")] = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Bound how far a linear model is from the least P, whatever trained it.

    One pass for smooth losses; hinges need --dual, or are trained. Exit status 1 if the gap may be above --tolerance.

        refsolve audit W.npy X.npy y.npy --loss softmax --C 10
        refsolve audit W.csv train.csv --label kind --C 10
        refsolve audit coef.npy X.npz y.npy --loss ova_squared_hinge --intercept b.npy --intercept-scaling 1
    """
    import numpy as np

    from fast.auditing import audit as bounds
    from verification.app.auditing import document, numbers_file
    from verification.app.dataset import Roles
    from verification.app.io import read_rows
    from verification.app.label_files import npy_file

    if not tolerance > 0:
        raise InvalidArgumentError(f"tolerance={tolerance!r}: expected a gap > 0, e.g. 1e-3")
    with stage(f"read {features}"):
        roles = Roles(label, features=words(columns), header=header, index_base=index_base)
        X, y, found = read_rows(features, roles, labels)
    if found is not None:
        say(found.taken)
    files = {"intercept": intercept, "sample_weight": weight, "dual": dual}
    given: dict[str, Any] = {
        name: np.asarray(numbers_file(file)) for name, file in files.items() if file is not None
    }
    given |= {name: given[name].ravel() for name in ("intercept", "sample_weight") if name in given}
    given["classes"] = None if classes is None else npy_file(classes)
    given |= {"C": c, "k": k, "gamma": gamma, "refit": refit, "tol": tolerance, "n_jobs": jobs}
    with stage("audited"), warnings_as_lines():
        result = bounds(
            numbers_file(weights), X, y, loss=loss, intercept_scaling=intercept_scaling, **given
        )
    finish(document(result, weights.name, tolerance), as_json)
