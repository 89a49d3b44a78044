"""A program for type checkers: every stem stands where the Protocol of its kind is wanted.

``make lint`` has mypy read it; stems are discovered, so that a new file needs no entry.
"""

from refsolve import catalogue, protocols


def program() -> str:
    """The program's text."""
    lines = ["from refsolve import protocols"]
    for kind in catalogue.OPERATIONS:
        for stem in catalogue.stems(kind):
            protocol = protocols.wanted(kind, catalogue.load(stem)).__name__
            lines.append(f"from refsolve.{kind} import {stem}")
            lines.append(f"_{stem}: protocols.{protocol} = {stem}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(program())
