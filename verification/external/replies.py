"""What a reply means: the answer as a function in this process would have returned it."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verification.external.wire import MalformedError, decode, excerpt
from verification.verdicts.verdict import Candidate

FIELDS = ("x", "dual", "complement", "value", "counts")

Reply = Mapping[str, Any]


def word(reply: Reply, field: str) -> str:
    """A field that is text, whatever it is."""
    value = reply.get(field)
    return value if isinstance(value, str) else "" if value is None else excerpt(value)


def answer(reply: Reply, given: Mapping[str, Any], model: bool, folder: Path | None) -> Any:
    """The answer in a reply.

    Parameters
    ----------
    reply : mapping
    given : mapping
        The arguments of the request.
    model : bool
        Whether the answer is the unknowns of a model.
    folder : Path, optional
        Where its files are.

    Raises
    ------
    MalformedError
    """
    if "x" not in reply and not (model and "parts" in reply):
        status = word(reply, "status")
        raise MalformedError("no x" + (f" (status {status!r})" if status else ""))
    if model:
        return _unknowns(reply, folder)
    fields = {
        name: decode(reply[name], name, folder)
        for name in FIELDS
        if name == "x" or reply.get(name) is not None
    }
    if "counts" in fields:
        fields["counts"] = _integers(fields["counts"])
    fields["x"] = _view(reply, given, fields["x"])
    if given.get("return_complement"):
        if "complement" not in fields:
            raise MalformedError("no complement, which was asked for")
        return fields["x"], fields["complement"]
    if "value" in fields or "counts" in fields:
        if "value" not in fields or "counts" not in fields:
            raise MalformedError("value and counts go together")
        return fields["value"][()], fields["counts"], fields["x"]
    return Candidate(fields["x"], fields["dual"]) if "dual" in fields else fields["x"]


def main_array(result: object) -> np.ndarray | None:
    """The array of an answer that a later call may overwrite."""
    if isinstance(result, tuple):
        result = result[-1] if len(result) == 3 else result[0]
    x = result.x if isinstance(result, Candidate) else result
    return x if isinstance(x, np.ndarray) else None


def mirror(
    reply: Reply, given: Mapping[str, Any], last: np.ndarray | None, folder: Path | None
) -> None:
    """Repeat what a program says it did to its arguments and to its last answer.

    Raises
    ------
    MalformedError
    """
    changed = reply.get("changed")
    for name, value in changed.items() if isinstance(changed, Mapping) else ():
        if isinstance(given.get(name), np.ndarray):
            _write(given[name], decode(value, f"changed.{name}", folder))
    if last is not None and reply.get("overwrote") is not None:
        _write(last, decode(reply["overwrote"], "overwrote", folder))


def _write(target: np.ndarray, now: np.ndarray) -> None:
    if now.size == target.size:
        with np.errstate(all="ignore"):
            target[...] = now.reshape(target.shape)


def _unknowns(reply: Reply, folder: Path | None) -> Any:
    """The unknowns of a model: by name in parts, or in x and dual; or arrays there."""

    def read(value: object, where: str) -> Any:
        if isinstance(value, Mapping) and not {"values", "npz"} & set(value):
            return {str(n): decode(v, str(n), folder) for n, v in value.items()}
        return None if value is None else decode(value, where, folder)

    if isinstance(reply.get("parts"), Mapping):
        return read(reply["parts"], "parts")
    return Candidate(read(reply.get("x"), "x"), read(reply.get("dual"), "dual"))


def _view(reply: Reply, given: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """The answer as the view of an argument that it was, if the program says so."""
    view = reply.get("view")
    if not isinstance(view, Mapping):
        return x
    with contextlib.suppress(KeyError, TypeError, ValueError):  # it says what cannot be
        return np.ndarray(x.shape, x.dtype, given[view["of"]], view["offset"], view["strides"])
    return x


def _integers(counts: np.ndarray) -> np.ndarray:
    small = np.all(
        np.abs(counts.astype(np.float64)) < 2.0**63
    )  # else numpy warns, and casts to anything
    whole = counts.astype(np.int64) if small else counts
    if not np.array_equal(whole, counts) or whole.dtype.kind != "i":
        raise MalformedError(f"counts are not integers: {excerpt(counts.tolist())}")
    return whole
