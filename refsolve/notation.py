"""CVXPY expressions as one would write them on a board, in plain text and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: How strongly parts are bound: a sum, a product of entries, a product, a sign or power, a name.
SUM, ENTRIES, PRODUCT, POWER, NAME = range(5)
Part = tuple[str, int]
#: Names that LaTeX has a letter for.
GREEK = frozenset(
    ("alpha", "beta", "gamma", "delta", "epsilon", "eta", "zeta", "theta", "kappa", "lambda", "mu", "nu", "xi",
     "rho", "sigma", "tau", "phi", "omega")
)  # fmt: skip
NUMBER = re.compile(r"(\\frac\{1\}\{[\d.]+\}|1/[\d.]+|[\d.]+) (?![+-])|[\d.]+$")
LONGEST = 8  # entries of a constant that are written out


@dataclass(frozen=True)
class Style:
    """The marks of one way to write."""

    latex: bool
    entry: bool = False  # inside a sum over i: vectors by their entries

    def name(self, leaf: Any) -> str:
        """A variable, parameter or constant; Greek letters by name."""
        name, mark = leaf.name(), "_i" if self.entry and leaf.ndim else ""
        if self.latex:
            name, _, power = name.partition("^")
            head, _, index = name.partition("_")
            head = (
                f"\\{head}" if head in GREEK else head if len(head) == 1 else f"\\mathrm{{{head}}}"
            )
            name = head + (f"_{{{index}}}" if index else "") + (f"^{{{power}}}" if power else "")
        return name + mark

    def number(self, value: float) -> str:
        """A number to six digits."""
        return f"{value:.6g}"

    def call(self, name: str, *parts: str) -> str:
        """A function of some parts."""
        inner = ", ".join(parts)
        return f"\\{name}({inner})" if self.latex else f"{name}({inner})"

    def choose(self, name: str, *parts: str) -> str:
        """Max or min over braces."""
        inner = ", ".join(parts)
        return f"\\{name}\\{{{inner}\\}}" if self.latex else f"{name}{{{inner}}}"

    def inner(self, a: str, b: str) -> str:
        """An inner product."""
        return f"\\langle {a}, {b} \\rangle" if self.latex else f"<{a},{b}>"

    def norm(self, x: str, index: str = "") -> str:
        """A norm; Euclidean without an index."""
        mark = index and f"_{index}"
        return f"\\|{x}\\|{mark}" if self.latex else f"||{x}||{mark}"

    def fraction(self, a: str, b: str) -> Part:
        """A quotient."""
        return (f"\\frac{{{a}}}{{{b}}}", NAME) if self.latex else (f"{a}/{b}", PRODUCT)

    def total(self, term: str) -> str:
        """A sum over i."""
        return f"\\sum_i {term}" if self.latex else f"sum_i {term}"

    @property
    def log(self) -> str:
        """The logarithm."""
        return "\\log " if self.latex else "log "

    def compare(self, sign: str) -> str:
        """A sign between two sides."""
        return (
            {"<=": "\\le", ">=": "\\ge", "==": "="}.get(sign, sign)
            if self.latex
            else sign.replace("==", "=")
        )


TEXT, LATEX = Style(False), Style(True)


def text(thing: Any) -> str:
    """An expression or constraint in plain text."""
    return _rule(thing, TEXT) if hasattr(thing, "dual_variables") else _write(thing, TEXT)[0]


def by_text(rules: Sequence[Any]) -> dict[str, Any]:
    """Constraints by what they say; of those that say the same, the later ones are numbered."""
    found: dict[str, Any] = {}
    for rule in rules:
        said = text(rule)
        count = sum(known.partition(" (no. ")[0] == said for known in found)
        found[f"{said} (no. {count + 1})" if count else said] = rule
    return found


def board(problem: Any) -> str:
    """A problem in lines: the objective, the conditions, what is given."""
    sense, objective, rules, given = _parts(problem, TEXT)
    lines = [f"{sense + 'imize':<12}{objective}"]
    lines += [f"{'subject to' if i == 0 else '':<12}{rule}" for i, rule in enumerate(rules)]
    return "\n".join([*lines, f"{'with':<12}{', '.join(given)}"])


def latex(problem: Any) -> str:
    """A problem as an array of rows."""
    sense, objective, rules, given = _parts(problem, LATEX)
    rows = [f"\\{sense}\\quad & {objective}"]
    marks = ["\\text{subject to}\\quad ", *[""] * len(rules)]
    rows += [f"{mark}& {rule}" for mark, rule in zip(marks, rules, strict=False)]
    rows.append("\\text{with}\\quad & " + ",\\ ".join(given))
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def beside(left: str, right: str) -> str:
    """Two texts in columns."""
    first, second = left.splitlines(), right.splitlines()
    width = max(map(len, first)) + 2
    count = max(len(first), len(second))
    rows = zip(
        first + [""] * (count - len(first)), second + [""] * (count - len(second)), strict=True
    )
    return "\n".join(f"{a:<{width}}{b}".rstrip() for a, b in rows)


def _parts(problem: Any, style: Style) -> tuple[str, str, list[str], list[str]]:
    sense = "max" if type(problem.objective).__name__ == "Maximize" else "min"
    objective = _write(problem.objective.args[0], style)[0]
    rules = [_rule(rule, style) for rule in problem.constraints]
    known = {c.name(): c for c in problem.constants() if _named(c)}
    leaves = (*problem.variables(), *problem.parameters(), *known.values())
    given = list(dict.fromkeys(_space(leaf, style) for leaf in leaves))
    return sense, objective, rules, given


def _space(leaf: Any, style: Style) -> str:
    name = style.name(leaf)
    if leaf.shape == ():
        known = leaf.value is not None and type(leaf).__name__ == "Parameter"
        return f"{name} = {style.number(float(leaf.value))}" if known else name + _held(leaf, style)
    size = (" \\times " if style.latex else " x ").join(map(str, leaf.shape))
    space = f"\\in \\mathbb{{R}}^{{{size}}}" if style.latex else f"in R^{size}"
    return f"{name} {space}{_held(leaf, style)}"


def _held(leaf: Any, style: Style) -> str:
    """The attributes of a variable, which are conditions too."""
    held = {k: v for k, v in leaf.attributes.items() if v is not None and v is not False}
    if type(leaf).__name__ != "Variable" or not held:
        return ""
    shown = ", ".join(k if v is True else f"{k} {_flat(v)}" for k, v in held.items())
    return f"\\ \\text{{({shown})}}" if style.latex else f" ({shown})"


def _flat(value: Any) -> str:
    """An attribute's value in one line."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return " ".join(str(getattr(value, "tolist", lambda: value)()).split())


