"""Options of every command that reads examples: which columns are no features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verification.app.examples import Examples, Roles
from verification.app.labels import listed
from verification.app.reading import read
from verification.errors import DataFileError, InvalidArgumentError

if TYPE_CHECKING:
    from verification.app.trained_model import Model

DataFile = Annotated[
    Path,
    typer.Argument(
        help="Examples: .csv, .parquet, .npz or .mat (arrays X and y), .npy (X) or .svm."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(help="Label column, name or position (default: the last); npz, mat: array (y)."),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="multilabel: columns of 0 and 1, comma-separated; npz, mat: the array of them (Y)."
    ),
]
Weight = Annotated[
    str | None, typer.Option(help="Column or array of weights of the examples, >= 0.")
]
Group = Annotated[
    str | None,
    typer.Option(help="ap: column or array of queries, each ranked by itself; svm: qid."),
]
Privileged = Annotated[
    str | None,
    typer.Option(
        help="svmplus: columns, comma-separated, that only training has; npz, mat: an array."
    ),
]
Ignore = Annotated[str | None, typer.Option(help="Columns, comma-separated, to leave out.")]
Positive = Annotated[
    str | None, typer.Option(help="Make two classes of the labels: this one, and all others.")
]
Impute = Annotated[
    str | None,
    typer.Option(help="Fill gaps with the mean, median or most_frequent value of the column."),
]
Categories = Annotated[
    str | None,
    typer.Option(
        help="Features that are categories, comma-separated, or auto: all that hold text."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


def words(text: str | None) -> tuple[str, ...]:
    """The parts of a comma-separated option."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def one_against_rest(examples: Examples, positive: str | None) -> Examples:
    """Labels as booleans: whether they are the positive one."""
    if positive is None or examples.y is None:
        return examples
    if examples.labels:
        raise InvalidArgumentError("--positive goes with one label per example, not with several")
    y = examples.y.astype(str) == positive
    if not y.any():
        known = sorted(set(examples.y.astype(str).tolist()))
        raise InvalidArgumentError(
            f"{examples.source}: no label is {positive!r}; expected one of {listed(known)}"
        )
    return replace(examples, y=y, positive=positive)


def for_model(file: Path, model: Model, roles: Roles, labelled: bool) -> Examples:
    """Examples for a trained model, which knows the roles of the columns from its training."""
    n_features = None if model.columns is not None else model.estimator.n_features_in_
    roles = replace(roles, labelled=labelled, spare=model.apart)
    named = model.apart and file.suffix.lower() in (".csv", ".parquet")
    if model.labels:
        labels = model.labels if named else words(roles.label)
        roles = replace(roles, label=None, labels=labels if labelled else ())
    elif labelled:
        label = roles.label or (model.apart[0] if named else None)
        roles = replace(roles, label=label, group=roles.group or model.group)
    try:
        return read(file, roles, n_features)
    except DataFileError as error:
        if labelled and f"no column {roles.label!r}" in str(error):
            raise DataFileError(
                f"{error}. Without labels `refsolve predict` is the command"
            ) from None
        raise
