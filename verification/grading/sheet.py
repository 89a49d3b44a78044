"""Exercises and marks as documents: the list, a statement, what came of a submission, a class's table."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verification.derivations import Derivation
from verification.derivations import discover as derivations
from verification.exercises import Exercise, discover
from verification.failures import answers
from verification.grading.example import example
from verification.grading.judging import Mark, mark_file
from verification.report.document import Block, Cell, Code, Document, Paragraph, table
from verification.report.run_report import report_table, terms_table
from verification.verdicts.report import Report
from verification.verdicts.verdict import Result, Verdict

HELP = """\
Start:  refsolve exercise {name} --start {name}.py
Ask:    refsolve exercise {name} --hint 1   (2: the next formula, 3: nearly all)
Check:  refsolve exercise {name} --check {name}.py   (or FILE.py:NAME)
Hand out: refsolve exercise {name} --notebook {name}.ipynb   (--for otter or nbgrader)
Any other language: refsolve exercise {name} --exec "./program", which answers each line of JSON
like the first below by one like the second (docs/protocol.md)"""
#: What a pass says, and what it does not.
KIT = (
    "Each of these answers was brought into the feasible set and its duality gap computed from the "
    "declared formulas alone; on these instances it is proved right up to rounding. Of other "
    "instances nothing is proved: these are random, tied, huge, tiny and planted ones drawn with "
    "seed {seed}; `--seed {next}` draws others."
)
OWN = (
    "Each of these answers was compared with rational arithmetic, within a bound on rounding errors; "
    "on these instances, of seed {seed}, it is proved right. Of other instances nothing is proved; "
    "`--seed {next}` draws others."
)


#: An argument of a fraction, and what stands for commands of LaTeX that are no words.
_PART = r"\{[^{}]*\}|\\[a-z]+|\w"
_SIGNS = {r"\lVert ": " ||", r"\lVert": " ||", r"\rVert": "|| ", r"\langle ": " <", r"\langle": " <", r"\rangle": "> ",
          r"\ge": " >=", r"\le": " <=", r"^\top": "^T ", r"\nabla": " grad ", r"\bigl": "", r"\bigr": "",
          r"\,": " ", r"\ ": " "}  # fmt: skip


def listing() -> Document:
    """All exercises."""
    rows = [(str(e.lecture), e.name, e.title) for e in discover().values()]
    note = "`refsolve exercise NAME` says what is asked."
    steps = [(str(d.lecture), d.name, d.title) for d in derivations().values()]
    columns = ("lecture", "name", "what")
    blocks = (
        table(f"{len(rows)} exercises", columns, rows, note=note),
        table(f"{len(steps)} derivations, step by step", columns, steps),
    )
    data = {
        kind: [
            dict(zip(("lecture", "name", "title"), (int(n), *row), strict=True))
            for n, *row in found
        ]
        for kind, found in (("exercises", rows), ("derivations", steps))
    }
    return Document("Exercises", blocks, None, data)


def plain_math(text: str) -> str:
    """Formulas between dollars as a terminal has them, in the notation of `refsolve show`."""
    return re.sub(r"\$([^$]+)\$", lambda found: _plain_formula(found[1]), text)


def _plain_formula(formula: str) -> str:
    def fraction(found: re.Match[str]) -> str:
        over, under = found[1].strip("{}"), found[2].strip("{}")
        return f"{over}/({under}) " if re.fullmatch(r"\w{2,}|.* .*", under) else f"{over}/{under} "

    text = re.sub(rf"\\tfrac\s*({_PART})\s*({_PART})", fraction, formula)
    text = re.sub(r"\\math(?:rm|bf)\s*(?:\{(\w+)\}|(\w))", lambda found: f" {found[1] or found[2]} ", text)
    for command, sign in _SIGNS.items():
        text = text.replace(command, sign)
    text = re.sub(r"\\([a-z]+)", r" \1 ", text)  # Greek letters, sum, max, sup, log
    text = re.sub(r"([\^_])\{([^{}]*)\}", r"\1(\2)", text.replace("\\{", "{ ").replace("\\}", " }"))
    text = re.sub(r"\s*([\^_])\s*|\s+(?=[,;.)])|(?<=\()\s+", r"\1", text)
    return re.sub(r"\s+", " ", text).replace(" /", "/").replace("{ ", "{").replace(" }", "}").strip()


def derivation(asked: Derivation) -> Document:
    """What is derived, step by step."""
    blocks: list[Block] = [Paragraph(plain_math(asked.statement)), Code("Given", asked.given)]
    for step in asked.steps:
        text = plain_math(f"{step.title}. {step.text}")
        blocks += [Paragraph(text), Code("To fill in", step.blank)]
    help_text = f"Start:  refsolve exercise {asked.name} --notebook {asked.name}.ipynb   (--for otter or nbgrader)"
    blocks.append(Paragraph(help_text, "dim"))
    data = {"name": asked.name, "lecture": asked.lecture, "statement": asked.statement}
    return Document(f"{asked.title} (lecture {asked.lecture})", tuple(blocks), None, data)


def statement(exercise: Exercise) -> Document:
    """What is asked, and how to hand in."""
    title = f"{exercise.title} (lecture {exercise.lecture})"
    request, answer = example(exercise)
    lines = "\n".join(json.dumps(line, separators=(",", ":")) for line in (request, answer))
    blocks = (
        Paragraph(exercise.statement),
        Paragraph(HELP.format(name=exercise.name), "dim"),
        Code("An instance and its answer, as lines", lines),
    )
    data = {
        "name": exercise.name,
        "lecture": exercise.lecture,
        "statement": exercise.statement,
        "skeleton": exercise.skeleton(),
        "problem": exercise.problem.name,
        "example": {"request": request, "answer": answer},
    }
    return Document(title, blocks, None, data)


def hint(exercise: Exercise, number: int) -> Document:
    """The first hints, up to this one."""
    given = exercise.hints[:number]
    blocks = tuple(Paragraph(f"{i}. {text}") for i, text in enumerate(given, 1))
    return Document(f"{exercise.title}: hints", blocks, None, {"hints": list(given)})


def key(exercise: Exercise) -> Document:
    """The lecturer's solution, and the wrong answers that are handed in."""
    source = exercise.key_source()
    slips = {n: " ".join((f.__doc__ or "").split()) for n, f in exercise.wrong.items()}
    blocks = (
        Code("A solution", source),
        table(
            "Answers that are handed in, and refuted",
            ("name", "what is wrong"),
            list(slips.items()),
        ),
    )
    return Document(f"{exercise.title}: key", blocks, None, {"key": source, "wrong": slips})


