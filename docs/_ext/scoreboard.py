"""What solvers say of convex problems, what is certain of it, and how long both take.

``python docs/_ext/records.py scoreboard`` solves every problem of three sets with every installed solver
that takes it, at its defaults and in a process of its own, certifies what it left, and writes a line
each to docs/records/scoreboard.jsonl: the families of `scoreboard_families`, the examples of CVXPY's
documentation (`cvxpy_examples`) and the problems of CVXPY's solver tests.
"""

import os
import statistics
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cvxpy as cp
import cvxpy_examples
import numpy as np
import scoreboard_families
from cvxpy.tests import solver_test_helpers
from markup import Html, table

import refsolve
from refsolve.errors import InvalidParameterError
from verification.benchmarks.forked import TIMEOUT, forked

LIMIT_SOLVE, LIMIT_CERTIFY = 20.0, 40.0
#: Name on the board, name in CVXPY, options.
SOLVERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("Clarabel", "CLARABEL", {}),
    ("SCS", "SCS", {}),
    ("ECOS", "ECOS", {}),
    ("OSQP", "OSQP", {}),
    ("HiGHS simplex", "HIGHS", {"solver": "simplex"}),
    ("HiGHS ipm", "HIGHS", {"solver": "ipm"}),
    ("HiGHS pdlp", "HIGHS", {"solver": "pdlp"}),
    ("HiGHS QP", "HIGHS", {}),
    ("PIQP", "PIQP", {}),
    ("ProxQP", "PROXQP", {}),
    ("QOCO", "QOCO", {}),
    ("DAQP", "DAQP", {}),
)
#: What solvers call their primal and dual residuals.
_RESIDUALS = (
    ("r_prim", "r_dual"), ("res_pri", "res_dual"), ("pres", "dres"), ("prim_res", "dual_res"),
    ("primal_res", "dual_res"), ("pri_res", "dua_res"),
    ("max_primal_infeasibility", "max_dual_infeasibility"),
)  # fmt: skip
_REFUTED = ("violated", "suboptimal", "infeasible", "unbounded")
_NEAR = ("feasible only to δ", "inconsistent data")
Row = dict[str, Any]


@contextmanager
def quiet() -> Iterator[None]:
    """Solvers print below Python's standard output."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def _residual(raw: object) -> float | None:
    """The larger of a solver's own primal and dual residual."""
    for holder in (raw, raw.get("info") if isinstance(raw, dict) else getattr(raw, "info", None)):
        for names in _RESIDUALS:
            if isinstance(holder, dict):
                values = [holder.get(name) for name in names]
            else:
                values = [getattr(holder, name, None) for name in names]
            if None not in values:
                return max(abs(float(v)) for v in values if v is not None)
    return None


def ask(problem: cp.Problem, name: str, options: dict[str, Any]) -> Row | None:
    """Solve; None if the solver does not take such problems."""
    start = time.process_time()
    try:
        data, chain, inverse = problem.get_problem_data(
            name, gp=problem.is_dgp() and not problem.is_dcp(), solver_opts=dict(options)
        )
    except (cp.error.SolverError, cp.error.DCPError, ValueError, TypeError):  # not taken
        return None
    if name == "HIGHS" and (data.get("P") is not None) != (not options):
        return None  # its three algorithms are for linear programs
    said, raw = "failed", None
    try:
        raw = chain.solve_via_data(problem, data, False, False, dict(options))
        problem.unpack_results(raw, chain, inverse)
        said = problem.status
    except Exception as error:  # whatever a solver does is part of the record
        said = problem.status or f"failed: {type(error).__name__}"
    A = data.get("A")
    return {
        "said": said, "seconds": round(time.process_time() - start, 4), "residual": _residual(raw),
        "variables": int(sum(v.size for v in problem.variables())),
        "nonzeros": int(getattr(A, "nnz", 0)),
    }  # fmt: skip


def judge(problem: cp.Problem) -> Row:
    """What is certain."""
    start = time.process_time()
    try:
        proof = refsolve.certify(problem)
    except InvalidParameterError as error:
        return {"status": "refused", "reason": str(error)[:200]}
    except Exception as error:  # a fault of ours, and told as such
        return {"status": "error", "reason": f"{type(error).__name__}: {error}"[:200]}
    told: Row = {
        "status": str(proof.status),
        "certify_seconds": round(time.process_time() - start, 4),
    }
    for name in ("bound", "below", "delta", "lower", "upper"):
        told[name] = float(f"{getattr(proof, name):.12g}")
    return told | {"reason": proof.reason[:200]}


def one(problem: cp.Problem, name: str, options: dict[str, Any]) -> Row | None:
    """Solve and certify in a process of its own, each within its limit of seconds."""

    def work() -> Iterator[Row]:
        warnings.simplefilter("ignore")
        with quiet(), np.errstate(all="ignore"):
            row = ask(problem, name, options)
            if row is not None:
                yield row
                yield judge(problem)

    limits = LIMIT_SOLVE, LIMIT_CERTIFY
    found, why = forked(work, limits)
    if not (found or why):
        return None
    row: Row = {k: v for each in found for k, v in each.items()}
    if why:
        late = f"no answer in {limits[len(found)]:.0f} s" if why == TIMEOUT else why
        row["status" if found or why != TIMEOUT else "said"] = late
    return row


