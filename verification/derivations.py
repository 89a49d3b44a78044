"""Derivations as exercises: one MyST notebook each, from which come the page, the notebook to hand in, the test.

A source is ``docs/course/derivations/NAME.md``; a wheel has it in ``verification/derivation_sources``. After
the front matter, which says the lecture, stand a title, what is derived, and a cell with what is given.
Then, per step, ``## Step 1. ...``, what is asked, without the answer; comments ``% wrong: OLD => NEW # why``; a
cell tagged ``answer``; and a cell that judges it with `check_step`, which sees what the steps before it answer.
Each OLD that becomes NEW in the answer must be refused with a point, or because a symbol is left in it.
"""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verification.errors import InvalidArgumentError

_HERE = Path(__file__).resolve().parent
#: Where the sources are: in a wheel, and in a clone.
FOLDERS = (_HERE / "derivation_sources", _HERE.parent / "docs" / "course" / "derivations")
_CELL = re.compile(r"^```\{code-cell\} python\n((?::[^\n]*\n)*)(.*?)^```$", re.M | re.S)
_WRONG = re.compile(r"^% wrong: (.+?) =>(?: (.*?))? # (.+)$", re.M)


@dataclass(frozen=True)
class DerivationStep:
    """One step: what is asked, its answer, the cell that judges it, and wrong answers with their reasons."""

    title: str
    text: str
    answer: str
    judge: str
    wrong: tuple[tuple[str, str], ...]

    @property
    def blank(self) -> str:
        """The answer's names, to be filled in."""
        lines = []
        for node in ast.parse(self.answer).body:
            if isinstance(node, ast.FunctionDef):
                lines.append(f"def {node.name}({ast.unparse(node.args)}):\n    return ...")
            elif isinstance(node, ast.Assign) and (names := self._asked(node)):
                lines += [f"{name} = ..." for name in names]
            else:
                lines.append(ast.unparse(node))
        return "\n".join(lines) + "\n"

    def _asked(self, node: ast.Assign) -> list[str]:
        """Names that the judge reads; a symbol's declaration is given."""
        declared = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in (
            "cp.Variable",
            "cp.Parameter",
        )
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return [] if declared else names


@dataclass(frozen=True)
class Derivation:
    """One derivation, read from its source."""

    name: str
    lecture: int
    title: str
    statement: str
    given: str
    steps: tuple[DerivationStep, ...]

    def run(self, upto: int, answer: str | None = None) -> None:
        """Run the cells of the first steps, the last with another answer; AssertionError where one is refused."""
        space: dict[str, Any] = {"__name__": "derivation"}
        exec(self.given, space)
        for number, step in enumerate(self.steps[:upto], 1):
            other = number == upto and answer is not None
            exec(str(answer) if other else step.answer, space)
            if number == upto:
                exec(step.judge, space)


def read(path: Path) -> Derivation:
    """A derivation from its source; InvalidArgumentError says which part is missing."""
    text = path.read_text(encoding="utf-8")
    lecture = re.search(r"^  lecture: (\d+)$", text, re.M)
    first, *parts = re.split(r"^## ", text, flags=re.M)
    head = re.search(r"^# ([^\n]+)\n(.*)", first, re.M | re.S)
    cells = _CELL.findall(first)
    if not (lecture and head and parts and len(cells) == 1):
        raise InvalidArgumentError(f"{path.name}: expected lecture, title, one given cell, steps")
    steps = tuple(_step(path.name, part) for part in parts)
    statement = _CELL.sub("", head[2]).strip()
    return Derivation(path.stem, int(lecture[1]), head[1], statement, cells[0][1], steps)


def _step(file: str, part: str) -> DerivationStep:
    title, _, body = part.partition("\n")
    cells = _CELL.findall(body)
    if len(cells) != 2 or "answer" not in cells[0][0]:
        raise InvalidArgumentError(f"{file}, {title}: expected an answer cell and a judging cell")
    answer = cells[0][1]
    wrong = []
    for old, new, why in _WRONG.findall(body):
        if old not in answer:
            raise InvalidArgumentError(f"{file}, {title}: {old!r} is not in the answer")
        wrong.append((answer.replace(old, new, 1), why))
    if len(wrong) < 2:
        raise InvalidArgumentError(f"{file}, {title}: expected two wrong answers at least")
    text = re.sub(r"^%.*\n?", "", _CELL.sub("", body), flags=re.M).strip()
    return DerivationStep(title, text, answer, cells[1][1], tuple(wrong))


@functools.cache
def discover() -> dict[str, Derivation]:
    """All derivations by name, in the order of the lectures."""
    folder = next((f for f in FOLDERS if f.is_dir()), FOLDERS[0])
    found = [read(path) for path in sorted(folder.glob("*.md")) if path.stem != "index"]
    return {each.name: each for each in sorted(found, key=lambda d: (d.lecture, d.name))}
