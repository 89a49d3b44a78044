"""Every exercise: its key passes the kit as it is printed, its wrong answers don't, students may do anything."""

import ast
import copy
import csv
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from verification.cli import app
from verification.derivations import discover as derivations
from verification.errors import InvalidArgumentError
from verification.exercises import Exercise, discover, find
from verification.external import wire
from verification.faulty_solvers import Mutant
from verification.grading import judging, serve, sheet
from verification.grading.example import example
from verification.grading.judging import judged, mark_file, mark_program
from verification.kit.loop import applicable
from verification.selftest import detection_matrix

EXERCISES = list(discover().values())
WRONG = [(e, name) for e in EXERCISES for name in e.wrong]
#: Of the kit's instances one in so many: the judging is the same, and `refsolve exercise` takes them all.
SHARE = 22


def refuted(exercise: Exercise, function: Any, timeout: float = judging.TIMEOUT) -> bool:
    """Whether some instance of the kit shows that it is wrong; those after it are not asked."""
    if exercise.own:
        return not judged(exercise, function, timeout).ok
    named = {"timeout": timeout, "fixed": exercise.fixed}
    mutant = Mutant("handed in", exercise.problem.name, "", function, **named)
    checks = set(applicable(exercise.problem)) - {"batch"}
    return detection_matrix.row(mutant, checks=checks, until_killed=True).killed


def test_the_exam_covers_the_course() -> None:
    assert len(EXERCISES) >= 12
    assert {e.lecture for e in EXERCISES} == set(range(1, 13))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_an_exercise_is_complete(exercise: Exercise) -> None:
    assert len(set(exercise.hints)) == 3
    assert len(exercise.wrong) >= 2
    assert all(f.__doc__ for f in exercise.wrong.values())
    assert f"`{exercise.signature()}`" in exercise.statement
    space: dict[str, Any] = {}
    exec(exercise.skeleton(), space)  # a file that can be handed in, and is wrong
    with pytest.raises(NotImplementedError):
        space[exercise.function](*[None] * len(inspect.signature(exercise.key).parameters))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_the_example_for_other_languages_is_a_request_with_its_answer(exercise: Exercise) -> None:
    request, answer = json.loads(json.dumps(example(exercise)))
    arrays = {n: wire.decode(v, n) for n, v in request["arrays"].items()}
    given = arrays | {n: wire.read(v, n) for n, v in request["params"].items()}
    assert set(given) == set(exercise.problem.arguments)
    right = exercise.key(**{n: given[n] for n in inspect.signature(exercise.key).parameters})
    np.testing.assert_array_equal(answer["x"], right)
    assert np.isfinite(answer["x"]).all()
    assert np.any(answer["x"])


def asked(exercise: Exercise, seed: int) -> list[str]:
    """The instances that an answer is judged on, as code."""
    few = {} if exercise.own else {"every": 20, "checks": applicable(exercise.problem)[:1]}
    found = judged(exercise, exercise.key, seed=seed, **few)
    assert found.ok
    assert found.seed == seed
    return [r.instance.code() for r in found.results if r.instance is not None]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_the_seed_of_every_exercise_counts(exercise: Exercise) -> None:
    one = asked(exercise, 1)
    assert one == asked(exercise, 1) != asked(exercise, 2)


@pytest.mark.parametrize(
    ("exercise", "name"), [w for w in WRONG if w[0].own], ids=lambda v: getattr(v, "name", v)
)
def test_own_instances_of_any_seed_refute_what_is_wrong(exercise: Exercise, name: str) -> None:
    assert not any(judged(exercise, exercise.wrong[name], seed=seed).ok for seed in range(1, 6))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_the_printed_key_passes_by_itself(exercise: Exercise) -> None:
    source = exercise.key_source()
    imported = re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE)
    assert set(imported) <= {"numpy", "scipy"}
    space: dict[str, Any] = {"__name__": "key"}
    exec(source, space)
    few = {} if exercise.own else {"every": SHARE, "shrink": False}
    found = judged(exercise, space[exercise.function], **few)
    assert found.ok, found.summary()


@pytest.mark.parametrize(("exercise", "name"), WRONG, ids=lambda v: getattr(v, "name", v))
def test_a_wrong_answer_is_refuted(exercise: Exercise, name: str) -> None:
    assert refuted(exercise, exercise.wrong[name])