def _rule(rule: Any, style: Style) -> str:
    kind = type(rule).__name__
    if kind not in ("Equality", "Inequality"):
        return _cone(kind, [_write(side, style)[0] for side in rule.args], style)
    sign = "==" if kind == "Equality" else "<="
    low, high = (_write(side, style)[0] for side in rule.args)
    if sign == "<=" and rule.args[0].is_constant() and not rule.args[0].parameters():
        low, sign, high = high, ">=", low  # as it was declared
    return f"{low} {style.compare(sign)} {high}"


def _cone(kind: str, shown: list[str], style: Style) -> str:
    """A constraint to a cone."""
    signs = {"Zero": "==", "NonPos": "<=", "NonNeg": ">="}
    if kind in signs:
        return f"{shown[0]} {style.compare(signs[kind])} 0"
    if kind == "PSD":
        sign = "\\succeq" if style.latex else ">>"
        return f"{shown[0]} {sign} 0"
    if kind == "SOC":
        return f"{style.norm(shown[1])} {style.compare('<=')} {shown[0]}"
    inner = ", ".join(shown)
    return f"({inner}) \\in \\mathrm{{{kind}}}" if style.latex else f"({inner}) in {kind}"


def _inside(part: Part, needed: int, style: Style) -> str:
    """A part, in brackets where it binds less than is needed."""
    if part[1] >= needed:
        return part[0]
    return f"\\left({part[0]}\\right)" if style.latex else f"({part[0]})"


