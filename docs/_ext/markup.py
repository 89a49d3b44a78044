"""Markup that a cell hands to the page."""

from collections.abc import Iterable, Sequence


class Html(str):
    """A string that a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> Html:
    """A table whose cells are HTML already; a wide one scrolls by itself."""
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    names = "".join(f"<th>{name}</th>" for name in head)
    top = f"<thead><tr>{names}</tr></thead>" if head else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return Html(
        f"<div class='table-wrapper'><table class='docutils {kind}'>{top}"
        f"<tbody>{body}</tbody></table></div>"
    )
