"""The detection matrix, wrong solver x check: how many instances each check needs to catch each wrong solver.

A mutant is killed by a check as soon as one instance fails, and what is recorded is the number of that
instance; 0 means that the check ran through and found nothing. The right solvers are run beside them:
a kit that fails everybody kills every mutant as well.
"""

import contextlib
import functools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from verification import checks as checks_package
from verification import faulty_solvers
from verification.errors import InvalidArgumentError
from verification.faulty_solvers import Mutant
from verification.instances.instance import Instance
from verification.kit import fixing
from verification.kit.fixing import fix
from verification.kit.loop import check_run, run_one, verify
from verification.kit.solver_call import Caller
from verification.kit.timeouts import watch
from verification.problems.problem import Problem, lookup, names
from verification.report.environment import commit
from verification.selftest.detection_file import KillFile
from verification.selftest.detection_rows import REQUIRED, Matrix, RightSolver, Row
from verification.selftest.right import promises, solver, solvers
from verification.verdicts.verdict import Verdict

#: Numbers of instances after which the checks take turns, where only the first kill is looked for.
TURNS = (20, 200)
#: Mutants of the same problem that one task runs: they share instances and exact solutions.
TOGETHER = 6

Progress = Callable[[int, int, str], None]


def run(
    profile: str = "quick",
    seed: int = 0,
    only: str = "*",
    jobs: int | None = None,
    *,
    right: bool = True,
    until_killed: bool = False,
    file: Path | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Run the mutants whose names match ``only`` (a glob), and right solvers of their problems.

    Parameters
    ----------
    profile, seed : as of `verification.verify`.
    only : str
        Mutants by name or problem, e.g. ``"ap_*"`` or ``"simplex.*"``.
    jobs : int, optional
        Processes; by default one per processor.
    right : bool
        Also run the right solvers: of the same problems, or of all if all mutants are run.
    until_killed : bool
        Stop at the first check that kills: the share is the same, the matrix has one cell a row.
    file : Path, optional
        Lines of JSON, one per row: what stands there is not run again, so that a run may be stopped.
    progress : callable, optional
        Called as ``progress(done, total, name)``.
    """
    chosen = _chosen(profile, seed, only, jobs)
    start = time.perf_counter()
    kept = None
    if file is not None:
        kept = KillFile(file, {"profile": profile, "seed": seed, "until_killed": until_killed})
    problems = names() if only == "*" else {m.problem for m in chosen}
    pairs = right_solvers(problems) if right else []
    wanted = [(m.name, m.problem) for m in chosen] + pairs
    known = {} if kept is None else {key: kept.found[key] for key in wanted if key in kept.found}
    found = list(known.values())
    spent = sum(r.seconds for r in found)
    left = [m for m in chosen if (m.name, m.problem) not in known]
    tasks: list[Any] = [
        delayed(rows)(group, profile, seed, until_killed) for group in _groups(left)
    ]
    tasks += [delayed(judge_right)(*pair, profile, seed) for pair in pairs if pair not in known]
    for done in _run_tasks(tasks, jobs or os.cpu_count() or 1):
        found += done
        if kept is not None:
            kept.add(done)
        if progress is not None:
            progress(len(found), len(wanted), done[-1].name)
    killed, passed = _sorted(found, chosen)
    elapsed = spent + time.perf_counter() - start
    commits = () if kept is None else tuple(kept.commits)
    return Matrix(profile, seed, killed, passed, elapsed, not until_killed, commits)


def fill(
    record: Path, checks: Sequence[str], only: str = "*", progress: Progress | None = None
) -> int:
    """Run these checks alone, on the rows of a record that have no cell of them; number of rows filled.

    The record (``refsolve selftest --json``) is written anew after each row: it may be stopped, and goes on.
    What a timeout decided is left for a machine that is less busy.
    """
    known = checks_package.discover()
    if wrong := [name for name in checks if name not in known]:
        raise InvalidArgumentError(f"check={wrong[0]!r}: expected some of {', '.join(known)}")
    try:
        data = json.loads(record.read_text())
        profile, seed, rows = data["profile"], data["seed"], data["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidArgumentError(
            f"fill={str(record)!r}: expected what `refsolve selftest --json` prints ({error})"
        ) from None
    library = {m.name: m for m in _chosen(profile, seed, only, None) if m.name in rows}
    left = []
    for name, mutant in sorted(library.items(), key=lambda item: item[1].problem):
        task, cells = fix(lookup(mutant.problem), mutant.fixed), rows[name]["cells"]
        if absent := [c for c in checks if c not in cells and known[c].applies(task)]:
            left.append((mutant, absent))
    filled = 0
    for done, (mutant, absent) in enumerate(left, start=1):
        found = row(mutant, profile, seed, absent)
        late = {c for c, reason in found.why.items() if reason.startswith(f"{Verdict.TIMEOUT}:")}
        cells = rows[mutant.name]["cells"] | {c: n for c, n in found.cells.items() if c not in late}
        rows[mutant.name]["cells"] = {name: cells[name] for name in known if name in cells}
        data["survivors"] = [name for name, r in rows.items() if not any(r["cells"].values())]
        data["killed"] = len(rows) - len(data["survivors"])
        data["seconds"] = round(data["seconds"] + found.seconds, 1)
        data["commits"] = list(dict.fromkeys([*data.get("commits", []), commit()]))
        beside = record.with_name(record.name + ".new")
        beside.write_text(json.dumps(data, indent=2) + "\n")
        beside.replace(record)
        if progress is not None:
            progress(done, len(left), mutant.name)
        filled += not late
    return filled


def _sorted(
    found: Iterable[Row | RightSolver], chosen: Iterable[Mutant]
) -> tuple[tuple[Row, ...], tuple[RightSolver, ...]]:
    """The mutants' rows in the order of the mutants, and the right solvers by problem."""
    order = {m.name: i for i, m in enumerate(chosen)}
    killed = sorted((r for r in found if isinstance(r, Row)), key=lambda r: order[r.name])
    passed = (r for r in found if isinstance(r, RightSolver))
    return tuple(killed), tuple(sorted(passed, key=lambda r: (r.problem, r.name)))


def _chosen(profile: str, seed: int, only: str, jobs: int | None) -> list[Mutant]:
    """The mutants to run; refuses what no run can be made with."""
    check_run(profile, seed)
    if profile not in REQUIRED:
        raise InvalidArgumentError(f"profile={profile!r}: expected one of {', '.join(REQUIRED)}")
    chosen = [
        m
        for m in faulty_solvers.discover().values()
        if m.runs and (fnmatch(m.name, only) or fnmatch(m.problem, only))
    ]
    if not chosen:
        raise InvalidArgumentError(
            f"only={only!r} matches no mutant; expected a name or a problem with wildcards, e.g. 'ap_*'"
        )
    if jobs is not None and jobs < 1:
        raise InvalidArgumentError(f"jobs={jobs!r}: expected an integer >= 1, e.g. 2")
    return chosen


def _run_tasks(tasks: Sequence[Any], jobs: int) -> Iterator[Any]:
    if jobs == 1:
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
        return
    with warnings.catch_warnings():
        # a worker whose memory has grown is replaced by another
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _groups(chosen: Iterable[Mutant]) -> list[list[str]]:
    """Names of mutants of one problem each, few enough to share the work."""
    by_problem: dict[str, list[str]] = {}
    for mutant in chosen:
        by_problem.setdefault(mutant.problem, []).append(mutant.name)
    return [
        names[i : i + TOGETHER]
        for names in by_problem.values()
        for i in range(0, len(names), TOGETHER)
    ]


def rows(names: Iterable[str], profile: str, seed: int, until_killed: bool = False) -> list[Row]:
    """The rows of some mutants."""
    library = faulty_solvers.discover()
    return [row(library[name], profile, seed, until_killed=until_killed) for name in names]


def row(
    mutant: Mutant,
    profile: str = "quick",
    seed: int = 0,
    checks: Iterable[str] | None = None,
    until_killed: bool = False,
) -> Row:
    """Every check (or those named) on one mutant, each until its first failure.

    ``until_killed``: the checks take turns, and the first failure of any ends it; of a mutant that is
    killed, the row then has this one cell.
    """
    start = time.perf_counter()
    task = fix(lookup(mutant.problem), mutant.fixed)
    chosen = {
        name: check
        for name, check in checks_package.discover().items()
        if check.applies(task) and (checks is None or name in checks)
    }
    cells: dict[str, int] = dict.fromkeys(chosen, 0)
    why: dict[str, str] = {}
    judged = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))  # where warnings are errors: none is a kill
        function = stack.enter_context(faulty_solvers.opened(mutant))
        call = Caller(function, task, mutant.timeout, accuracy=mutant.accuracy)
        stack.enter_context(watch(call))
        for name, first, last in _turns(chosen, until_killed):
            if cells[name]:
                continue
            instances = _instances(name, mutant, task, profile, seed)[first:last]
            for number, instance in enumerate(instances, first + 1):
                result = run_one(name, chosen[name], call, instance)
                judged += result.verdict is not Verdict.SKIPPED
                if result.verdict.is_bad:
                    cells[name] = number
                    why[name] = f"{result.verdict}: {result.message}"
                    break
            if until_killed and why:
                cells = {name: cells[name]}
                break
    seconds = time.perf_counter() - start
    return Row(mutant.name, mutant.problem, mutant.defect, cells, why, judged, seconds)


