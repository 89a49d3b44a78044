"""Declared formulas as formulas: the plain text of `refsolve.spec.Spec.formulas` to MathML.

The text is written for a terminal: ``-<c,x> on {x >= 0, s <= 1, x_i <= s/k}``. Words stay words, all
else becomes TeX, which `mathml.convert` knows. A run of mathematics is cut at commas and, if it is
long, before relations and signs outside of brackets, so that lines can break there.
"""

import html
import re

from mathml import convert

GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "eta",
    "lambda",
    "mu",
    "omega",
    "rho",
    "sigma",
    "tau",
    "theta",
    "xi",
    "Delta",
    "Psi",
]
NAMED = ["argmin", "argmax", "clip", "sign", "tr", "block", "AP", "opt"]
#: Names of more than one letter, and what they are.
NAMES = {
    **{name: f"\\{name}" for name in (*GREEK, "log", "exp", "max", "min", "sup", "sum", "sqrt")},
    **{name: f"\\mathrm{{{name}}}\\," for name in NAMED if name not in ("AP", "opt")},
    **{name: f"\\mathrm{{{name}}}" for name in ("AP", "opt", "cap", "low", "high", "den", "ref")},
    "lam": r"\lambda", "eps": r"\varepsilon", "inf": r"\infty", "capacity": r"\mathrm{capacity}",
    "Zt": r"\tilde Z", "Kt": r"\tilde K", "vt": r"\tilde v", "Kz": "K_z", "Xw": "X w", "PN": "P N",
    "CA": "C_A", "CB": "C_B", "CV": "C_V", "yy": "y y", "FF": "F F", "phi": r"\varphi",
}  # fmt: skip
SIGNS = {
    ">=": r"\ge ", "<=": r"\le ", "!=": r"\ne ", "->": r"\to ", "..": r"\ldots ", "||": r"\|",
    "{": r"\{", "}": r"\}", "%": r"\%", "~": r"\sim ", "*": r"\odot ", "'": r"^{\top}",
}  # fmt: skip
TOKEN = re.compile(
    r"(?P<script>[_^](?:\{|\[[^]]*\]|\([^)]*\)\w?|[+-]?\w+|\+|-))|(?P<word>i\.e\.|[A-Za-z]+'s\b|(?<=[a-z])-th\b)|(?P<tilde>[A-Za-z]~)|(?P<name>[A-Za-z]+)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<angle><(?=[^<>=\s][^<>]*,[^<>]*>))|(?P<sign>>=|<=|!=|->|\.\.|\|\||.)",
    re.DOTALL,
)
RELATIONS = ("=", r"\le ", r"\ge ", "+", "-")
#: Characters of a run that is not cut.
SHORT = 34


def _script(text: str) -> str:
    """What stands in a subscript or exponent."""
    if text in NAMES or not text.isalnum():
        return NAMES.get(text) or _tex(text)
    return " ".join(text) if len(text) < 3 else rf"\mathrm{{{text}}}"