RIGHT = find("fooled").key_source()
HANDED_IN = {
    "syntax": ("def fooled(m, k)\n    return m\n", "SyntaxError in line 1"),
    "another name": ("def fool(m, k):\n    return m\n", "no function 'fooled'"),
    "nothing": ("", "it defines no function at all"),
    "signature": ("def fooled(m, k, p):\n    return p\n", "expected fooled(m, k)"),
    "exits": ("import sys\nsys.exit(3)\n", "SystemExit: 3 in line 2"),
    "None": ("def fooled(m, k):\n    pass\n", "crash: returned None"),
    "int": ("def fooled(m, k):\n    return 3\n", "fail: expected 3 numbers, got shape ()"),
    "no float": ("def fooled(m, k):\n    return [1e308] * m\n", "fail: no distribution"),
    "dies": ("import os\ndef fooled(m, k):\n    os._exit(3)\n", "crash: ended with exit code 3"),
    "hangs": ("def fooled(m, k):\n    while True: pass\n", "timeout: no answer within"),
    "hangs at once": ("while True: pass\n", "importing it takes too long"),
    "prints, returns a list": (RIGHT.replace("return ", "print('m is', m)\n    return list(").rstrip() + ")\n", ""),
    "asks": ("input('m? ')\n" + RIGHT, "ValueError"),
}  # fmt: skip


#: What needs a process of its own to be seen.
ALIVE = ("syntax", "signature", "dies", "hangs", "hangs at once", "prints, returns a list")


@pytest.mark.parametrize("kind", sorted({*HANDED_IN} - {*ALIVE}))
def test_what_is_wrong_is_said(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, said = HANDED_IN[kind]
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("builtins.input", lambda prompt: int(""))  # nothing to read
    file = tmp_path / "numpy.py"  # as badly named as can be
    file.write_text(text)
    try:
        why = judging.Mark(find("fooled"), judged(find("fooled"), serve.load(f"{file}:fooled"))).why
    except InvalidArgumentError as error:
        why = str(error)
    assert said in why
    sys.modules.pop("handed_in", None)


@pytest.mark.parametrize("kind", ALIVE)
def test_whatever_is_handed_in_is_marked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, said = HANDED_IN[kind]
    if kind.startswith("hangs"):
        monkeypatch.setattr(judging, "TIMEOUT", 0.1)
        monkeypatch.setattr(judging.Handed, "imports", 3.0)
    file = tmp_path / "json.py"
    file.write_text(text)
    mark = mark_file(find("fooled"), str(file), timeout=0.1 if kind.startswith("hangs") else 60.0)
    assert said in mark.why
    assert mark.ok is (not said)


def test_a_file_that_nobody_has_filled_in_is_not_judged(tmp_path: Path) -> None:
    """At once, and not as a thousand crashes; a function that answers somewhere is no such file."""
    for exercise in EXERCISES:
        (tmp_path / "a.py").write_text(exercise.skeleton())
        with pytest.raises(InvalidArgumentError, match="is still to be written"):
            serve.load(f"{tmp_path / 'a.py'}:{exercise.function}")
    assert "is still to be written" in mark_file(EXERCISES[-1], str(tmp_path / "a.py")).why
    (tmp_path / "a.py").write_text("def fooled(m, k):\n    print(m)\n    raise NotImplementedError\n")
    assert "NotImplementedError" in (said := mark_file(find("fooled"), str(tmp_path / "a.py")).why)
    assert "to be written" not in said


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"$P = C\sum_i \max\{0, 1 - \langle x_i, w\rangle\} + \tfrac12\lVert w\rVert^2$ of $w$",
         "P = C sum_i max {0, 1 - <x_i, w>} + 1/2 ||w||^2 of w"),
        (r"$-\tfrac\gamma2x^2 + \tfrac{\gamma}{2C}\langle\mathbf 1, x\rangle^2 \ge \mathrm{rest}$",
         "- gamma/2 x^2 + gamma/(2C) <1, x>^2 >= rest"),
        (r"$D(\alpha)$ of $W_0^\top x$, $e^{u_j}$, $a_{i,y_i}$", "D(alpha) of W_0^T x, e^(u_j), a_(i,y_i)"),
        ("costs 5 dollars", "costs 5 dollars"),
    ],
)  # fmt: skip
def test_formulas_in_a_terminal_have_no_commands_of_latex(formula: str, shown: str) -> None:
    assert sheet.plain_math(formula) == shown


