"""A replay file as data: every field has the type and the sizes that it must have, or the file is refused.

Nothing of it is run. Sizes are those of what the file holds: no array is larger than its entries.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.failures import answers
from verification.instances import datasets, drawing, files
from verification.instances.instance import Instance, decode
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Terms, Verdict

SCHEMA = 2
READS = (1, 2)
#: Levels of brackets: a file has nine; what is printed of one is nested by Python's own calls.
DEEPEST = 32


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The attributes of a `Replay`; InvalidArgumentError says what is wrong, and where."""
    name = os.fspath(path)
    data = _json(path)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema is None:
        raise InvalidArgumentError(
            f"path={name!r}: expected a replay file, as `refsolve verify --output` writes it"
        )
    if isinstance(schema, bool | float) or schema not in READS:
        raise InvalidArgumentError(
            f"path={name!r} has schema {schema!r}: this version reads {' and '.join(map(str, READS))}"
        )
    old = schema == 1
    where = "schema"
    try:
        found: dict[str, Any] = {}
        for where, (recent, fallback, reader) in _FIELDS.items():
            found[where] = fallback if recent and old else reader(data[where])
        where = "rows"
        found["rows"] = tuple(_instance(row) for row in _list(data.get("rows", [])))
        if any(row.problem != found["instance"].problem for row in found["rows"]):
            raise ValueError("instances of another problem")
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        said = "it is missing" if isinstance(error, KeyError) and error.args == (where,) else error
        raise InvalidArgumentError(
            f"path={name!r}: a replay file of schema {schema} with a part missing or spoilt: {where}: "
            f"{said}; have it written again with `refsolve verify --output`"
        ) from None
    return found


def _json(path: str | os.PathLike[str]) -> Any:
    name = os.fspath(path)
    try:
        data = json.loads(files.text(path))
        level = [data]
        for _ in range(DEEPEST):
            level = [each for node in level for each in _inner(node)]
        if not level:
            return data
        said = "its brackets are nested too deeply"
    except OSError as error:
        raise InvalidArgumentError(
            f"path={name!r}: expected a replay file ({error.strerror})"
        ) from None
    except UnicodeDecodeError:
        raise InvalidArgumentError(
            f"path={name!r}: expected a replay file, this is no text"
        ) from None
    except RecursionError:
        said = "its brackets are nested too deeply"
    except json.JSONDecodeError as error:
        said = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except ValueError as error:  # a number of thousands of digits; a path with a NUL
        said = str(error)
    raise InvalidArgumentError(
        f"path={name!r}: expected a replay file, as `refsolve verify --output` writes it ({said})"
    )


def _inner(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _of(*kinds: type) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join("nothing" if k is type(None) else k.__name__ for k in kinds)
            raise TypeError(f"expected {names}, got {type(value).__name__}")
        return value

    return checked


_text, _list, _object = _of(str), _of(list), _of(dict)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(each) for each in _list(value))


def _instance(data: Any) -> Instance:
    found = Instance.from_dict(_object(data))
    problem, params = found.problem, found.params
    if extra := set(params) - set(problem.arguments):
        raise ValueError(f"{problem} has no argument(s) {sorted(extra)}")
    if missing := set(problem.required) - set(params):
        raise ValueError(f"{problem} lacks its argument(s) {sorted(missing)}")
    try:
        for symbol in problem.symbols:
            value = params.get(symbol.name)
            if symbol.shape == "vector" and value is not None and np.ndim(value) != 1:
                raise TypeError(f"{symbol.name} is no vector")
        valid = (drawing if problem.model is None else datasets).valid(found)
    except Exception as error:  # whatever comparisons make of other types and shapes
        raise ValueError(f"arguments that do not fit {problem}: {error}") from None
    if not valid:
        raise ValueError(f"arguments outside the ranges of {problem}")
    # of an older version, which had fewer
    return found.with_params(**{n: v for n, v in problem.defaults.items() if n not in params})


def _answer(data: Any) -> Any:
    return answers.from_dict(_of(dict, type(None))(data))


def _terms(rows: Any) -> Terms:
    def number(text: Any) -> float:
        return float.fromhex(_text(text))

    return {
        _text(row["name"]): (
            number(row["value"]),
            None if row["tolerance"] is None else number(row["tolerance"]),
        )
        for row in map(_object, _list(rows))
    }


#: Fields of the settings that are looked into; others are shown as they are.
_SETTINGS: Mapping[str, Callable[[Any], Any]] = {
    "fixed": _of(dict, type(None)),
    "batch": _of(bool, type(None)),
    "timeout": _of(int, float, type(None)),
    "checks": lambda value: None if value is None else _texts(value),
    "xfail": _of(dict, type(None)),
    "solver": _of(str, type(None)),
    "started": _of(dict, type(None)),
    "accuracy": accuracy_contract.checked,
    "dtype": _of(str, type(None)),
    "refuses": _texts,
}


def _settings(value: Any) -> dict[str, Any]:
    data = _object(value)
    data |= {name: _SETTINGS[name](data[name]) for name in _SETTINGS.keys() & data.keys()}
    timeout = data.get("timeout")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is {timeout!r}; expected seconds > 0")
    return {**data, "fixed": {n: decode(v) for n, v in (data.get("fixed") or {}).items()}}


#: Attribute -> (whether schema 1 lacks it, what stands for it there, how it is read).
_FIELDS: dict[str, tuple[bool, Any, Callable[[Any], Any]]] = {
    "check": (False, None, _text),
    "candidate": (False, None, _text),
    "instance": (False, None, _instance),
    "verdict": (False, None, lambda value: Verdict(_text(value)).value),
    "message": (False, None, _text),
    "code": (False, None, _text),
    "environment": (False, None, _object),
    "terms": (True, {}, _terms),
    "returned": (True, None, _answer),
    "right": (True, None, _answer),
    "right_terms": (True, {}, _terms),
    "program": (True, (), _texts),
    "profile": (True, "", _text),
    "seed": (True, None, _of(int, type(None))),
    "settings": (True, {}, _settings),
}
