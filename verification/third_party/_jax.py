"""Functions of JAX's family on one vector of float32, JAX's default, compiled once per shape."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from verification.adapters import adapt


@functools.cache
def compiled(name: str, gradient: bool = False) -> Callable[..., Any]:
    """``"package.module:function"``, or its gradient, under ``jax.jit``."""
    import jax

    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)
    return jax.jit(jax.grad(found) if gradient else found)


def single(problem: str) -> Callable[..., Any]:
    """A decorator: the problem's arguments in float32, the answer an array of numpy's."""

    def made(function: Callable[..., Any]) -> Any:
        adapted = adapt(function, problem, dtype="float32", answer=lambda found: np.asarray(found))
        adapted.__module__ = function.__module__
        return adapted

    return made
