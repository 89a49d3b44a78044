"""The report of a run: its data, and its renderings, which are those of `verification.report`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from verification.report.junit import render_junit
from verification.report.page import render_html
from verification.report.render import render_json, write_text
from verification.report.run_report import report_document
from verification.verdicts.run import Run


@dataclass(frozen=True, repr=False)
class Report(Run):
    """Everything a run of `verify` found, as data (see `Run`), HTML, JUnit XML or JSON."""

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One page without scripts or outside resources; ``path``: write it there as well."""
        return _written(render_html(report_document(self)), path)

    def to_junit(self, path: str | os.PathLike[str] | None = None) -> str:
        """JUnit XML, one test case per (check, family); ``path``: write it there as well."""
        return _written(render_junit([self]), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Strict JSON of everything that the report says; ``path``: write it there as well."""
        return _written(render_json(report_document(self)) + "\n", path)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_text(path, text)
    return text
