#!/usr/bin/env bash
# cvxpy 1.9.3: sum_largest(x, n) of all n entries of x solves once, and raises when its variable has a value.
#
# sum_largest(x, n) is sum(x), as the last condition of a permutahedron or of an ordered weighted sum says it for every
# number of entries in a loop. A variable has a value after a solve (or as a warm start); compiling the problem for
# another solver then ends in a ValueError of numpy that names neither the atom nor the problem. With n - 1 entries, or
# with the value taken away, the same two solves work.
# Seen: Clarabel 1.333333; then SCS: ValueError "zero-size array to reduction operation maximum which has no identity".
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check \
    cvxpy==1.9.3 clarabel==0.11.1 scs==3.3.1 numpy==2.4.6 scipy==1.17.1
"$place/venv/bin/python" -W ignore - <<'END'
import cvxpy as cp


def made(k):
    x = cp.Variable(3)
    return x, cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 0, cp.sum_largest(x, k) <= 1])


def solved(problem, solver):
    try:
        return round(float(problem.solve(solver=solver)), 4)
    except ValueError as error:
        return f"ValueError: {error}"


x, problem = made(2)
assert [solved(problem, s) for s in ("CLARABEL", "SCS")] == [0.75, 0.75]

x, problem = made(3)
first, second = solved(problem, "CLARABEL"), solved(problem, "SCS")
print("Clarabel", first, "| then SCS", second)
assert first == 1.3333 and "zero-size array" in str(second), "no longer so"
x.value = None
print("SCS without a value", third := solved(problem, "SCS"))
assert abs(third - 4 / 3) < 1e-3
END
echo "as described"