def _turns(chosen: Iterable[str], until_killed: bool) -> Iterator[tuple[str, int, int | None]]:
    """Checks with the numbers of the instances that they run, before it is the next one's turn."""
    ends = (0, *TURNS, None) if until_killed else (0, None)
    for first, last in pairwise(ends):
        for name in chosen:
            yield name, first or 0, last


def _instances(
    check: str, mutant: Mutant, task: Problem, profile: str, seed: int
) -> list[Instance]:
    if mutant.fixed:
        return fixing.instances(checks_package.discover()[check], task, profile, seed)
    return _drawn(check, mutant.problem, profile, seed)


@functools.lru_cache(maxsize=32)
def _drawn(check: str, problem: str, profile: str, seed: int) -> list[Instance]:
    return checks_package.discover()[check].instances(lookup(problem), profile, seed)


def right_solvers(problems: Iterable[str]) -> list[tuple[str, str]]:
    """Right solvers of these problems as (name, problem).

    The sound algorithm that the mutants are made from, or else that of `fast`; of a model all that there
    are, as different trainers end at different points.
    """
    found = []
    for problem in sorted(problems):
        have = [name for name in solvers(problem) if name != "one side"]
        few = have[-1:] if "promised" not in have else have[-2:]
        found += [(n, problem) for n in (have if lookup(problem).kind == "models" else few)]
    return found


def judge_right(name: str, problem: str, profile: str, seed: int) -> list[RightSolver]:
    """One right solver on its problem; it must pass on everything that it is judged on."""
    start = time.perf_counter()
    report = verify(solver(name, problem), problem, profile, seed, **promises(name, problem))
    summary = "" if report.ok else report.summary()
    return [
        RightSolver(name, problem, report.ok, report.counts, summary, time.perf_counter() - start)
    ]
