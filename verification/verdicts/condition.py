"""Conditions on the arguments of an instance as text, ``"r == 0 and len(a) > 64"``; read, never run as code."""

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError

_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Mod: operator.mod,
}  # fmt: skip
#: What may be asked of an array.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "len": lambda a: np.shape(a)[0],
    "columns": lambda a: np.shape(a)[-1],
    "min": np.min,
    "max": np.max,
    "dtype": lambda a: np.asarray(a).dtype.name,
}
EXPECTED = (
    "expected comparisons of arguments and numbers with and, or, not, + - * / %, "
    f"and {', '.join(f'{name}(array)' for name in FUNCTIONS)}, such as 'r == 0 and len(a) > 64'"
)


@functools.lru_cache(maxsize=256)
def parse(text: str) -> tuple[ast.expr, frozenset[str]]:
    """The condition and the arguments that it names; InvalidArgumentError says what is not understood."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidArgumentError(f"when={text!r}: {EXPECTED}") from None
    names: set[str] = set()
    _check(tree, text, names)
    if not isinstance(tree, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        raise InvalidArgumentError(f"when={text!r} compares nothing: {EXPECTED}")
    return tree, frozenset(names)


def _check(node: ast.expr, text: str, names: set[str]) -> None:
    """Refuse all but the few kinds of nodes that `_value` knows."""
    inner: list[ast.expr] = []
    known = True
    match node:
        case ast.Name(id=name):
            names.add(name)
        case ast.Constant(value=value):
            known = isinstance(value, (int, float, str)) or value is None
        case ast.BoolOp(values=inner):
            pass
        case ast.UnaryOp(op=op, operand=operand):
            known, inner = isinstance(op, (ast.Not, ast.USub)), [operand]
        case ast.BinOp(left=left, op=op, right=right):
            known, inner = type(op) in _ARITHMETIC, [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others):
            known, inner = all(type(op) in _COMPARISONS for op in ops), [left, *others]
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            known, inner = name in FUNCTIONS, [argument]
        case _:
            known = False
    if not known:
        raise InvalidArgumentError(f"when={text!r}: {ast.unparse(node)} is not known; {EXPECTED}")
    for each in inner:
        _check(each, text, names)


def holds(text: str, arguments: Mapping[str, Any]) -> bool:
    """Whether it is true of these arguments; of one that is absent, or None, nothing is true."""
    tree, names = parse(text)
    if not names <= set(arguments):
        return False
    try:
        found = _value(tree, arguments)
    except (TypeError, IndexError, ZeroDivisionError):  # None > 3, len(1.0), k % 0
        return False
    if np.ndim(found):
        raise InvalidArgumentError(
            f"when={text!r} compares an array; ask for {', '.join(FUNCTIONS)} of it"
        )
    return bool(found)


def _value(node: Any, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return known[name]
        case ast.Constant(value=value):
            return value
        case ast.BoolOp(op=op, values=values):
            return (all if isinstance(op, ast.And) else any)(_value(v, known) for v in values)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, known)
            return not value if isinstance(op, ast.Not) else -value
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, known), _value(right, known))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(each, known) for each in (left, *others)]
            pairs = zip(ops, values[:-1], values[1:], strict=True)
            found = [_COMPARISONS[type(op)](one, other) for op, one, other in pairs]
            return found[0] if len(found) == 1 else all(found)
    return FUNCTIONS[node.func.id](_value(node.args[0], known))
