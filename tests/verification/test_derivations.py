"""Derivations: right steps are accepted, wrong ones refused with a point; notebooks for graders hold no answer."""

import doctest
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from refsolve import derivation_steps
from verification.cli import app
from verification.derivations import FOLDERS, Derivation, discover, read
from verification.errors import InvalidArgumentError
from verification.exercises import discover as exercises
from verification.grading.judging import accept_answer
from verification.grading.notebooks import GRADERS, notebook

DERIVATIONS = list(discover().values())
#: A supremum that is infinite at many points, each of which is proved.
LONG = {("topk_hinge_conjugate", 4)}
STEPS = [
    pytest.param(d, n, id=f"{d.name}-{n}", marks=[pytest.mark.slow] * ((d.name, n) in LONG))
    for d in DERIVATIONS
    for n in range(1, 1 + len(d.steps))
]


def test_lectures_4_to_8_have_theirs() -> None:
    assert {d.lecture for d in DERIVATIONS} == {4, 5, 6, 7, 8}
    assert len(DERIVATIONS) >= 6
    assert all(len(d.steps) >= 4 for d in DERIVATIONS)
    assert not {d.name for d in DERIVATIONS} & set(exercises())


@pytest.mark.parametrize(("derivation", "number"), STEPS)
def test_a_right_step_is_accepted_and_wrong_ones_are_refused(
    derivation: Derivation, number: int
) -> None:
    derivation.run(number)
    for answer, why in derivation.steps[number - 1].wrong:
        with pytest.raises(AssertionError) as refused:
            derivation.run(number, answer)
        step = refused.value.args[0]
        assert step.status == "refused", why
        assert step.point is not None or "still in it" in step.reason, why


@pytest.mark.slow
def test_right_steps_are_accepted_on_other_points(monkeypatch: pytest.MonkeyPatch) -> None:
    original = derivation_steps.Space
    monkeypatch.setattr(derivation_steps, "INSTANCES", 5)
    monkeypatch.setattr(
        derivation_steps, "Space", lambda *given: original(*given[:-1], seed=given[-1] + 1)
    )
    for derivation in DERIVATIONS:
        for number in range(1, 1 + len(derivation.steps)):
            derivation.run(number)


def test_a_source_without_a_part_is_named(tmp_path: Path) -> None:
    text = (FOLDERS[1] / "svm_dual.md").read_text("utf-8")
    for old, new, named in (
        ("  lecture: 5\n", "", "expected lecture"),
        (":tags: [answer, hide-input]", ":tags: [hide-input]", "an answer cell"),
        ("% wrong: alpha <= C =>", "% wrong: alpha <= D =>", "not in the answer"),
    ):
        assert old in text
        (tmp_path / "a.md").write_text(text.replace(old, new))
        with pytest.raises(InvalidArgumentError, match=named):
            read(tmp_path / "a.md")


TASKS = [*DERIVATIONS, *exercises().values()]
tasks = pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)


def lines_of(answer: str) -> set[str]:
    """What gives an answer away: its lines of some length, but declarations of what is given."""
    lines = {line.strip() for line in answer.splitlines()}
    given = ("def ", "import ", "from ", "f = cp.Variable")
    return {x for x in lines if len(x) > 8 and not x.startswith(given)}


@tasks
@pytest.mark.parametrize("grader", GRADERS)
def test_a_notebook_holds_no_answer(task: Any, grader: str) -> None:
    book = json.loads(notebook(task, grader))
    text = "\n".join(cell["source"] for cell in book["cells"]) + json.dumps(book["metadata"])
    if isinstance(task, Derivation):
        answers = set().union(*(lines_of(step.answer) for step in task.steps))
        assert "% wrong" not in text
    else:
        answers = lines_of(task.key_source()) - lines_of(task.skeleton())
    assert len(answers) >= 2
    assert [line for line in answers if line in text] == []
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            compile(cell["source"], cell["id"], "exec")


@tasks
def test_notebooks_have_the_documented_formats(task: Any) -> None:
    otter, nbgrader = (json.loads(notebook(task, grader)) for grader in GRADERS)
    for book in (otter, nbgrader):
        assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in book["cells"]]
        assert len(set(ids)) == len(ids)
    tests = otter["metadata"]["otter"]["tests"]
    checked = [c["source"] for c in otter["cells"] if c["source"].startswith("grader.check(")]
    assert checked == [f'grader.check("{name}")' for name in tests]
    assert otter["metadata"]["otter"]["OK_FORMAT"] is True
    for name, test in tests.items():
        assert (test["name"], test["points"]) == (name, 1)
        (suite,) = test["suites"]
        assert (suite["type"], suite["scored"]) == ("doctest", True)
    marks = [m for c in nbgrader["cells"] if (m := c["metadata"].get("nbgrader"))]
    fields = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
    assert all(fields <= set(mark) and mark["schema_version"] == 3 for mark in marks)
    graded = [m for m in marks if m["grade"]]
    assert len(graded) == len(tests) == sum(m["solution"] for m in marks)
    assert all(m["points"] == 1 and m["locked"] for m in graded)


@pytest.mark.parametrize("right", [True, False])
def test_the_tests_of_a_notebook_tell_right_from_wrong(right: bool) -> None:
    derivation = discover()["block_update"]
    book = json.loads(notebook(derivation, "otter"))
    space: dict[str, Any] = {"__name__": "notebook"}
    exec(derivation.given, space)
    for number, step in enumerate(derivation.steps[:2], 1):
        exec(step.answer if right else step.wrong[0][0], space)
        (suite,) = book["metadata"]["otter"]["tests"][f"step_{number}"]["suites"]
        example = doctest.DocTestParser().get_doctest(
            suite["cases"][0]["code"], space, "step", None, None
        )
        outcome = doctest.DocTestRunner(verbose=False).run(example, out=lambda _: None)
        assert outcome.attempted > 0
        assert (outcome.failed == 0) is right
        exec(step.answer, space)


def test_a_blank_is_refused() -> None:
    derivation = discover()["svm_dual"]
    with pytest.raises((AssertionError, TypeError, ValueError)):
        derivation.run(1, derivation.steps[0].blank)


def test_an_exercise_is_judged_in_a_notebook() -> None:
    fooled = exercises()["fooled"]
    assert accept_answer("fooled", fooled.key).startswith("✓ passed")
    with pytest.raises(AssertionError, match=r"(?s)fail: .*fooled\("):
        accept_answer("fooled", next(iter(fooled.wrong.values())))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["exercise", *words])
        assert result.exit_code == code, result.output
        return result.output

    assert all(d.name in run() for d in DERIVATIONS)
    assert "lines = ..." in run("svm_dual")
    run("svm_dual", "--notebook", "a.ipynb", "--for", "nbgrader")
    run("fooled", "--notebook", "b.ipynb")
    assert "otter" in Path("b.ipynb").read_text("utf-8")
    assert "name a new file" in run("fooled", "--notebook", "a.ipynb", code=2)
    assert "otter, nbgrader" in run("fooled", "--notebook", "c.ipynb", "--for", "moodle", code=2)
    assert "--notebook" in run("svm_dual", "--hint", "1", code=2)
