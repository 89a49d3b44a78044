"""From columns to what a trainer takes: missing values filled, numbers scaled, categories as columns of 0 and 1.

scikit-learn does it; here it is set up by what a file holds, refused where it would hide something, and
built again from numbers alone when a model is read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fast.data.constant import whole
from verification.app.dataset import Examples
from verification.app.labels import UNKNOWN, is_number, listed
from verification.app.tables import plain
from verification.errors import DataFileError, InvalidArgumentError

if TYPE_CHECKING:
    import pandas as pd

#: Fitted attributes of scikit-learn's scalers, an entry per number.
SCALINGS: dict[str, tuple[str, ...]] = {
    "standard": ("mean_", "var_", "scale_"),
    "minmax": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "maxabs": ("scale_", "max_abs_"),
    "none": (),
}
FILLS = ("mean", "median", "most_frequent")
#: A column of text with more values than this is a name or an identity, no category.
MOST_CATEGORIES = 1000
COMMA = re.compile(
    r"[+-]?([0-9]+|[0-9]{1,3}([.' \u00a0\u202f][0-9]{3})+),[0-9]+|[+-]?[0-9]{1,3}(,[0-9]{3})+\.[0-9]+", re.ASCII
)
DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(\D|$)|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(\D|$)", re.ASCII)


def scaler(name: str, sparse: bool) -> Any:
    """The scikit-learn transformer of that name, None for ``none``."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if name not in SCALINGS:
        raise InvalidArgumentError(f"scale is {name!r}; expected one of {', '.join(SCALINGS)}")
    if sparse and name == "minmax":
        raise InvalidArgumentError(
            "scale='minmax' would make sparse features dense; use 'maxabs' for svm files"
        )
    if name == "minmax":
        return MinMaxScaler((-1.0, 1.0))
    if name == "standard":
        return StandardScaler(with_mean=not sparse)
    return MaxAbsScaler() if name == "maxabs" else None


def no_text(column: Any) -> str:
    """What a column of text holds, if it is dates, or numbers with commas."""
    first = [text for text in column if text is not None][:100]
    if first and all(DATE.match(text) for text in first):
        return "date"
    commas = [text for text in first if not is_number(text)]
    return "comma" if commas and all(COMMA.fullmatch(text) for text in commas) else ""


def numbers(examples: Examples) -> np.ndarray:
    """X as (n, d) float64, where every feature has to be a number; with room for a constant feature if it has that."""
    check(examples, (), False)
    X = examples.X.to_numpy(np.float64)
    return X if whole(X) is not None else np.ascontiguousarray(X)


def transformer(
    examples: Examples, scale: str, impute: str | None, categories: Sequence[str]
) -> Any:
    """What stands before the classifier in its pipeline, unfitted; None where nothing does.

    Parameters
    ----------
    examples : what will be trained on; refused where values are missing, or text that is no category.
    scale : of the numbers: standard, minmax, maxabs or none.
    impute : mean, median or most_frequent of a column for what is missing; None refuses that. A missing category
        is a category of its own.
    categories : names of features that are categories, or ``("auto",)``: all that hold text.

    Raises
    ------
    DataFileError
        Missing values or text where none was announced, too many categories.
    InvalidArgumentError
        Unknown options, unknown columns.
    """
    if impute is not None and impute not in FILLS:
        raise InvalidArgumentError(f"impute is {impute!r}; expected one of {', '.join(FILLS)}")
    if examples.sparse:
        if impute is not None or categories:
            raise InvalidArgumentError("--impute and --categories do not go with svm files")
        return scaler(scale, True)
    chosen = _chosen(examples.X, categories)
    check(examples, chosen, impute is not None)
    if impute is None and not chosen:
        return scaler(scale, False)
    names = {c: c if examples.named else str(j) for j, c in enumerate(examples.X.columns)}
    kinds = {names[name]: _categories(examples, name) for name in chosen}
    return columns_transformer([*names.values()], kinds, scale, impute)


def columns_transformer(
    columns: Sequence[str], categories: Mapping[str, Sequence[str]], scale: str, impute: str | None
) -> Any:
    """Scale (and fill) the numbers, then a column of 0 and 1 for each category; unfitted."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rest = [name for name in columns if name not in categories]
    steps = [SimpleImputer(strategy=impute, keep_empty_features=True)] if impute is not None else []
    steps += [step] if (step := scaler(scale, False)) is not None else []
    parts = [("numbers", make_pipeline(*steps) if steps else "passthrough", rest)] if rest else []
    if categories:
        kinds = [list(values) for values in categories.values()]
        encoder = OneHotEncoder(categories=kinds, handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", encoder, list(categories)))
    return ColumnTransformer(parts)


def frame_for(examples: Examples, categories: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The features with categories as text, in the spelling of the model, as `columns_transformer` takes them."""
    import pandas as pd

    frame = examples.X.copy()
    for name, values in categories.items():
        frame[name] = pd.Series(_spelt(_words(frame[name]), values), dtype=object)
    return frame


def _spelt(words: np.ndarray, known: Sequence[str]) -> np.ndarray:
    """Values that are none of those known, but the number (or truth) of one of them, as that one."""
    if not (new := set(words) - set(known)):
        return words
    truth = {"true": "1", "false": "0"}
    two = {text.lower() for text in known} <= {*truth, "0", "1", UNKNOWN}
    meant, by = dict[str, str](), defaultdict[str, list[str]](list)

    def value(text: str) -> str:
        return str(truth.get(text.lower(), plain(text)) if two else plain(text))

    for text in known:
        by[value(text)].append(text)
    for text in new:
        found = by.get(value(text), ())
        meant[text] = found[0] if len(found) == 1 else text
    return np.array([meant.get(text, text) for text in words], object)


def _words(column: Any) -> np.ndarray:
    """Entries as text: whole numbers without their .0, what is missing by a name of its own."""
    if column.dtype == object:
        return np.array([UNKNOWN if entry is None else entry for entry in column], object)
    return np.array([UNKNOWN if v != v else f"{v:.17g}" for v in column.tolist()], object)


def _chosen(frame: pd.DataFrame, categories: Sequence[str]) -> tuple[str, ...]:
    if list(categories) == ["auto"]:
        texts = (name for name in frame.columns if frame[name].dtype == object)
        return tuple(name for name in texts if not no_text(frame[name]))
    if unknown := [name for name in categories if name not in frame.columns]:
        raise InvalidArgumentError(
            f"categories name {unknown}, which are no features; the features are "
            f"{listed(frame.columns)}; or 'auto' for all that hold text"
        )
    return tuple(dict.fromkeys(categories))


def _categories(examples: Examples, name: str) -> list[str]:
    found = sorted(set(_words(examples.X[name])))
    if len(found) > MOST_CATEGORIES:
        raise DataFileError(
            f"{examples.source}, column {name!r} has {len(found)} different values; expected categories, "
            f"at most {MOST_CATEGORIES}: leave it out with --ignore {name}"
        )
    return found


def check(examples: Examples, categories: Sequence[str], filled: bool) -> None:
    """Refuse text that is no category, and missing values that nobody fills, with their places."""
    if (examples.X.dtypes == np.float64).all():
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isnan(examples.X.to_numpy().sum()):
                return
    for name in examples.X.columns:
        column = examples.X[name]
        if name in categories:
            continue
        if column.dtype == object:
            texts = [i for i, v in enumerate(column) if v is not None]
            i = next((i for i in texts if not is_number(column[i])), texts[0] if texts else 0)
            if kind := no_text(column):
                fix = {
                    "date": "got the date {!r}; write what matters of it as numbers, such as year and month, in "
                    f"columns of their own, and --ignore {name}",
                    "comma": "got {!r}; write numbers with a decimal point, and without commas between thousands",
                }[kind].format(column[i])
                raise DataFileError(
                    f"{examples.source}, {examples.place(i, name)}: expected a number, {fix}; if its values are "
                    f"categories, --categories {name}"
                )
            raise DataFileError(
                f"{examples.source}, {examples.place(i, name)}: expected a number, got {column[i]!r:.80}; "
                f"if it is a category, --categories {name} (or auto); if it is the label, --label {name}; "
                f"else --ignore {name}"
            )
        if not filled and (gaps := np.flatnonzero(np.isnan(column))).size:
            raise DataFileError(
                f"{examples.source}, {examples.place(int(gaps[0]), name)}: the value is missing (there "
                f"are {len(gaps)} such entries in the column); expected a number: --impute median fills them, or "
                "leave the examples out"
            )
