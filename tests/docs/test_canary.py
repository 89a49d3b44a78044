"""The documentation build really fails when a page is wrong.

Each test builds a tiny project with the settings of docs/conf.py itself (`sphinx-build -c docs`):
a page that is right must build, and each kind of wrong page must not.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("myst_nb", reason="needs the docs extra: pip install 'refsolve[docs]'")

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


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        pytest.param(cell("import warnings; warnings.warn('look')"), "stderr", id="warning"),
        pytest.param("$$\\nosuchcommand{x}$$\n", "nosuchcommand", id="unknown TeX"),
        pytest.param("See [](no-such-page.md).\n", "no-such-page", id="broken link"),
        pytest.param(
            '<script src="https://example.org/a.js"></script>\n', "example.org", id="remote script"
        ),
        pytest.param(
            cell(
                "from IPython.display import HTML\n"
                "HTML('<style>@import \"//example.org/font.css\";</style>')"
            ),
            "example.org",
            id="remote style from a cell",
        ),
    ],
)
def test_a_wrong_page_fails_the_build(tmp_path: Path, body: str, complaint: str) -> None:
    done, _ = build(tmp_path, body)
    assert done.returncode != 0, "the build passed"
    assert complaint in done.stderr


def test_a_cell_that_computes_too_long_ends_and_names_its_page(tmp_path: Path) -> None:
    done, _ = build(tmp_path, cell("while True:\n    pass"), REFSOLVE_CELL_SECONDS="1")
    assert done.returncode != 0
    assert "index: a cell took more than 1 s of CPU time" in done.stderr


def test_one_wrong_page_is_named_and_does_not_end_the_others(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "wrong.md").write_text(
        HEADER + cell("raise ValueError('on purpose')"), encoding="utf-8"
    )
    done, page = build(
        tmp_path, "[](wrong.md)\n\n```{toctree}\nwrong\n```\n\n" + cell("print(6 * 7)")
    )
    assert done.returncode != 0
    assert "on purpose" in done.stderr
    assert "wrong.md" in done.stderr
    assert "42" in page.read_text(encoding="utf-8")
