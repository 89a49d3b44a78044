"""Models as problems: what each one's arguments, unknowns and instances are, and what certifies it.

One file per model of `refsolve.models`, found by discovery, with one object ``TASK`` of a subclass of
`ModelTask`. Files with an underscore are helpers: `_shrink` makes data sets small.
`verification.verdicts.verify_model` turns certificates into verdicts.
"""

import functools
import importlib
import pkgutil

from refsolve import catalogue
from verification.models.task import Generator, ModelTask, Params, Side, Violation

__all__ = ["Generator", "ModelTask", "Params", "Side", "Violation", "load", "object_names"]


@functools.cache
def object_names() -> tuple[str, ...]:
    """Names of the models that can be verified."""
    here = {module.name for module in pkgutil.iter_modules(__path__)}
    return tuple(sorted(here & set(catalogue.object_names("models"))))


def load(object_name: str) -> ModelTask:
    """The task of a model."""
    task: ModelTask = importlib.import_module(f"{__name__}.{object_name}").TASK
    return task


def described(object_name: str) -> str:
    """What the file of a model says of its arguments and unknowns."""
    return importlib.import_module(f"{__name__}.{object_name}").__doc__ or ""
