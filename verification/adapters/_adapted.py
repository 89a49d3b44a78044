"""The callable that an adapter is: the problem's arguments in, the function's answer out."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step, as_floats, unknown
from verification.errors import CandidateSignatureError
from verification.kit.signatures import full_name, in_order, match, parameters
from verification.problems.problem import Problem


@dataclass(eq=False, repr=False)
class Adapted:
    """A function with the argument names, and the conventions, of a problem.

    Built by `verification.adapt`. ``inspect.signature`` shows the problem's arguments that it takes,
    and its importable name is that of the module variable which holds it.
    """

    function: Callable[..., Any]
    problem: Problem | None
    steps: Sequence[Step]
    order: InitVar[Sequence[str] | None]
    rename: InitVar[Mapping[str, str]]
    constants: dict[str, Any]
    out: str | None
    overwrites: str | None
    dtype: Any
    module: InitVar[str]

    def __post_init__(
        self, order: Sequence[str] | None, rename: Mapping[str, str], module: str
    ) -> None:
        self.__module__ = module
        self.__doc__ = getattr(self.function, "__doc__", None)
        self._name = full_name(self.function)[1]
        self._positional, self._named = self._matched(order, rename)
        self.__signature__ = self._signature()

    def _matched(
        self, order: Sequence[str] | None, rename: Mapping[str, str]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Our names to pass by position; and by name, under the function's names."""
        added = [name for step in self.steps for name in step.adds]
        if self.problem is not None:
            known = (*self.problem.arguments, *added)
            unknown(list(order or ()), known, "order")
            unknown(list(rename.values()), known, "rename")
        own = (set(self.constants) | {self.out}) - {None}
        # the parameters of a ufunc have no names of a problem's
        theirs = None if isinstance(self.function, np.ufunc) else parameters(self.function)
        if order is not None:
            named = {ours: theirs_ for theirs_, ours in rename.items() if ours not in order}
            return tuple(order), named
        if theirs is None:
            if self.problem is None or rename:
                raise CandidateSignatureError(
                    f"{self._name} does not say what arguments it takes: give order=(...), the "
                    "problem's arguments in its order"
                )
            return self.problem.arguments, {}
        listed = {p.name for p in theirs}
        wide = any(p.kind is p.VAR_KEYWORD for p in theirs)
        missing = [name for name in (*rename, *own) if name not in listed]
        if missing and not wide:
            raise CandidateSignatureError(
                f"{self._name} has no parameter {', '.join(map(repr, missing))}; "
                f"it has {', '.join(listed)}"
            )
        seen = [
            p.replace(name=rename.get(p.name, p.name))
            for p in theirs
            if p.name not in own and p.kind is not p.VAR_KEYWORD
        ]
        back = {ours: name for name, ours in rename.items()}
        unlisted = {ours: name for ours, name in back.items() if name not in listed}  # **kwargs
        if self.problem is None:
            kept = [p for p in seen if p.kind is not p.VAR_POSITIONAL]
            return (), {p.name: back.get(p.name, p.name) for p in kept} | unlisted
        keyword = inspect.Parameter.KEYWORD_ONLY
        extra_parameters = [inspect.Parameter(n, keyword) for n in unlisted if n not in added]
        stub = _Stub(self._name, [*(p for p in seen if p.name not in added), *extra_parameters])
        positional, by_name = match(stub, self.problem)
        # those recognised by their place are passed under the names that they have there
        by_place = dict(zip(positional, stub.__signature__.parameters.values(), strict=False))
        first: tuple[str, ...] = tuple(
            n for n, p in by_place.items() if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)
        )
        if len(by_place) < len(positional) or any(
            p.kind is p.VAR_POSITIONAL for p in by_place.values()
        ):
            first, by_place = positional, {}
        theirs_of = {n: p.name for n, p in by_place.items() if n not in first}
        extra = [n for n in added if n in {*(p.name for p in seen), *unlisted}]
        return first, theirs_of | {n: back.get(n, n) for n in (*by_name, *extra)}

    def _signature(self) -> inspect.Signature:
        added = {name for step in self.steps for name in step.adds}
        used = [n for n in (*self._positional, *self._named) if n not in added]
        wanted = [n for step in self.steps for n in _asked(step) if n not in used]
        known = self.problem.arguments if self.problem is not None else tuple(used)
        names = [n for n in known if n in used or n in wanted]
        if self.problem is not None:  # what is needed to say where the truth is
            names = [n for n in known if n in names or n in self.problem.required]
        defaults = self.problem.defaults if self.problem is not None else {}
        return inspect.Signature(in_order(names, defaults))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Solve: arguments under the problem's names, the answer in the problem's shape."""
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        given: Given = {
            name: np.asarray(value) if isinstance(value, (list, tuple)) else value
            for name, value in bound.arguments.items()
        }
        trail = []
        for step in self.steps:
            trail.append(given)
            given = step.before(given)
        answer = self._call(given)
        for step, before in zip(reversed(self.steps), reversed(trail), strict=True):
            answer = step.after(answer, before)
        return answer

    def _call(self, given: Given) -> Any:
        overwritten = None
        if self.overwrites is not None:
            overwritten = given[self.overwrites]
            if isinstance(overwritten, np.ndarray):
                overwritten = as_floats(overwritten).copy()
            elif hasattr(overwritten, "clone"):
                overwritten = overwritten.detach().clone()
            given = {**given, self.overwrites: overwritten}
        args = [given[name] for name in self._positional]
        kwargs = {theirs: given[ours] for ours, theirs in self._named.items()} | self.constants
        if self.out is not None:
            main = next(iter(given.values()))
            array = isinstance(main, np.ndarray)
            overwritten = np.zeros_like(as_floats(main)) if array else main * 0
            kwargs[self.out] = overwritten
        answer = self.function(*args, **kwargs)
        return overwritten if overwritten is not None else answer

    def __getattr__(self, name: str) -> Any:
        # Found lazily: when adapt() runs, the variable that will hold its result has no value yet.
        if name in ("__name__", "__qualname__"):
            module = sys.modules.get(self.__module__)
            for variable, value in vars(module).items() if module is not None else ():
                if value is self:
                    return variable
            return f"adapt({self.__dict__.get('_name', '?')})"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        """The function, and the signature that it now has."""
        return f"<adapted {self._name}{self.__signature__}>"


class _Stub:
    """Something with a name and a signature, to be matched to a problem."""

    def __init__(self, name: str, parameters: list[inspect.Parameter]):
        self.__name__ = name
        self.__signature__ = inspect.Signature(parameters)

    def __call__(self) -> None:
        """Never called."""


def _asked(step: Step) -> list[str]:
    """Arguments that a step's formulas are functions of."""
    return [name for formula in getattr(step, "formulas", ()) for name in formula.names]
