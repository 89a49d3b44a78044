"""``refsolve explain FILE``: what a stored failure is about, without running anything."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, ReplayFile, finish

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    file: ReplayFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the explanation as an HTML page.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a stored failure got wrong, and what is right.

    The solver is not needed: its answer is in the file, and is certified again.
    """
    from verification.failures import replay as replays
    from verification.failures.explain import document
    from verification.report.page import render_html
    from verification.report.render import write_text

    shown = document(replays.load(file))
    if output is not None:
        write_text(output, render_html(shown), "output")
    finish(shown, as_json)
