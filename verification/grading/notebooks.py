"""Exercises and derivations as notebooks for otter-grader and nbgrader, without an answer in them.

What grades is a certificate, or `refsolve.check_step`: the notebook calls it, and needs this package installed.
"""

import ast
import json
from dataclasses import dataclass
from typing import Any

from verification.derivations import Derivation
from verification.errors import InvalidArgumentError
from verification.exercises import Exercise

#: The formats that `notebook` writes.
GRADERS = ("otter", "nbgrader")
PROMPT = ">>>"


@dataclass(frozen=True)
class Question:
    """What is asked, the cell to fill in, and the cell that judges it."""

    name: str
    text: str
    blank: str
    judge: str


def notebook(task: Exercise | Derivation, grader: str) -> str:
    """An exercise or a derivation as the text of a notebook (nbformat 4.5).

    Parameters
    ----------
    task : Exercise or Derivation
    grader : str
        "otter": tests in the notebook's metadata, in the OK format, and ``grader.check`` after each question.
        "nbgrader": the assignment's source, each answer a cell to be graded by the locked test after it.
    """
    if grader not in GRADERS:
        raise InvalidArgumentError(f"grader={grader!r}: expected one of {', '.join(GRADERS)}")
    statement, given, questions = _parts(task)
    otter = grader == "otter"
    cells = [_text("title", f"# {task.title}\n\n{statement}")]
    if otter:
        start = f'import otter\n\ngrader = otter.Notebook("{task.name}.ipynb")'
        cells.append(_code("start", start))
    if given:
        cells.append(_code("given", given, None if otter else _mark("given", locked=True)))
    tests = {}
    for q in questions:
        answer, judge = f"{q.name}-answer", f"{q.name}-test"
        cells.append(_text(f"{q.name}-text", q.text))
        if otter:
            cells += [_code(answer, q.blank), _code(judge, f'grader.check("{q.name}")')]
            tests[q.name] = _ok_test(q)
        else:
            test = _mark(judge, grade=True, locked=True, points=1)
            cells.append(_code(answer, q.blank, _mark(answer, solution=True)))
            cells.append(_code(judge, q.judge, test))
    if otter:
        cells.append(_code("all", "grader.check_all()"))
    metadata: dict[str, Any] = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
    }
    if otter:
        metadata["otter"] = {"OK_FORMAT": True, "assignment_name": task.name, "tests": tests}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _parts(task: Exercise | Derivation) -> tuple[str, str, list[Question]]:
    """Statement, what is given, questions."""
    if isinstance(task, Derivation):
        questions = [
            Question(f"step_{number}", f"## {s.title}\n\n{s.text}", s.blank, s.judge)
            for number, s in enumerate(task.steps, 1)
        ]
        return task.statement, task.given, questions
    blank = f"import numpy as np\n\n\ndef {task.signature()}:\n    ...\n"
    judge = (
        "from verification.grading.judging import accept_answer\n\n"
        f'accept_answer("{task.name}", {task.function})\n'
    )
    return task.statement, "", [Question(task.function, "## Your answer", blank, judge)]


def _text(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _code(name: str, source: str, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    metadata = {"nbgrader": mark} if mark else {}
    return {
        "cell_type": "code", "id": name, "metadata": metadata, "source": source.rstrip(),
        "execution_count": None, "outputs": [],
    }  # fmt: skip


def _mark(name: str, **facts: Any) -> dict[str, Any]:
    """What nbgrader wants to know of a cell, in version 3 of its schema."""
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    return plain | {"grade_id": name, "schema_version": 3} | facts


def _ok_test(question: Question) -> dict[str, Any]:
    """A test in the OK format: statements as a doctest, the last one true."""
    lines = []
    *first, last = ast.parse(question.judge).body
    assert isinstance(last, ast.Expr), question.name
    source = [ast.get_source_segment(question.judge, node) or "" for node in first]
    for text in [*source, f"bool({ast.get_source_segment(question.judge, last.value)})"]:
        head, *rest = text.splitlines()
        lines += [f"{PROMPT} {head}", *(f"... {line}" for line in rest)]
    case = {"code": "\n".join([*lines, "True"]), "hidden": False, "locked": False}
    suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    return {"name": question.name, "points": 1, "suites": [suite]}
