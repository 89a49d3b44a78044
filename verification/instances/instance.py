"""Problem instances: frozen, hashable, and stored without losing a bit of a float.

An `Instance` is a problem ("topk_simplex_alpha.projection"), the family it was drawn from,
and the keyword arguments of the problem. Arrays are kept as bytes, so that an instance can be a
dictionary key, and nobody (in particular no solver under test) can change it.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.instances import npz
from verification.problems.problem import Problem, lookup

SCHEMA = 1


@dataclass(frozen=True)
class FrozenArray:
    """An immutable array: dtype string, shape, and the bytes in C order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: np.ndarray) -> FrozenArray:
        """Freeze a copy of an array of real numbers."""
        plain = np.ascontiguousarray(array)
        if plain.dtype.kind not in "fiub":
            raise InvalidArgumentError(
                f"array of dtype {plain.dtype}: expected real numbers; use astype(float)"
            )
        # ascontiguousarray turns 0-d into 1-d, hence the shape of the original
        return cls(plain.dtype.str, np.shape(array), plain.tobytes())

    def array(self) -> np.ndarray:
        """A fresh, writable copy."""
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape).copy()


Scalar = None | bool | int | float | str
Value = Scalar | FrozenArray


@dataclass(frozen=True)
class Instance:
    """One problem with all its arguments.

    Parameters
    ----------
    problem : Problem
        What is asked; a file has its name, ``"<object>.<operation>"``.
    family : str
        Where it comes from ("random", "ties", ...).
    items : tuple of (name, value)
        The arguments; build it with `Instance.of`.
    """

    problem: Problem
    family: str
    items: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, problem: str | Problem, family: str = "given", /, **params: Any) -> Instance:
        """Freeze keyword arguments: ``Instance.of("simplex.projection", a=a, r=1.0)``."""
        task = lookup(problem)
        return cls(task, family, tuple((name, freeze(name, v)) for name, v in params.items()))

    @property
    def object_name(self) -> str:
        """The set, loss or model."""
        return self.problem.object_name

    @property
    def operation(self) -> str:
        """What is asked of it: projection, value, sdca_update, ..."""
        return self.problem.operation

    @property
    def params(self) -> dict[str, Any]:
        """The arguments as a new dictionary of new arrays."""
        return {name: v.array() if isinstance(v, FrozenArray) else v for name, v in self.items}

    def __getitem__(self, name: str) -> Any:
        value = dict(self.items)[name]
        return value.array() if isinstance(value, FrozenArray) else value

    def get(self, name: str, default: Any = None) -> Any:
        """One argument, or a default."""
        return self[name] if any(key == name for key, _ in self.items) else default

    def has_dtype(self, dtype: Any) -> bool:
        """Whether some array has this dtype."""
        wanted = np.dtype(dtype).str
        return any(isinstance(v, FrozenArray) and v.dtype == wanted for _, v in self.items)

    def with_params(self, **changes: Any) -> Instance:
        """A copy with some arguments replaced or added."""
        return Instance.of(self.problem, self.family, **{**self.params, **changes})

    def astype(self, dtype: Any) -> Instance:
        """A copy rounded to a float dtype: arrays have it, numbers are representable in it."""
        kind = np.dtype(dtype).type
        changed: dict[str, Any] = {}
        for name, value in self.params.items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                changed[name] = value.astype(kind)
            elif isinstance(value, float):
                changed[name] = float(kind(value))
        return self.with_params(**changed)

    # -- storage ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data; floats as hexadecimal strings, so no bit is lost."""
        return {
            "schema": SCHEMA,
            "problem": self.problem.name,
            "family": self.family,
            "params": {name: encode(value) for name, value in self.items},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Instance:
        """Read what `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InvalidArgumentError(
                f"instance with schema {data.get('schema')!r}: this version reads schema {SCHEMA}; "
                "write it again with this version"
            )
        if not isinstance(data.get("params"), dict):
            raise InvalidArgumentError("instance: expected params, an object of names and values")
        params = {name: decode(value) for name, value in data["params"].items()}
        return cls.of(data["problem"], data["family"], **params)

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Instance:
        """Read what `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the arrays as they are, and the rest as JSON, into one .npz file."""
        arrays = {
            f"array_{name}": v.array() for name, v in self.items if isinstance(v, FrozenArray)
        }
        rest = self.to_dict()
        for name in list(rest["params"]):
            if f"array_{name}" in arrays:
                rest["params"][name] = {"npz": name}
        with open(path, "wb") as stream:
            np.savez(stream, instance=np.array(json.dumps(rest)), **arrays)  # type: ignore[arg-type]

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str]) -> Instance:
        """Read what `to_npz` wrote."""
        rest = json.loads(str(npz.read(path, ["instance"])["instance"]))
        for name, value in rest["params"].items():
            if isinstance(value, dict) and "npz" in value:
                array = npz.read(path, [f"array_{name}"])[f"array_{name}"]
                rest["params"][name] = encode(FrozenArray.of(array))
        return cls.from_dict(rest)

    # -- code ---------------------------------------------------------------------------------

    def arguments_code(self) -> str:
        """The arguments as Python source, ``a=np.array([1.0, 0.5]), k=2``; exact to the bit."""
        return ", ".join(f"{name}={literal(value)}" for name, value in self.items)

    def code(self, function: str | None = None) -> str:
        """The instance as code to paste: a call of ``function`` on it."""
        names = {"projection": "project"}
        return f"{function or names.get(self.operation, self.operation)}({self.arguments_code()})"


def literal(value: Any) -> str:
    """Python source of a scalar or an array (numpy as ``np``); repr of a float is exact."""
    if isinstance(value, FrozenArray):
        value = value.array()
    if isinstance(value, np.ndarray):
        # float32 entries are printed as doubles, which hold them exactly
        entries = np.asarray(value, dtype=np.float64) if value.dtype.kind == "f" else value
        suffix = "" if value.dtype in (np.float64, np.int64) else f", dtype=np.{value.dtype.name}"
        if value.ndim == 2 and not value.flags.c_contiguous and value.flags.f_contiguous:
            suffix += ', order="F"'
        return f"np.array({_nested(entries.tolist())}{suffix})"
    return _number(value)


def _nested(value: Any) -> str:
    return "[" + ", ".join(map(_nested, value)) + "]" if isinstance(value, list) else _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def freeze(name: str, value: Any) -> Value:
    """An argument as an instance holds it; InvalidArgumentError if it cannot be stored."""
    if value is None or isinstance(value, (bool, str, FrozenArray)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if np.ma.is_masked(value):
        raise InvalidArgumentError(
            f"{name}: a masked array; expected one without masked entries, e.g. {name}.filled(...)"
        )
    if isinstance(value, (np.ndarray, list, tuple)):
        return FrozenArray.of(np.asarray(value))
    raise InvalidArgumentError(
        f"{name}={value!r} of type {type(value).__name__}: "
        "expected a number, None or an array of numbers"
    )


def encode(value: Value) -> Any:
    """A scalar or array as plain data; every float in hexadecimal."""
    if isinstance(value, float) and not isinstance(value, bool):
        return {"float": value.hex()}
    if isinstance(value, FrozenArray):
        array = value.array()
        flat = array.ravel().tolist()
        entries = [float(v).hex() for v in flat] if array.dtype.kind == "f" else flat
        return {"dtype": value.dtype, "shape": list(value.shape), "entries": entries}
    return value


def decode(value: Any) -> Any:
    """Read what `encode` wrote; InvalidArgumentError for anything else."""
    if not isinstance(value, dict):
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise InvalidArgumentError(f"{type(value).__name__}: expected a number, text or an array")
    try:
        if "float" in value:
            return float.fromhex(value["float"])
        dtype, shape, entries = value["dtype"], value["shape"], value["entries"]
        if not re.fullmatch(r"[<>|=][fiub]\d{1,2}", dtype):
            raise InvalidArgumentError(
                f"dtype {dtype[:20]!r}: expected that of numbers, e.g. '<f8'"
            )
        if (
            not isinstance(entries, list)
            or math.prod(shape) != len(entries)
            or min(shape, default=0) < 0
        ):
            raise InvalidArgumentError(f"shape {shape} is not that of the entries")
        kind = np.dtype(dtype)
        if kind.kind == "f":
            entries = [float.fromhex(v) for v in entries]
        elif not all(isinstance(v, int) for v in entries):
            raise InvalidArgumentError(f"entries of {dtype} that are no integers")
        with np.errstate(over="raise"):  # an entry that the dtype does not hold
            return np.array(entries, dtype=kind).reshape(shape)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(f"no number or array: {error!r}") from None
