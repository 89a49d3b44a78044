"""Tables in LaTeX."""

import re

from verification.report.document import Cell, Table

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def latex_text(table: Table) -> str:
    r"""A ``tabular`` for ``\usepackage{booktabs}``; good cells of numeric columns are bold."""
    kinds = "".join("r" if column in table.numeric else "l" for column in table.columns)
    lines = [f"\\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    lines += [_line([latex_escaped(column) for column in table.columns]), r"\midrule"]
    for row in table.rows:
        lines.append(
            _line(
                [
                    _latex(c, name in table.numeric)
                    for name, c in zip(table.columns, row, strict=True)
                ]
            )
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex(cell: str | Cell, numeric: bool) -> str:
    text = latex_escaped(_text(cell))
    bold = numeric and isinstance(cell, Cell) and cell.tone == "good"
    return f"\\textbf{{{text}}}" if bold else text


def latex_escaped(text: str) -> str:
    """Text in which nothing is a command."""
    escaped = re.sub(
        r"[\\~^]|[&%$#_{}]", lambda found: _SPECIAL.get(found[0], "\\" + found[0]), text
    )
    return escaped.replace("±", r"$\pm$")
