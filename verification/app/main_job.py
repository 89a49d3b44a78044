"""The main job: every object judged, fast trainers against the oracle, then real data in the papers' protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from refsolve import catalogue
from verification import declarations
from verification.app.rows import finished
from verification.benchmarks import ap_exactness, letter, protocol
from verification.instances.svm_plus import OBJECTS as PLUS
from verification.kit.loop import check_run, verify
from verification.problems.objects import Declaration, discover
from verification.problems.problem import fast_candidate, names
from verification.report.document import (
    Block,
    Cell,
    Document,
    Paragraph,
    Table,
    number,
    table,
    tally,
    verdict_cell,
)
from verification.report.run_report import failure_blocks
from verification.trainers import libsvm_recipes, real_data, svm_plus_duals
from verification.trainers.multiclass import verify_trainer
from verification.trainers.ranking import verify_rankers
from verification.trainers.svm_plus import verify_plus
from verification.verdicts.report import Report
from verification.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from verification.app.console import Task

#: Of the instances of a check, of the rankings of a comparison, one in so many is judged without --thorough.
EVERY, FEW = 6, 10
#: Parts that are records: their key in the document's data, and how their tables are called.
TABLES = {
    "AP: exactness": ("ap_exactness", ap_exactness.SECTION),
    "AP: letters": ("ap_letters", real_data.SECTIONS["letters"]),
    "SVM+: digits": ("svm_plus_digits", real_data.SECTIONS["digits"]),
    "SVM+: LIBSVM": ("svm_plus_libsvm", libsvm_recipes.SECTION),
}


def main_job(
    profile: str, seed: int, task: Task, thorough: bool = False
) -> tuple[Document, list[Report]]:
    """Run everything; the document is positive only if all of it is.

    Parameters
    ----------
    profile, seed : passed to `verification.kit.loop.verify`.
    task : progress bar to move.
    thorough : every instance of the profile, and all rows of `letter.MAIN`; implied by the profile.

    Returns
    -------
    document : Document
    reports : list of Report, one per problem that `fast` implements, and those of the trainers last.
    """
    check_run(profile, seed)
    objects = discover()
    # a trainer of ours returns both sides, so that the dual problem would judge the same again
    asked = [name for name in names() if not name.endswith(".dual")]
    problems = [name for name in asked if fast_candidate(name) is not None]
    parts = letter.load_parts()
    thorough = thorough or profile == "thorough"
    trained = letter.MAIN if thorough else letter.SHORT
    jobs = _jobs(parts, problems, profile, seed, thorough)
    # once, into the cache that the workers read; meanwhile there are first results, of what needs
    # no kernel that is compiled before: two workers would compile it twice
    sets = {declared.name for declared in objects if declared.kind == "sets"}
    early = [n for n in problems if n.partition(".")[0] in sets]
    early += [n for n in jobs if n.startswith(("AP", "SVM+"))]
    first: dict[str, Callable[[], Any]] = {"compiling": partial(_compile, parts, trained)}
    first |= {name: jobs.pop(name) for name in early}
    task.at(0, "starting", len(jobs) + len(first))
    done = {}
    for name, result in finished(jobs, first):
        done[name] = result
        task.step(_said(name, result))
    return _document(objects, problems, done, thorough)


def _document(
    objects: Sequence[Declaration],
    problems: Sequence[str],
    done: Mapping[str, Any],
    thorough: bool,
) -> tuple[Document, list[Report]]:
    """Everything that was found, by the names of the jobs."""
    trained = letter.MAIN if thorough else letter.SHORT
    results = [done[f"Letter: {row.name}"] for row in trained]
    reports = [done[name] for name in (*problems, "trainers")] + done["AP: trainers"]
    reports += [
        done[name] for name in (*(f"SVM+: {object_name}" for object_name in PLUS), "SVM+: duals")
    ]
    records = {name: done[name] for name in TABLES}
    declared = {
        object_name: done[f"declaration: {object_name}"] for object_name in catalogue.object_names()
    }

    missing = [s.name for s in objects if not s.complete]
    blocks: list[Block] = [
        object_table(objects, reports[:-1]),  # the last also judges LIBSVM
        _declarations_table(declared),
        *letter.accuracy_tables(results, protocol.TOL),
        svm_plus_duals.SECTION.table(svm_plus_duals.records(reports[-1])),
        *(section.table(records[name]) for name, (_, section) in TABLES.items()),
    ]
    blocks += [block for report in reports for block in failure_blocks(report)]
    objections = [f"{name} is declared in refsolve and is not computed in fast" for name in missing]
    objections += [text for found in declared.values() for text in found]
    objections += [
        f"{', '.join(map(str, record.names.values()))}: {record.objection}"
        for own in records.values()
        for record in own
        if record.objection
    ]
    blocks += [Paragraph(text, "bad") for text in objections]
    blocks += [] if thorough else [_left_out()]
    sound = (
        bool(problems)
        and not any(declared.values())
        and not missing
        and bool(results)
        and all(letter.passed(result, protocol.TOL) for result in results)
        and all(record.reached for own in records.values() for record in own)
    )
    ok = sound and all(report.ok for report in reports)
    inconclusive = sound and not ok and all(report.ok or report.inconclusive for report in reports)
    data = {
        "thorough": thorough,
        "problems": [report.to_dict() for report in reports],
        "declarations": declared,
        "missing": missing,
        "letter": [letter.row_data(result) for result in results],
        **{
            key: [record.to_dict() for record in records[name]] for name, (key, _) in TABLES.items()
        },
    }
    title, bad = "refsolve verify --all", "INCONCLUSIVE" if inconclusive else "FAILED"
    return Document(title, tuple(blocks), ok, data, bad=bad, inconclusive=inconclusive), reports


def _declarations_table(declared: Mapping[str, Sequence[str]]) -> Table:
    """How many declarations agree with themselves and with their printed formulas, by kind."""
    rows = []
    for kind in catalogue.OPERATIONS:
        found = [declared[object_name] for object_name in catalogue.object_names(kind)]
        wrong = sum(map(bool, found))
        rows.append((kind, str(len(found)), str(wrong), verdict_cell(not wrong)))
    return table("Declarations against themselves", ("kind", "files", "disagree", ""), rows)


def _compile(parts: protocol.Parts, rows: Sequence[protocol.Row]) -> None:
    """All kernels, and what the rows need besides."""
    import fast

    fast.warmup()
    protocol.compile_trainers(parts, rows)


def _left_out() -> Paragraph:
    """What `--thorough` adds."""
    rows = len(letter.MAIN) - len(letter.SHORT)
    return Paragraph(
        f"Every object, operation and check was run, on one in {EVERY} instances. `refsolve verify --all "
        f"--thorough` runs all of them, {FEW} times as many rankings against brute force and problems for "
        f"LIBSVM, and {rows} more rows of Letter's table, in some 15 minutes of CPU time.",
        "dim",
    )


def _jobs(
    parts: protocol.Parts, problems: Sequence[str], profile: str, seed: int, thorough: bool
) -> dict[str, Callable[[], Any]]:
    """What is run side by side, by name."""
    jobs: dict[str, Callable[[], Any]] = {}
    every, few, trained = (1, 1, letter.MAIN) if thorough else (EVERY, FEW, letter.SHORT)
    rankings = {name: count // few for name, count in ap_exactness.COUNTS.items()}
    # Longest first: the short ones fill the gaps at the end.
    jobs |= {
        f"Letter: {row.name}": partial(protocol.run_row, parts, row, letter.GRID) for row in trained
    }
    jobs["trainers"] = partial(verify_trainer, profile, seed)
    jobs["AP: exactness"] = partial(ap_exactness.compare, rankings, seed)
    jobs["AP: trainers"] = partial(verify_rankers, profile, seed)
    jobs["AP: letters"] = partial(real_data.letters, parts)
    jobs |= {
        f"SVM+: {object_name}": partial(verify_plus, object_name, profile, seed)
        for object_name in PLUS
    }
    jobs["SVM+: duals"] = partial(svm_plus_duals.verify_duals, profile, seed)
    jobs["SVM+: digits"] = real_data.digits
    effort = libsvm_recipes.EFFORT["thorough" if thorough else "quick"]
    jobs["SVM+: LIBSVM"] = partial(libsvm_recipes.records, effort, seed)
    jobs |= {n: partial(verify, None, n, profile, seed, every=every) for n in problems}
    jobs |= {
        f"declaration: {s}": partial(declarations.problems, s) for s in catalogue.object_names()
    }
    return jobs


def _said(name: str, result: object) -> str:
    """What a log says of a part that is done."""
    if isinstance(result, Report):
        return f"{name}: {'pass' if result.ok else 'FAIL'}, {result.checked} judged"
    return f"{name}: done"


def object_table(objects: Sequence[Declaration], reports: Sequence[Report]) -> Table:
    """One row per object: what was tried on all its operations, and the worst of it."""
    rows: list[tuple[str | Cell, ...]] = []
    for declared in objects:
        mine = [r for r in reports if r.problem.rpartition(".")[0] == declared.name]
        operations = ", ".join(dict.fromkeys(r.problem.rpartition(".")[2] for r in mine))
        if not mine:
            mark = Cell("refsolve only", "dim") if declared.oracle_only else Cell("-", "dim")
            rows.append((declared.name, operations, "-", "-", "-", "-", "", mark))
            continue
        counts: dict[str, int] = {v.value: sum(r.counts[v.value] for r in mine) for v in Verdict}
        instances = len({x.instance for r in mine for x in r.results if x.instance is not None})
        rows.append(
            (
                declared.name,
                operations,
                str(instances),
                str(sum(r.checked for r in mine)),
                number(_worst(r.worst_gap for r in mine)),
                number(_worst(r.worst_distance for r in mine)),
                tally(counts),
                verdict_cell(
                    all(r.ok for r in mine),
                    bad="INCONCLUSIVE" if all(r.ok or r.inconclusive for r in mine) else "FAIL",
                ),
            )
        )
    columns = (
        "name",
        "operations",
        "instances",
        "judged",
        "worst gap",
        "worst distance",
        "verdicts",
        "",
    )
    return table("Oracle against fast", columns, rows, columns[2:6])


def _worst(values: Any) -> float | None:
    return max((v for v in values if v is not None), default=None)
