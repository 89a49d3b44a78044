"""One HTML page of a `verification.report.document.Document`: no scripts, nothing from outside.

Readable offline, in light and dark, on a phone, and on paper.
"""

import html
import re

from verification.report.document import Block, Cell, Code, Document, Paragraph, Picture, Table

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fff; --good: #1a7f37; --bad: #c62828;
  --warn: #8a5a00; --dim: #666; --line: #d8d8dc; --shade: #f5f5f7; --link: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e8; --paper: #17181a; --good: #57c878;
  --bad: #ff8a80; --warn: #e0b040; --dim: #a0a0a5; --line: #3a3b3f; --shade: #222326; --link: #8ab4f8; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 76rem;
  margin: 0 auto; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.8rem 0 .4rem; }
p { margin: .6rem 0; overflow-wrap: anywhere; }
a { color: var(--link); }
.verdict { font-size: 1.1rem; font-weight: 600; padding: .5rem .8rem; border-left: 5px solid currentColor;
  background: var(--shade); }
nav { margin: .8rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
.wide { overflow-x: auto; margin-top: 1.6rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; white-space: nowrap; }
th, td { text-align: left; padding: .25rem 1.1rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--dim); white-space: nowrap; }
td { max-width: 44rem; overflow-wrap: break-word; }
.num { text-align: right; white-space: nowrap; }
.short { white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.warn { color: var(--warn); } .dim { color: var(--dim); }
pre { padding: .8rem; border: 1px solid var(--line); border-radius: 4px; background: var(--shade);
  overflow-x: auto; font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.note { margin-top: .3rem; color: var(--dim); }
@media (max-width: 40rem) {
  body { font-size: 14px; padding: 1rem .7rem 3rem; }
  th, td { padding-right: .8rem; }
  caption { white-space: normal; }
  .cards, .cards caption, .cards tbody { display: block; }
  .cards thead { display: none; }
  .cards tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .cards td { display: block; padding: 0; border: 0; max-width: none; text-align: left;
    white-space: normal; overflow-wrap: anywhere; }
  .cards td:empty { display: none; }
  .cards td[data-label]::before { content: attr(data-label) ": "; color: var(--dim); }
}
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --good: #14612a; --bad: #a31515;
    --warn: #6b4600; --dim: #444; --line: #bbb; --shade: #fff; --link: #000; }
  body { font-size: 9.5pt; max-width: none; padding: 0; }
  .wide, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 8.5pt; }
  table { font-size: 8.5pt; }
  th, td { padding-right: .6rem; }
  td { max-width: none; }
  .long { overflow-wrap: anywhere; }
  thead { display: table-header-group; }
  tr, pre, .verdict { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  nav a::after { content: " (" attr(href) ")"; color: var(--dim); }
}
@page { size: landscape; margin: 12mm; }
"""


_PICTURES: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"},
    127: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),  # some terminals obey these too
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
#: Characters up to which the cells of a column are not broken.
SHORT = 48


def render_html(document: Document) -> str:
    """The page; all text is escaped."""
    # long dotted names may be broken, but not within a word
    title = re.sub(r"([._])(?=\w)", r"\1<wbr>", _text(document.title))
    parts = [f"<h1>{title}</h1>"]
    if document.verdict is not None:
        tone, text = document.verdict.tone, document.verdict.text
        parts.append(f'<p class="verdict {tone}">{_text(text)}</p>')
    if document.links:
        links = (f'<a href="{_text(to)}">{_text(text)}</a>' for text, to in document.links)
        parts.append(f"<nav>{' '.join(links)}</nav>")
    parts += [_block(block) for block in (*document.blocks, *document.appendix)]
    head = (
        f'<meta charset="utf-8"><title>{_text(document.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{_STYLE}</style>'
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _text(value: str) -> str:
    """Escaped, also for attributes; control characters, which HTML forbids, are shown as symbols."""
    return html.escape(visible(value))


def visible(value: str) -> str:
    """Control characters replaced by their pictures, lone surrogates by the replacement sign."""
    return value.translate(_PICTURES)


def escaped(text: str) -> str:
    """Text with the characters escaped that Markdown would read as markup."""
    return re.sub(r"([\\*_<|\[\]`])", r"\\\1", visible(text))


def _block(block: Block | Picture) -> str:
    if isinstance(block, Picture):
        shown = f'<figure role="img" aria-label="{_text(block.words)}">{block.svg}</figure>'
        return f"<h2>{_text(block.title)}</h2>{shown}"
    if isinstance(block, Paragraph):
        return f'<p class="{block.tone}">{_text(block.text)}</p>'
    if isinstance(block, Code):
        return f"<h2>{_text(block.title)}</h2><pre><code>{_text(block.text)}</code></pre>"
    return _table(block)


def _cell(value: str | Cell) -> str:
    if isinstance(value, str):
        return _text(value)
    inner = _text(value.text)
    if value.href:
        inner = f'<a href="{_text(value.href)}">{inner}</a>'
    return f'<span class="{value.tone}">{inner}</span>' if value.tone else inner


def _kind(block: Table, i: int) -> str:
    """How a column is set: as numbers, on one line, or in as much width as there is."""
    if block.columns[i] in block.numeric:
        return "num"
    texts = (v if isinstance(v, str) else v.text for v in (row[i] for row in block.rows))
    return "short" if max(map(len, texts), default=0) <= SHORT else "long"


def _table(block: Table) -> str:
    names = [_kind(block, i) for i in range(len(block.columns))]
    kinds = [f' class="{name}"' for name in names]
    labels = [f' data-label="{_text(c)}"' if c else "" for c in block.columns]
    head = ""
    if any(block.columns):
        cells = (
            f'<th{k} scope="col">{_text(c)}</th>' for c, k in zip(block.columns, kinds, strict=True)
        )
        head = f"<thead><tr>{''.join(cells)}</tr></thead>\n"
    lines = [
        "<tr>"
        + "".join(
            f"<td{kind}{label}>{_cell(value)}</td>"
            for value, kind, label in zip(row, kinds, labels, strict=True)
        )
        + "</tr>"
        for row in block.rows
    ]
    note = f'<p class="note">{_text(block.note)}</p>' if block.note else ""
    caption = f"<caption>{_text(block.title)}</caption>" if block.title else ""
    body = "\n".join(lines)
    # one below the other on a phone, where a row would be too wide to read
    start = '<table class="cards">' if "long" in names else "<table>"
    return f'<div class="wide">{start}{caption}{head}<tbody>{body}</tbody></table></div>{note}'