def _close(text: str, at: int) -> int:
    """The index of the brace that closes the one at ``at``."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError(f"a brace is not closed: {text}")


def _tokens(text: str) -> list[tuple[str, str]]:
    """(kind, TeX or word) with kind "math", "word", "space" or "stop"."""
    found: list[tuple[str, str]] = []
    at, angles = 0, 0
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token is not None
        at, value = token.end(), token[0]
        attached = bool(found) and found[-1][0] == "math"
        if token["script"]:
            mark, inner = value[0], value[1:]
            if inner == "{":
                end = _close(text, at - 1)
                inner, at = text[at:end], end + 1
            found.append(("math", f"{mark}{{{_script(inner)}}}"))
        elif token["angle"]:
            angles += 1
            found.append(("math", r"\langle "))
        elif value == ">" and angles:
            angles -= 1
            found.append(("math", r"\rangle "))
        elif (
            token["word"]
            or (value == "-" and found and found[-1][0] == "word")
            or (value == "'" and not attached)
        ):
            found.append(("word", value))
        elif token["tilde"]:
            found.append(("math", rf"\tilde {value[0]} "))
        elif token["name"]:
            found.append(_name(text, token, found))
        elif token["number"]:
            found.append(("math", value))
        elif value.isspace():
            found.append(("space", " "))
        elif value == "*" and attached:
            found.append(("math", "^{*}"))
        elif value in ",;:.":
            found.append(("stop", value))
        else:
            found.append(("math", SIGNS.get(value, value)))
    return found


def _name(text: str, token: re.Match[str], found: list[tuple[str, str]]) -> tuple[str, str]:
    value, after = token[0], text[token.end() :]
    following = re.match(r" ([a-z]{2,}|r\b)(?!_)", after)
    if value == "sum" and (not after or (following and following[1] not in NAMES)):
        return "word", value
    if value in NAMES:
        return "math", NAMES[value] + " "
    article = (
        value == "a" and re.match(r" (?:[A-Z] )?[a-z]{2,}", after) and after.split()[0] not in NAMES
    )
    if len(value) == 1 and not article:
        return "math", value + " "
    if after.startswith("_"):
        return "math", rf"\mathrm{{{value}}}"
    return "word", value


def _tex(text: str) -> str:
    """A piece without words as TeX."""

    def part(kind: str, value: str) -> str:
        if kind != "word":
            return value
        return r"\in " if value == "in" else rf"\text{{ {value} }}"

    return "".join(part(*token) for token in _tokens(text)).replace("1/2", r"\tfrac{1}{2}")


def _balanced(tex: str) -> int:
    """How many brackets and bars are open; those of TeX itself among them."""
    opening = re.findall(r"\\langle|[\[({]", tex)
    closing = re.findall(r"\\rangle|[\])}]", tex)
    return len(opening) - len(closing) + tex.count("|") % 2


def _remarks(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Brackets around words, as these, are words themselves."""
    out, open_ = list(tokens), []
    for i, (_, value) in enumerate(tokens):
        if value == "(":
            open_.append(i)
        elif value == ")" and open_:
            start = open_.pop()
            words = any(kind == "word" and len(word) > 2 for kind, word in tokens[start:i])
            after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
            if (
                words
                and (start == 0 or tokens[start - 1][0] == "space")
                and after[:1] not in ("_", "^")
            ):
                out[start], out[i] = ("word", "("), ("word", ")")
    return out


def shown(text: str) -> str:
    """HTML of a declared formula: words as text, mathematics as MathML."""
    out: list[str] = []
    run: list[str] = []

    def flush() -> None:
        tex = "".join(run).strip()
        run.clear()
        if tex:
            tex = re.sub(r"(?<![\d.])1/2(?!\d)", r"\\tfrac{1}{2}", tex)
            # a factor that is a word stands apart from the one before it
            tex = re.sub(r"((?:^|[^\\a-zA-Z])[a-zA-Z]|[)}]) +(?=\\mathrm\{)", r"\1 \\, ", tex)
            out.append(convert(tex, block=False))

    for kind, value in _remarks(_tokens(" ".join(text.split()))):
        depth = _balanced("".join(run))
        if kind == "math":
            length = len(re.sub(r"\\[a-z]+|[{}\s]", "", "".join(run)))
            if value in RELATIONS and depth == 0 and length > SHORT and run[-1] == " ":
                flush()
                out.append(" ")
            run.append(value)
        elif kind == "space":
            row = "".join(run)
            inside = row.rfind("[") > row.rfind("]")  # of a row of matrices
            run.append(r"\; " if inside else " ") if run else out.append(" ")
        elif kind == "word" and depth > 0 and value == "in":
            run.append(r"\in ")
        elif kind == "word" and depth > 0:
            run.append(rf"\text{{ {value} }}")
        elif kind == "stop" and depth > 0:
            run.append(f"{value} " if value != ":" else r"\,:\, ")
        else:
            spaced = bool(run) and run[-1] == " " and kind == "word"
            flush()
            if (
                kind == "stop" and out and out[-1].startswith("<math")
            ):  # no line begins with a comma
                out[-1] = f"<span class='math'>{out[-1]}{value}</span>"
            else:
                out.append((" " if spaced else "") + html.escape(value))
    flush()
    return re.sub(r" {2,}", " ", "".join(out)).strip()
