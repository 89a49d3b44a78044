"""The oracle is asked by one check only: everything else is judged without importing it."""

from _processes import python

CODE = """
import sys
from verification import verify
from verification.checks import discover, shapes
from verification.reference_solvers import projections
assert "cvxpy" not in sys.modules and "numba" not in sys.modules and "sklearn" not in sys.modules
for bound in (shapes.ROWS, shapes.LENGTHS, shapes.VECTORS):
    bound["quick"] = (2, 5)
shapes.SWEPT["quick"], shapes.FULL, shapes.DIVISIBLE = 8, (), ()
names = [name for name in discover() if name != "agreement"]
report = verify(projections.alpha, "topk_simplex_alpha.projection", checks=names, every=4)
assert report.ok and report.checked > 250, report.summary()
assert "cvxpy" not in sys.modules
verify(projections.alpha, "topk_simplex_alpha.projection", checks=["agreement"]).raise_if_failed()
assert "cvxpy" in sys.modules
"""


def test_judging_a_projection_imports_no_oracle():
    python("-c", CODE)
