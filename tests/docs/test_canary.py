"""The documentation build really fails when a page is wrong.

Each test builds a tiny project with the settings of docs/conf.py itself (`sphinx-build -c docs`):
a page that is right must build, and each kind of wrong page must not.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("myst_nb", reason="needs the docs extra: pip install '.[docs]'")

DOCS = Path(__file__).resolve().parents[2] / "docs"

HEADER = """---
file_format: mystnb
kernelspec:
  name: python3
---
# Canary

"""


def build(
    folder: Path, body: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    source, output = folder / "source", folder / "html"
    source.mkdir(exist_ok=True)
    (source / "index.md").write_text(HEADER + body, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-c",
        str(DOCS),
    ]
    done = subprocess.run(
        [*command, str(source), str(output)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | environment,
    )
    return done, output / "index.html"


def cell(code: str) -> str:
    return f"```{{code-cell}} python\n{code}\n```\n"


def test_a_right_page_builds_with_its_formula_and_its_output(tmp_path: Path) -> None:
    body = "$$\\max_{p \\in \\Delta} \\langle z, p \\rangle$$ (eq:sup)\n\n" + cell("print(6 * 7)")
    done, page = build(tmp_path, body)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "<math " in text
    assert "⟨</mo>" in text
    assert 'class="eqno">(1)' in text
    assert "42" in text
    assert "mathjax" not in text.lower()


#: Pages that must fail the build: the text, and what is said of it.
WRONG = {
    "warning": (cell("import warnings; warnings.warn('look')"), "stderr"),
    "link": ("See [](no-such-page.md).\n", "no-such-page"),
    "script": ('<script src="https://script.example.org/a.js"></script>\n', "script.example.org"),
    "style": (
        cell(
            "from IPython.display import HTML\n"
            "HTML('<style>@import \"//style.example.org/font.css\";</style>')"
        ),
        "style.example.org",
    ),
    "slow": (cell("while True:\n    pass"), "slow: a cell took more than 1 s of CPU time"),
    "raising": (cell("raise ValueError('on purpose')"), "on purpose"),
}


def test_every_wrong_page_is_named_and_none_ends_the_others(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name, (body, _) in WRONG.items():
        (tmp_path / "source" / f"{name}.md").write_text(HEADER + body, encoding="utf-8")
    pages = "\n".join(WRONG)
    body = f"```{{toctree}}\n{pages}\n```\n\n" + cell("print(6 * 7)")
    done, page = build(tmp_path, body, REFSOLVE_CELL_SECONDS="1")
    assert done.returncode != 0
    assert "42" in page.read_text(encoding="utf-8")
    for name, (_, complaint) in WRONG.items():
        said = [line for line in done.stderr.splitlines() if name in line]
        assert said, f"the page {name} passed:\n{done.stderr}"
        assert complaint in done.stderr
    # as many as there are wrong pages, and nothing about the right one
    assert "index.md" not in done.stderr


def test_unknown_tex_ends_the_build(tmp_path: Path) -> None:
    done, _ = build(tmp_path, "$$\\nosuchcommand{x}$$\n")
    assert done.returncode != 0, "the build passed"
    assert "nosuchcommand" in done.stderr
