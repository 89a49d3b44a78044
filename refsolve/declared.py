"""A program for type checkers: every object stands where the Protocol of its kind is wanted.

``make lint`` has mypy read it; objects are discovered, so that a new file needs no entry.
"""

from refsolve import catalogue, protocols


def program() -> str:
    """The program's text."""
    lines = ["from refsolve import protocols"]
    for kind in catalogue.OPERATIONS:
        for object_name in catalogue.object_names(kind):
            protocol = protocols.wanted(kind, catalogue.load(object_name)).__name__
            lines.append(f"from refsolve.{kind} import {object_name}")
            lines.append(f"_{object_name}: protocols.{protocol} = {object_name}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(program())