def _write(e: Any, style: Style) -> Part:
    kind = type(e).__name__
    if kind in ("Variable", "Parameter"):
        return style.name(e), NAME
    if kind == "Constant":
        return _constant(e, style)
    return _WRITERS.get(kind, _other)(e, style)


def _named(constant: Any) -> bool:
    """Whether a constant has a name of its own: CVXPY calls the others by their value."""
    return bool(constant.name()) and constant.name()[0].isalpha()


def _constant(e: Any, style: Style) -> Part:
    value = np.asarray(e.value)
    if _named(e):
        return style.name(e), NAME
    if value.ndim == 0 or (value.size and (value == value.flat[0]).all()):
        number = style.number(float(value.flat[0]))
        return number, POWER if number[0] == "-" else NAME
    if value.ndim == 1 and value.size <= LONGEST:
        mark = "_i" if style.entry else ""
        return "(" + ", ".join(style.number(v) for v in value) + ")" + mark, NAME
    return _shape(value.shape, style), NAME


def _shape(shape: tuple[int, ...], style: Style) -> str:
    """A constant without a name by its size."""
    return "[" + (" \\times " if style.latex else " x ").join(map(str, shape)) + "]"


def _sum_of(e: Any, style: Style) -> Part:
    terms: list[tuple[str, str]] = []

    def add(part: Any, minus: bool) -> None:
        kind = type(part).__name__
        if kind == "AddExpression":
            for each in part.args:
                add(each, minus)
        elif kind == "NegExpression":
            add(part.args[0], not minus)
        elif not (part.is_constant() and not part.parameters() and not np.any(part.value)):
            written = _write(part, style)
            shown = _inside(written, ENTRIES, style)
            if shown.startswith("-"):
                minus, shown = not minus, shown[1:]
            terms.append(("-" if minus else "+", shown))

    add(e, False)
    if not terms:
        return "0", NAME
    first = terms[0][1] if terms[0][0] == "+" else f"-{terms[0][1]}"
    shown = " ".join([first, *(f"{sign} {term}" for sign, term in terms[1:])])
    return shown, SUM if len(terms) > 1 else PRODUCT


def _product(e: Any, style: Style) -> Part:
    left, right = e.args
    if style.entry and left.ndim == 2:
        return f"({_write(e, replace(style, entry=False))[0]})_i", NAME
    if left.ndim == 1 and right.ndim == 1 and type(e).__name__ == "MulExpression":
        return style.inner(_write(left, style)[0], _write(right, style)[0]), NAME
    for one, other in ((left, right), (right, left)):
        if one.is_constant() and not one.parameters() and np.ndim(one.value) == 0:
            if one.value in (0.0, 1.0):
                return _write(other, style) if one.value else ("0", NAME)
            if one.value == -1.0:
                return _sum_of(-other, style)
    shown, numbers, minus = [], [], False
    for each in (left, right):
        part = (
            _matrix(each, style) if each.ndim == 2 else _inside(_write(each, style), PRODUCT, style)
        )
        minus, part = (not minus, part[1:]) if part.startswith("-") else (minus, part)
        leading = NUMBER.match(part)
        numbers += [leading[0].strip()] if leading else []
        shown += [part[leading.end() :] if leading else part]
    between, bound = " ", PRODUCT
    if left.ndim and right.ndim and type(e).__name__ == "multiply":
        between, bound = " \\circ " if style.latex else " * ", ENTRIES
    product = " ".join([*numbers, between.join(part for part in shown if part)])
    return "-" * minus + product, bound


def _matrix(e: Any, style: Style) -> str:
    """A factor with two axes: also one whose entries are equal is no number."""
    whole = replace(style, entry=False)
    if e.is_constant() and not e.parameters() and not _named(e):
        return _shape(e.shape, style)
    return _inside(_write(e, whole), PRODUCT, style)


