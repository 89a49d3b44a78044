"""Options of every command that reads examples: which columns are no features."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fast.data import COLUMNS, MATRICES
from verification.app.console import say
from verification.app.dataset import Examples, Roles
from verification.app.io import SVM, read, suffix_of
from verification.app.labels import listed
from verification.app.options import argument, option
from verification.app.tables import SEPARATORS
from verification.errors import DataFileError, InvalidArgumentError

if TYPE_CHECKING:
    from verification.app.trained_model import Model


@dataclass(frozen=True, kw_only=True)
class Columns:
    """How a file of examples is read."""

    features: str | None = option(
        "Columns of features, comma-separated, or one of lists; the array, tensor or dataset (X).", None,
        "--features", "--dataset",
    )  # fmt: skip
    header: bool | None = option(
        "csv: whether the first row has names. Default: by what stands there, which is said.", None,
        "--header/--no-header", show_default=False,
    )  # fmt: skip
    separator: str | None = option(
        "Tables in text: the character between fields, or tab. Default: a comma, of .tsv files tab."
    )
    index_base: int | None = option(
        "svm: the index of the first feature. Default: 0 if it occurs, else 1.", min=0, max=1
    )

    def roles(self, **more: Any) -> Roles:
        """The roles of columns among these options."""
        for name in {each.name for each in fields(Roles)} - set(more):
            if (value := getattr(self, name, None)) is not None:
                several = name in ("features", "ignore", "keep", "privileged", "categories")
                more[name] = words(value) if several else value
        return Roles(**more)


@dataclass(frozen=True, kw_only=True)
class Files(Columns):
    """Of commands that write files, and leave columns out."""

    ignore: str | None = option("Columns, comma-separated, to leave out.")
    force: bool = option("Replace files that are there.", False, "--force")


def label() -> Any:
    """The field of the label."""
    return option("Label column, name or position (default: the last); npz, mat, h5: array (y).")


def group() -> Any:
    """The field of queries."""
    return option("ap: column or array of queries, each ranked by itself; svm: qid.")


def drop_unlabelled() -> Any:
    """The field of what becomes of examples without a label."""
    words = "Tables: leave out the examples whose label is missing. Default: they are refused."
    return option(words, False, "--drop-unlabelled")


@dataclass(frozen=True, kw_only=True)
class Labelled(Files):
    """Of commands that read one label for each example."""

    label: str | None = label()
    drop_unlabelled: bool = drop_unlabelled()
    positive: str | None = option("Make two classes of the labels: this one, and all others.")


@dataclass(frozen=True, kw_only=True)
class Prepared(Labelled):
    """Of commands that train on a table."""

    privileged: str | None = option(
        "svmplus: columns, comma-separated, that only training has; npz, mat: an array."
    )
    impute: str | None = option(
        "Fill missing values with the mean, median or most_frequent value of the column."
    )
    categories: str | None = option(
        "Features that are categories, comma-separated, or auto: all that hold text."
    )
    keep: str | None = option(
        "Features, comma-separated, that stay although they look like identifiers: whole numbers that tell rows apart, "
        "and of --categories auto names."
    )
    rare_classes: str | None = option(
        "Of classes with too few examples to draw parts: drop leaves the examples out, merge makes one class of them, "
        "other. Default: they are refused."
    )


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """Examples, and perhaps their labels."""

    file: Path = argument(
        "Examples: .csv, .tsv (also .gz, .bz2, .xz, .zip), .parquet, .feather, .npz or .mat (arrays X and y), .svm; "
        "features alone: .npy, .safetensors, .h5, .npz of scipy; or a folder of parts."
    )


@dataclass(frozen=True, kw_only=True)
class LabelsFile:
    """Labels beside the examples."""

    labels_file: Path | None = argument(
        "Labels in a file of their own: .npy, a table (--label names its column), or a folder of parts.", None,
        metavar="[LABELS]", show_default=False,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """A trained model."""

    model: Path = argument("A model that `refsolve train` wrote.")


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


def common_classes(examples: Examples, how: str | None, least: int) -> Examples:
    """Examples whose classes have at least so many each: of the others, dropped or merged, a line says which.

    Raises
    ------
    InvalidArgumentError
        Another word than drop or merge; several labels of an example; "other" is a class already.
    """
    if how is None or examples.y is None:
        return examples
    if how not in ("drop", "merge") or examples.labels:
        why = "it goes with one label per example" if examples.labels else "expected drop or merge"
        raise InvalidArgumentError(f"rare_classes is {how!r}; {why}")
    names, place, counts = np.unique(examples.y, return_inverse=True, return_counts=True)
    rare = counts < least
    if not rare.any():
        return examples
    shown = listed([f"{name!s:.40}" for name in names[rare]])
    done = f"with fewer than {least} examples {'left out' if how == 'drop' else 'merged into other'}: {shown}"
    few, many = int(rare.sum()), int(counts[rare].sum())
    say(f"{examples.source.name}: {few} class{'es' * (few > 1)} {done}, {many} example{'s' * (many > 1)}")
    if how == "drop":
        return examples.part(np.flatnonzero(~rare[place]))
    if "other" in (known := names.astype(str)):
        raise InvalidArgumentError("rare_classes is 'merge', but a class is called other; expected drop")
    return replace(examples, y=np.where(rare, "other", known)[place])


def taken(examples: Examples, model: Model) -> Examples:
    """Say what was taken for what, and which columns a model does not know."""
    notes = [*examples.notes]
    if odd := model.additional(examples):
        notes.append(f"columns that the model does not know are left out: {listed(odd)}")
    if notes:
        say(f"{examples.source.name}: {'; '.join(notes)}")
    return examples


def for_model(
    file: Path, model: Model, roles: Roles, labelled: bool, labels_file: Path | None = None
) -> Examples:
    """Examples for a trained model, which knows the roles of the columns from its training."""
    suffix = suffix_of(file)
    tabular = suffix in (*SEPARATORS, *COLUMNS)
    named = any(tabular or not name.isdigit() for name in model.apart[:1]) and labels_file is None
    named = named and (tabular or suffix in MATRICES)
    features = () if suffix in (".npy", *SVM) else model.features
    roles = replace(
        roles, labelled=labelled, spare=model.apart, features=roles.features or features
    )
    if not labelled and tabular:  # queries need not be there
        roles = replace(roles, group=roles.group or model.group)
    if model.labels:
        labels = model.labels if named else words(roles.label)
        roles = replace(roles, label=None, labels=labels if labelled else ())
    elif labelled:
        label = roles.label or (model.apart[0] if named else None)
        roles = replace(roles, label=label, group=roles.group or model.group)
    try:
        return taken(read(file, roles, model.known, labels_file), model)
    except DataFileError as error:
        if labelled and f"no column {roles.label!r}" in str(error):
            raise DataFileError(
                f"{error}. Without labels `refsolve predict` is the command"
            ) from None
        raise
