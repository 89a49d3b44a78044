"""Run strangers: ``python -m verification.strangers [NAME ...] [--profile P] [--record]``."""

import argparse

from verification import strangers


def main() -> None:
    """Print one line per stranger, and the report of each that was named."""
    parser = argparse.ArgumentParser(prog="python -m verification.strangers", description=__doc__)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="store what is found")
    given = parser.parse_args()
    found = strangers.discover()
    if unknown := [n for n in given.names if n not in found]:
        parser.error(f"{', '.join(unknown)}: expected some of {', '.join(found)}")
    skipped = 0
    for name in given.names or found:
        if found[name].missing:
            print(f"{name}: skipped, {found[name].missing}")
            skipped += 1
        elif given.record:
            strangers.record([name], given.profile, given.seed)
            print(f"{name}: recorded")
        else:
            report = strangers.run(found[name], given.profile, given.seed, shrink=bool(given.names))
            failed = ", ".join(strangers.failing(report)) or "nothing"
            print(f"{name}: {report.checked} judged, fails in {failed}")
            if given.names:
                print(report)
    print(f"{skipped} skipped for want of a package")


if __name__ == "__main__":
    main()
