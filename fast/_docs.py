"""Docstring sections that many functions share: written once, appended to what each has to say."""

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

Function = TypeVar("Function", bound=Callable)
Entry = tuple[str, str]  # type and text of a parameter, a result or an error


def with_sections(
    function: Function, parameters: Mapping[str, Entry], returns: Entry, raises: Entry
) -> Function:
    """Append Parameters (those in the signature, in its order), Returns and Raises."""
    lines = [inspect.cleandoc(function.__doc__ or ""), *_title("Parameters")]
    for name in inspect.signature(function).parameters:
        kind, text = parameters[name]
        lines += [f"{name} : {kind}", *_indented(text)]
    for title, (kind, text) in (("Returns", returns), ("Raises", raises)):
        lines += [*_title(title), kind, *_indented(text)]
    function.__doc__ = "\n".join(lines)
    return function


def _title(title: str) -> list[str]:
    return ["", title, "-" * len(title)]


def _indented(text: str) -> list[str]:
    return ["    " + line for line in text.split("\n")]
