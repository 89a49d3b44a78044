"""Exact solutions, each believed only with a certificate that is exactly zero."""

import functools

from refsolve.errors import UncertainError
from refsolve.proofs import rationals
from refsolve.proofs.rationals import Vector
from verification.certificates import core as cores
from verification.instances.instance import Instance

__all__ = ["UncertainError", "solution"]


@functools.lru_cache(maxsize=20000)
def solution(instance: Instance) -> Vector:
    """The exact x of an instance (a maximiser, where it is not unique)."""
    core = cores.core(instance)
    if core.linear:
        return rationals.maximiser(
            cores.generator(instance), core.domain, cores.margins(instance)[0]
        )
    return rationals.project(core.domain, core.b, core.rho)
