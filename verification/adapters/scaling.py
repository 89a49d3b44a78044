"""Other people's C and lambda: the same problem, its parameters and its answer in other units."""

from collections.abc import Callable, Mapping
from typing import Any

from verification.adapters._steps import Formula, Given, Step, each, parts
from verification.errors import InvalidArgumentError
from verification.problems.problem import Problem

Rule = str | Callable[..., Any]

#: Conventions with a name: what their parameter is, given our C of 1/2 ||W||^2 + C sum_i L_i over n
#: examples. The text is the objective that they minimise, which is a multiple of ours.
CONVENTIONS: dict[str, tuple[str, Callable[..., float]]] = {
    "C": ("1/2 ||W||^2 + C sum L", lambda C: C),
    "C n": ("1/2 ||W||^2 + (c/n) sum L, c = C n", lambda C, n: C * n),
    "2 C": ("||W||^2 + c sum L, c = 2 C", lambda C: 2 * C),
    "2 C n": ("||W||^2 + (c/n) sum L, c = 2 C n", lambda C, n: 2 * C * n),
    "1/C": ("lambda/2 ||W||^2 + sum L, lambda = 1/C", lambda C: 1 / C),
    "1/(2 C)": ("lambda ||W||^2 + sum L, lambda = 1/(2 C)", lambda C: 1 / (2 * C)),
    "1/(C n)": ("lambda/2 ||W||^2 + (1/n) sum L, lambda = 1/(C n)", lambda C, n: 1 / (C * n)),
    "1/(2 C n)": ("lambda ||W||^2 + (1/n) sum L, lambda = 1/(2 C n)", lambda C, n: 1 / (2 * C * n)),
}


def rule(given: Rule, what: str, first: int = 0) -> Formula:
    """A formula, or the name of a convention."""
    if callable(given):
        return Formula(given, what, first)
    key = " ".join(str(given).replace("*", " ").replace("( ", "(").split())
    if key not in CONVENTIONS:
        listed = "; ".join(f"{name!r}: {text}" for name, (text, _) in CONVENTIONS.items())
        raise InvalidArgumentError(f"{what}={given!r}: expected a function or one of {listed}")
    return Formula(CONVENTIONS[key][1], what)


class Scaled(Step):
    """Replaces arguments by functions of the arguments, and parts of the answer likewise.

    Parameters
    ----------
    scale : mapping
        Problem's name -> the value that the function wants, as a function of the problem's
        arguments by name (and of n, m, d), or the name of one of `CONVENTIONS`.
    answer : callable or mapping
        ``answer(returned, ...)``, also by part of a trained model; further parameters are arguments
        of the problem by name.
    """

    def __init__(
        self,
        problem: Problem | None,
        scale: Mapping[str, Rule],
        answer: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None,
    ):
        self.names = parts(problem)
        self.rules = {name: rule(r, f"scale[{name!r}]") for name, r in scale.items()}
        self.whole = Formula(answer, "answer", 1) if callable(answer) else None
        by_part = answer if isinstance(answer, Mapping) else {}
        self.by_part = {k: Formula(f, f"answer[{k!r}]", 1) for k, f in by_part.items()}
        whole = [] if self.whole is None else [self.whole]
        self.formulas = (*self.rules.values(), *self.by_part.values(), *whole)

    def before(self, given: Given) -> Given:
        """Every formula sees the arguments as they were."""
        return {**given, **{name: f(given) for name, f in self.rules.items()}}

    def after(self, answer: Any, given: Given) -> Any:
        """The answer in the problem's units."""
        if self.whole is not None:
            return self.whole(given, answer)

        def change(name: str, part: Any) -> Any:
            return self.by_part[name](given, part) if name in self.by_part else part

        return each(answer, change, self.names) if self.by_part else answer
