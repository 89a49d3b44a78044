"""What is thrown at a solver: instances, and the families that draw them."""

from verification.instances.instance import Instance

__all__ = ["Instance"]