def _quotient(e: Any, style: Style) -> Part:
    above, below = e.args
    if below.is_constant() and not below.parameters():
        value = np.asarray(below.value)
        uniform = bool(value.size and (value == value.flat[0]).all() and value.flat[0] > 0)
        divisor = style.number(float(value.flat[0])) if uniform else ""
        if divisor == "1":
            return _write(above, style)
        whole = _write(above, style)
        if uniform and (len(whole[0]) > 3 or whole[1] < NAME):
            shown = _inside(whole, PRODUCT, style)
            minus, shown = ("-", shown[1:]) if shown.startswith("-") else ("", shown)
            return f"{minus}{style.fraction('1', divisor)[0]} {shown}", PRODUCT
    a, b = _write(above, style), _write(below, style)
    if style.latex:
        return style.fraction(a[0], b[0])
    return style.fraction(_inside(a, PRODUCT, style), _inside(b, NAME, style))


def _power(e: Any, style: Style) -> Part:
    exponent = float(np.max(getattr(e.p, "value", e.p)))
    base = _inside(_write(e.args[0], style), NAME, style)
    mark = style.number(exponent)
    return (f"{base}^{{{mark}}}" if style.latex else f"{base}^{mark}"), POWER


def _square(e: Any, style: Style) -> Part:
    square = style.norm(_write(e.args[0], replace(style, entry=False))[0]) + "^2"
    below = e.args[1]
    if below.is_constant() and not below.parameters() and float(below.value) == 1.0:
        return square, POWER
    divisor = _write(below, style)
    if style.latex:
        return style.fraction(square, divisor[0])
    return style.fraction(square, _inside(divisor, NAME, style))


def _total(e: Any, style: Style) -> Part:
    inner = e.args[0]
    if getattr(e, "axis", None) is not None:
        return _other(e, style)
    if inner.ndim == 0:
        return _write(inner, style)
    if type(inner).__name__ == "Hstack":
        parts = [each if each.size == 1 else type(e)(each) for each in inner.args]
        return " + ".join(_inside(_write(each, style), ENTRIES, style) for each in parts), SUM
    if inner.is_affine():
        return style.inner("\\mathbf{1}" if style.latex else "1", _write(inner, style)[0]), NAME
    term = _write(inner, replace(style, entry=True))
    if term[1] > SUM and term[0].startswith("-"):
        return "-" + style.total(term[0][1:]), PRODUCT
    return style.total(_inside(term, PRODUCT, style)), PRODUCT


def _positive(e: Any, style: Style) -> Part:
    parts = sorted((_write(each, style)[0] for each in e.args), key=lambda shown: shown != "0")
    return style.choose("max", *parts), NAME


def _largest(e: Any, style: Style) -> Part:
    k = style.number(float(getattr(e.k, "value", e.k)))
    x = _bracketed(_write(e.args[0], style)[0])
    return (f"S_{{{k}}}{x}" if style.latex else f"S_{k}{x}"), NAME


def _entropy(e: Any, style: Style) -> Part:
    x = _inside(_write(e.args[0], style), NAME, style)
    return f"-{x} {style.log}{x}", PRODUCT


def _softplus(e: Any, style: Style) -> Part:
    x = _write(e.args[0], style)[0]
    return (f"\\log(1 + e^{{{x}}})" if style.latex else f"log(1 + exp({x}))"), NAME


def _log_sum(e: Any, style: Style) -> Part:
    if getattr(e, "axis", None) is not None:
        return _other(e, style)
    x = _bracketed(_write(e.args[0], style)[0])
    return (f"\\log \\sum \\exp {x}" if style.latex else f"log sum exp{x}"), PRODUCT


def _bracketed(x: str) -> str:
    """In brackets, unless it is a row of parts, which has its own."""
    return x if x[0] == "(" and ", " in x and x[-1] == ")" else f"({x})"


def _stack(e: Any, style: Style) -> Part:
    return "(" + ", ".join(_write(each, style)[0] for each in e.args) + ")", NAME


