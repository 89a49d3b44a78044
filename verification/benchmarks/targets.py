"""Figures beside their targets, as a document."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from verification.report.document import Block, Cell, Document, Paragraph


def document(
    title: str,
    strict: bool,
    blocks: Sequence[Block],
    measured: Mapping[str, Sequence[Any]],
    written: Sequence[str] | None = None,
    ok: bool = True,
    **more: Any,
) -> Document:
    """What was ``measured``, by section; with ``strict`` a missed target makes the document negative.

    What is measured says whether it is ``reached``; ``more`` is data without a target, ``ok`` what
    else has to hold, ``written`` are pictures.
    """
    reached = ok and all(each.reached for found in measured.values() for each in found)
    data = {name: [_plain(each) for each in found] for name, found in measured.items()} | more
    if written is not None:
        data["pictures"] = list(written)
    shown = (*blocks, *pictures(written or ()))
    return Document(title, shown, reached if strict else None, {**data, "all_reached": reached})


def _plain(measured: Any) -> dict[str, Any]:
    if hasattr(measured, "to_dict"):
        return dict(measured.to_dict())
    return {**asdict(measured), "reached": measured.reached}


def pictures(written: Sequence[str]) -> tuple[Block, ...]:
    """Where the pictures are, if there are any."""
    return (Paragraph(f"Pictures: {', '.join(written)}", "dim"),) if written else ()


def mark(reached: bool) -> Cell:
    """Whether a target was reached."""
    return Cell("reached", "good") if reached else Cell("missed", "bad")
