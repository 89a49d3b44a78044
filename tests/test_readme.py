"""The README's examples run as printed, and every file, command and target it names exists."""

import re
from pathlib import Path

import pytest

from verification.cli import command_names

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_there_are_three_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(
    ("needle", "expected"),
    [
        ("TopKSVC", r"\d.*\[\[.*\]"),
        ("refsolve.solve", r"\[.*\] \S+ certified"),
        ("verify(project", r"FAILED(.|\n)*smallest counterexample(.|\n)*r=0\.0"),
    ],
)
def test_example_runs_and_prints_what_the_text_says(
    needle: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = next(example for example in EXAMPLES if needle in example)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert re.search(expected, capsys.readouterr().out)


def test_commands_shown_exist() -> None:
    shown = set(re.findall(r"refsolve ([a-z]+)(?= |$)", README, flags=re.MULTILINE))
    assert set(command_names()) <= shown | {"help"}


def test_make_targets_shown_exist() -> None:
    targets = set(
        re.findall(
            r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    )
    assert set(re.findall(r"make ([a-z]+)", README)) & targets == {"verify", "test", "docs"}


def test_files_shown_exist() -> None:
    files = re.findall(r"`((?:refsolve|fast|docs|verification)/[\w/]+\.(?:py|md))`", README)
    assert len(files) == 10
    assert [f for f in files if not (ROOT / f).is_file()] == []
