"""``refsolve train FILE``: fit an estimator and write the model with its certificate."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, say, stage, stderr
from verification.app.data_options import (
    Categories,
    DataFile,
    Features,
    Force,
    Group,
    Header,
    Ignore,
    Impute,
    IndexBase,
    Label,
    Labels,
    LabelsFile,
    Positive,
    Privileged,
    Weight,
    one_against_rest,
    words,
)
from verification.errors import InvalidArgumentError

app = typer.Typer(add_completion=False)


_Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Model file, .refsolve; reports go beside it. Default: FILE's name."
    ),
]
_Model = Annotated[
    str,
    typer.Option(
        help="svm (top-k hinge), logistic (softmax, top-k entropy), ap (ranks one class first), "
        "svmplus (privileged columns) or multilabel (several labels of an example)."
    ),
]
_Loss = Annotated[
    str | None, typer.Option(help="multilabel: hinge (default), smooth_hinge or entropy.")
]
_K = Annotated[int, typer.Option("-k", help="Top-k loss: 1 <= k <= classes - 1.")]
_Variant = Annotated[str, typer.Option(help="alpha or beta.")]
_Gamma = Annotated[float, typer.Option(help="svm: smoothing; 0 is the hinge.")]
_Lam = Annotated[float | None, typer.Option(help="svmplus: weight of the correcting function.")]
_Truncated = Annotated[
    bool,
    typer.Option(
        "--truncated", help="logistic: leave the k - 1 best of the other classes out (not convex)."
    ),
]
_C = Annotated[
    str,
    typer.Option(
        "--C",
        "-C",
        help="P = 1/2 ||W||^2 + C * sum of losses. Several, comma-separated: the best on --holdout or --test "
        "is kept.",
    ),
]
_Tol = Annotated[float, typer.Option(help="Certified relative duality gap to reach.")]
_MaxIter = Annotated[
    int | None, typer.Option(help="Limit on passes; the estimator's default if not given.")
]
_FitIntercept = Annotated[
    bool | None,
    typer.Option(
        help="svm, logistic, multilabel: learn a bias per class, a weight of the constant feature 1 [default: yes]."
    ),
]
_Scale = Annotated[
    str, typer.Option(help="standard (mean 0, variance 1), minmax (to [-1, 1]), maxabs or none.")
]
_Holdout = Annotated[
    float | None, typer.Option(help="Fraction kept out of training to measure accuracy on.")
]
_Test = Annotated[
    Path | None,
    typer.Option(help="File of examples to measure accuracy on; columns go by their names."),
]
_TestLabels = Annotated[Path | None, typer.Option(help="Labels of --test, as LABELS.")]
_Seed = Annotated[int, typer.Option(help="Seed of the holdout and of the trainer.")]


@app.command()
def train(
    file: DataFile,
    labels_file: LabelsFile = None,
    output: _Output = None,
    force: Force = False,
    model: _Model = "svm",
    loss: _Loss = None,
    k: _K = 1,
    variant: _Variant = "alpha",
    gamma: _Gamma = 0.0,
    lam: _Lam = None,
    truncated: _Truncated = False,
    c: _C = "1",
    tol: _Tol = 1e-3,
    max_iter: _MaxIter = None,
    fit_intercept: _FitIntercept = None,
    label: Label = None,
    labels: Labels = None,
    positive: Positive = None,
    weight: Weight = None,
    group: Group = None,
    privileged: Privileged = None,
    ignore: Ignore = None,
    features: Features = None,
    header: Header = None,
    index_base: IndexBase = None,
    scale: _Scale = "standard",
    impute: Impute = None,
    categories: Categories = None,
    holdout: _Holdout = None,
    test: _Test = None,
    test_labels: _TestLabels = None,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a model on a file of examples, with a certificate.

    Numbers are standardised unless --scale says otherwise. Ends with exit code 1 if the certified gap
    stays above --tol: the model is written all the same. `refsolve predict` and `evaluate` use it, and
    in Python `verification.load_model` reads it.

        refsolve train flowers.csv --holdout 0.2
        refsolve train flowers.parquet --impute median --categories auto
        refsolve train flowers.csv -C 0.01,0.1,1,10 --holdout 0.2
        refsolve train queries.svm --model ap --positive 1 --group qid
        refsolve train songs.csv --model multilabel --labels sad,loud,fast
        refsolve train embeddings.npy labels.npy --scale none
    """
    from verification.app.dataset import Known, Roles
    from verification.app.io import read
    from verification.app.model_file import SUFFIX
    from verification.app.path import values
    from verification.app.training import check_target, save, split_holdout
    from verification.app.training import train as fit

    if holdout is not None and test is not None:
        raise InvalidArgumentError("--holdout and --test exclude each other; give one of them")
    several = model == "multilabel"
    if (label if several else labels) is not None:
        raise InvalidArgumentError(
            f"model is {model!r}; expected --labels with --model multilabel, whose examples have several, and "
            "--label with the others"
        )
    roles = Roles(label, weight, group, words(privileged), words(ignore),
                  labels=words(labels) if several else None, features=words(features), header=header,
                  index_base=index_base)  # fmt: skip
    with stage(f"read {file}"):
        examples = read(file, roles, None, labels_file)
    say(examples.taken)
    examples = one_against_rest(examples, positive)
    target = output or file.with_suffix(SUFFIX)
    check_target(target, force)  # now: a file that is not there has no folder to be made
    judged_on = None
    if test is not None:
        judged_on = read(test, roles, Known.of(examples), test_labels)
        say(judged_on.taken)
        judged_on = one_against_rest(judged_on, positive)
    elif holdout is not None:
        examples, judged_on = split_holdout(examples, holdout, seed)
    if fit_intercept is None:
        fit_intercept = model in ("svm", "logistic", "multilabel")
    limit = {} if max_iter is None else {"max_iter": max_iter}
    judged = "holdout" if test is None else "test"
    trained = fit(
        examples, test=judged_on, judged=judged, scale=scale, impute=impute,
        categories=words(categories), model=model, k=k, variant=variant, gamma=gamma, lam=lam,
        truncated=truncated, loss=loss, C=values(c), tol=tol, fit_intercept=fit_intercept, random_state=seed,
        verbose=int(sys.stderr.isatty()), **limit,
    )  # fmt: skip
    written = save(trained, target)
    if not as_json:
        stderr().print("wrote " + ", ".join(str(p) for p in written), style="dim", highlight=False)
    finish(trained.document, as_json)
