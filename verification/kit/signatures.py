"""What a function takes, and which arguments of a problem go where."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from verification.errors import CandidateSignatureError
from verification.problems.problem import Problem


def full_name(function: Callable[..., Any]) -> tuple[str, str]:
    """Module and qualified name of a function, or of an object that is called like one, by which it is found there."""
    qualified = getattr(function, "__qualname__", None) or type(function).__qualname__
    module = getattr(function, "__module__", None) or "builtins"
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    if found is not function and module in sys.modules:  # jax.grad(f) has the name of f
        own = [name for name, value in vars(sys.modules[module]).items() if value is function]
        if own or (found is not None and found is getattr(function, "__wrapped__", None)):
            qualified = own[0] if own else f"<wrapper of {qualified}>"
    return module, qualified


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Parameters of a function; None if it hides them, as some builtins do."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def in_order(names: Iterable[str], defaults: Mapping[str, Any]) -> list[inspect.Parameter]:
    """Parameters in their order; by name only from where one without a default follows one with."""
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    found: list[inspect.Parameter] = []
    for name in names:
        if name not in defaults and any(p.default is not p.empty for p in found):
            kind = inspect.Parameter.KEYWORD_ONLY
        default = defaults.get(name, inspect.Parameter.empty)
        found.append(inspect.Parameter(name, kind, default=default))
    return found


def match(
    function: Callable[..., Any], problem: Problem
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Problem arguments to pass by position, and those to pass by name."""
    takes = parameters(function)
    if takes is None:
        return problem.arguments, ()
    kinds = inspect.Parameter
    by_name = {p.name for p in takes if p.name in problem.arguments}
    positional: list[str] = []
    named: list[str] = []
    in_order = True  # still filling the positional part
    for place, parameter in enumerate(takes):
        if parameter.kind is kinds.VAR_KEYWORD:
            named += [a for a in problem.arguments if a not in positional and a not in named]
            continue
        if parameter.kind is kinds.VAR_POSITIONAL:
            if place == 0:
                return problem.arguments, ()
            continue
        if parameter.name in problem.arguments:
            if parameter.kind is kinds.POSITIONAL_ONLY:
                positional.append(parameter.name)
            else:
                in_order = False
                named.append(parameter.name)
            continue
        # A name of the candidate's own: the data arguments are recognised by their place.
        meant = problem.arguments[place] if place < len(problem.arguments) else None
        data = meant == problem.data or meant in problem.required
        in_order = in_order and parameter.kind is not kinds.KEYWORD_ONLY
        if in_order and meant is not None and data and meant not in by_name:
            positional.append(meant)
        elif parameter.default is kinds.empty:
            raise CandidateSignatureError(
                f"candidate {getattr(function, '__name__', function)!r} requires "
                f"{parameter.name!r}, which {problem.name} does not have; its arguments are "
                f"{', '.join(problem.arguments)}. Give it a default, or translate: verification.adapt(..., "
                "rename={...}, constants={...})"
            )
    missing = [a for a in problem.required if a not in positional + named]
    if missing:
        raise CandidateSignatureError(
            f"candidate {getattr(function, '__name__', function)!r} takes no {', '.join(missing)}, "
            f"without which {problem.name} is not determined"
        )
    return tuple(positional), tuple(named)
