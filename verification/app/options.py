"""Commands whose options are the fields of a dataclass: declared once, shared by inheritance, handed over whole.

    @dataclass(frozen=True, kw_only=True)
    class Options:
        file: Path = argument("What is read.")
        seed: int = option("Of what is drawn.", 0)

    @command(app)
    def name(options: Options) -> Document:
        ...

The document that a command returns is printed, as JSON with ``--json``, and decides the exit code; None prints
nothing. A command with a second parameter is told whether JSON was asked for.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, field, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.models import OptionInfo

from verification.app.console import finish

Run = TypeVar("Run", bound=Callable[..., Any])
_JSON = typer.Option("--json", help="Print JSON on standard output and nothing else.")


def option(help: str, default: object = None, *names: str, **more: Any) -> Any:
    """A field that is an option; ``names`` where they are not that of the field, ``more`` as typer takes it."""
    return field(default=default, metadata={"typer": typer.Option(*names, help=help, **more)})


def argument(help: str, default: object = MISSING, **more: Any) -> Any:
    """A field that is an argument, in the order of the fields; needed unless it has a default."""
    return field(default=default, metadata={"typer": typer.Argument(help=help, **more)})


def command(app: typer.Typer, name: str | None = None) -> Callable[[Run], Run]:
    """Register a function of a dataclass of options, or of nothing, as a command."""

    def register(run: Run) -> Run:
        kinds = [
            kind for key, kind in get_type_hints(run).items() if key not in ("return", "as_json")
        ]
        told = "as_json" in inspect.signature(run).parameters

        def called(as_json: bool, **given: Any) -> None:
            made = run(*(kind(**given) for kind in kinds), **({"as_json": as_json} if told else {}))
            if made is not None:
                finish(made, as_json)

        parameters = [parameter for kind in kinds for parameter in _parameters(kind)]
        parameters.append(_parameter("as_json", bool, _JSON, False))
        called.__name__, called.__doc__ = run.__name__, run.__doc__
        called.__annotations__ = {}
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app.command(name)(called)
        return run

    return register


def _parameters(kind: Any) -> Iterator[inspect.Parameter]:
    """Arguments in the order of the fields; options of the class itself before those it has from others."""
    hints, classes = get_type_hints(kind), kind.__mro__

    def order(each: Any) -> int:
        named = isinstance(each.metadata["typer"], OptionInfo)
        return named and 1 + next(
            i for i, c in enumerate(classes) if each.name in inspect.get_annotations(c)
        )

    for each in sorted(fields(kind), key=order):
        default = inspect.Parameter.empty if each.default is MISSING else each.default
        yield _parameter(each.name, hints[each.name], each.metadata["typer"], default)


def _parameter(name: str, kind: object, info: object, default: object) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=Annotated[kind, info])
