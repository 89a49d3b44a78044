"""Columns by name: what was trained on some is put before others in their order, or refused."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fast._validation import data_frame
from fast.data.in_memory import InMemory
from fast.data.io import groups_ahead
from fast.data.source import Source
from fast.errors import ColumnWarning, InvalidParameterError

__all__ = ["aligned", "data_frame", "feature_names", "tabular", "wanted"]

SHOWN = 5  # names in a message


def feature_names(X: Any) -> list[str] | None:
    """Names of the features of a source, where every one has its own: those of a list have not."""
    names = X.columns if isinstance(X, Source) else None
    return [*names] if names and len(names) == X.shape[1] else None


def tabular(X: Any, name: str = "X") -> Any:
    """A data frame of any library as a source in memory, which has its names; all else as it is."""
    return X if isinstance(X, Source) or data_frame(name, X) is None else InMemory(X, name=name)


def aligned(X: Any, names: Sequence[str] | None, name: str = "X") -> Any:
    """The columns of a source or data frame that have these names, in this order.

    Parameters
    ----------
    X : `Source`, data frame of any library that narwhals knows, or array or sparse matrix
        What has no names is as it was: its columns are taken in their order.
    names : sequence of str or None
        What was trained on, such as ``model.feature_names_in_``; None: nothing is compared.
    name : str
        What messages call X.

    Returns
    -------
    Source, array or sparse matrix
        A data frame becomes a source in memory.

    Raises
    ------
    fast.errors.InvalidParameterError
        A name that X does not have.

    Warns
    -----
    fast.errors.ColumnWarning
        Columns that X has besides, which are left out.
    """
    X = tabular(X, name)
    own = feature_names(X)
    if names is None or own is None:
        return X
    return X.select(wanted(own, names, name))


def wanted(own: Sequence[str], names: Sequence[str], name: str = "X") -> list[str]:
    """The names to take of those that X has; a missing one is refused, a warning tells what is left out."""
    names = [str(column) for column in names]
    known = {*names}
    if lost := [column for column in names if column not in {*own}]:
        given = f"no column {listed(lost)} among {listed(own)}"
        fix = "pass the columns that were trained on"
        raise InvalidParameterError(name, given, f"columns {listed(names)}", fix)
    if more := [column for column in own if column not in known]:
        count = "1 column" if len(more) == 1 else f"{len(more)} columns"
        said = f"{name}: {count} left out that training did not have: {listed(more)}"
        warnings.warn(said, ColumnWarning, stacklevel=4)
    return names


def by_name(estimator: Any, X: Any, reset: bool = False) -> Any:
    """A source with the columns of the fit, in their order; ``reset``: keep their names for later uses."""
    names = feature_names(X)
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return X
    from sklearn.utils.validation import _check_feature_names

    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is None:  # as scikit-learn warns of arrays
        _check_feature_names(estimator, np.empty((0, 0)), reset=False)
    return aligned(X, known)


def blocks(X: Source, size: int, names: Any = None) -> Iterator[tuple[slice, Source]]:
    """Rows in order, at most so many at a time, and where they are; every group is read once."""
    columns = None if names is None else [*names]
    for group, part in groups_ahead(X):
        for at in range(0, part.shape[0], size):
            some = InMemory(part[at : at + size], name=X.name, columns=columns)
            yield slice(group.start + at, group.start + at + len(some)), some


def listed(names: Sequence[Any]) -> str:
    """The first of them, and how many more."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(column) for column in names[:SHOWN]) + more
