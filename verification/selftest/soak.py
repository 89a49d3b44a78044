"""Soak: very many instances of solvers that are right, to show that none of them is called wrong.

The solvers are those of `verification.selftest.right`. The work is cut into chunks with seeds of their
own; every chunk ends as one line of a file, and a run that finds its line there does not repeat it, so
that it may be stopped and started again at any time.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from verification.certificates import core as cores
from verification.certificates import entropy_points, truth
from verification.certificates.ranking import optimum
from verification.errors import InvalidArgumentError
from verification.kit.loop import verify
from verification.kit.workers import end_with_parent
from verification.problems.problem import KINDS, lookup, names
from verification.report.document import Block, Document, Paragraph, number, table, tally
from verification.report.environment import commit
from verification.report.lines import Lines, check
from verification.selftest import right
from verification.verdicts import verify_model

#: Instances per chunk, and seeds that a chunk may use up.
CHUNK, SEEDS = 2600, 1000
#: The same of a trained model; its solvers and sides start at seeds that are SHIFT apart.
MODEL_CHUNK, SHIFT = 400, 100
#: Instances of an entropy, whose truth costs more, for one of the others; of a model; and of the oracle's.
ENTROPIC_SHARE, MODEL_SHARE, ORACLE_SHARE = 0.4, 0.1, 0.02
#: What the certificates remember of instances.
KEPT = (
    cores.core,
    cores.curved_core,
    truth.solution,
    entropy_points.solution,
    optimum,
    verify_model.witness,
)
#: How many alarms of a chunk are written down.
ALARMS = 5


COMMAND = "refsolve soak --file"
_CHUNK: dict[str, type | tuple[type, ...]] = {
    "solver": str, "problem": str, "seed": int, "count": int, "counts": dict,
    "worst_ratio": (float, int, type(None)), "seconds": (float, int), "alarms": list,
}  # fmt: skip


@dataclass(frozen=True)
class Chunk:
    """Some instances of one problem for one solver: a name of `right.NAMES`."""

    solver: str
    problem: str
    seed: int
    count: int


def chunks(total: int, seed: int, problems: tuple[str, ...] = ()) -> list[Chunk]:
    """At least ``total`` instances: equally many of every problem, but fewer where they cost more.

    ``problems`` may have wildcards.
    """
    known = names()
    for asked in problems:
        if not any(fnmatchcase(name, asked) for name in known):
            raise InvalidArgumentError(
                f"problem={asked!r}: expected some of {', '.join(known)}, or wildcards such as 'svm*'"
            )
    wanted = [n for n in known if not problems or any(fnmatchcase(n, asked) for asked in problems)]
    pairs = [(solver, n) for solver in right.NAMES for n in wanted if solver in right.solvers(n)]
    weights = [_weight(*pair) for pair in pairs]
    found = []
    for (solver, name), weight in zip(pairs, weights, strict=True):
        left, at = -int(-total * weight // sum(weights)), seed + _shift(solver, name)
        most = CHUNK if lookup(name).model is None else MODEL_CHUNK
        while left > 0:
            found.append(Chunk(solver, name, at, min(most, left)))
            left, at = left - most, at + SEEDS
    return found


def _shift(solver: str, name: str) -> int:
    """Both sides of a model have the same instances for the same seed: each its own seeds."""
    model = lookup(name).model
    if model is None:
        return 0
    side = list(model.parts).index(lookup(name).operation)
    return SHIFT * (2 * right.NAMES.index(solver) + side)


def _weight(solver: str, name: str) -> float:
    problem = lookup(name)
    if problem.kind == "models":
        return ORACLE_SHARE if solver == "oracle" else MODEL_SHARE
    quadratic = problem.kind == "functions" or problem.generator.rational
    return 1.0 if quadratic else ENTROPIC_SHARE


def run_chunk(chunk: Chunk) -> dict[str, Any]:
    """Counts and worst figures of one chunk, and its alarms with their instances."""
    report = verify(
        right.solver(chunk.solver, chunk.problem),
        chunk.problem,
        "soak",
        chunk.seed,
        count=chunk.count,
        shrink=False,
        timeout=60.0,
        **right.promises(chunk.solver, chunk.problem),
    )
    for kept in KEPT:  # the next chunk has other instances
        kept.cache_clear()
    tally = report.tally
    assert tally is not None
    checks = sorted({check for check, _ in tally.figures})
    return {
        **asdict(chunk),
        "counts": {k: v for k, v in report.counts.items() if v},
        "worst_ratio": tally.worst_ratio,
        "checks": {c: sum(tally.by_check[c].values()) for c in checks},
        "reasons": {" ".join(key): said for key, said in tally.reasons.items()},
        "alarms": [result.to_dict() for result in report.failures[:ALARMS]],
        "seconds": round(report.elapsed, 2),
    }


def done(path: Path) -> dict[Chunk, dict[str, Any]]:
    """The chunks that a file holds."""
    found = Lines(path).read(COMMAND, _checked)
    keys = ("solver", "problem", "seed", "count")
    return {Chunk(*(line[k] for k in keys)): line for line in found if "problem" in line}


def _checked(line: Any) -> dict[str, Any]:
    check(line, _CHUNK if "problem" in line else {"commit": str})
    return dict(line)


def soak(
    total: int,
    seed: int,
    path: Path,
    *,
    problems: tuple[str, ...] = (),
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Run what is missing in the file, and return the lines of all chunks.

    Parameters
    ----------
    total : int
        Instances over all solvers, at least.
    seed : int
        First seed of every problem.
    path : Path
        Lines of JSON: one about the run, one per chunk. Chunks that it has are not run again.
    problems : tuple of str
        Only these, with wildcards such as ``"svm*"``; default all.
    processes : int
        Chunks that run side by side, at low priority.
    progress : callable, optional
        Called as ``progress(done, total)`` in instances.
    """
    wanted = chunks(total, seed, problems)
    known = done(path)
    left = [chunk for chunk in wanted if chunk not in known]
    whole = sum(chunk.count for chunk in wanted)
    ready = whole - sum(chunk.count for chunk in left)
    file = Lines(path)
    if left:
        file.add({"commit": commit(), "total": total, "seed": seed})
    for chunk, line in _run(left, processes):
        known[chunk] = line
        file.add(line)
        ready += chunk.count
        if progress is not None:
            progress(ready, whole)
    return [known[chunk] for chunk in wanted]


