"""The `Report` of one `verify` run as a document: what was judged, what was not, and what is wrong.

Skipped and uncertain results are counted and shown with their reasons in every rendering.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from verification.failures import answers
from verification.failures.run_command import command
from verification.report.document import (
    Block,
    Cell,
    Code,
    Document,
    Paragraph,
    Table,
    number,
    table,
    tally,
    verdict_cell,
)
from verification.report.environment import versions
from verification.verdicts.run import Run
from verification.verdicts.verdict import Result, Terms, Verdict

#: Reasons that are shown, and checks that are named beside one.
REASONS, CHECKS = 12, 3
NUMBERS = re.compile(r"[0-9][0-9.]*(e[-+]?[0-9]+)?")
#: Rows of a table of families.
ROWS = 12

MEANINGS = {
    Verdict.PASS: "the certificate proves the answer right, up to the floating-point error bound or the declared "
    "tolerance",
    Verdict.FAIL: "the certificate proves the answer wrong",
    Verdict.EXPECTED_FAILURE: "failed, as announced by xfail",
    Verdict.UNEXPECTED_PASS: "announced by xfail, but did not fail: counts as a failure",
    Verdict.SKIPPED: "not judged: the instance or the check does not apply to the candidate",
    Verdict.INCONCLUSIVE: "not judged: no reference could certify itself; never a pass, and on a "
    "small instance the run is inconclusive",
    Verdict.TIMEOUT: "no answer in time",
    Verdict.CRASH: "an exception, a dead process, or an answer that is no array of numbers",
}
_TONES = {
    Verdict.PASS: "good",
    Verdict.EXPECTED_FAILURE: "warn",
    Verdict.SKIPPED: "dim",
    Verdict.INCONCLUSIVE: "bad",
}


def report_table(report: Run, title: str) -> Table:
    """A `verify` run in one row: instances tried, worst certified gap and distance, verdicts."""
    instances = len({r.instance for r in report.results if r.instance is not None})
    if report.profile == "soak":  # which keeps none but bad ones
        instances = report.tally.count()
    row = (
        report.problem,
        str(instances),
        str(report.checked),
        number(report.worst_gap),
        number(report.worst_distance),
        number(report.worst_ratio),
        tally(report.counts),
        outcome(report),
    )
    columns = (
        "problem",
        "instances",
        "judged",
        "worst gap",
        "worst distance",
        "worst / tolerance",
        "verdicts",
        "",
    )
    return table(title, columns, [row], columns[1:6])


def outcome(report: Run) -> Cell:
    """The last word of a run."""
    return verdict_cell(report.ok, bad="INCONCLUSIVE" if report.inconclusive else "FAIL")


def report_document(report: Run) -> Document:
    """The document of one run."""
    title = f"{report.candidate or 'candidate'} against {report.problem}"
    head = f"profile {report.profile}, seed {report.seed}, {report.elapsed:.1f} s"
    blocks: list[Block] = [report_table(report, head)]
    if report.checked == 0:
        blocks.append(Paragraph("Nothing was judged, which counts as a failure.", "bad"))
    blocks += [Paragraph(line) for line in (*report.accuracy_lines(), *report.known_lines())]
    blocks += failure_blocks(report)
    blocks.append(_counted(report, "Per check", "check", lambda check, family: check))
    if unjudged := unjudged_table(report):
        blocks.append(unjudged)
    return Document(
        title,
        tuple(blocks),
        report.ok,
        to_dict(report),
        good=sentence(report),
        bad=f"{'INCONCLUSIVE' if report.inconclusive else 'FAILED'}: {sentence(report)}",
        inconclusive=report.inconclusive,
        appendix=tuple(_appendix(report)),
    )


def sentence(report: Run) -> str:
    """The outcome in one line; what was not judged is part of it."""
    counts = report.counts
    if report.checked == 0:
        return f"nothing was judged: {tally(counts)}"
    always = (Verdict.SKIPPED, Verdict.INCONCLUSIVE)
    shown = [f"{n} {name}" for name, n in counts.items() if n or name in always]
    return f"{report.checked} results judged: {', '.join(shown)}"


def failure_blocks(report: Run) -> list[Block]:
    """Every failing (check, family) with its first message, then the smallest counterexample."""
    rows = []
    for (check, family), counts in report.tally.by_family.items():
        bad = {name: n for name, n in counts.items() if Verdict(name).is_bad}
        if bad:
            firsts = (r for r in report.failures if (r.check, r.family) == (check, family))
            first = next(firsts, None)
            worst = number(report.tally.figures[check, family].worst_other)
            message = "" if first is None else first.message
            rows.append((check, family or "-", Cell(tally(bad), "bad"), worst, message))
    blocks: list[Block] = []
    if rows:
        columns = ("check", "family", "results", "worst / tolerance", "first message")
        blocks.append(table(f"Failures: {report.problem}", columns, rows, ["worst / tolerance"]))
    smallest = report.counterexample_result
    if smallest is not None and smallest.terms:
        blocks.append(terms_table("Certificate of the smallest counterexample", smallest.terms))
    if report.counterexample:
        blocks.append(Code("Smallest counterexample found", report.counterexample))
    return blocks


def terms_table(title: str, terms: Terms, note: str = "") -> Table:
    """Terms of a certificate: value, tolerance, and their quotient."""
    rows: list[tuple[str | Cell, ...]] = []
    for name, (value, tolerance) in terms.items():
        if tolerance is None:
            rows.append((name, number(value, 3), "-", "-", Cell("part of the sum", "dim")))
            continue
        share = value / tolerance if tolerance > 0 else (0.0 if value <= 0 else float("inf"))
        mark = verdict_cell(value <= tolerance, "within", "EXCEEDED")
        rows.append((name, number(value, 3), number(tolerance, 3), number(share), mark))
    columns = ("term", "value", "tolerance", "value / tolerance", "")
    return table(title, columns, rows, columns[1:4], note)


def _counted(report: Run, title: str, first: str, key: Callable[[str, str], str]) -> Table:
    """Verdicts per group, its worst share of a tolerance among the passes, its seconds; of many groups in few rows."""
    rows = []
    for name, members in _few(report, _groups(report, key)).items():
        counts = _sum(report.tally.by_family[each] for each in members)
        figures = [report.tally.figures[each] for each in members]
        worst = max((f.worst_pass for f in figures if f.worst_pass is not None), default=None)
        seconds = sum(f.seconds for f in figures)
        total = str(sum(counts.values()))
        undecided = sum(report.tally.undecided.get(each, 0) for each in members)
        last = mark(counts, undecided)
        bound = "-" if worst is None else f"{number(worst)} of 1"
        rows.append((name, total, tally(counts), bound, f"{seconds:.2f}", last))
    columns = (first, "results", "verdicts", "worst pass / tolerance", "seconds", "")
    return table(title, columns, rows, (columns[1], *columns[3:5]))


def _groups(report: Run, key: Callable[[str, str], str]) -> dict[str, list[tuple[str, str]]]:
    """Pairs (check, family) by a name."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for check, family in report.tally.by_family:
        groups.setdefault(key(check, family), []).append((check, family))
    return groups


