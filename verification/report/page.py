"""One HTML page of a `verification.report.document.Document`: no scripts, nothing from outside.

Readable offline, in light and dark, on a phone, and on paper; ``page.html`` and ``page.css`` say how.
"""

import functools
import re
from typing import TYPE_CHECKING, Any

from verification.report.document import Cell, Document, Table

if TYPE_CHECKING:
    import jinja2

_PICTURES: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"},
    127: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),  # some terminals obey these too
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
#: Characters up to which the cells of a column are not broken, those of a line on a phone, and between columns.
SHORT, PHONE, BETWEEN = 48, 43, 1


def render_html(document: Document) -> str:
    """The page; all text is escaped."""
    parts = re.split(r"(?<=[._])(?=\w)", document.title)
    return _template().render(document=document, parts=parts, widths=_widths, stacked=_stacked) + "\n"


@functools.cache
def _template() -> "jinja2.Template":
    from jinja2 import Environment, PackageLoader

    def shown(value: object) -> Any:
        """Control characters, which HTML forbids, as symbols."""
        return visible(value) if type(value) is str else value

    loader = PackageLoader("verification.report", "")
    return Environment(loader=loader, autoescape=True, finalize=shown).get_template("page.html")


def visible(value: str) -> str:
    """Control characters replaced by their pictures, lone surrogates by the replacement sign."""
    return value.translate(_PICTURES)


def escaped(text: str) -> str:
    """Text with the characters escaped that Markdown would read as markup, but for `code` between backticks."""
    parts = re.split(r"(`[^`|\\\n]+`)", visible(text))
    return "".join(part if i % 2 else re.sub(r"([\\*_<|\[\]`])", r"\\\1", part) for i, part in enumerate(parts))


def _text(value: str | Cell) -> str:
    return value if isinstance(value, str) else value.text


def _longest(block: Table) -> list[int]:
    cells = zip(*block.rows, strict=True) if block.rows else [()] * len(block.columns)
    return [max((len(_text(value)) for value in column), default=0) for column in cells]


def _widths(block: Table) -> list[str]:
    """How the columns are set: as numbers, on one line, or in as much width as there is."""
    return [
        "num" if name in block.numeric else "short" if most <= SHORT else "long"
        for name, most in zip(block.columns, _longest(block), strict=True)
    ]


def _stacked(block: Table) -> bool:
    """Whether rows are too wide for a phone, where headings and the first and last column of words may be broken."""
    cells, kinds = _longest(block), _widths(block)
    for j in {0, len(cells) - 1}:
        if kinds[j] == "short":
            cells[j] = max((_word(_text(row[j])) for row in block.rows), default=0)
    return sum(max(n, _word(name)) + BETWEEN for n, name in zip(cells, block.columns, strict=True)) > PHONE


def _word(text: str) -> int:
    return max(map(len, text.split()), default=0)
