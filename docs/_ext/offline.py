"""The built site must work without a network: a page that loads anything remote fails the build."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# What a browser fetches by itself; an <a href> to a paper is the reader's own choice.
LOADS = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed|audio|video|use|image)\b[^>]*?"
    r"\b(?:src|href|data|srcset|poster)\s*=\s*[\"']?((?:https?:|ftp:)?//[^\"'\s>]+)",
    re.IGNORECASE,
)
STYLES = re.compile(r"(?:@import\s+|url\(\s*)[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)


def remote_references(folder: Path) -> list[tuple[str, str]]:
    """(file, address) for everything under `folder` that a browser would fetch from elsewhere."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".html", ".css"}:
            continue
        text = path.read_text(encoding="utf-8")
        patterns = (LOADS, STYLES) if path.suffix == ".html" else (STYLES,)
        for pattern in patterns:
            found += [(str(path.relative_to(folder)), m.group(1)) for m in pattern.finditer(text)]
    return found


def check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    found = remote_references(Path(app.outdir))
    if found:
        lines = "\n".join(f"  {page}: {address}" for page, address in found)
        raise ExtensionError(f"the built pages load from remote hosts:\n{lines}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
