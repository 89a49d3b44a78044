"""Runs the wrong certificates: which check refutes each of them, and whether the right ones pass."""

from __future__ import annotations
import __future__

import importlib
import inspect
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError, VerificationError
from verification.report.document import Block, Cell, Document, Paragraph, table
from verification.selftest.certificates import (
    core,
    decimals,
    losses,
    models,
    multiclass,
    rankings,
    sets,
)
from verification.selftest.certificates.exact import RefutedError
from verification.selftest.certificates.patches import WRONG, Wrong

Progress = Callable[[int, int, str], None]

#: The checks by name, quick ones first; each takes a seed and raises `RefutedError`.
CHECKS: dict[str, Callable[[int], None]] = {
    check.__name__: check
    for check in (
        sets.formulas,
        losses.values,
        losses.conjugates,
        losses.gradients,
        decimals.entropies,
        decimals.roots,
        rankings.rankings,
        multiclass.multiclass,
        *models.CHECKS,
        decimals.entropic_steps,
        losses.proxes,
        losses.updates,
        sets.projections,
        *core.CHECKS,
    )
}


class StalePatchError(VerificationError):
    """What a wrong certificate replaces is not in the function (any more), or there more than once."""


def function_of(target: str) -> FunctionType:
    """The function, method or property ``"module:qualified.name"``."""
    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    found = getattr(found, "fget", found)
    if not isinstance(found, FunctionType):
        raise StalePatchError(f"{target} is no function: {found!r}")
    return found


def code_of(patch: Wrong) -> CodeType:
    """The code of the function with its one piece replaced."""
    function = function_of(patch.target)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(patch.right) != 1:
        raise StalePatchError(
            f"{patch.name}: {patch.right!r} stands {source.count(patch.right)} times in {patch.target}, not once"
        )
    tree = compile(
        source.replace(patch.right, patch.wrong), f"<{patch.name}>", "exec",
        __future__.annotations.compiler_flag, dont_inherit=True,
    )  # fmt: skip
    return next(
        each
        for each in tree.co_consts
        if isinstance(each, CodeType) and each.co_name == function.__name__
    )


@contextmanager
def patched(patch: Wrong) -> Iterator[None]:
    """The core with this defect, wherever the function was imported to."""
    function = function_of(patch.target)
    right, function.__code__ = function.__code__, code_of(patch)
    try:
        yield
    finally:
        function.__code__ = right


def refuted_by(seed: int = 0) -> tuple[str, str]:
    """The first check that fails, and what it says; ``("", "")`` if none does."""
    for name, check in CHECKS.items():
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(seed)
        except RefutedError as error:
            return name, str(error)
        except Exception as error:
            return name, f"{type(error).__name__}: {error}"
    return "", ""


@dataclass(frozen=True)
class Matrix:
    """Wrong certificates with the check that refuted them, and the checks on the right ones.

    ``found``: name -> (check, what it says); ``right``: check -> what is wrong, empty if nothing is.
    """

    seed: int
    found: Mapping[str, tuple[str, str]]
    right: Mapping[str, str]
    seconds: float

    @property
    def survivors(self) -> tuple[str, ...]:
        """Wrong certificates that no check refuted."""
        return tuple(name for name, (check, _) in self.found.items() if not check)

    @property
    def ok(self) -> bool:
        """All refuted, and nothing said against the right ones."""
        return not self.survivors and not any(self.right.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "seed": self.seed,
            "certificates": len(self.found),
            "refuted": len(self.found) - len(self.survivors),
            "survivors": list(self.survivors),
            "seconds": round(self.seconds, 1),
            "rows": {
                name: {"function": WRONG[name].target, "check": check}
                for name, (check, _) in self.found.items()
            },
            "right": {name: not said for name, said in self.right.items()},
        }


def run(only: str = "*", seed: int = 0, progress: Progress | None = None) -> Matrix:
    """Try the wrong certificates whose names or functions match ``only``, and the right ones.

    Raises
    ------
    InvalidArgumentError
        If nothing matches.
    StalePatchError
        If a wrong certificate replaces what is not there.
    """
    chosen = [p for p in WRONG.values() if fnmatch(p.name, only) or fnmatch(p.target, only)]
    if not chosen:
        raise InvalidArgumentError(
            f"only={only!r} matches no wrong certificate; expected a name or a function with wildcards, "
            "e.g. 'gap_*'"
        )
    start = time.perf_counter()
    right = {}
    for name, check in CHECKS.items():
        right[name] = ""
        try:
            check(seed)
        except RefutedError as error:
            right[name] = str(error)
    found = {}
    for done, patch in enumerate(chosen, 1):
        with patched(patch):
            found[patch.name] = refuted_by(seed)
        if progress is not None:
            progress(done, len(chosen), patch.name)
    return Matrix(seed, found, right, time.perf_counter() - start)


def document(matrix: Matrix) -> Document:
    """A row per wrong certificate, and a row per check."""
    rows: list[tuple[str | Cell, ...]] = [
        (name, WRONG[name].target.removeprefix("refsolve."), WRONG[name].defect,
         check or Cell("SURVIVED", "bad"))
        for name, (check, _) in matrix.found.items()
    ]  # fmt: skip
    per: list[tuple[str | Cell, ...]] = [
        (name, str(sum(check == name for check, _ in matrix.found.values())),
         Cell("pass", "good") if not said else Cell("FAIL", "bad"))
        for name, said in matrix.right.items()
    ]  # fmt: skip
    blocks: list[Block] = [
        table("Wrong certificates", ("name", "function", "what is wrong", "refuted by"), rows),
        table("Checks", ("check", "refutes first", "the right ones"), per, ("refutes first",)),
    ]
    blocks += [Paragraph(f"{name}: {said}", "bad") for name, said in matrix.right.items() if said]
    refuted = len(matrix.found) - len(matrix.survivors)
    blocks.append(
        Paragraph(
            f"{refuted} of {len(matrix.found)} wrong certificates refuted, "
            f"{sum(not said for said in matrix.right.values())} of {len(matrix.right)} checks pass the "
            f"right ones, {matrix.seconds:.1f} s"
        )
    )
    good = "exact arithmetic refutes the wrong certificates and passes the right ones"
    return Document("Wrong certificates", tuple(blocks), matrix.ok, matrix.to_dict(), good)
