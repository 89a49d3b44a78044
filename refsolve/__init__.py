"""What each problem is: declarations in CVXPY, the oracle derived from them, and certificates.

>>> import refsolve
>>> result = refsolve.solve("topk_simplex_alpha.projection", a=[0.9, 0.4, -0.2], k=2, r=1.0)
>>> str(result.status), result.certificate.gap < 1e-8
('certified', True)

`problem` is an operation as a CVXPY problem to read, change and solve, `internals` what stands behind
an answer. `certify` bounds how far the values of any CVXPY problem are from its optimum. CVXPY is
imported at the first solve; the formulas and certificates need numpy alone.
"""

import contextlib
from typing import TYPE_CHECKING, Any

from refsolve import (
    catalogue,
    certificates,
    derive,
    errors,
    exact,
    functions,
    losses,
    models,
    sets,
    spec,
)
from refsolve._internals import internals
from refsolve.catalogue import problems
from refsolve.oracle import OracleResult, solve

if TYPE_CHECKING:
    from refsolve.cones import certify
    from refsolve.cvxpy_problem import conjugate, dual, primal_dual, problem
    from refsolve.derivation_steps import check_step
    from refsolve.optimality import kkt



def refuse_two_copies() -> None:
    """Raise an ImportError where refsolve-fast is installed, too: either brings a package ``fast``."""
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError):
        metadata.version("refsolve-fast")
        raise ImportError(
            "refsolve and refsolve-fast are both installed, and each holds the package fast: "
            "pip uninstall refsolve-fast refsolve, then install the one that you want"
        )


refuse_two_copies()

#: Same as `problems`.
list_problems = problems

__all__ = [
    "OracleResult",
    "catalogue",
    "certificates",
    "certify",
    "check_step",
    "conjugate",
    "derive",
    "dual",
    "errors",
    "exact",
    "functions",
    "internals",
    "kkt",
    "list_problems",
    "losses",
    "models",
    "primal_dual",
    "problem",
    "problems",
    "sets",
    "solve",
    "spec",
]


def __getattr__(name: str) -> Any:
    if name == "certify":  # scipy's sparse matrices cost more than the rest
        from refsolve.cones import certify

        return certify
    if name in ("problem", "dual", "primal_dual", "conjugate", "kkt"):  # CVXPY itself
        from refsolve import cvxpy_problem

        return getattr(cvxpy_problem, name)
    if name == "check_step":
        from refsolve.derivation_steps import check_step

        return check_step
    if name == "__version__":
        from importlib.metadata import version

        return version("refsolve")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
