"""Decorators: somebody else's function or estimator under the arguments of the problem that its finding names."""

import functools
import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from verification.adapters import adapt, trained


@functools.cache
def findings() -> dict[str, dict[str, Any]]:
    """What was found, by the names of the functions."""
    return tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))


def adapted(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`verification.adapters.adapt` with these options."""
    return functools.partial(_made, adapt, options)


def fitted(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """The trainer of the estimator that the function makes: `verification.adapters.trained`."""
    return functools.partial(_made, trained, options)


def _made(
    adapter: Callable[..., Any], options: dict[str, Any], function: Callable[..., Any]
) -> Any:
    found = adapter(function, findings()[function.__name__]["problem"], **options)
    found.__module__ = function.__module__
    return found


#: Arguments in float32, JAX's default, and an answer of numpy's.
single = adapted(dtype="float32", answer=lambda found: np.asarray(found))


@functools.cache
def compiled(name: str, gradient: bool = False) -> Callable[..., Any]:
    """``"package.module:function"``, or its gradient, under ``jax.jit``: once per shape."""
    import jax

    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)
    return jax.jit(jax.grad(found) if gradient else found)
