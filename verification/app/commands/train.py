"""``refsolve train FILE``: fit an estimator and write the model with its certificate."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from verification.app.console import imported_beside, say, stage, wrote
from verification.app.data_options import (
    DataFile,
    LabelsFile,
    Prepared,
    common_classes,
    group,
    one_against_rest,
    words,
)
from verification.app.options import command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document

app = typer.Typer(add_completion=False)
#: What training imports after the file was read.
LATER = ("sklearn.model_selection", "sklearn.pipeline", "fast.estimators.multiclass",
         "fast.estimators.topk_logistic_regression", "jinja2")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options(Prepared, LabelsFile, DataFile):
    """Examples with the roles of their columns, the estimator, and where the model goes."""

    output: Path | None = option(
        "Model file, .refsolve; reports go beside it. Default: FILE's name.", None, "--output", "-o"
    )
    model: str = option(
        "svm (top-k hinge), logistic (softmax, top-k entropy), ap (ranks one class first), svmplus (privileged "
        "columns) or multilabel (several labels of an example).",
        "svm",
    )
    loss: str | None = option("multilabel: hinge (default), smooth_hinge or entropy.")
    k: int = option("Top-k loss: 1 <= k <= classes - 1.", 1, "-k")
    variant: str = option("alpha or beta; svm: also consistent.", "alpha")
    gamma: float = option("svm: smoothing; 0 is the hinge.", 0.0)
    lam: float | None = option("svmplus: weight of the correcting function.")
    truncated: bool = option(
        "logistic: leave the k - 1 best of the other classes out (not convex).",
        False,
        "--truncated",
    )
    c: str = option(
        "P = 1/2 ||W||^2 + C * sum of losses. Several, comma-separated: the best on --holdout or --test is kept.",
        "1", "-C", "--C",
    )  # fmt: skip
    tol: float = option("Certified relative duality gap to reach.", 1e-3)
    max_iter: int | None = option("Limit on epochs; the estimator's default if not given.")
    fit_intercept: bool | None = option(
        "svm, logistic, multilabel: learn a bias per class, a weight of the constant feature 1 [default: yes]."
    )
    class_weight: str | None = option(
        "svm, logistic: balanced weighs each class by 1 / its number of examples."
    )
    labels: str | None = option(
        "multilabel: columns of 0 and 1, comma-separated; npz, mat: the array of them (Y)."
    )
    weight: str | None = option("Column or array of weights of the examples, >= 0.")
    group: str | None = group()
    scale: str = option(
        "standard (mean 0, variance 1), minmax (to [-1, 1]), maxabs or none.", "standard"
    )
    holdout: float | None = option("Fraction kept out of training to measure accuracy on.")
    test: Path | None = option(
        "File of examples to measure accuracy on; columns go by their names."
    )
    test_labels: Path | None = option("Labels of --test, as LABELS.")
    seed: int = option("Seed of the holdout and of the trainer.", 0)


@command(app)
def train(options: Options) -> Document:
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
    from verification.app.column_checks import without, without_identifiers
    from verification.app.dataset import Known
    from verification.app.io import read
    from verification.app.model_card import checksum, with_card
    from verification.app.model_file import SUFFIX
    from verification.app.path import values
    from verification.app.training import check_target, save, split_holdout
    from verification.app.training import train as fit

    o = options
    if o.class_weight not in (None, "balanced"):
        raise InvalidArgumentError(f"class_weight is {o.class_weight!r}; expected balanced")
    if o.holdout is not None and o.test is not None:
        raise InvalidArgumentError("--holdout and --test exclude each other; give one of them")
    several = o.model == "multilabel"
    if (o.label if several else o.labels) is not None:
        raise InvalidArgumentError(
            f"model is {o.model!r}; expected --labels with --model multilabel, whose examples have several, and "
            "--label with the others"
        )
    bias = (
        o.model in ("svm", "logistic", "multilabel") if o.fit_intercept is None else o.fit_intercept
    )
    room = bias and o.model in ("svm", "logistic")
    roles = replace(o.roles(labels=words(o.labels) if several else None), room=room)
    with stage(f"read {o.file}"), imported_beside(o.file, *LATER):
        examples = read(o.file, roles, None, o.labels_file)
    say(examples.taken)
    given_apart = len(examples.apart)
    examples = without_identifiers(one_against_rest(examples, o.positive), words(o.categories), words(o.keep))
    examples = common_classes(examples, o.rare_classes, 2)
    target = o.output or o.file.with_suffix(SUFFIX)
    target = check_target(target, o.force)  # now: a file that is not there has no folder to be made
    judged_on = None
    if o.test is not None:
        judged_on = read(o.test, roles, Known.of(examples), o.test_labels)
        say(judged_on.taken)
        judged_on = without(one_against_rest(judged_on, o.positive), examples.apart[given_apart:])
    elif o.holdout is not None:
        examples, judged_on = split_holdout(examples, o.holdout, o.seed)
    given = {name: getattr(o, name) for name in (
        "scale", "impute", "model", "k", "variant", "gamma", "lam", "truncated", "loss", "tol",
        "class_weight")}  # fmt: skip
    given |= {} if o.max_iter is None else {"max_iter": o.max_iter}
    trained = fit(
        examples, test=judged_on, judged="holdout" if o.test is None else "test", C=values(o.c),
        categories=words(o.categories), fit_intercept=bias, random_state=o.seed,
        verbose=int(sys.stderr.isatty()), overwrite=True, **given,
    )  # fmt: skip
    parts = [file for file in (o.file, o.labels_file) if file is not None]
    sums = {str(file): checksum(file) for file in parts}
    carded = with_card(trained.document, trained.model, examples, sums, _check(o, trained.model, target))
    model = replace(trained.model, trained_on=tuple(sums.values()))
    wrote(*save(replace(trained, model=model, document=carded), target))
    return replace(carded, blocks=trained.document.blocks)  # the card is in the files


def _check(o: Options, model: Any, target: Path) -> list[str]:
    """The command that checks the certificate, if there is one: `refsolve audit` with what it cannot know."""
    if not model.audited or (o.weight, o.rare_classes) != (None, None):
        return []
    hinge = getattr(model.classifier, "gamma", None) == 0.0  # whose dual variables are found anew
    given = {"--features": o.features, "--separator": o.separator, "--index-base": o.index_base,
             "--holdout": o.holdout, "--seed": o.seed if o.holdout is not None else None,
             "--tol": 2 * o.tol}  # fmt: skip
    words = [str(word) for name, v in given.items() if v is not None for word in (name, v)]
    words += ["--drop-unlabelled"] * o.drop_unlabelled
    words += [] if o.header is None else ["--header" if o.header else "--no-header"]
    files = [str(file) for file in (target, o.file, o.labels_file) if file is not None]
    return ["refsolve", "audit", *files, *words, *["--refit"] * hinge]
