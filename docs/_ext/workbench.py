"""A folder with the example solvers in it, and a terminal there, for the pages that verify them."""

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
WIDTH = "100"
PLUGIN = ("-p", "no:cacheprovider", "-p", "verification.pytest_plugin")


def enter() -> None:
    """Go to a copy of docs/solvers, with what they import beside it; it is removed at the end."""
    home = Path(tempfile.mkdtemp(prefix="refsolve-docs-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name in ("solvers", "course/js"):
        shutil.copytree(DOCS / name, home / name)
    folder = home / "solvers"
    os.chdir(folder)
    sys.path.insert(0, str(folder))


def missing(command: str) -> str:
    """The first program of a command line that this machine does not have; empty if there is none."""
    words = shlex.split(command)
    programs = [words[0], *(w for word in words[1:] for w in word.split() if w in ("node",))]
    programs += [w for word in words for w in word.split() if w.startswith("./")]
    ours = ("refsolve", "pytest", "python")
    return next((p for p in programs if p not in ours and shutil.which(p) is None), "")


def run(command: str, code: int = 0, tail: int = 0) -> None:
    """Print what a command says, as a terminal would; an unexpected exit code stops the page.

    The page shows the command alone. A word ``<`` and a file at its end are its standard input.
    ``tail``: only so many of its last lines.
    """
    if program := missing(command):
        print(f"not run here: {program} is missing where this page was built")
        return
    words, given = shlex.split(command), ""
    if words[-2:-1] == ["<"]:
        *words, _, name = words
        given = Path(name).read_text(encoding="utf-8")
    if words[0] == "refsolve":
        text, found = _refsolve(words[1:])
    else:
        if words[0] == "pytest":
            words = ["python", "-m", "pytest", *PLUGIN, *words[1:]]
        if words[0] == "python":
            words[0] = sys.executable
        # pytest imports no plugin of others: each costs half a second here
        alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, input=given, env=alone
        )
        text, found = done.stdout + done.stderr, done.returncode
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if lines:
        print("\n".join(["...", *lines[-tail:]] if 0 < tail < len(lines) else lines))
    assert found == code, f"{command!r} ended with {found}, expected {code}"


def _refsolve(words: list[str]) -> tuple[str, int]:
    """The command in this process, which spares a second of imports."""
    from typer.testing import CliRunner

    from verification.cli import app

    # the kernel asks for colours, and rich takes that for a terminal, with bars that move
    plain = {"COLUMNS": WIDTH, "FORCE_COLOR": None}
    done = CliRunner(env=plain).invoke(app, words, prog_name="refsolve")
    return done.output, done.exit_code