def _few(report: Run, groups: dict[str, Any]) -> dict[str, Any]:
    """At most `ROWS` groups: of more, those that did not pass, the largest, and the others as one."""
    if len(groups) <= ROWS:
        return groups

    def order(name: str) -> tuple[bool, int]:
        counts = _sum(report.tally.by_family[each] for each in groups[name])
        return mark(counts).text == "pass", -sum(counts.values())

    first = sorted(groups, key=order)[: ROWS - 1]
    rest = [each for name, members in groups.items() if name not in first for each in members]
    return {name: groups[name] for name in groups if name in first} | {
        f"{len(groups) - len(first)} others": rest
    }


def _sum(all_counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Sums of counts, in the order of the verdicts."""
    total = Counter[str]()
    for counts in all_counts:
        total.update(counts)
    return {v.value: total[v.value] for v in Verdict if total[v.value]}


def mark(counts: Mapping[str, int], undecided: int = 0) -> Cell:
    """One word for a group of results: the worst of its verdicts."""
    found = {Verdict(name) for name, n in counts.items() if n}
    if any(v.is_bad for v in found):
        return Cell("FAIL", "bad")
    judged = any(v.judges for v in found)
    if undecided or (not judged and Verdict.INCONCLUSIVE in found):
        return Cell("INCONCLUSIVE", "bad")
    if not judged:
        return Cell("skipped", "dim")
    if Verdict.EXPECTED_FAILURE in found:
        return Cell("expected failure", "warn")
    return Cell("pass", "good")


def unjudged_table(report: Run) -> Table | None:
    """Skipped and inconclusive results, a row per reason with the checks that it is of; None if there are none."""
    found: dict[tuple[str, str], Counter[str]] = {}
    texts: dict[str, list[str]] = {}  # those that differ in numbers alone are one reason
    for (verdict, check), said in report.tally.reasons.items():
        if not Verdict(verdict).is_bad:
            for reason, n in said.items():
                same = NUMBERS.sub("#", reason)
                found.setdefault((verdict, same), Counter())[check] += n
                texts.setdefault(same, []).append(reason)
    order = sorted(found, key=lambda key: (key[0] != Verdict.INCONCLUSIVE.value, -found[key].total()))
    rows: list[tuple[str | Cell, ...]] = []
    for verdict, reason in order[:REASONS]:
        each = found[verdict, reason]
        checks = ", ".join(each) if len(each) <= CHECKS else f"{len(each)} checks"
        cell = Cell(verdict, _TONES[Verdict(verdict)])
        first, *others = dict.fromkeys(texts[reason])
        more = f"; {len(others)} more differ in numbers" if others else ""
        rows.append((cell, str(each.total()), checks, first + more if first else "no reason given"))
    if rest := order[REASONS:]:
        total = sum(found[key].total() for key in rest)
        rows.append((Cell("", "dim"), str(total), "", f"{len(rest)} other reasons, in the JSON report"))
    columns = ("verdict", "results", "checks", "reason")
    return table("Not judged", columns, rows, ["results"]) if rows else None


def _appendix(report: Run) -> list[Block]:
    """What a page has room for besides."""
    from verification import checks

    blocks: list[Block] = [
        _counted(report, "Per family of instances", "family", lambda check, family: family or "-"),
        _matrix(report),
    ]
    smallest = report.counterexample_result
    if smallest is not None and smallest.instance is not None:
        blocks += instance_blocks(smallest)
    counts = report.counts
    meanings = [
        (
            Cell(v.value, _TONES.get(v, "bad") if counts[v.value] else "dim"),
            str(counts[v.value]),
            text,
        )
        for v, text in MEANINGS.items()
    ]
    found = checks.discover()
    lines = [
        (name, str(found[name].__doc__ or "").partition("\n")[0])
        for name in report.by_check()
        if name in found
    ]
    facts = [("command", Cell(command(report) or "-")), *settings_rows(report.settings)]
    facts += [(name, Cell(text)) for name, text in versions().items()]
    blocks += [
        table("All verdicts", ("verdict", "results", "meaning"), meanings, ["results"]),
        table("The checks", ("check", "what it asks"), lines),
        table("The run", ("", ""), facts),
    ]
    return blocks


def settings_rows(settings: Mapping[str, Any]) -> list[tuple[str, Cell]]:
    """Settings of a run that are not the default's, as rows."""
    return [
        (name, Cell(str(value)))
        for name, value in settings.items()
        if value not in (None, {}, (), False, "")
    ]


def _matrix(report: Run) -> Table:
    """Check by family: judged of all results, or what failed; of many families in few columns."""
    families = _few(report, _groups(report, lambda check, family: family or "-"))
    rows: list[tuple[str | Cell, ...]] = []
    for check in report.tally.by_check:
        row: list[str | Cell] = [check]
        for members in families.values():
            own = [each for each in members if each[0] == check]
            counts = _sum(report.tally.by_family[each] for each in own)
            if not counts:
                row.append("")
                continue
            bad = sum(n for name, n in counts.items() if Verdict(name).is_bad)
            judged = sum(n for name, n in counts.items() if Verdict(name).judges)
            total = sum(counts.values())
            text = f"{bad} of {total} fail" if bad else f"{judged} of {total}"
            row.append(Cell(text, mark(counts).tone))
        rows.append(tuple(row))
    note = "Results judged of those tried; or failures of those tried."
    return table("Check by family", ("check", *families), rows, list(families), note)


def instance_blocks(result: Result) -> list[Block]:
    """Arguments of an instance, what was answered, and what is right."""
    assert result.instance is not None
    instance, _, which = answers.asked(result.instance, result.rows, result.answer)
    rows = [(name, answers.short(value)) for name, value in instance.params.items()]
    right = answers.right(result.instance, result.rows)
    place = ", ".join(filter(None, (result.check, result.family, which)))
    shown = [("returned", answers.readable(result.answer))]
    shown.append(("right", "not known" if right is None else answers.readable(right.answer)))
    blocks: list[Block] = [
        table(f"Smallest counterexample: arguments ({place})", ("argument", "value"), rows),
        table("Smallest counterexample: answers", ("", ""), shown),
    ]
    if right is not None and right.judgement.terms:
        title = (
            f"Smallest counterexample: certificate of the right answer, {right.judgement.verdict}"
        )
        blocks.append(terms_table(title, right.judgement.terms))
    return blocks


def to_dict(report: Run) -> dict[str, Any]:
    """All of a report as plain data: tables, reasons, terms, versions and the command."""
    smallest = report.counterexample_result
    return {
        **report.to_dict(),
        "checked": report.checked,
        "by_check_and_family": [
            {
                "check": check,
                "family": family,
                "counts": dict(counts),
                "worst": report.tally.figures[check, family].worst,
                "worst_pass": report.tally.figures[check, family].worst_pass,
                "seconds": report.tally.figures[check, family].seconds,
            }
            for (check, family), counts in report.tally.by_family.items()
        ],
        "not_judged": [
            {"verdict": verdict, "check": check, "reason": reason, "results": n}
            for (verdict, check), said in report.tally.reasons.items()
            for reason, n in said.items()
        ],
        "smallest": None if smallest is None else smallest.to_dict(),
        "command": command(report),
        "settings": dict(report.settings),
        "environment": versions(),
    }
