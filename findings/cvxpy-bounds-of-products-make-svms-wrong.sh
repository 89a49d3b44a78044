#!/usr/bin/env bash
# cvxpy 1.9.3 with HiGHS 1.16.0 (and PIQP, ProxQP, DAQP): the hinge loss of an SVM is solved wrongly and called optimal.
#
# Since variables have bounds, CVXPY propagates bounds through expressions and hands those of auxiliary variables to
# solvers that take bounds. For a matrix times a variable without bounds, (X @ w).get_bounds() is nan in every entry
# (0 * inf), multiply(y, X @ w) turns that into [0, 0], and pos(1 - ...) is fixed at 1: the loss no longer depends on w.
# Clarabel and OSQP, which are given no bounds, solve the problem as it is written.
# Seen: Clarabel 0.1, HiGHS 2.0, both "optimal"; CVXPY's own value of the objective at Clarabel's w is 0.1.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check \
    cvxpy==1.9.3 clarabel==0.11.1 highspy==1.16.0 numpy==2.4.6 scipy==1.17.1
"$place/venv/bin/python" -W ignore - <<'END'
import cvxpy as cp
import numpy as np

X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones(2)
w = cp.Variable(2)
problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(y, X @ w)))))
print("bounds of X @ w", [bound.tolist() for bound in (X @ w).get_bounds()])
print("bounds of multiply(y, X @ w)", [bound.tolist() for bound in cp.multiply(y, X @ w).get_bounds()])

values = {}
for solver in ("CLARABEL", "HIGHS"):
    w.value = None
    problem.solve(solver=solver)
    values[solver] = problem.value
    print(solver, problem.status, round(problem.value, 6), "w =", w.value.round(6))
    assert problem.status == "optimal"

w.value = np.array([0.2, 0.4])  # feasible, as every w is: its value bounds the optimum from above
at_w = problem.objective.value
print("value at w = (0.2, 0.4):", at_w)
assert abs(at_w - 0.1) < 1e-9 and abs(values["CLARABEL"] - 0.1) < 1e-5
assert values["HIGHS"] > 1.9, "no longer so"
END
echo "as described"
