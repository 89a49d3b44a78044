"""Declarations before the judge: what a file of `refsolve` says must agree with itself.

Of a loss: value and conjugate are each other's supremum, solved from the one alone; its generator, dual set and
default costs give the same numbers; its printed formulas, executed, do too. Of a set: constraints, half-spaces,
support function, repair and residual say the same. Of a model: value, dual and gap are those that are printed, and
weak and strong duality hold.

`problems(object_name)` returns what does not agree, as sentences; nothing of `fast` is asked.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from refsolve import catalogue
from verification.declarations.printed import UnreadableError

#: Disagreements after which a declaration is left.
FIRST = 3


def problems(object_name: str, most: int = FIRST) -> list[str]:
    """What does not agree in a declaration, the first ``most`` findings; empty if all does."""
    from verification.declarations import losses, models, sets

    kinds: dict[str, Callable[[str], Iterator[str]]] = {
        "losses": losses.disagreements,
        "sets": sets.disagreements,
        "functions": sets.function_disagreements,
        "models": models.disagreements,
    }
    found: list[str] = []
    try:
        for each in kinds[catalogue.kind(object_name)](object_name):
            found.append(each)
            if len(found) >= most:
                break
    except UnreadableError as error:
        # the words of somebody else's own file need not be readable
        found += [f"{object_name}: {error}"] if _ours(object_name) else []
    except Exception as error:  # a declaration that cannot be computed is wrong, too
        found.append(f"{object_name}: {type(error).__name__}: {error}")
    return found


def _ours(object_name: str) -> bool:
    """Whether the file is of this package."""
    return (
        Path(catalogue.load(object_name).__file__ or "").parent.parent
        == Path(catalogue.__file__).parent
    )
