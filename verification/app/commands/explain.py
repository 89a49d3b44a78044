"""``refsolve explain FILE``: what a stored failure is about, without running anything."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.options import command, option
from verification.app.replay_options import ReplayFile
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(ReplayFile):
    """A stored failure, and where the explanation goes."""

    output: Path | None = option("Write the explanation as an HTML page.", None, "--output", "-o")


@command(app)
def explain(options: Options) -> Document:
    """Say what a stored failure got wrong, and what is right.

    The solver is not needed: its answer is in the file, and is certified again.
    """
    from verification.failures.explain import document
    from verification.report.page import render_html
    from verification.report.render import write_text

    shown = document(options.stored())
    if options.output is not None:
        write_text(options.output, render_html(shown), "output")
    return shown
