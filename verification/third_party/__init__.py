"""Other people's code, verified as any candidate is: found by discovery, with what was found as data.

A third-party solver is a function of a module of this folder, the foreign one under the problem's arguments, scaled
as its documentation says, and an entry of its name in ``findings.toml``:

``what``, ``problem``
    What it is, and the problem that it solves.
``packages``
    Distributions that it needs; imported when it is called, not before. Without them it is skipped, and counted.
``fixed``, ``batch``, ``checks``, ``refuses``, ``accuracy`` : optional
    Passed to `verification.verify`: what the function has built in or promises (``tol``), whether it
    takes batches, the checks that make sense, the errors by which it refuses arguments, and the relative
    accuracy that its authors promise.
``found``
    What was found, and whether it is outside of what its authors promise.
``defect``, where it is wrong within what they promise
    That in one sentence.
``reproduce``, where it fails
    Code with numpy and the foreign package alone that sets ``returned`` and ``right``.

``python -m verification.third_party`` runs them, ``--record`` stores which checks failed, with versions and the
smallest counterexample; the gallery in the docs shows that.
"""

import functools
import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verification.kit.loop import verify
from verification.report.environment import version
from verification.third_party._making import findings
from verification.verdicts.report import Report

#: Reports of whole runs, by `record`.
RECORDED = Path(__file__).with_name("recorded.json")


@dataclass(frozen=True)
class ThirdPartySolver:
    """Somebody else's solver, and what was found about it; see the package."""

    name: str
    problem: str
    packages: tuple[str, ...]
    what: str
    candidate: Callable[..., Any]
    found: str
    reproduce: str = ""
    fixed: dict[str, Any] = field(default_factory=dict)
    batch: bool | None = None
    checks: tuple[str, ...] | None = None
    refuses: tuple[str, ...] = ()
    accuracy: float | None = None
    defect: str = ""

    @property
    def missing(self) -> str:
        """Why it cannot be run here; empty if it can."""
        absent = [name for name in self.packages if version(name) is None]
        return f"{', '.join(absent)} not installed" if absent else ""

    @property
    def fails(self) -> tuple[str, ...]:
        """The checks that failed in the recorded quick run."""
        return tuple(recorded()[self.name]["quick"]["failures"])

    @property
    def judged(self) -> tuple[str, ...]:
        """The checks that the recorded quick run had."""
        return tuple(recorded()[self.name]["quick"]["checks"])

    @property
    def versions(self) -> dict[str, str]:
        """Installed versions of its packages."""
        return {name: v for name in self.packages if (v := version(name)) is not None}


@functools.cache
def discover() -> dict[str, ThirdPartySolver]:
    """All third-party solvers by name."""
    functions: dict[str, Any] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            functions |= vars(importlib.import_module(f"{__name__}.{info.name}"))
    found = {}
    for name, given in findings().items():
        told: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in given.items()
        }
        found[name] = ThirdPartySolver(name=name, candidate=functions[name], **told)
    return found


def run(
    third_party_solver: ThirdPartySolver,
    profile: str = "quick",
    seed: int = 0,
    *,
    checks: Iterable[str] | None = None,
    shrink: bool = True,
    timeout: float = 120.0,
) -> Report:
    """The report on one third-party solver.

    Parameters
    ----------
    third_party_solver : ThirdPartySolver
    profile, seed
        As for `verification.verify`.
    checks : iterable of str, optional
        These only; default the third-party solver's own.
    shrink : bool
        Look for the smallest counterexample.
    timeout : float
        Seconds per call; generous, for some take millions of steps.
    """
    settings: dict[str, Any] = (
        {"fixed": third_party_solver.fixed} if third_party_solver.fixed else {}
    )
    chosen = third_party_solver.checks if checks is None else checks
    return verify(
        third_party_solver.candidate,
        third_party_solver.problem,
        profile,
        seed,
        checks=chosen,
        batch=third_party_solver.batch,
        refuses=third_party_solver.refuses,
        accuracy=third_party_solver.accuracy,
        shrink=shrink,
        timeout=timeout,
        **settings,
    )


def failing(report: Report) -> tuple[str, ...]:
    """Names of the checks that failed, in their order."""
    return tuple(dict.fromkeys(r.check for r in report.failures))


def reproduce(third_party_solver: ThirdPartySolver) -> tuple[Any, Any]:
    """What the printed code returns, and what is right."""
    scope: dict[str, Any] = {}
    exec(third_party_solver.reproduce, scope)
    return scope["returned"], scope["right"]


def record(names: Iterable[str], profile: str = "quick", seed: int = 0) -> dict[str, Any]:
    """Run third-party solvers and write what was found to `RECORDED`; those not installed keep their record."""
    known = {name: found for name, found in recorded().items() if name in discover()}
    for name in names:
        third_party_solver = discover()[name]
        if third_party_solver.missing:
            continue
        report = run(third_party_solver, profile, seed)
        distances = [r.distance for r in report.failures if r.distance is not None]
        known.setdefault(name, {})[profile] = {
            "versions": third_party_solver.versions,
            "problem": third_party_solver.problem,
            "seed": seed,
            "counts": {verdict: n for verdict, n in report.counts.items() if n},
            "checks": list(report.by_check()),
            "failures": {
                check: bad
                for check, counts in report.by_check().items()
                if (bad := counts["fail"] + counts["crash"] + counts["timeout"])
            },
            "largest failing distance": max(distances, default=None),
            "seconds": round(report.elapsed, 1),
            "counterexample": report.counterexample,
        }
    recorded.cache_clear()
    RECORDED.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    return known


@functools.cache
def recorded() -> dict[str, Any]:
    """The stored reports: name -> profile -> what was found."""
    if not RECORDED.exists():
        return {}
    return dict(json.loads(RECORDED.read_text(encoding="utf-8")))
