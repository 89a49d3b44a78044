"""Certified linear heads on tensors: seconds and gap of `fast.torch.fit_head` on a device, and on the processor.

Rows of unit length with a power-law spectrum, as `fast.probe` is timed on.
"""

import time
from collections.abc import Iterator
from typing import Any

SIZES = {"cuda": (100_000, 512, 1000), "cpu": (10_000, 128, 100)}


def rows(n: int, d: int, m: int, device: str, seed: int = 0) -> tuple[Any, Any]:
    """Rows x = class centre + noise, the j-th feature falling as 1/sqrt(j), of unit length; and classes."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    draw: dict[str, Any] = {"generator": generator, "device": device}
    scale = torch.arange(1, d + 1, device=device) ** -0.5
    y = torch.randint(m, (n,), **draw)
    X = scale * (torch.randn(m, d, **draw)[y] + 2.0 * torch.randn(n, d, **draw))
    return X / X.norm(dim=1, keepdim=True), y


def measured(
    device: str, size: tuple[int, int, int], loss: str, C: float, k: int, tol: float
) -> dict[str, Any]:
    """Seconds of one fit after a small one, and what is certified."""
    import torch

    from fast.torch import fit_head

    n, d, m = size
    X, y = rows(n, d, m, device)
    options: dict[str, Any] = {"loss": loss, "C": C, "k": k, "tol": tol, "classes": m}
    fit_head(X[: 4 * m], y[: 4 * m], **options)  # libraries are loaded
    if device != "cpu":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    head = fit_head(X, y, **options)
    seconds = (
        time.perf_counter() - start
    )  # the certificate is a number on the host: nothing is pending
    peak = None if device == "cpu" else round(torch.cuda.max_memory_allocated() / 2**20)
    name = "processor" if device == "cpu" else torch.cuda.get_device_name()
    return {
        "device": name, "torch": torch.__version__, "n": n, "d": d, "m": m, "loss": loss, "C": C, "k": k,
        "tol": tol, "seconds": round(seconds, 3), "passes": head.n_iter, "gap": head.gap,
        "converged": head.converged, "peak_MiB": peak,
    }  # fmt: skip


def fits(device: str, tol: float = 1e-3) -> Iterator[dict[str, Any]]:
    """All fits on a device, and on the processor."""
    for where in dict.fromkeys((device, "cpu")):
        shape = SIZES[where]
        for loss, k in (("softmax", 1), ("topk_entropy_alpha", 5), ("smooth_topk_hinge_alpha", 5)):
            for C in (1.0, 100.0):
                yield measured(where, shape, loss, C, k, tol)
