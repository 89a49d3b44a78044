"""Wrong solvers on purpose: a file per family, found by discovery.

`wrong` above a function with the signature of a problem makes a mutant of it: its name is that of the
function, and the docstring says what is wrong; `wrong_step` above one step of a sound algorithm makes a
mutant of the rest with that step. Apart from its one defect it is right: the sound algorithms it is made
from (`sound`) pass every check, so what kills a mutant is its defect.
`verification.selftest.detection_matrix` runs them all.
"""

import contextlib
import functools
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from verification.kit.fixing import fix
from verification.kit.loop import verify
from verification.problems.problem import lookup
from verification.verdicts.report import Report

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Mutant:
    """A wrong solver: its name, the problem it gets wrong, what is wrong, and the callable."""

    name: str
    problem: str
    defect: str
    candidate: Callable[..., Any] | None = None
    command: tuple[str, ...] = ()
    isolate: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    errata: tuple[str, ...] = ()
    timeout: float = 10.0
    accuracy: float | None = None
    needs: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the packages that it needs are installed."""
        return all(importlib.util.find_spec(name) for name in self.needs)


def wrong(
    problem: str,
    *,
    erratum: str | tuple[str, ...] = (),
    fixed: Mapping[str, Any] | None = None,
    command: tuple[str, ...] = (),
    isolate: bool = False,
    timeout: float = 10.0,
    accuracy: float | None = None,
    needs: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """The decorator of a wrong solver.

    Parameters
    ----------
    problem : str
        What it gets wrong, e.g. ``"simplex.projection"``.
    erratum : str or tuple of str
        Errata of the papers, or defects of other libraries, that it implements: keys of
        `verification.selftest.errata.ERRATA`.
    fixed : dict, optional
        Arguments that it has built in, see ``verify(fixed=...)``.
    command : tuple of str
        A wrong program, see `verification.external`; the function is its name and its docstring only.
    isolate : bool
        Whether it must run in a process of its own: it takes the interpreter with it.
    timeout : float
        Seconds per call, for one that hangs.
    accuracy : float, optional
        What it promises, and does not keep, see `verification.verdicts.accuracy_contract`.
    needs : tuple of str
        Packages without which it is left out.
    """

    def decorate(function: Function) -> Function:
        defect = " ".join((function.__doc__ or "").split())
        errata = (erratum,) if isinstance(erratum, str) else tuple(erratum)
        candidate = None if command else function
        function.mutant = Mutant(  # type: ignore[attr-defined]
            function.__name__, problem, defect, candidate, tuple(command), isolate, fixed or {}, errata, timeout,
            accuracy, tuple(needs),
        )  # fmt: skip
        return function

    return decorate


def wrong_step(
    problem: str, solver: Callable[[Any], Callable[..., Any]], **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator of one wrong step: ``solver(step)`` is wrong by it alone. Options as for `wrong`."""

    def decorate(step: Callable[..., Any]) -> Callable[..., Any]:
        candidate = solver(step)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(candidate, name, getattr(step, name))
        return wrong(problem, **options)(candidate)

    return decorate


def _of(module: Any) -> dict[str, Mutant]:
    """The mutants that a module defines."""
    # torch, which is imported when something of it is asked for, must not be asked
    found = (getattr(each, "mutant", None) for each in vars(module).values() if callable(each))
    return {m.name: m for m in found if isinstance(m, Mutant)}


@functools.cache
def discover() -> dict[str, Mutant]:
    """All mutants by name."""
    found: dict[str, Mutant] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.ispkg and not info.name.startswith("_"):
            found |= _of(importlib.import_module(f"{__name__}.{info.name}"))
    return dict(sorted(found.items()))


def anew(name: str) -> Mutant:
    """The mutant without what earlier calls in this process left in it: its family is loaded again."""
    family = sys.modules[str(discover()[name].candidate.__module__)]
    return _of(importlib.reload(family))[name]


@contextlib.contextmanager
def opened(mutant: Mutant) -> Iterator[Callable[..., Any]]:
    """The mutant as something to call; its process, if it has one, ends with the block."""
    from verification.external import External, isolated

    if mutant.command:
        with External(mutant.command, mutant.problem) as program:
            yield program
        return
    assert mutant.candidate is not None
    if not mutant.isolate:
        yield mutant.candidate
        return
    task = fix(lookup(mutant.problem), mutant.fixed)
    with isolated(mutant.candidate, task) as function:
        yield function


def run(mutant: Mutant, profile: str = "quick", seed: int = 0) -> Report:
    """The report on one mutant, with the smallest counterexample."""
    fixed, timeout, promised = mutant.fixed or None, mutant.timeout, mutant.accuracy
    with opened(mutant) as function:
        return verify(
            function, mutant.problem, profile, seed, fixed=fixed, timeout=timeout, accuracy=promised
        )
