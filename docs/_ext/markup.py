"""Markup that a cell hands to the page."""

from __future__ import annotations


class Html(str):
    """A string that a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)