def _index(e: Any, style: Style) -> Part:
    x, shown = _inside(_write(e.args[0], replace(style, entry=False)), NAME, style), e.get_data()
    keys = next(k for k in shown if k is not None)
    keys = list(keys) if isinstance(keys, Sequence) else [keys]
    sizes = e.args[0].shape
    while keys and isinstance(keys[-1], slice) and _whole(keys[-1], sizes[len(keys) - 1]):
        keys.pop()
    entry = "i" if style.entry and e.ndim else ""
    if not keys:
        return f"{x}_i" if entry else x, NAME
    at = ",".join([*(_slice(k) for k in keys), *([entry] if entry else [])])
    return (f"{x}_{{{at}}}" if style.latex else f"{x}[{at}]"), NAME


def _whole(key: slice, size: int) -> bool:
    return (
        key.start in (None, 0) and key.stop in (None, size) and key.step in (None, 1) and size > 1
    )


def _slice(key: Any) -> str:
    if isinstance(key, slice):
        low, high = key.start or 0, key.stop
        if key.step not in (None, 1):
            return f"{'' if key.start is None else low}:{'' if high is None else high}:{key.step}"
        return str(low) if high == low + 1 else f"{low or ''}:{'' if high is None else high}"
    return "(" + ",".join(map(str, np.ravel(key))) + ")"


def _first(e: Any, style: Style) -> Part:
    return _write(e.args[0], style)


def _reshaped(e: Any, style: Style) -> Part:
    """Its argument, read by columns; by rows it is another vector or matrix."""
    several = any(sum(size > 1 for size in each.shape) > 1 for each in (e, e.args[0]))
    return _other(e, style) if several and e.order == "C" else _first(e, style)


def _transposed(e: Any, style: Style) -> Part:
    x = _inside(_write(e.args[0], style), NAME, style)
    return (f"{x}^\\top" if style.latex else f"{x}'"), NAME


def _form(e: Any, style: Style) -> Part:
    x, P = _write(e.args[0], style)[0], _inside(_write(e.args[1], style), PRODUCT, style)
    return style.inner(x, f"{P} {x if x.isalnum() else f'({x})'}"), NAME


def _norm(e: Any, style: Style) -> Part:
    if getattr(e, "axis", None) is not None:
        return _other(e, style)
    x = _write(e.args[0], replace(style, entry=False))[0]
    p = float(getattr(e.p, "value", e.p))
    return style.norm(x, "" if p == 2 else style.number(p)), NAME


def _norm1(e: Any, style: Style) -> Part:
    return style.norm(_write(e.args[0], style)[0], "1"), NAME


def _abs(e: Any, style: Style) -> Part:
    return f"|{_write(e.args[0], style)[0]}|", NAME


def _top(e: Any, style: Style) -> Part:
    if getattr(e, "axis", None) is not None:
        return _other(e, style)
    return style.call("max", _write(e.args[0], style)[0]), NAME


def _other(e: Any, style: Style) -> Part:
    """A function that no paper here writes: its name, its arguments, its settings."""
    name = type(e).__name__
    shown = [_write(each, replace(style, entry=False))[0] for each in e.args]
    shown += [str(each) for each in e.get_data() or [] if each is not None and each is not False]
    inner = ", ".join(shown)
    return (f"\\mathrm{{{name}}}({inner})" if style.latex else f"{name}({inner})"), NAME


_WRITERS: dict[str, Callable[[Any, Style], Part]] = {
    "AddExpression": _sum_of, "NegExpression": _sum_of, "MulExpression": _product,
    "multiply": _product, "DivExpression": _quotient, "power": _power, "Power": _power,
    "PowerApprox": _power, "quad_over_lin": _square, "Sum": _total, "sum": _total,
    "maximum": _positive, "sum_largest": _largest, "entr": _entropy, "logistic": _softplus,
    "log_sum_exp": _log_sum, "Hstack": _stack, "hstack": _stack, "index": _index,
    "special_index": _index, "Promote": _first, "reshape": _reshaped, "vec": _first,
    "transpose": _transposed, "psd_wrap": _first, "Wrap": _first, "QuadForm": _form,
    "norm1": _norm1, "Pnorm": _norm, "PnormApprox": _norm, "abs": _abs, "max": _top,
}  # fmt: skip