def helpers() -> Iterator[tuple[str, str, cp.Problem]]:
    """Continuous problems of CVXPY's solver tests: name, cone, problem."""
    for name in dir(solver_test_helpers):
        if name.startswith(("lp_", "qp_", "socp_", "sdp_", "expcone_", "pcp_")):
            make = getattr(solver_test_helpers, name)
            arguments: dict[str, list[Any]] = {
                "socp_3": [(0,), (1,)],
                "sdp_1": [("min",), ("max",)],
            }
            for given in arguments.get(name, [()]):
                yield f"{name}{given}", name.split("_")[0], make(*given).prob


def everything() -> Iterator[tuple[Row, cp.Problem]]:
    """All problems of the three sets."""
    for family, size, problem, truth in scoreboard_families.problems():
        about = {"name": family.name, "size": size, "cone": family.cone, "truth": truth}
        yield {"set": "families", **about}, problem
    for name, make in cvxpy_examples.EXAMPLES.items():
        yield {"set": "examples", "name": name}, make()
    for name, cone, problem in helpers():
        yield {"set": "helpers", "name": name, "cone": cone}, problem


def lines() -> Iterator[Row]:
    """A row for each problem and solver."""
    for about, problem in everything():
        for shown, name, options in SOLVERS:
            if name in cp.installed_solvers():
                row = one(problem, name, options)
                if row is not None:
                    yield about | {"solver": shown} | row


def symbol(row: Row) -> str:
    """One character for an answer.

    ● certified, ◐ nearly feasible, ✗ called optimal but proven wrong, ∅ said to have no solution and
    proven to, ○ not decided, – no answer.
    """
    said, status = row["said"], row.get("status", "")
    if status == "certified":
        return "●"
    if said.startswith(("infeasible", "unbounded")):
        return (
            "∅"
            if status in ("infeasible", "unbounded")
            else "!"
            if "feasible point exists" in row.get("reason", "")
            else "○"
        )
    if not said.startswith("optimal"):
        return "–"
    return "✗" if status in _REFUTED else "◐" if status in _NEAR else "○"


def board(rows: list[Row]) -> Html:
    """Families against solvers, a character for each of three sizes."""
    names = [n for n, *_ in SOLVERS]
    cells: dict[tuple[str, str], dict[str, str]] = defaultdict(lambda: defaultdict(str))
    for row in rows:
        if row["set"] == "families":
            cells[row["cone"], row["name"]][row["solver"]] += symbol(row)
    heads = ("family", *(f"<span>{name}</span>" for name in names))
    lines = [
        (f"{name} <small>{cone}</small>", *(told[solver] for solver in names))
        for (cone, name), told in cells.items()
    ]
    return table(heads, lines, "kills")


def totals(rows: list[Row]) -> str:
    """A line for each solver: of its answers, what is certain; and time."""
    columns = (
        "answers called optimal", "certified", "nearly feasible", "proven wrong", "not decided",
        "median s", "median s of `certify`",
    )  # fmt: skip
    head = f"| solver | {' | '.join(columns)} |"
    lines = [head, "|---|" + "--:|" * 7]
    for name, *_ in SOLVERS:
        mine = [r for r in rows if r["solver"] == name and r["said"].startswith("optimal")]
        seen = Counter(symbol(r) for r in mine)
        took = [[r[k] for r in mine if k in r] for k in ("seconds", "certify_seconds")]
        median = " | ".join(f"{statistics.median(t):.3f}" if t else "" for t in took)
        counts = " | ".join(str(seen[mark]) for mark in "●◐✗○")
        lines.append(f"| {name} | {len(mine)} | {counts} | {median} |")
    return "\n".join(lines)


def strength(rows: list[Row]) -> dict[str, dict[str, int]]:
    """Of solvable problems whose solver's own residuals are <= 1e-8: what is certain of the answers.

    Data that contradict themselves in their last digits are told as that: no such problem has a solution.
    """
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        solvable = row.get("truth") not in ("infeasible", "unbounded")
        solvable &= row.get("status") != "inconsistent data"
        residual = row.get("residual")
        solved = row["said"].startswith("optimal") and residual is not None and residual <= 1e-8
        if solvable and solved:
            part = found.setdefault(row["set"], {"answers": 0, "certified": 0, "proven wrong": 0})
            part["answers"] += 1
            part["certified"] += row.get("status") == "certified"
            part["proven wrong"] += row.get("status") in _REFUTED
    return found


def contradicted(rows: list[Row]) -> list[Row]:
    """Verdicts that what is known of a family refutes: there are none."""
    false = []
    for row in rows:
        truth, status = row.get("truth"), row.get("status")
        if truth is None or status is None:
            continue
        if isinstance(truth, str):
            wrong = status in ("certified", *_NEAR) or (
                status in ("infeasible", "unbounded") and status != truth
            )
        else:
            slack = 1e-9 * abs(truth)  # the record's digits
            wrong = status in ("infeasible", "unbounded")
            wrong |= bool(
                row.get("lower", -np.inf) > truth + slack
                or row.get("upper", np.inf) < truth - slack
            )
        if wrong:
            false.append(row)
    return false
