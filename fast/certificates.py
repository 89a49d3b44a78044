"""Certificate files: a trained linear model, its data and its dual in one file.

Anybody can check the file without this package; `docs/certificate_files.md` describes it.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._validation import label_array
from fast.errors import InvalidParameterError, UnreadableError
from fast.solvers.rounding import row_norms
from fast.solvers.rows import is_sparse

MAGIC, ALIGNED = "refsolve-cert 1", 64
EPS = 2.0**-52
#: What is hashed, by the kind of problem.
DATA = {
    "erm": ("X", "y", "mass"),
    "projection": ("a", "b", "low", "high", "y"),
    "cone": ("q", "P", "A", "b", "soc", "psd", "power", "weights", "lo", "hi"),
}
#: Parameters in the text of a problem, in this order, and which of them are names.
PARAMETERS = {
    "erm": ("loss", "k", "gamma", "cost", "intercept"),
    "projection": ("set", "k", "r", "cap", "rho"),
    "cone": ("zero", "nonneg", "exp"),
}
NAMED = ("loss", "intercept", "set")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+(\.[0-9a-f]+)?p[+-]?[0-9]+", re.ASCII | re.IGNORECASE)
_SAME = "give what the model was trained on"


@dataclass
class Certificate:
    """A claim and all that is needed to prove it.

    Attributes
    ----------
    problem : str
        Kind and parameters, e.g. ``"erm loss=entropy k=1 gamma=0 cost=0 intercept=none"``.
    bound : float
        P(W) - min P is claimed to be at most this.
    data, solution : dict of arrays
        What the problem is made of, in the order in which it is hashed, and what proves the bound.
    header : dict
        What else the header says.
    """

    problem: str
    bound: float
    data: dict[str, np.ndarray]
    solution: dict[str, np.ndarray]
    header: dict[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Of the problem's text and of the names, dtypes, shapes and bytes of its data."""
        hashes = [hashlib.sha256() for _ in range(16)]
        for part in _parts(self.problem, self.data):
            words = np.zeros((-(-part.size // 1024) * 16, 16), dtype="<u4")
            words.ravel().view(np.uint8)[: part.size] = part
            for digest, column in zip(hashes, words.T, strict=True):
                digest.update(np.ascontiguousarray(column).data)
        return hashlib.sha256(b"".join(digest.digest() for digest in hashes)).hexdigest()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file.

        Parameters
        ----------
        path : path-like
        """
        arrays, place = {}, 0
        for name, values in {**self.data, **self.solution}.items():
            raw = values.dtype.newbyteorder("<").str
            arrays[name] = {"dtype": raw, "shape": list(values.shape), "offset": place}
            place += -(-values.nbytes // ALIGNED) * ALIGNED
        said = {"problem": self.problem, "bound": self.bound, "sha256": self.sha256}
        text = json.dumps({**said, **self.header, "arrays": arrays}, allow_nan=False)
        size = -(-(len(text) + 33) // ALIGNED) * ALIGNED - 32
        with Path(path).open("wb") as file:
            file.write(f"{MAGIC} {size:015d}\n{text:<{size - 1}}\n".encode("ascii"))
            for values in {**self.data, **self.solution}.values():
                file.write(_raw(values))
                file.write(bytes(-values.nbytes % ALIGNED))


def number(text: str, *, quoted: bool = False) -> float:
    """The double next to a number as certificates write it, infinite beyond the largest; else nan.

    Parameters
    ----------
    text : str
        Decimal as in JSON, or hexadecimal as ``float.hex`` writes it (``0x1.8p+1``).
    quoted : bool
        Only hexadecimal ones, which JSON holds as texts.
    """
    if not quoted and _DECIMAL.fullmatch(text):
        return float(text)
    if not _HEXADECIMAL.fullmatch(text):
        return math.nan
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.copysign(math.inf, -1 if text.startswith("-") else 1)


def _said(value: Any) -> float:
    """A number of the header; nan for anything else."""
    if isinstance(value, str):
        return number(value, quoted=True)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def parameters(problem: str) -> dict[str, Any]:
    """The parameters of the text of a problem by name; ValueError where it is none."""
    kind, *words = problem.split(" ")
    found: dict[str, Any] = dict.fromkeys(PARAMETERS.get(kind, ()))
    if [word.partition("=")[0] for word in words] != list(found) or not found:
        raise ValueError(f"a problem {problem!r}")
    for word in words:
        name, _, value = word.partition("=")
        found[name] = value if name in NAMED else number(value)
        if not value or (name not in NAMED and not math.isfinite(found[name])):
            raise ValueError(f"a parameter {word!r}")
    return found


def read(path: str | PathLike[str]) -> Certificate:
    """A certificate from its file; nothing of the claim is checked but the hash of the data.

    No more memory is taken than the file has bytes.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Certificate

    Raises
    ------
    UnreadableError
        Whatever is wrong with the file, by name.
    """
    path = Path(path)

    def need(good: object, given: str, expected: str) -> None:
        if not good:
            raise UnreadableError(str(path), given, expected, "write it anew")

    try:
        raw = path.read_bytes()
    except OSError as error:
        need(False, str(error.strerror), "a file")
    first = re.match(rb"refsolve-cert 1 (\d{15})\n", raw)
    need(first, "another first line", "'refsolve-cert 1 ' and 15 digits")
    start = 32 + int(raw[16:31])
    need(start <= min(len(raw), 1 << 20) and not start % ALIGNED, "a header cut short", "all of it")
    try:
        header = json.loads(
            raw[32:start], parse_constant=lambda name: None, object_pairs_hook=_once
        )
        problem, bound, claimed, arrays = (
            header.pop(name) for name in ("problem", "bound", "sha256", "arrays")
        )
        entries = [(name, a["dtype"], a["shape"], a["offset"]) for name, a in arrays.items()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        need(
            False,
            f"a header that is no such JSON ({error!r})",
            "the keys of docs/certificate_files.md",
        )
    need(isinstance(problem, str), "a problem that is no text", "a text")
    try:
        parameters(problem)
    except ValueError as error:
        need(False, str(error), "the parameters of docs/certificate_files.md, in their order")
    bound = _said(bound)
    need(math.isfinite(bound), f"bound {bound!r}", "a finite number")
    if "violation" in header:
        header["violation"] = _said(header["violation"])
        need(math.isfinite(header["violation"]), "a violation", "a finite number")
    found: dict[str, np.ndarray] = {}
    for name, dtype, shape, offset in entries:
        known = (
            dtype in ("<f8", "<f4", "<i8", "<i4")
            and isinstance(shape, list)
            and len(shape) in (1, 2)
        )
        need(
            known,
            f"{name} of {dtype!r} and shape {shape!r}",
            "one of the four dtypes, one or two sizes",
        )
        sizes = [math.nan if isinstance(v, str) else _said(v) for v in (*shape, offset)]
        whole = all(v >= 0 and v.is_integer() for v in sizes) and sizes[-1] % 8 == 0
        need(
            whole, f"{name} of shape {shape!r} at {offset!r}", "whole numbers >= 0, a multiple of 8"
        )
        held = raw[start:]
        *lengths, at = map(int, sizes)
        many = math.prod(lengths)
        need(at + many * int(dtype[2]) <= len(held), f"{name} ends after the file", "all of it")
        found[name] = np.frombuffer(held, dtype, many, at).reshape(lengths)
    names = DATA.get(problem.split(" ")[0], ())
    data = {name: v for name, v in found.items() if name.split(".")[0] in names}
    rest = {name: v for name, v in found.items() if name not in data}
    certificate = Certificate(problem, float(bound), data, rest, header)
    need(certificate.sha256 == claimed, "data with another sha256", str(claimed))
    return certificate


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, no key of which is there twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def of_estimator(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """`linear_model` of a fitted multiclass or one-vs-all estimator; see its ``certificate``."""
    if getattr(model, "_map", None) is not None:
        raise InvalidParameterError("kernel", repr(model.kernel), "'linear'", "no file holds these")
    X = model._new(X)
    loss = model._loss(len(model.classes_))
    _formula(loss)
    labels = label_array("y", y)
    encoded = np.searchsorted(model.classes_, labels).clip(max=len(model.classes_) - 1)
    if labels.shape != (X.shape[0],) or not np.array_equal(model.classes_[encoded], labels):
        raise InvalidParameterError("y", "other labels", "a label of `classes_` per row", _SAME)
    mass = model._radii(labels, encoded, sample_weight, X, float(model.C))
    A = getattr(model, "dual_coef_", None)
    if A is not None and A.shape[0] != X.shape[0]:
        raise InvalidParameterError("X", f"{X.shape[0]} rows", f"{A.shape[0]} rows", _SAME)
    b = model.intercept_ if model.fit_intercept else None
    values = model.primal_objective_, model.dual_objective_
    return linear_model(X, encoded, mass, model.coef_, b, loss, A, values)


def _formula(loss: Any) -> str:
    """The formula by which files know a loss: that of its family, if the loss changes nothing in how it is computed."""

    def owner(name: str) -> type:
        return next(c for c in type(loss).__mro__ if name in vars(c))

    computed = (owner(name) for name in ("kernels", "parameters", "value", "costs", "labels"))
    if not loss.formula or not all(issubclass(owner("formula"), each) for each in computed):
        raise InvalidParameterError(
            "loss",
            repr(type(loss).__module__.rpartition(".")[2]),
            "a loss of the families of `docs/certificate_files.md`",
            "check this model by refsolve itself",
        )
    return str(loss.formula)


def linear_model(
    X: Any, y: np.ndarray, mass: np.ndarray, W: np.ndarray, b: np.ndarray | None, loss: Any,
    A: Any, values: tuple[float, float], *, intercept: str = "feature",
) -> Certificate:  # fmt: skip
    """Certificate of a linear model of 1/2 ||W||^2 + sum_i mass_i L(y_i, W x_i + b).

    The claim is the smaller of P - D and, where the loss is smooth, 1/2 ||grad P(W)||^2, plus what
    a checker in float64 loses to rounding, generously: its arithmetic need not be ours.

    Parameters
    ----------
    X : (n, d) array or CSR of float64 or float32
    y : (n,) class numbers
    mass : (n,) array
        C times the weights.
    W, b : (m, d) and (m,) arrays
        ``b`` may be None.
    loss : fast.families.Loss
    A : (n, m) array or CSR, or None
        Dual point, whose rows are in the loss's domain times the mass.
    values : (float, float)
        Upper bound on P(W), and lower bound on D(A) or on D at the gradients.
    intercept : {"feature", "free"}
        b is regularised like the weights, or not at all; <1, a_j> = 0 for every class j then.

    Raises
    ------
    InvalidParameterError
        A loss that the format does not know, or a P that is not that of W.
    """
    formula = _formula(loss)
    k, gamma, m = int(getattr(loss, "k", 1)), float(getattr(loss, "gamma", 0.0)), len(W)
    W = np.ascontiguousarray(W, dtype=np.float64)
    mass = np.ascontiguousarray(np.broadcast_to(mass, len(y)), dtype=np.float64)
    shift = np.zeros(m) if b is None else np.ascontiguousarray(b, dtype=np.float64)
    gap = max(values[0] - values[1], 0.0)
    primal = float((W * W).sum() + (intercept != "free") * (shift @ shift)) / 2
    slack, loose, miss = 0.0, 0.0, W.copy()
    lengths, sums = row_norms(X).astype(np.float64), shift.copy()
    longest = float(np.sqrt((W * W).sum(axis=1).max(initial=0)))
    terms = m if loss.per_class else 1
    for first in range(0, len(y), 1024):
        part = slice(first, first + 1024)
        rows, r, size = X[part].astype(np.float64), mass[part], lengths[part]
        f = np.asarray(rows @ W.T) + shift
        reach = np.abs(f).max(axis=1)
        primal += float(r @ loss.value(f, y[part]))
        off = (X.shape[1] + 8) * 2 * EPS * size * longest + 16 * EPS * (1 + reach)
        slack += float(r @ (terms * (8 * off + 256 * EPS * (m + 8) * (1 + reach))))
        moved = np.minimum(4 * off * max(1.0, 1 / gamma if gamma else 1.0), 2.0)
        loose += float((r * size) @ (moved + 2 * EPS * (len(y) + m + 64) * (1 + reach)))
        if loss.smooth:
            block = r[:, None] * loss.gradient(f, y[part])
            miss += np.asarray(rows.T @ block).T
            sums += block.sum(axis=0)
    if abs(primal - values[0]) > 1e-6 * abs(primal) + slack:
        raise InvalidParameterError("X, y", f"P = {primal:.9g}", f"P = {values[0]:.9g}", _SAME)
    given = gap * (1 + 1e-9) + slack + loose * np.sqrt(2 * max(gap, 0.0)) + loose * loose
    miss = np.append(miss, sums) if b is not None else miss
    far = float(np.sqrt((miss * miss).sum())) + loose
    known = far * far / 2 * (1 + 1e-9) + slack + loose * loose
    gradient = loss.smooth and intercept != "free" and known <= 1.5 * given
    data = {**_arrays("X", X), "y": np.ascontiguousarray(y, dtype=np.int64), "mass": mass}
    kind = "none" if b is None else intercept
    problem = f"erm loss={formula} k={k} gamma={gamma!r} cost={loss.cost!r} intercept={kind}"
    solution = {"W": W} | ({} if b is None else {"b": shift})
    if not gradient and A is None:
        raise InvalidParameterError("A", "None", "a dual point", "the loss is not smooth: give A")
    return Certificate(
        problem,
        float(known if gradient else given),
        data,
        solution if gradient else solution | _arrays("A", A),
        {"dual": "gradient" if gradient else "given", "arithmetic": "float64", "writer": "fast"},
    )


def _arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A dense matrix, or the three arrays of one in CSR."""
    if not is_sparse(matrix):
        return {name: np.ascontiguousarray(matrix)}
    rows = sp.csr_array(matrix)
    parts = {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data}
    return {f"{name}.{part}": np.ascontiguousarray(v) for part, v in parts.items()}


def _parts(problem: str, data: dict[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Bytes to be hashed."""
    yield np.frombuffer(problem.encode(), np.uint8)
    for name, values in data.items():
        rows, columns = (*values.shape, 1)[:2]
        text = f"{name} {values.dtype.newbyteorder('<').str} {rows} {columns}"
        yield np.frombuffer(text.encode(), np.uint8)
        yield np.frombuffer(_raw(values), np.uint8)


def _raw(values: np.ndarray) -> Any:
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data.cast("B")
