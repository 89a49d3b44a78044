"""A CVXPY problem from a file, solved if it has to be, and its certificate as a document."""

from __future__ import annotations

import ctypes
import importlib
import os
import runpy
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from refsolve.cones import ProblemCertificate, Verdict, certify
from verification.errors import InvalidArgumentError
from verification.kit.solver_call import said
from verification.report.document import Block, Code, Document, Paragraph, number, table

_WORDS = {
    Verdict.CERTIFIED: "certified: feasible and optimal within the tolerance",
    Verdict.NEARLY_FEASIBLE: "feasible only to δ: the value may be off",
    Verdict.INCONSISTENT: "inconsistent data: equations contradict each other by rounding",
    Verdict.INFEASIBLE: "proven: no point is feasible",
    Verdict.UNBOUNDED: "proven: the objective has no bound",
    Verdict.VIOLATED: "REFUTED: a constraint fails",
    Verdict.SUBOPTIMAL: "REFUTED: a feasible point is better",
    Verdict.INCONCLUSIVE: "inconclusive",
}


@contextmanager
def _aside() -> Iterator[None]:
    """What files and solvers print, some below Python, goes to standard error: the other is for answers."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def loaded(name: str) -> Any:
    """The problem that ``file.py:name`` or ``module:name`` names; a function is called.

    Raises
    ------
    InvalidArgumentError
        Nothing there, code that fails, or no CVXPY problem.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise InvalidArgumentError(f"problem={name!r}: expected FILE.py:NAME or MODULE:NAME")
    path = Path(place)
    try:
        with _aside():
            if path.suffix == ".py":
                # its neighbours, as python FILE.py has them
                sys.path.insert(0, str(path.resolve().parent))
                module: Any = SimpleNamespace(**runpy.run_path(place, run_name=path.stem))
            else:
                module = importlib.import_module(place)
            if not hasattr(module, attribute):
                raise AttributeError(f"{place} has no attribute {attribute!r}")
            found = getattr(module, attribute)
            made = found() if callable(found) else found
    except (Exception, SystemExit) as error:  # whatever its code does
        raise InvalidArgumentError(f"problem={name!r}: {said(error)}") from error
    import cvxpy as cp

    if not isinstance(made, cp.Problem):
        raise InvalidArgumentError(
            f"problem={name!r}: expected a cvxpy.Problem or a function that returns one, "
            f"got {type(made).__name__}"
        )
    return made


def solved(problem: Any, solver: str | None) -> str:
    """Solve unless there are values already; what went wrong, in words."""
    if solver is None and all(variable.value is not None for variable in problem.variables()):
        return ""
    import cvxpy as cp

    if solver is not None and solver not in cp.installed_solvers():
        raise InvalidArgumentError(
            f"solver={solver!r}: expected one of {', '.join(sorted(cp.installed_solvers()))}"
        )
    try:
        with warnings.catch_warnings(), _aside():
            warnings.simplefilter("ignore")  # what it says of itself is not believed either way
            problem.solve(solver=solver)
    except Exception as error:  # a solver that cannot, or that fails
        return f"the solver failed: {said(error)}"
    return ""


def document(
    problem: object, name: str, solver: str | None, tolerance: float, save: Path | None = None
) -> Document:
    """What is certain of the problem; ``save`` it for others to check, too."""
    failed = solved(problem, solver)
    proof = certify(problem, tolerance=tolerance)
    if save is not None:
        proof.save(save)
    blocks: list[Block] = [Paragraph(failed, "warn")] if failed else []
    blocks.append(_numbers(problem, proof))
    if proof.reason:
        blocks.append(Paragraph(f"Why: {proof.reason}.", "bad"))
    assumed = "; ".join(proof.assumptions)
    blocks.append(Paragraph(f"Taken for granted: {assumed}.", "dim"))
    blocks.append(
        Code("The same in Python", "from refsolve import certify\nproof = certify(problem)")
    )
    words = _WORDS[proof.status]
    point = proof.feasible_point or {}
    data = asdict(replace(proof, evidence=None, feasible_point=None))
    del data["evidence"]
    data["feasible_point"] = {str(v): np.asarray(at).tolist() for v, at in point.items()}
    return Document(f"certify {name}", tuple(blocks), proof.certified, data, good=words, bad=words)


def _numbers(problem: Any, proof: ProblemCertificate) -> Any:
    rows = [
        ("the solver said", proof.solver_said),
        ("objective at the point, at most or at least", f"{proof.value:.10g}"),
        ("the optimum is between", f"{proof.lower:.10g} and {proof.upper:.10g}"),
        ("a feasible point is from the optimum by at most", number(proof.bound, 3)),
        ("and this far from the values, in its largest entry", number(proof.moved, 3)),
        ("the values may be better than the optimum by", number(proof.below, 3)),
        ("constraints fail by at most", number(proof.delta, 3)),
        ("the bound rests on", ", ".join(proof.by) or "-"),
        ("variables, constraints",
         f"{sum(v.size for v in problem.variables())}, {len(problem.constraints)}"),
    ]  # fmt: skip
    return table(
        "What is certain", ("", ""), [row for row in rows if row[1] not in ("inf", "-inf")]
    )
