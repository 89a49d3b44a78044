"""``refsolve train FILE``: fit a top-k classifier and write the model with its certificate."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, stderr

app = typer.Typer(add_completion=False)


_File = Annotated[Path, typer.Argument(help="Examples: .csv, .npz (arrays X and y) or .svm.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Model file, .refsolve; reports go beside it. Default: FILE's name.",
    ),
]
_Force = Annotated[bool, typer.Option("--force", help="Replace a model or report that is there.")]
_Model = Annotated[
    str, typer.Option(help="svm (top-k hinge) or logistic (softmax, top-k entropy).")
]
_K = Annotated[int, typer.Option("-k", help="Top-k loss: 1 <= k <= classes - 1.")]
_Variant = Annotated[str, typer.Option(help="alpha or beta.")]
_Gamma = Annotated[float, typer.Option(help="svm: smoothing; 0 is the hinge.")]
_Truncated = Annotated[
    bool,
    typer.Option(
        "--truncated",
        help="logistic: leave the k - 1 best of the other classes out (not convex).",
    ),
]
_C = Annotated[float, typer.Option("--C", "-C", help="P = 1/2 ||W||^2 + C * sum of losses.")]
_Tol = Annotated[float, typer.Option(help="Certified relative duality gap to reach.")]
_MaxIter = Annotated[
    int | None, typer.Option(help="Limit on passes; the estimator's default if not given.")
]
_FitIntercept = Annotated[bool, typer.Option("--fit-intercept", help="Learn a bias per class.")]
_Label = Annotated[
    str | None, typer.Option(help="csv: label column, name or position; npz: array name.")
]
_Scale = Annotated[str, typer.Option(help="none, minmax (to [-1, 1]), standard or maxabs.")]
_Holdout = Annotated[
    float | None, typer.Option(help="Fraction kept out of training to measure accuracy on.")
]
_Test = Annotated[
    Path | None,
    typer.Option(help="File of examples to measure accuracy on; csv columns go by their names."),
]
_Seed = Annotated[int, typer.Option(help="Seed of the holdout and of the trainer.")]


@app.command()
def train(
    file: _File,
    output: _Output = None,
    force: _Force = False,
    model: _Model = "svm",
    k: _K = 1,
    variant: _Variant = "alpha",
    gamma: _Gamma = 0.0,
    truncated: _Truncated = False,
    c: _C = 1.0,
    tol: _Tol = 1e-3,
    max_iter: _MaxIter = None,
    fit_intercept: _FitIntercept = False,
    label: _Label = None,
    scale: _Scale = "none",
    holdout: _Holdout = None,
    test: _Test = None,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a top-k SVM or logistic regression on a file of examples and write the model and its report.

    Ends with exit code 1 if the certified gap stays above --tol: the model is written all the same. In
    Python `verification.load_model` reads it.
    """
    from verification.app.examples import feature_names, read_examples
    from verification.app.model_file import SUFFIX
    from verification.app.trained_model import in_order
    from verification.app.training import check_target, save, split_holdout
    from verification.app.training import train as fit
    from verification.errors import InvalidArgumentError

    if holdout is not None and test is not None:
        raise InvalidArgumentError("--holdout and --test exclude each other; give one of them")
    X, y = read_examples(file, label)
    target = output or file.with_suffix(SUFFIX)
    check_target(target, force)  # now: a file that is not there has no folder to be made
    columns = feature_names(file, label)
    judged_on = None
    if test is not None:
        sized = X.shape[1] if file.suffix.lower() not in (".csv", ".npz") else None
        rows, labels = read_examples(test, label, n_features=sized)
        if rows.shape[1] != X.shape[1]:
            raise InvalidArgumentError(
                f"{test} has {rows.shape[1]} features, {file} has {X.shape[1]}; they must agree"
            )
        judged_on = (in_order(rows, feature_names(test, label), columns, str(test)), labels)
    elif holdout is not None:
        X, held, y, held_labels = split_holdout(X, y, holdout, seed)
        judged_on = (held, held_labels)
    limit = {} if max_iter is None else {"max_iter": max_iter}
    trained = fit(
        X, y, source=str(file), columns=columns, test=judged_on, scale=scale, model=model, k=k,
        variant=variant, gamma=gamma, truncated=truncated, C=c, tol=tol, fit_intercept=fit_intercept,
        random_state=seed, verbose=int(stderr().is_terminal), **limit,
    )  # fmt: skip
    written = save(trained, target)
    if not as_json:
        stderr().print("wrote " + ", ".join(str(p) for p in written), style="dim", highlight=False)
    finish(trained.document, as_json)