def _run(left: list[Chunk], processes: int) -> Iterator[tuple[Chunk, dict[str, Any]]]:
    if processes <= 1:
        yield from ((chunk, run_chunk(chunk)) for chunk in left)
        return
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_gently
    ) as pool:
        waiting = {pool.submit(run_chunk, chunk): chunk for chunk in left}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _gently() -> None:
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(max(0, 15 - os.nice(0)))


def totals(chunks: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Per solver and problem: instances, verdicts, worst ratio and seconds."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for line in chunks:
        row = found.setdefault(
            (line["solver"], line["problem"]),
            {"instances": 0, "counts": {}, "worst_ratio": 0.0, "seconds": 0.0, "alarms": []},
        )
        row["instances"] += line["count"]
        row["counts"] = _summed([row, line])
        row["worst_ratio"] = max(row["worst_ratio"], line["worst_ratio"] or 0.0)
        row["seconds"] = round(row["seconds"] + line["seconds"], 2)
        row["alarms"] += line["alarms"]
    return found


def record(path: Path, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """A run in short: commits and seeds of the file, counts over all and per kind of problem, and a row
    per solver and problem.
    """
    runs = Lines(path).read(COMMAND, _checked)
    rows = [
        {"solver": solver, "problem": problem, **row}
        for (solver, problem), row in totals(chunks).items()
    ]
    return {
        "commits": list(dict.fromkeys(run["commit"] for run in runs if "commit" in run)),
        "seeds": sorted({line["seed"] for line in chunks}),
        "instances": sum(row["instances"] for row in rows),
        "counts": _summed(rows),
        "kinds": {
            kind: {"instances": sum(row["instances"] for row in own), "counts": _summed(own)}
            for kind in KINDS
            if (own := [row for row in rows if lookup(row["problem"]).kind == kind])
        },
        "worst_ratio": max((row["worst_ratio"] for row in rows), default=0.0),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "rows": rows,
    }


def _summed(rows: list[dict[str, Any]]) -> dict[str, int]:
    return dict(sum((Counter(row["counts"]) for row in rows), Counter()))


def document(found: dict[str, Any]) -> Document:
    """The record for the terminal: a row per solver and problem, alarms first."""
    alarms = [(row, alarm) for row in found["rows"] for alarm in row["alarms"]]
    blocks: list[Block] = [
        Paragraph(
            f"{row['solver']} {row['problem']}, {alarm['check']} ({alarm['family']}): "
            f"{alarm['message']}",
            "bad",
        )
        for row, alarm in alarms
    ]
    rows = [
        (
            row["problem"],
            row["solver"],
            str(row["instances"]),
            tally(row["counts"]),
            number(row["worst_ratio"]),
            number(row["seconds"]),
        )
        for row in found["rows"]
    ]
    columns = ("problem", "solver", "instances", "verdicts", "worst ratio", "seconds")
    blocks.append(table("Right solvers", columns, rows, columns[2:3] + columns[4:]))
    kinds = [(k, str(of["instances"]), tally(of["counts"])) for k, of in found["kinds"].items()]
    blocks.append(table("By kind", ("kind", "instances", "verdicts"), kinds, ("instances",)))
    blocks.append(
        Paragraph(
            f"{found['instances']} instances in {found['seconds']:.0f} s, seeds from "
            f"{min(found['seeds'], default='-')}, commit {', '.join(found['commits'])}: {tally(found['counts'])}"
        )
    )
    return Document(
        "Soak",
        tuple(blocks),
        ok=not alarms and found["instances"] > 0,
        data=found,
        good="no right solver was called wrong",
        bad="FALSE ALARM",
    )
