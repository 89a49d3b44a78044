"""The console command ``refsolve``: its subcommands are the files of `verification.app.commands`.

``verification/app/commands/<name>.py`` holds ``app``, a typer application; finding the file is all the
registration there is. Exceptions of our own packages, and what the machine refuses, end in one
paragraph and exit code 2, anything else is a bug and keeps its traceback.
"""

import atexit
import errno
import gc
import importlib
import logging
import pkgutil
import re
from typing import Annotated, Any, cast

import typer
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_command as build_command

from verification.app import commands
from verification.app.console import ALIVE, LOG, MISUSED, stderr
from verification.report.page import visible

#: Where the help page lists a command; one that is not named here stands under "More".
PANELS = {
    "You have data": ("train", "predict", "evaluate"),
    "You have a solver": ("verify", "explain", "replay", "shrink"),
    "You want the mathematics": ("list", "show", "claims", "exercise"),
    "More": (),
}
#: Objects made between two searches for garbage: imports make hundreds of thousands that stay.
GARBAGE = 20_000
_OURS = frozenset({"refsolve", "fast", "verification"})


def command_names() -> list[str]:
    """Names of the subcommands, from the files found."""
    return sorted(
        m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_")
    )


#: What the machine refuses, wherever it happens: a full disk, a folder that is not writable, ...
_REFUSED = {getattr(errno, n) for n in ("ENOSPC", "EROFS", "EACCES", "EIO", "ENOTDIR", "EISDIR",
            "EEXIST", "ENAMETOOLONG", "EMFILE", "EFBIG")}  # fmt: skip


def message(error: Exception) -> str:
    """What to tell the user; empty for a bug."""
    if is_ours(error):
        return str(error)
    if isinstance(error, OSError) and error.errno in _REFUSED:
        return (
            f"{error.filename or 'a file'}: {error.strerror}; expected a place that can be written "
            "and has room: free some, or name another"
        )
    return "there is not enough memory for this" if isinstance(error, MemoryError) else ""


def is_ours(error: BaseException) -> bool:
    """True for an exception whose class one of our packages defines: its message is for the user."""
    return type(error).__module__.partition(".")[0] in _OURS


def options_of(name: str) -> set[str]:
    """The options of a command, and of the commands under it."""
    made: Any = build_command(importlib.import_module(f"{commands.__name__}.{name}").app)
    parts = [made, *getattr(made, "commands", {}).values()]
    return {o for c in parts for p in c.params for o in (*p.opts, *p.secondary_opts)}


def with_owners(said: str, name: str | None) -> str:
    """A message; of options in it that the command has not, the commands that have them."""
    named = dict.fromkeys(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", said))
    if name not in command_names() or not (odd := [o for o in named if o not in options_of(name)]):
        return said
    having = {o: [n for n in command_names() if o in options_of(n)] for o in odd}
    notes = [f"{o} is an option of `refsolve {'`, `'.join(names)}`" for o, names in having.items() if names]
    return f"{said} ({'; '.join(notes)})" if notes else said


class _Notices(logging.Handler):
    """Prints on the standard error of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        ALIVE.note()
        stderr().print(record.getMessage(), style="dim", highlight=False)


def _show_notices() -> None:
    """Show what is said while nothing seems to happen: that kernels are being compiled, what is done."""
    for log in (logging.getLogger("fast"), LOG):
        if not any(isinstance(handler, _Notices) for handler in log.handlers):
            log.addHandler(_Notices(logging.INFO))
        log.setLevel(logging.INFO)


class DiscoveredGroup(TyperGroup):
    """Loads a subcommand when it is asked for, and words the errors."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = cast(
            Any, dict.fromkeys(command_names())
        )  # what a misspelt one is compared with

    def list_commands(self, ctx: Any) -> list[str]:
        """Subcommands in the order of the help page."""
        first = [name for names in PANELS.values() for name in names]
        return [*first, *(name for name in command_names() if name not in first)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the subcommand's file and build its command."""
        if cmd_name not in command_names():
            return None
        command: Any = build_command(importlib.import_module(f"{commands.__name__}.{cmd_name}").app)
        command.name = ALIVE.doing = cmd_name
        command.rich_help_panel = next(
            (p for p, names in PANELS.items() if cmd_name in names), "More"
        )
        for each in (command, *getattr(command, "commands", {}).values()):
            each.rich_markup_mode = "markdown"  # paragraphs flow, examples stay lines
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run it; an exception of ours becomes a paragraph on standard error."""
        _show_notices()
        first, *others = gc.get_threshold()
        gc.set_threshold(GARBAGE, *others)
        atexit.register(gc.freeze)  # the interpreter's end would look through all modules for garbage
        try:
            with ALIVE.watch():
                return super().invoke(ctx)
        except Exception as error:
            said = message(error)
            if not said:
                raise
            said = with_owners(said, ctx.invoked_subcommand)
            shown = Text("Error: ", style="bold red").append(
                visible(said), style="not bold default"
            )
            stderr().print(shown)
            raise typer.Exit(MISUSED) from error
        finally:
            gc.set_threshold(first, *others)


app = typer.Typer(
    name="refsolve",
    cls=DiscoveredGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"refsolve {version('refsolve')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Train models, and test solvers, of convex learning problems; nothing is believed without a certificate."""


if __name__ == "__main__":
    app()