def test_no_derivation_shows_latex() -> None:
    for task in derivations().values():
        for text in (task.statement, *(step.text for step in task.steps)):
            assert not re.search(r"\\|\$", sheet.plain_math(text)), text


def test_an_argument_that_is_changed_is_noticed(tmp_path: Path) -> None:
    source = find("dual_value").key_source()
    (tmp_path / "a.py").write_text(source.replace("    rows =", "    A *= 1.5\n    rows =", 1))
    assert "changed its argument A" in mark_file(find("dual_value"), str(tmp_path / "a.py")).why


def test_a_program_is_marked_too(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    loop = (
        "import json, sys\nfor line in sys.stdin:\n    given = json.loads(line)\n"
        "    x = fooled(given['params']['m'], given['params']['k'])\n"
        "    print(json.dumps({'id': given['id'], 'x': x.tolist()}), flush=True)\n"
    )
    program.write_text(RIGHT + loop)
    assert mark_program(find("fooled"), f"{sys.executable} {program}").ok


def test_a_program_gets_every_entry_in_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n    given = json.loads(line)\n"
        "    x = given['arrays']['x']['values']\n"
        "    print(json.dumps({'id': given['id'], 'x': -sum(x)}), flush=True)\n"
    )
    long = np.full(2 * wire.LARGE, 2.0**-20)
    monkeypatch.setattr(judging, "judged", lambda _, function, *__: function(long, 1))
    mark = mark_program(find("conjugate_topk_hinge"), f"{sys.executable} {program}")
    assert mark.report == -long.sum()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["exercise", *words])
        assert result.exit_code == code, result.output
        return result.output

    assert all(e.name in run() for e in EXERCISES)
    assert "lecture 9" in run("fooled")
    run("fooled", "--start", "fooled.py")
    assert "name a new file" in run("fooled", "--start", "fooled.py", code=2)
    assert len(json.loads(run("fooled", "--hint", "2", "--json"))["hints"]) == 2
    Path("ann").mkdir()
    Path("ann/fooled.py").write_text(run("--key", "fooled"))
    out = run("fooled", "--check", "fooled.py:numpy", "--json", code=1)
    assert json.loads(out)["state"] == "cannot be run"
    run("--all", "--check", ".", "--csv", "marks.csv", code=1)
    with open("marks.csv") as file:
        marks = [(row["who"], row["mark"]) for row in csv.DictReader(file)]
    assert marks == [("", "cannot be run"), ("ann", "passed")]
    for words in (
        ("nothing",), ("--hint", "1"), ("fooled", "--key", "--hint", "1"), ("--all",), ("fooled", "--csv", "x"),
        ("fooled", "--check", "missing.py"), ("--all", "--check", "missing"),
    ):  # fmt: skip
        run(*words, code=2)


def test_an_unknown_exercise_names_the_known_ones() -> None:
    with pytest.raises(InvalidArgumentError, match="project_simplex"):
        find("simplex")


class Replaced(ast.NodeTransformer):
    def __init__(self, target: ast.AST, free: ast.AST) -> None:
        self.target, self.free = target, free

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return self.free if node is self.target else self.generic_visit(node)


def _conditions(exercise: Exercise) -> Iterator[tuple[str, Any]]:
    """The key once more for every comparison in it, which always holds there, or never."""
    tree = ast.parse(exercise.key_source())
    compared = [n for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    for i, (operator, constant) in itertools.product(
        range(len(compared)), ((ast.BitOr(), True), (ast.BitAnd(), False))
    ):
        changed = copy.deepcopy(tree)
        target = [n for n in ast.walk(changed) if isinstance(n, ast.Compare)][i]

        free = ast.BinOp(target, operator, ast.Constant(constant))

        Replaced(target, free).visit(changed)
        names: dict[str, Any] = {"__name__": "changed"}
        exec(compile(ast.fix_missing_locations(changed), "key", "exec"), names)
        yield f"{constant}: {ast.unparse(compared[i])}", names[exercise.function]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_no_condition_of_a_key_may_be_left_out(exercise: Exercise) -> None:
    """A loop that never ends is refused, too."""
    wrong = [
        (what, function, 0.1 if ":=" in what else judging.TIMEOUT)
        for what, function in _conditions(exercise)
    ]
    assert not [what for what, f, timeout in wrong if not refuted(exercise, f, timeout)]
