"""Formulas as MathML, converted from TeX at build time: no script, no font, no remote host.

docutils carries the converter; Sphinx only has to be told to use it.
"""

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

# An accented letter with a subscript, which the converter stacks in three storeys.
ACCENT = re.compile(
    r"<munderover>(<mi>[^<]*</mi>)(<m[in]>[^<]*</m[in]>)(<mo[^>]*>[^<]+</mo>)</munderover>"
)
# A brace and what stands at it, which the converter takes for the whole's index.
GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
BRACE = re.compile(rf"\\(?:(under)|over)brace\s*({GROUP})\s*(?(1)_|\^)\s*({GROUP})")
# A function's name, with what stands before and after it.
FUNCTION = re.compile(
    r"(?P<before></m(?:i|n|sub|sup|row|frac)>|[)⟩]</mo>)?"
    r"(?P<name><mi>(?:log|exp)</mi>)<mo>&ApplyFunction;</mo>(?P<bracket><mo[^>]*>\()?"
)
THIN = '<mspace width="0.17em"/>'


def _spaced(found: re.Match[str]) -> str:
    """Thin spaces around a function's name, as TeX sets them: x log x, log(x)."""
    before, bracket = found["before"], found["bracket"]
    return "".join(
        [
            before + THIN if before else "",
            found["name"],
            "<mo>&ApplyFunction;</mo>",
            bracket or THIN,
        ]
    )


def convert(tex: str, *, block: bool) -> str:
    """MathML of `tex`; a formula the converter does not know fails the build, with its text."""
    # TeX reads \frac12 as a half; the converter takes 12 for one number.
    tex = re.sub(r"(\\[dt]?frac)\s*(\d)(\d)", r"\1{\2}{\3}", tex)
    # Two names that the converter does not know, by what it calls them.
    tex = re.sub(r"\\dots(?![a-zA-Z])", r"\\ldots", tex)
    tex = re.sub(r"\\iff(?![a-zA-Z])", r"\\Longleftrightarrow", tex)
    tex = BRACE.sub(
        lambda f: rf"\{f[1] or 'over'}set{f[3]}{{\{f[1] or 'over'}brace{f[2]}}}", tex
    )
    try:
        mathml = str(tex2mathml(tex, as_block=block))
    except MathError as error:
        raise ExtensionError(f"formula cannot be converted: {error}\n{tex}") from error
    # The indentation would be copied along with the formula and is a third of the page.
    mathml = "".join(line.strip() for line in mathml.splitlines())
    mathml = mathml.replace("⧵", "∖")  # the fonts have only this set difference
    mathml = ACCENT.sub(r"<msub><mover accent='true'>\1\3</mover>\2</msub>", mathml)
    mathml = FUNCTION.sub(_spaced, mathml)
    # Bars are brackets here, never relations.
    mathml = re.sub(
        r"<mo[^>]*>[|∣]</mo>", '<mo stretchy="false" lspace="0" rspace="0">|</mo>', mathml
    )
    # Plain brackets keep their size; those written with \Bigl, \left and the like carry their own.
    mathml = re.sub(r'<mo( class="\w+")?>([⟨⟩‖{}])</mo>', r'<mo\1 stretchy="false">\2</mo>', mathml)
    # Kept for readers who copy a formula, and for screen readers without MathML.
    return mathml.replace("<math ", f'<math alttext="{html.escape(tex.strip())}" ', 1)


def pieces(tex: str) -> list[str]:
    """What stands between wide spaces, outside of brackets and tables: on a narrow screen one below the other."""
    found, depth = [""], 0
    marks = r"(\\(?:qquad|begin|end|left|right)(?![a-zA-Z])|\\[{}]|[{}])"
    for part in re.split(marks, tex):
        depth += part in ("{", r"\begin", r"\left")
        depth -= part in ("}", r"\end", r"\right")
        if part == r"\qquad" and not depth:
            found.append("")
        else:
            found[-1] += part
    return [piece for piece in found if piece.strip()]


def visit_inline(translator: Any, node: nodes.math) -> None:
    mathml = convert(node.astext(), block=False)
    translator.body.append(f'<span class="math">{mathml}{node.get("stop", "")}</span>')
    raise nodes.SkipNode


def keep_stops(app: Sphinx, document: nodes.document, name: str) -> None:
    """No line begins with the comma after a formula: it stands in one box with it, which does not break."""
    for node in list(document.findall(nodes.math)):
        after = node.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (stop := re.match(r"[.,;:!?)]+", after)):
            node["stop"] = stop[0]
            after.parent.replace(after, nodes.Text(after[stop.end() :]))


def visit_block(translator: Any, node: nodes.math_block) -> None:
    tex = node.astext()
    parts = [tex] if node.get("number") else pieces(tex)
    kind = "math several" if len(parts) > 1 else "math"
    translator.body.append(translator.starttag(node, "div", CLASS=kind))
    translator.body += [convert(part, block=True) for part in parts]
    if node.get("number"):
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    app.connect("doctree-resolved", keep_stops)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
