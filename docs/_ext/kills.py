"""The kill matrix as HTML: a row per wrong solver, a column per check."""

from __future__ import annotations

import html

from markup import Html

from verification.kill_matrix import Matrix


def kills(matrix: Matrix) -> Html:
    """First instance that failed; a dash where the check found nothing, empty where it does not apply."""
    head = "".join(f"<th><span>{check.replace('_', ' ')}</span></th>" for check in matrix.checks)
    rows = []
    for row in matrix.rows:
        what = f"<b>{row.name.replace('_', ' ')}</b><br><small><code>{row.problem}</code>. "
        cells = "".join(
            f"<td>{row.cells[c] or '–' if c in row.cells else ''}</td>" for c in matrix.checks
        )
        rows.append(f"<tr><td>{what}{html.escape(row.defect)}</small></td>{cells}</tr>")
    return Html(
        "<div class='table-wrapper'><table class='docutils kills'>"
        f"<thead><tr><th>wrong solver</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )
