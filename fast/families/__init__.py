"""What the losses of `fast` are made of: the base class, the functions of their modules, and three families."""

from fast.families.base import Loss, named
from fast.families.function_api import module_functions

__all__ = ["Loss", "module_functions", "named"]
