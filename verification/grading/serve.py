"""``python -m verification.grading.serve FILE.py:function --problem NAME``: a handed-in file as a server.

The file is loaded by its path, whatever it is called; what is wrong with it is said with its line.
"""

import ast
import importlib.util
import inspect
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from verification.errors import InvalidArgumentError
from verification.exercises import find
from verification.external import serve
from verification.kit.solver_call import said
from verification.problems.problem import Problem, lookup


def problem_named(name: str) -> Problem:
    """A problem of the kit, or that of an exercise that judges by itself."""
    object_name, _, own = name.partition(".")
    return find(own).problem if object_name == "exercise" else lookup(name)


def load(target: str) -> Callable[..., Any]:
    """Load ``FILE.py:function``; without that name the file must define one function only."""
    path, _, name = target.rpartition(":")
    module = _module(Path(path))
    if callable(function := getattr(module, name, None)):
        if _is_blank(function):
            raise InvalidArgumentError(
                f"{name} in {Path(path).name} is still to be written: replace `raise NotImplementedError` by an answer"
            )
        return function
    own = [
        f"{n}{inspect.signature(f)}"
        for n, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__
    ]
    there = f"it defines {', '.join(own)}" if own else "it defines no function at all"
    raise InvalidArgumentError(
        f"no function {name!r} in {Path(path).name}: {there}; hand in FILE.py:NAME for another name"
    )


def _is_blank(function: Callable[..., Any]) -> bool:
    """Whether all that it does is to raise NotImplementedError."""
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return False
    if not isinstance(node, ast.FunctionDef):
        return False
    body = [ast.unparse(each) for each in node.body[ast.get_docstring(node) is not None :]]
    return len(body) == 1 and body[0].startswith("raise NotImplementedError")


def _module(path: Path) -> ModuleType:
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "handed_in"
    sys.path.append(str(path.parent))  # what stands beside it; last, so that nothing is shadowed
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        text = (error.text or "").strip()
        raise InvalidArgumentError(
            f"{type(error).__name__} in line {error.lineno}: {error.msg}: {text!r:.80}"
        ) from error
    except BaseException as error:  # whatever it does at once, sys.exit() among it
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)
        ]
        where = f" in line {lines[-1]}" if lines else ""
        raise InvalidArgumentError(f"it cannot be imported: {said(error)}{where}") from error
    return module


if __name__ == "__main__":
    sys.exit(serve.main(find=problem_named, load=load))
