"""Documents shown: on the terminal, as JSON or Markdown, and written beside each other as page and JSON."""

import json
import math
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from verification.errors import InvalidArgumentError
from verification.report.document import Cell, Code, Document, Paragraph, Table
from verification.report.page import escaped, render_html, visible

_TONES = {"": "", "good": "green", "bad": "bold red", "warn": "yellow", "dim": "dim"}


def render_terminal(document: Document, console: Console) -> None:
    """Print with rich; colours only where the terminal has them."""
    console.print(_styled(document.title, "bold"))
    for block in document.blocks:
        console.print()
        if isinstance(block, Code):
            console.print(_styled(block.title, "bold"))
            # lines as they are, however long: cut or folded ones cannot be pasted
            console.print(_highlighted(block), soft_wrap=True)
        else:
            console.print(_rich(block))
    if document.verdict is not None:
        console.print()
        console.print(_text(document.verdict))


def _text(cell: str | Cell) -> Text:
    return _styled(cell.text, _TONES[cell.tone]) if isinstance(cell, Cell) else _styled(cell)


def _styled(text: str, style: str = "") -> Text:
    """A text that cannot steer the terminal: it may be out of somebody else's file."""
    return Text(visible(text), style=style)


def _highlighted(code: Code) -> Text:
    text = Syntax("", code.language, theme="ansi_dark", background_color="default").highlight(
        visible(code.text)
    )
    text.rstrip()
    return text


def _rich(block: Table | Paragraph) -> RenderableType:
    if isinstance(block, Paragraph):
        return _styled(block.text, _TONES[block.tone])
    shown = RichTable(
        title=block.title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
        show_header=any(block.columns),
    )
    for column in block.columns:
        right = column in block.numeric
        # Numbers may not be cut; words may fold.
        shown.add_column(
            column, justify="right" if right else "left", no_wrap=right, overflow="fold"
        )
    for row in block.rows:
        shown.add_row(*(_text(cell) for cell in row))
    return Group(shown, _styled(block.note, "dim")) if block.note else shown


def render_json(document: Document) -> str:
    """Strict JSON of the data: infinities and NaN become strings, numpy scalars numbers."""
    payload = {"title": document.title, "ok": document.ok, **document.data}
    return json.dumps(plain(payload), indent=2, allow_nan=False)


def render_markdown(document: Document, level: int = 1) -> str:
    """Title, blocks and verdict; titles of tables stand one level below that of the document."""
    lines = [f"{'#' * level} {escaped(document.title)}", ""]
    for block in document.blocks:
        if isinstance(block, Paragraph):
            lines += [escaped(block.text), ""]
            continue
        lines += [f"{'#' * (level + 1)} {escaped(block.title)}", ""]
        if isinstance(block, Code):
            lines += [f"```{block.language}", block.text.rstrip(), "```", ""]
            continue
        lines.append(_row(block.columns))
        lines.append(_row("---:" if c in block.numeric else "---" for c in block.columns))
        lines += [_row(escaped(_text(cell).plain) for cell in row) for row in block.rows]
        lines += ["", *([escaped(block.note), ""] if block.note else ())]
    if document.verdict is not None:
        lines += [escaped(document.verdict.text), ""]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(value: object) -> Any:
    """Convert nested numpy and dataclass-like values to what JSON knows."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def write_text(path: str | os.PathLike[str], text: str, argument: str = "path") -> Path:
    """Write a file, whole or not at all; InvalidArgumentError, which names the argument, if that cannot be."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file():  # a pipe, /dev/null; a folder is refused
            target.write_text(text, encoding="utf-8")
        else:
            _replace({target: text.encode()})
    except OSError as error:
        raise InvalidArgumentError(
            f"{argument}={os.fspath(path)!r}: expected a file that can be written ({error.strerror}); what was "
            "there is kept"
        ) from None
    return target


def replace_files(files: Mapping[Path, bytes]) -> None:
    """Write files so that each is there whole or as it was: they replace the old ones once all are stored.

    Raises
    ------
    InvalidArgumentError
        They cannot be written, or the disk is full.
    """
    try:
        _replace(files)
    except OSError as error:
        names = ", ".join(map(str, files))
        raise InvalidArgumentError(
            f"cannot write {names} ({error.strerror}); what was there is kept: choose another --output, or "
            "make room"
        ) from None


def _replace(files: Mapping[Path, bytes]) -> None:
    mark = f".{secrets.token_hex(8)}.part"
    parts = {path.resolve(): path.resolve().with_name(f"{i}{mark}") for i, path in enumerate(files)}
    try:
        for (path, part), data in zip(parts.items(), files.values(), strict=True):
            with part.open("xb") as stream:
                if path.exists():
                    shutil.copymode(path, part)
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def beside(output: Path) -> tuple[Path, Path, Path]:
    """Where the reports of a command go: JSON, Markdown and HTML, under the name of its output."""
    return output.with_suffix(".json"), output.with_suffix(".md"), output.with_suffix(".html")


def rendered(document: Document, output: Path) -> dict[Path, bytes]:
    """The reports for `replace_files`."""
    texts = (render_json(document) + "\n", render_markdown(document), render_html(document))
    return {path: text.encode() for path, text in zip(beside(output), texts, strict=True)}
