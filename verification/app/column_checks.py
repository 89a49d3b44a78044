"""Looks at columns before training: identifiers of rows, labels that are counts, features that give the label away."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fast.data import COLUMNS
from verification.app.console import say
from verification.app.dataset import Examples
from verification.app.labels import listed
from verification.app.preprocessing import MOST_CATEGORIES, no_text
from verification.app.tables import SEPARATORS, kind_of
from verification.errors import InvalidArgumentError

#: A column of text with more values than this, and on average fewer rows of each than `ROWS_EACH`, is a name.
FEW, ROWS_EACH = 20, 3
#: The last word of a column's name that says it tells rows apart.
IDENTIFIER = re.compile(r"(?i:(.*[\W_])?(id|index|idx|row|row_?(names?|num|number))|unnamed: \d+)|.*[a-z0-9]I[Dd]")
#: Numbers of rows that grow, with gaps where rows were taken out, cover at most so many times their count.
GAPS = 10
#: Numbers of more classes than this may be counts.
MANY_NUMBERS = 10
#: Rows that are looked at before all are, and what a single column has to reach.
SAMPLE, ALONE = 1000, 0.995


def without_identifiers(examples: Examples, categories: Sequence[str], kept: Collection[str] = ()) -> Examples:
    """Examples of a table without columns that tell its rows apart; a line says which and why.

    These are whole numbers, all different, that number the rows or are called an identifier, and, where categories
    are "auto", text that is nearly different in every row. Columns that are ``kept``, or named as features, stay.

    Raises
    ------
    InvalidArgumentError
        A column to be kept that is no feature.
    """
    if lost := [name for name in kept if examples.sparse or name not in examples.X.columns]:
        has = "none has a name" if examples.sparse else listed(examples.X.columns)
        raise InvalidArgumentError(f"keep names {lost}, which are no features; the features are {has}")
    table = examples.source.is_dir() or kind_of(examples.source) in (*SEPARATORS, *COLUMNS)
    if examples.sparse or examples.features or not table:
        return examples
    frame, why = examples.X, dict[str, str]()
    for name in frame.columns:
        if name not in kept and (reason := _identifies(str(name), frame[name], list(categories) == ["auto"])):
            why[name] = reason
    if len(why) == len(frame.columns):  # whatever they are, they are all there is
        return examples
    for name, reason in why.items():
        say(f"{name} left out: {reason} (--keep {name} takes it all the same)")
    return without(examples, list(why))


def without(examples: Examples, names: Sequence[str]) -> Examples:
    """Examples without these columns, as far as they have them."""
    left = () if examples.sparse else tuple(name for name in names if name in examples.X.columns)
    if not left:
        return examples
    return replace(examples, X=examples.X.drop(columns=list(left)), apart=(*examples.apart, *left))


def _identifies(name: str, column: Any, auto: bool) -> str:
    """Why a column tells rows apart, or nothing."""
    if column.dtype == object:
        if not auto or no_text(column):
            return ""
        found = column.dropna()
        different = found.nunique()
        if different > MOST_CATEGORIES or (different > FEW and len(found) < ROWS_EACH * different):
            return f"{different} different texts in {len(found)} rows are names, no categories"
        return ""
    values = column.to_numpy()
    head = values[:SAMPLE]
    if len(values) < FEW or not (head == np.trunc(head)).all():  # nan is not equal
        return ""
    grows = bool((np.diff(head) > 0).all())
    if not grows and not IDENTIFIER.fullmatch(name):
        return ""
    if not (values == np.trunc(values)).all():
        return ""
    steps = np.diff(values)
    if (steps == 1).all():
        return "it numbers the rows"
    if (steps > 0).all() and values[-1] - values[0] < GAPS * len(values):
        return "it numbers the rows, with gaps"
    if IDENTIFIER.fullmatch(name) and len(np.unique(values)) == len(values):
        return f"{len(values)} whole numbers, all different, are identifiers by its name"
    return ""


def doubts(examples: Examples) -> list[str]:
    """What to say of labels that may be counts, and of features each of which alone gives the label."""
    y = examples.y
    if y is None or examples.labels:
        return []
    label = f"label {examples.apart[0]}" if examples.apart else "label"
    names, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    found = []
    once = int((counts == 1).sum())
    uneven = 4 * once > len(names) or counts.max() >= 10 * counts.min()
    if y.dtype.kind in "iu" and len(names) > MANY_NUMBERS and uneven:
        found.append(
            f"{label}: {len(names)} different numbers, {once} of them once, are taken for classes without an order; if "
            "they are counts or measurements, put them into a few classes first (such as above and below the median), "
            "or name another label with --label; if they are classes, --rare-classes drop or merge takes the rare ones"
        )  # fmt: skip
    for name, share in _telling(examples, place, counts):
        found.append(
            f"{name} alone gives {label} right for {100 * share:.4g} % of the training examples; if it is another form "
            f"of the label, or known only after it, leave it out with --ignore {name}"
        )
    return found


def _telling(examples: Examples, y: np.ndarray, counts: np.ndarray) -> Iterator[tuple[str, float]]:
    """Features, and in which share of the examples each alone gives the class."""
    least = 1 - min(1 - ALONE, (1 - counts.max() / len(y)) / 10)  # the most frequent class alone is not meant
    if examples.sparse or len(counts) < 2 or len(y) <= FEW:
        return
    rows = np.random.default_rng(0).permutation(len(y))[:SAMPLE]
    for name in examples.X.columns:
        column = examples.X[name]
        if _alone(column.iloc[rows], y[rows]) >= least and (share := _alone(column, y)) >= least:
            yield str(name), share


def _alone(column: Any, y: np.ndarray) -> float:
    """Accuracy of the best class for each value, where values repeat; else on each side of the best threshold.

    Of more than two classes it is 1 if there are ranges of numbers, one per class, and 0 if not.
    """
    codes = column.factorize(use_na_sentinel=False)[0]
    m, n = int(codes.max()) + 1, len(y)
    if ROWS_EACH * m <= n and m <= MOST_CATEGORIES:
        pairs, counts = np.unique(codes * (y.max() + 1) + y, return_counts=True)
        best = np.zeros(m, np.int64)
        np.maximum.at(best, pairs // (y.max() + 1), counts)
        return float(best.sum() / n)
    if column.dtype == object:
        return 0.0
    values = np.nan_to_num(column.to_numpy(), nan=np.inf)  # what is missing is one value, too
    order = np.lexsort((y, values))
    values, y = values[order], y[order]
    ends = values[1:] != values[:-1]
    if y.max() == 1:
        ones = np.cumsum(y)[:-1][ends]
        zeros = np.arange(1, n)[ends] - ones
        right = zeros + (y.sum() - ones)
        return float(max(right.max(initial=0), (n - right).max(initial=0)) / n)
    changes = np.diff(y) != 0
    return float(ends[changes].all() and changes.sum() == y.max())

