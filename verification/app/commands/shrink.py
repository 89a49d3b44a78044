"""``refsolve shrink FILE``: look on for a smaller counterexample."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import check_file, wrote
from verification.app.options import command, option
from verification.app.replay_options import Rerun
from verification.errors import InvalidArgumentError
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options(Rerun):
    """A stored failure, how long is looked, and where the smaller one goes."""

    seconds: float = option("Time to look for a smaller one.", 60.0)
    output: Path | None = option("File to write; default: FILE itself.", None, "--output", "-o")


@command(app)
def shrink(options: Options) -> Document:
    """Make a stored failure smaller: fewer entries, simpler numbers.

    The file is data: the solver that it names is run with --trust only.
    """
    from verification.failures.replayed import shrunk_document

    o = options
    if not o.seconds > 0:
        raise InvalidArgumentError(f"seconds={o.seconds!r}: expected seconds > 0, e.g. 60")
    stored, target = o.stored(), o.output or o.file
    check_file("output", target)
    with o.opened(stored.instance.problem.name) as candidate:
        smaller = stored.shrink(o.seconds, candidate, trust=o.trust)
    wrote(smaller.write(target))
    return shrunk_document(stored, smaller)
