"""What is found of a candidate as a whole, and said once: one cause, not a failure for each instance."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from verification.certificates import tolerance
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.verdicts.verdict import Judgement, Verdict

#: Products of two numbers below it may be subnormal.
SMALL = 1e-150
SINGLE = (
    "the answers are float32, and the input is float64: say dtype='float32' (--dtype float32; or "
    'adapt(..., dtype="float32")), and instances and bounds are those of float32'
)
TINY = (
    "right if subnormal numbers count as zero, and the answer has none: they may be flushed, as by XLA and "
    "-Ofast. --accuracy does not excuse it; an xfail may"
)


def once(
    call: Caller, instance: Instance, judged: Judgement, again: Callable[[], Judgement]
) -> Judgement:
    """The judgement, or what is behind it: a failure the first time, skipped from then on."""
    if call.left:
        message, call.left = f"the call changed {call.left}", ""
        return _first(call, "state", replace(judged, verdict=Verdict.FAIL, message=message), judged)
    if judged.verdict is not Verdict.FAIL:
        return judged
    if _single(call, instance):
        message = f"{SINGLE} (here: {judged.message})"
        return _first(call, SINGLE, replace(judged, message=message))
    if _small(instance) and not _subnormal(call, instance):
        with tolerance.flushed():
            forgiven = again()
        if forgiven.ok:
            message = f"{TINY} (here: {judged.message})"
            return _first(call, TINY, replace(judged, message=message))
    return judged


def before(cause: str) -> Judgement:
    """Of what a cause that was said explains, in the same words each time, so that reports count it once."""
    return Judgement(Verdict.SKIPPED, message=f"as said before: {cause}")


def _first(call: Caller, cause: str, finding: Judgement, otherwise: Judgement | None = None) -> Judgement:
    if cause not in call.said:
        call.said.add(cause)
        return finding
    return otherwise or before(cause)


def _single(call: Caller, instance: Instance) -> bool:
    """Whether all answers so far were float32, to an input that is not."""
    main = instance[instance.problem.data] if instance.problem.data else None
    return call.answered == {"float32"} and np.asarray(main).dtype == np.float64


def _subnormal(call: Caller, instance: Instance) -> bool:
    """Whether an entry of the answer is subnormal: nothing was flushed then."""
    sizes = np.abs(np.asarray(call.last.x if call.last else 0.0, dtype=float))
    return bool(((sizes > 0) & (sizes < tolerance.smallest(instance))).any())


def _small(instance: Instance) -> bool:
    """Whether a product of two of the numbers may be subnormal."""
    for value in instance.params.values():
        sizes = np.abs(np.asarray(value if value is not None else 0.0, dtype=object).astype(float))
        if ((sizes > 0) & (sizes < SMALL)).any():
            return True
    return False
