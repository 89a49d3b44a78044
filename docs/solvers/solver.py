"""Projection onto the simplex with plain numpy, as a solver that speaks protocol v1.

argmin 1/2 ||x - a||^2 over {x >= 0, <1,x> = r}; rho, which weighs <1,x>^2, changes nothing.
"""

import json
import sys

import numpy as np


def project(a, r=1.0, rho=0.0):
    """x = (u - b)_+, b = max a - a, u = (r + B)/n; n entries are above 0, B sums their b."""
    b = np.max(a) - a
    below = np.sort(b)
    u = (r + np.cumsum(below)) / np.arange(1, a.size + 1)
    return np.maximum(u[below < u][-1] - b, 0.0) if r > 0 else np.zeros_like(a)


def array(value):
    """An array of a request; float() reads "nan", "inf" and "-inf" as well."""
    if "npz" in value:
        return np.load(value["npz"])[value["key"]]
    return np.array([float(v) for v in value["values"]]).reshape(value["shape"])


def serve(solvers):
    """Answer line by line until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        arguments = {name: array(v) for name, v in request["arrays"].items()}
        arguments |= {name: float(v) for name, v in request["params"].items()}
        reply = {"id": request["id"]}
        if arguments["a"].ndim != 1:
            reply |= {"status": "unsupported", "message": "single vectors only"}
        else:
            x = solvers[request["problem"]](**arguments)
            reply |= {"x": x.tolist(), "status": "optimal"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    serve({"simplex.projection": project})
