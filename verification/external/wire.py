"""What crosses the pipe: protocol v1, one JSON object per line, no bit of a float lost.

Finite floats are JSON numbers in shortest round-trip form (Python's repr), which every correct
parser reads back to the bit, -0.0 and denormals included; JSON has no names for the others, which
are the strings "nan", "inf" and "-inf". A string in hexadecimal notation ("0x1.8p+0") is a number
too, whoever writes it. Arrays are objects with dtype, shape and entries in C order.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import DataFileError
from verification.instances import npz

VERSION = 1
# Arrays with more entries travel as .npz files.
LARGE = 4096
# An .npz file in an answer may not unfold to more.
LARGEST_FILE = 2**30
# bool, int8 to int64, uint8 to uint64, float32 and float64
DTYPES = frozenset(np.dtype(code).name for code in "?bhiqBHIQfd")
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]+(\.[0-9a-fA-F]*)?([pP][+-]?[0-9]+)?\Z")


class MalformedError(ValueError):
    """A line is no message of the protocol; the text says where and what was expected."""


def number(value: float, hexadecimal: bool = False) -> float | str:
    """A float as JSON; hexadecimal notation where it is asked for."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value.hex() if hexadecimal else value


def scalar(value: object, hexadecimal: bool = False) -> Any:
    """A parameter as JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    return number(value, hexadecimal) if isinstance(value, float) else value


def read(value: object, where: str) -> Any:
    """A parameter as `scalar` or `array` wrote it."""
    if isinstance(value, Mapping):
        return decode(value, where)
    special = isinstance(value, str) and (value in NOT_FINITE or _HEX.match(value))
    return floating(value, where) if special else value


def array(value: np.ndarray, hexadecimal: bool = False) -> dict[str, Any]:
    """An array of numbers as JSON: dtype, shape, and the entries in C order."""
    entries = value.ravel().tolist()
    if value.dtype.kind == "f" and (hexadecimal or not np.isfinite(value).all()):
        entries = [number(v, hexadecimal) for v in entries]
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": entries}


def stored(value: np.ndarray, path: Path, key: str) -> dict[str, Any]:
    """An array as a file of its own."""
    np.savez(path, **{key: value})  # type: ignore[arg-type]  # numpy types the names as flags
    return {"npz": str(path), "key": key, "dtype": value.dtype.name, "shape": list(value.shape)}


def dumps(message: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def loads(line: bytes) -> dict[str, Any]:
    """Read one line; MalformedError unless it is a JSON object."""
    try:
        message = json.loads(line)
    except RecursionError as error:
        raise MalformedError("nested too deeply") from error
    except ValueError as error:
        raise MalformedError(str(error)) from error
    if not isinstance(message, dict):
        raise MalformedError(f"expected an object, got {excerpt(message)}")
    return message


def excerpt(value: object, length: int = 120) -> str:
    """The beginning of something, for a message."""
    if isinstance(value, (bytes, bytearray)):
        text = bytes(value[: length + 1]).decode("utf-8", "backslashreplace")
    else:
        text = repr(value)
    return text if len(text) <= length else text[:length] + " ..."


def floating(value: object, where: str) -> float:
    """Read a number: JSON's own, hexadecimal, nan or inf; MalformedError for any other thing."""
    if isinstance(value, str):
        if value in NOT_FINITE:
            return NOT_FINITE[value]
        if _HEX.match(value):
            try:
                return float.fromhex(value)
            except OverflowError as error:
                raise MalformedError(f"{where} holds {value!r}, which no double holds") from error
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError as error:
            raise MalformedError(f"{where} holds an integer that no double holds") from error
    fix = ""
    if value is None:
        fix = '; infinities are written "inf" and "-inf"'
    elif isinstance(value, str):
        fix = '; numbers are not quoted, unless they are hexadecimal, "nan", "inf" or "-inf"'
    said = json.dumps(value) if value is None or isinstance(value, bool) else excerpt(value)
    raise MalformedError(f"{where} holds {said} where a number belongs{fix}")


def decode(value: object, where: str, folder: Path | None = None) -> np.ndarray:
    """Read an array: a number, (nested) lists of numbers, or an object as `array` writes it.

    Raises
    ------
    MalformedError
        Anything else; ``where`` names the field.
    """
    if isinstance(value, Mapping):
        return _decode_object(value, where, folder)
    if not isinstance(value, list):
        return np.asarray(floating(value, where))
    flat: list[float] = []
    shape = _flatten(value, where, flat)
    return _shaped(np.array(flat, dtype=np.float64), shape, where)


def _flatten(value: object, where: str, flat: list[float]) -> tuple[int, ...]:
    if not isinstance(value, list):
        flat.append(floating(value, where))
        return ()
    if not any(isinstance(v, list) for v in value):
        flat.extend([v if type(v) is float else floating(v, where) for v in value])
        return (len(value),)
    try:
        shapes = {_flatten(v, where, flat) for v in value}
    except RecursionError as error:
        raise MalformedError(f"{where} is nested too deeply") from error
    if len(shapes) > 1:
        raise MalformedError(f"{where} has rows of unequal lengths: {sorted(shapes)}")
    return (len(value), *shapes.pop())


def _decode_object(value: Mapping[str, Any], where: str, folder: Path | None) -> np.ndarray:
    if "npz" in value:
        return _load(value, where, folder)
    entries = value.get("values")
    if entries is None:
        raise MalformedError(f"{where} has no values: {excerpt(dict(value))}")
    dtype = value.get("dtype", "float64")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise MalformedError(f"{where} has dtype {excerpt(dtype)}: expected float64, int64, ...")
    found = _entries(entries, str(dtype), where)
    shape = value.get("shape", list(found.shape))
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise MalformedError(f"{where} has shape {excerpt(shape)}: expected a list of lengths")
    if math.prod(shape) != found.size:
        raise MalformedError(f"{where} has {found.size} entries, which is not of shape {shape}")
    return _shaped(found, shape, where)


def _shaped(found: np.ndarray, shape: Sequence[int], where: str) -> np.ndarray:
    try:
        return found.reshape(shape)
    except (ValueError, OverflowError) as error:  # of size 1 or 0, but of 65 axes, or of long ones
        raise MalformedError(f"{where} has shape {excerpt(shape)}, which numpy lacks") from error


def _entries(entries: object, dtype: str, where: str) -> np.ndarray:
    if dtype.startswith("float"):
        return decode(entries, where).astype(dtype)
    flat = entries if isinstance(entries, list) else [entries]
    if not all(isinstance(v, int) for v in flat):
        raise MalformedError(f"{where} is of {dtype}, but holds {excerpt(flat)}")
    try:
        return np.array(flat, dtype=dtype)
    except OverflowError as error:
        raise MalformedError(f"{where} holds an integer that {dtype} does not hold") from error


def _load(value: Mapping[str, Any], where: str, folder: Path | None) -> np.ndarray:
    key = str(value.get("key", where))
    path = (folder or Path()) / str(value["npz"])
    try:
        found = npz.read(path, (key,), LARGEST_FILE)[key]
    except (DataFileError, OSError) as error:
        raise MalformedError(f"{where}: no array {key!r} in {value['npz']!r}: {error}") from error
    if found.dtype.name not in DTYPES:
        raise MalformedError(f"{where}: {path} holds {found.dtype}, expected numbers")
    return found
