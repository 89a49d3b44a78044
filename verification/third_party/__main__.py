"""Run third-party solvers: ``python -m verification.third_party [NAME ...] [--profile P] [--record]``."""

from typing import Annotated

import typer

from verification import third_party


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Default: all.")] = None,
    profile: str = "quick",
    seed: int = 0,
    record: Annotated[bool, typer.Option("--record", help="Store what is found.")] = False,
) -> None:
    """Print one line per third-party solver, and the report of each that was named."""
    found = third_party.discover()
    if unknown := set(names or ()) - set(found):
        raise typer.BadParameter(f"{', '.join(unknown)}: expected some of {', '.join(found)}")
    skipped = 0
    for name in names or found:
        if found[name].missing:
            print(f"{name}: skipped, {found[name].missing}")
            skipped += 1
        elif record:
            third_party.record([name], profile, seed)
            print(f"{name}: recorded")
        else:
            report = third_party.run(found[name], profile, seed, shrink=bool(names))
            failed = ", ".join(third_party.failing(report)) or "nothing"
            print(f"{name}: {report.checked} judged, fails in {failed}")
            if names:
                print(report)
    print(f"{skipped} skipped for want of a package")


if __name__ == "__main__":
    typer.run(main)
