"""``refsolve replay FILE``: run a stored failure again."""

import typer

from verification.app.options import command
from verification.app.replay_options import Rerun
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@command(app)
def replay(options: Rerun) -> Document:
    """Run a stored failure again, on the same bits.

    Ends with exit code 1 while the failure, or another one, is there. The file is data: the solver that it
    names is run with --trust only.
    """
    from verification.failures.replayed import document

    stored = options.stored()
    with options.opened(stored.instance.problem.name) as candidate:
        result = stored.run(candidate, trust=options.trust)
    return document(stored, result)