def marked(mark: Mark) -> Document:
    """What came of one submission."""
    exercise, report = mark.exercise, mark.report
    data: dict[str, Any] = {"exercise": exercise.name, "state": mark.state, "why": mark.why}
    if report is None:
        text = f"Nothing was judged: {mark.trouble}"
        return Document(exercise.title, (Paragraph(text, "bad"),), False, data, bad="cannot be run")
    blocks: list[Block] = [report_table(report, f"{report.candidate}, {report.elapsed:.1f} s")]
    if report.ok:
        if example := _example(report.results):
            assert example.instance is not None
            code = f"{exercise.function}({_short(example)})"
            blocks.append(terms_table(f"Certificate of your worst answer: {code}", example.terms))
        blocks.append(
            Paragraph((OWN if exercise.own else KIT).format(seed=report.seed, next=report.seed + 1))
        )
    else:
        blocks += _failure(report)
        text = f"`refsolve exercise {exercise.name} --hint 1` has an idea."
        blocks.append(Paragraph(text, "dim"))
    data |= {"counts": report.counts, "counterexample": report.counterexample}
    judged = f"passed {report.checked} of {report.checked} judged answers"
    return Document(
        exercise.title, tuple(blocks), report.ok, data, good=judged, bad=f"WRONG: {mark.why}"
    )


def _failure(report: Report) -> list[Block]:
    """Where it fails, in a line, and the smallest counterexample with its certificate."""
    bad = {
        check: sum(n for verdict, n in counts.items() if Verdict(verdict).is_bad)
        for check, counts in report.by_check().items()
    }
    where = ", ".join(f"{check} ({n})" for check, n in bad.items() if n)
    blocks: list[Block] = [Paragraph(f"wrong in: {where or 'nothing, but nothing was judged'}")]
    smallest = report.counterexample_result
    if smallest is not None and smallest.terms:
        blocks.append(terms_table("What its certificate says", smallest.terms))
    if report.counterexample:
        blocks.append(Code("Smallest counterexample found", report.counterexample))
    return blocks


def _example(results: Iterable[Result]) -> Result | None:
    """The passed answer that needed most of its tolerance."""
    passed = [
        r for r in results if r.verdict is Verdict.PASS and r.terms and r.instance is not None
    ]
    return max(passed, key=lambda r: r.ratio or 0.0, default=None)


def _short(result: Result, longest: int = 100) -> str:
    assert result.instance is not None
    given = result.instance.params
    text = ", ".join(
        f"{name}={answers.short(value)}" for name, value in given.items() if value is not None
    )
    return text if len(text) <= longest else f"{text[:longest]} ..."


@dataclass(frozen=True)
class Row:
    """One student's exercise."""

    student: str
    mark: Mark
    file: str


def submissions(folder: Path) -> list[tuple[str, str, Path]]:
    """(student, exercise, file) of ``FOLDER/<exercise>.py`` and of ``FOLDER/<student>/<exercise>.py``."""
    known = discover()
    found = [("", f) for f in folder.glob("*.py")]
    found += [(f.parent.name, f) for f in folder.glob("*/*.py")]
    return sorted((who, f.stem, f) for who, f in found if f.stem in known)


def marks(handed: Sequence[tuple[str, str, Path]], step: Any, **options: Any) -> list[Row]:
    """Mark them one after the other; ``step`` is told of each."""
    rows = []
    for student, name, file in handed:
        mark = mark_file(discover()[name], str(file), **options)
        rows.append(Row(student, mark, str(file)))
        step(f"{student} {name}: {mark.state}")
    return rows


def class_table(rows: Sequence[Row]) -> Document:
    """The table of a class."""
    tones = {"passed": "good", "wrong": "bad", "cannot be run": "warn"}
    shown = [
        (
            r.student,
            r.mark.exercise.name,
            Cell(r.mark.state, tones[r.mark.state]),
            _line(r.mark.why),
        )
        for r in rows
    ]
    passed = sum(r.mark.ok for r in rows)
    note = f"{passed} of {len(rows)} passed"
    blocks = (table("Marks", ("who", "exercise", "mark", "why"), shown, note=note),)
    data = [
        {
            "who": r.student,
            "exercise": r.mark.exercise.name,
            "state": r.mark.state,
            "why": r.mark.why,
        }
        for r in rows
    ]
    return Document("Marks", blocks, passed == len(rows), {"marks": data}, good=note, bad=note)


def class_csv(rows: Sequence[Row]) -> str:
    """The same as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("who", "exercise", "lecture", "mark", "why"))
    for r in rows:
        e = r.mark.exercise
        writer.writerow((r.student, e.name, e.lecture, r.mark.state, _line(r.mark.why)))
    return text.getvalue()


def _line(text: str, longest: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 3] + "..."
