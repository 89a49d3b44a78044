"""The projection of solver.py in torch, in double precision."""

import torch
from solver import serve


def project(a, r=1.0, rho=0.0):
    """x = (u - b)_+ with b = max a - a, see solver.py."""
    a = torch.from_numpy(a)
    if r <= 0:
        return torch.zeros_like(a)
    b = a.max() - a
    below = b.sort().values
    u = (r + below.cumsum(0)) / torch.arange(1, a.numel() + 1, dtype=a.dtype)
    return (u[below < u][-1] - b).clamp(min=0.0)


if __name__ == "__main__":
    serve({"simplex.projection": project})
