"""Argument checks: arrays of real numbers, data frames, labels, and parameters with a range."""

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast.errors import InvalidParameterError, InvalidTypeError

LIMIT = 1e300  # larger magnitudes would overflow in sums and products
SMALLEST = float(np.finfo(np.float64).tiny)  # of a divisor: quotients by subnormal numbers overflow
LARGEST_K = 2**53
MAGNITUDE = 1e70  # of features and of C: products of several of them must not overflow


def real_array(name: str, value: ArrayLike | None, dims: tuple[int, ...] = (1, 2)) -> NDArray[Any]:
    """Array as float32 or float64 (integers become float64) with an allowed number of axes.

    Whether the entries are finite is left to the kernels, which read them anyway.
    """
    refuse_masked(name, value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidTypeError(
            name, f"not a rectangular array ({error})", "rows of equal length", "pad or split it"
        ) from None
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in (np.float32, np.float64):
        raise InvalidTypeError(
            name,
            f"{type(value).__name__} with dtype {array.dtype}",
            "real numbers as float64, float32 or integers in a dense array",
            f"pass {name}.toarray()"
            if hasattr(value, "toarray")
            else f"convert it, for example np.asarray({name}, dtype=np.float64)",
        )
    if array.ndim not in dims:
        raise InvalidParameterError(
            name,
            f"shape {array.shape}",
            " or ".join({0: "a number", 1: "a vector", 2: "a matrix"}[n] for n in dims),
            f"reshape {name}",
        )
    if array.ndim and array.shape[-1] == 0:
        raise InvalidParameterError(
            name, f"shape {array.shape}", "at least one entry per row", "drop the call"
        )
    return array


def refuse_masked(name: str, value: Any) -> None:
    """Raise where an entry is masked: as an array it would count like any other."""
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        masked = int(np.ma.count_masked(value))
        raise InvalidParameterError(
            name,
            f"a masked array with {masked} masked {'entry' if masked == 1 else 'entries'}",
            "an array without masked entries",
            f"drop those rows, or fill them: {name}.filled(...)",
        )


def data_frame(name: str, X: Any) -> Any:
    """The data frame that X is, of whatever library narwhals knows, in that library's own type; else None.

    Raises
    ------
    fast.errors.InvalidParameterError
        A lazy frame, which has no rows yet, or a name that is there twice.
    """
    if isinstance(X, np.ndarray | list | tuple) or hasattr(X, "tocsr") or X is None:
        return None
    if hasattr(X, "__dask_graph__"):  # which narwhals may warn of
        if not hasattr(X, "columns"):
            return None
        expected, fix = "rows in memory, or a Dask array", f"pass {name}.compute()"
        raise InvalidTypeError(name, "a Dask data frame", expected, fix)
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
        if frame is X and hasattr(X, "__arrow_c_stream__") and hasattr(X, "schema"):
            frame = nw.from_arrow(X, backend="pyarrow")  # a batch of rows
    except nw.exceptions.DuplicateError as error:
        given, fix = " ".join(str(error).split())[:300], "rename the columns, or drop the copies"
        raise InvalidParameterError(name, given, "every column once", fix) from None
    if isinstance(frame, nw.LazyFrame):
        given, expected = f"a lazy {frame.implementation} frame", "rows that are in memory"
        raise InvalidTypeError(name, given, expected, f"pass {name}.collect()")
    return frame.to_native() if isinstance(frame, nw.DataFrame) else None


def label_array(name: str, y: Any) -> Any:
    """Labels as an array of booleans, integers, floats, dates or text; None and sparse ones as they are.

    Columns of pandas, Arrow and polars, also those that can hold missing entries, become what they
    hold: booleans stay booleans, categories what they are called.

    Raises
    ------
    fast.errors.InvalidParameterError
        A missing label (None, nan, NaT, ``pandas.NA``, a masked entry), by its row.
    fast.errors.InvalidTypeError
        Labels of several types, or bytes.
    """
    refuse_masked(name, y)
    if y is None or hasattr(y, "tocsr"):
        return y
    y = y.compute() if hasattr(y, "__dask_graph__") else y
    try:
        array = given_as = np.asarray(y)
        if isinstance(y, list | tuple) and array.dtype.kind in "US" and array.ndim == 1:
            array = np.asarray(y, dtype=object)  # NumPy turns whatever is beside text into text
    except ValueError as error:
        raise InvalidTypeError(name, str(error), "one label per row", "pass a vector") from None
    kind = array.dtype.kind
    missing = np.zeros(array.shape, bool)
    if kind in "OT":
        array = array.astype(object)
        flat = array.ravel().tolist()
        missing = np.array([is_missing(value) for value in flat], bool).reshape(array.shape)
    elif kind in "fmM":
        missing = array != array
    if missing.any():
        at = tuple(np.argwhere(missing)[0])
        given, expected = f"{array[at]} in row {at[0] if at else 0}", "a label for every row"
        fix = "drop these rows, or name a class for them"
        raise InvalidParameterError(name, given, expected, fix)
    if kind == "O":
        types = {type(value) for value in flat}
        kinds = {np.dtype(t).kind for t in types}
        if len(kinds) > 1 and "U" in kinds:
            given = f"labels of several types: {', '.join(sorted(t.__name__ for t in types))}"
            fix = f"convert them, for example [str(label) for label in {name}]"
            raise InvalidTypeError(name, given, "labels of one type", fix)
        if kinds == {"b"} or (kinds and kinds <= {*"iuf"}):
            array = np.asarray(flat).reshape(array.shape)
        kind = "S" if "S" in kinds else kind
    if kind == "S":
        raise InvalidTypeError(name, "bytes", "text or numbers", f"np.char.decode({name})")
    return given_as if given_as.dtype.kind == "U" else array


def label_vector(name: str, y: Any) -> NDArray[Any]:
    """The same, one per row; a column (n, 1) of them becomes a vector."""
    array = label_array(name, y)
    if np.ndim(array) == 2 and array.shape[1] == 1 and not hasattr(array, "tocsr"):
        array = array[:, 0]
    if np.ndim(array) != 1:
        fix = "pass one label per row; rows of labels train fast.MultilabelClassifier"
        raise InvalidParameterError(name, f"shape {np.shape(array)}", "a vector of labels", fix)
    return np.asarray(array)


def is_missing(label: Any) -> bool:
    """None, nan, NaT or pandas' NA, which does not even compare."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


def raise_bad_entry(
    name: str, array: NDArray[Any], allow: str = "finite numbers", limit: float = LIMIT
) -> None:
    """Raise for the first entry that is nan, infinite or beyond the limit."""
    good = np.abs(array.astype(np.float64, copy=False)) <= limit
    if not good.all():
        bad = np.argwhere(~good)
        where = tuple(int(i) for i in bad[0])
        raise InvalidParameterError(
            name,
            f"{name}[{', '.join(map(str, where))}] = {array[where]}" if where else f"{array}",
            f"{allow} of magnitude at most {limit:g}",
            "remove or impute nan and inf, rescale larger numbers",
        )


def finite_array(name: str, value: ArrayLike, dims: tuple[int, ...] = (1, 2)) -> NDArray[Any]:
    """``real_array`` with the entries checked here."""
    array = real_array(name, value, dims)
    raise_bad_entry(name, array)
    return array


def per_row(
    name: str, value: ArrayLike | float, n: int, *, positive: bool = False, single: bool = False
) -> NDArray[np.float64]:
    """Nonnegative (or positive) numbers, one for all rows or one per row, as n float64 numbers."""
    if isinstance(value, float) and 0.0 < value <= LIMIT:  # the usual one, without its array
        return np.full(n, value, np.float64)
    array = finite_array(name, value, (0, 1)).astype(np.float64)
    if array.ndim == 1 and (single or array.shape != (n,)):
        raise InvalidParameterError(
            name,
            f"shape {array.shape}",
            "one number" if single else f"one number or {n} (one per row)",
            f"pass a number, or match {name} to the rows",
        )
    wrong = array <= 0 if positive else array < 0
    if wrong.any():
        raise InvalidParameterError(
            name,
            f"{array[wrong].flat[0]}",
            "a number > 0" if positive else "a number >= 0",
            f"make {name} {'positive' if positive else 'nonnegative'}",
        )
    return np.array(np.broadcast_to(array, (n,)))


def per_entry(
    name: str, value: ArrayLike, shape: tuple[int, ...], limit: float, infinite: float = 0.0
) -> NDArray[np.float64]:
    """Numbers for the entries of rows of this shape, up to ``limit`` or ``infinite``: (1, d) or (n, d)."""
    array = real_array(name, value, (0, 1, 2)).astype(np.float64, copy=False)
    if array.ndim and array.shape not in (shape, shape[-1:]):
        expected = f"one number, or shape {' or '.join(map(str, {shape[-1:], shape}))}"
        raise InvalidParameterError(
            name, f"shape {array.shape}", expected, "pass one for each entry"
        )
    allow = f"finite numbers or {infinite}," if infinite else "finite numbers"
    raise_bad_entry(name, np.where(array == (infinite or None), 0.0, array), allow, limit)
    return np.atleast_2d(np.ascontiguousarray(array if array.ndim else np.full(shape[-1:], array)))


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    given = f"{type(value).__name__} {value!r}"[:80]
    raise InvalidTypeError(name, given, "True or False", f"pass {name}=True, or leave it out")


def number(name: str, value: Any, *, positive: bool = False) -> float:
    """One nonnegative (or positive) finite number."""
    if isinstance(value, float) and 0.0 < value <= LIMIT:
        return float(value)
    array = real_array(name, value, (0, 1))
    if array.ndim:
        raise InvalidParameterError(name, f"shape {array.shape}", "one number", "pass a scalar")
    return float(per_row(name, array, 1, positive=positive)[0])


def moderate(name: str, value: float, given: str = "", fix: str = "") -> float:
    """A number whose products with others neither under- nor overflow."""
    if not 1.0 / MAGNITUDE <= value <= MAGNITUDE:
        raise InvalidParameterError(
            name,
            f"{given}{value:g}",
            f"a number between {1.0 / MAGNITUDE:g} and {MAGNITUDE:g}",
            fix or f"rescale {name}",
        )
    return value


def divisor(name: str, value: Any, else_: str = "") -> float:
    """One finite number > 0 that is not subnormal."""
    found = number(name, value, positive=True)
    if found < SMALLEST:
        raise InvalidParameterError(
            name,
            f"{found:g}",
            f"a number >= {SMALLEST:g}, below which floats lose their digits",
            f"rescale the problem{else_}",
        )
    return found


def check_k(k: Any, largest: int = LARGEST_K, why: str = "", name: str = "k") -> int:
    """An integer in 1..largest."""
    try:
        if isinstance(k, (bool, np.bool_)):
            raise TypeError
        value = operator.index(k)
    except TypeError:
        raise InvalidTypeError(
            name,
            f"{k!r} of type {type(k).__name__}",
            "an integer >= 1",
            f"pass {name}=1, 2, ...",
        ) from None
    if not 1 <= value <= largest:
        bound = "" if largest == LARGEST_K else f" and <= {largest}"
        raise InvalidParameterError(
            name, f"{value}", f"an integer >= 1{bound}{why}", f"choose {name} in that range"
        )
    return value


def check_classes(y: ArrayLike, n: int, m: int, name: str = "y") -> NDArray[np.int64]:
    """Class numbers 0..m-1, one per row, as int64."""
    refuse_masked(name, y)
    try:
        array = np.atleast_1d(np.asarray(y))
    except ValueError as error:
        raise InvalidTypeError(
            name, str(error), "one class number per row", "pass a vector"
        ) from None
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(
            name,
            f"dtype {array.dtype}",
            f"integers 0..{m - 1}, one per row of scores",
            "encode the labels, for example np.unique(labels, return_inverse=True)[1]",
        )
    if array.shape != (n,):
        raise InvalidParameterError(
            name,
            f"shape {np.shape(y)}",
            f"{n} class numbers, one per row",
            f"match {name} to the rows",
        )
    if n and not (array.min() >= 0 and array.max() < m):
        i = int(array.argmin() if array.min() < 0 else array.argmax())
        raise InvalidParameterError(
            name,
            f"class {array[i]}",
            f"class numbers in 0..{m - 1}",
            f"recode {name} (row {i}), or pass all scores",
        )
    return array.astype(np.int64)


def check_indicator(
    name: str, value: ArrayLike | None, shape: tuple[int, ...]
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """A matrix of 0 and 1 of this shape (or a vector, which becomes one row), as booleans."""
    array = real_array(name, value)
    if array.shape != shape:
        raise InvalidParameterError(
            name,
            f"shape {array.shape}",
            f"shape {shape}: 0 or 1 for every entry",
            f"pass {name} as indicator, for example by sklearn.preprocessing.MultiLabelBinarizer",
        )
    wrong = np.argwhere((array != 0) & (array != 1))
    if len(wrong):
        where = tuple(int(i) for i in wrong[0])
        raise InvalidParameterError(
            name,
            f"{name}[{', '.join(map(str, where))}] = {array[where]}",
            "0 or 1 everywhere",
            "set 1 for the labels that apply and 0 for the others",
        )
    return np.ascontiguousarray(np.atleast_2d(array == 1))
