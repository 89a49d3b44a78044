"""Two checkers of .cert files that share nothing with us or with each other: check.c and check.js."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent


def commands(folder: Path, *flags: str) -> dict[str, list[str]]:
    """The checkers that this machine can run, by language; check.c is compiled into a folder."""
    found = {}
    if shutil.which("cc"):
        made = str(folder / "check")
        source = str(FOLDER / "check.c")
        subprocess.run(
            ["cc", "-O2", "-frounding-math", *flags, "-o", made, source, "-lm"], check=True
        )
        found["C"] = [made]
    if shutil.which("node"):
        found["JavaScript"] = ["node", str(FOLDER / "check.js")]
    return found


def verdicts(command: list[str], files: Iterable[Path]) -> list[str]:
    """A line for each file."""
    given = [*command, *map(str, files)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if (done.returncode == 0) != all(line.startswith("accepted ") for line in lines):
        raise RuntimeError(f"exit status {done.returncode} of {command[0]}: {done.stderr}")
    return lines
