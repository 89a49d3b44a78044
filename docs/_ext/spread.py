"""Pages that run code are dealt evenly: a parallel build reads runs of neighbours, and API pages run nothing."""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def runs_code(env: BuildEnvironment, name: str) -> bool:
    """Whether a page has cells."""
    with open(env.doc2path(name), encoding="utf-8") as page:
        return any("{code-cell}" in line for line in page)


def spread(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Equal shares of both kinds of page in every stretch of the list."""
    runs = {name: runs_code(env, name) for name in names}
    shares: dict[str, float] = {}
    for kind in (True, False):
        same = [name for name in names if runs[name] == kind]
        shares |= {name: (place + 0.5) / len(same) for place, name in enumerate(same)}
    names.sort(key=shares.__getitem__)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", spread)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
