"""Auto-graded exercises: one per file, found by discovery.

An exercise is a module whose docstring is its title, its statement and, under ``Hints``, three paragraphs: an idea,
the next formula, nearly all. The module has

``LECTURE`` : int
    The lecture of the course that it belongs to.
``PROBLEM`` : str
    What the kit judges, ``"simplex.projection"``. Without it the module judges by itself:
    ``instances(seed)`` yields arguments, from small to large, and ``judge(answer, **arguments)`` returns
    a `Judgement`.
The key, a function of the name in "Write `name(...)`"
    A solution in numpy alone; its signature is that of what is handed in.

Functions under `wrong` are answers that students do hand in. What `key_source` prints is the module without
those and without what judges, so that it runs by itself.
"""

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from verification.errors import InvalidArgumentError
from verification.problems.problem import Problem, lookup

Function = TypeVar("Function", bound=Callable[..., Any])


def wrong(function: Function) -> Function:
    """Mark an answer that is wrong; its docstring says why."""
    function.wrong = True  # type: ignore[attr-defined]
    return function


class Own(Problem):
    """What an exercise asks that judges by itself: nothing is declared, all arguments are required."""

    symbols = ()


@dataclass(frozen=True)
class Exercise:
    """One exercise, read from its module."""

    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.module.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def statement(self) -> str:
        """What is asked, in Markdown."""
        asked, _, _ = (self.module.__doc__ or "").partition("\nHints\n-----\n")
        return inspect.cleandoc(asked.partition("\n")[2])

    @property
    def lecture(self) -> int:
        """Number of the lecture."""
        return int(self.module.LECTURE)

    @property
    def hints(self) -> tuple[str, str, str]:
        """An idea, the next formula, nearly all."""
        told = (self.module.__doc__ or "").partition("\nHints\n-----\n")[2]
        first, second, third = told.strip().split("\n\n")
        return first, second, third

    @property
    def key(self) -> Callable[..., Any]:
        """The lecturer's solution."""
        found: Callable[..., Any] = getattr(self.module, self.function)
        return found

    @property
    def function(self) -> str:
        """The name under which a solution is looked for: the one that is asked for."""
        found = re.search(r"Write\s+`(\w+)\(", self.statement)
        assert found is not None, self.name
        return found[1]

    @property
    def wrong(self) -> dict[str, Callable[..., Any]]:
        """Wrong answers by name."""
        return {n: f for n, f in vars(self.module).items() if getattr(f, "wrong", False)}

    @functools.cached_property
    def problem(self) -> Problem:
        """What is judged; for an exercise that judges by itself a problem of its own."""
        if hasattr(self.module, "PROBLEM"):
            return lookup(self.module.PROBLEM)
        arguments = tuple(inspect.signature(self.key).parameters)
        return Own(f"exercise.{self.name}", self.name, self.function, "exercises", arguments)

    @property
    def own(self) -> bool:
        """Whether the module judges, not the kit's checks."""
        return not hasattr(self.module, "PROBLEM")

    @property
    def fixed(self) -> dict[str, Any]:
        """Values of the arguments that are not asked for: every instance has them."""
        asked = inspect.signature(self.key).parameters
        return {n: v for n, v in self.problem.defaults.items() if n not in asked}

    def signature(self) -> str:
        """``project(a, r=1.0)``."""
        bare = inspect.Parameter.empty
        parameters = inspect.signature(self.key).parameters.values()
        plain = inspect.Signature([p.replace(annotation=bare) for p in parameters])
        return f"{self.function}{plain}"

    def skeleton(self) -> str:
        """A file to fill in."""
        first, *rest = self.statement.splitlines()
        text = "\n".join([f'"""{self.title}.', "", first, *rest, '"""'])
        body = f'def {self.signature()}:\n    raise NotImplementedError("to be written")\n'
        return f"{text}\n\nimport numpy as np\n\n\n{body}"

    def key_source(self) -> str:
        """The key as a module that runs by itself."""
        source = inspect.getsource(self.module)
        kept = [_text(node, source) for node in ast.parse(source).body if _of_key(node)]
        imports = [text for text in kept if text.startswith(("import ", "from "))]
        return (
            "\n".join(imports)
            + "\n\n\n"
            + "\n\n\n".join(t for t in kept if t not in imports)
            + "\n"
        )


#: What only types and judges need.
NOT_OF_KEYS = ("collections.abc", "fractions", "itertools", "typing", "refsolve", "verification")


def _of_key(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not str(node.module).startswith(NOT_OF_KEYS)
    judging = isinstance(node, ast.FunctionDef) and node.name in ("instances", "judge")
    plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
    return isinstance(node, ast.Import) or (plain and not judging)


def _text(node: ast.stmt, source: str) -> str:
    return ast.get_source_segment(source, node) or ""


@functools.cache
def discover() -> dict[str, Exercise]:
    """All exercises by name, in the order of the lectures."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    found = [Exercise(name, importlib.import_module(f"{__name__}.{name}")) for name in names]
    return {each.name: each for each in sorted(found, key=lambda e: (e.lecture, e.name))}


def find(name: str) -> Exercise:
    """One exercise; InvalidArgumentError says which there are."""
    known = discover()
    if name not in known:
        raise InvalidArgumentError(f"exercise={name!r}: expected one of {', '.join(known)}")
    return known[name]
