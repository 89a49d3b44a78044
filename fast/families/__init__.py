"""What the losses of `fast` are made of: the base class, their faces, and three families."""

from fast.families.base import Loss, named
from fast.families.faces import faces

__all__ = ["Loss", "faces", "named"]
