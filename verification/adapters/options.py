"""All conversions as options of one function, `adapt`, in any combination."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verification import problems
from verification.adapters._adapted import Adapted
from verification.adapters._steps import Step
from verification.adapters.layout import Labelled, Rows, Transposed
from verification.adapters.precision import Rounded
from verification.adapters.scaling import Rule, Scaled
from verification.adapters.tensors import Tensors
from verification.adapters.truth import WithTruth
from verification.errors import CandidateSignatureError, InvalidArgumentError


def adapt(
    function: Callable[..., Any] | None = None,
    problem: str | None = None,
    *,
    order: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    constants: Mapping[str, Any] | None = None,
    scale: Mapping[str, Rule] | None = None,
    answer: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
    truth: str | None = None,
    truth_at: int = 0,
    labels: int | Sequence[float] = 0,
    transpose: str | Sequence[str] = (),
    rows: bool | Sequence[str] = False,
    dtype: Any = None,
    torch: bool | str = False,
    device: str = "cpu",
    out: str | None = None,
    overwrites: str | None = None,
) -> Any:
    """Give a function the argument names and conventions of a problem.

    Parameters
    ----------
    function : callable, optional
        Left out, `adapt` is a decorator: ``@adapt(problem=..., order=...)``.
    problem : str, optional
        ``"<object>.<operation>"``. Without it names are not checked, and options that depend on
        shapes (truth, rows, torch="gradient") are refused.
    order : sequence of str, optional
        The problem's arguments in the order in which the function takes them by position.
    rename : mapping, optional
        The function's name of an argument -> the problem's: ``{"lam": "C"}``.
    constants : mapping, optional
        Further arguments, always passed by name with these values.
    scale : mapping, optional
        The problem's argument -> what the function wants in its place, as a function of arguments
        by name (also of n, m, d: numbers of examples, classes, features), or a name out of
        `CONVENTIONS`: ``{"C": "1/(C n)"}`` for a lambda, ``{"gamma": lambda gamma: 1 / gamma}``.
    answer : callable or mapping, optional
        The way back: ``answer=lambda x: -x``, ``answer={"A": lambda A, C, n: C * n * A}``; the first
        parameter is the answer (or that part of it), others are the problem's arguments.
    truth : {"zero", "balance", "absent"}, optional
        What the function's vectors hold at the ground truth: 0, or minus the sum of the others
        (it is put into x, v and costs where the problem has no such entry, and dropped from
        points), or no entry (it is put into gradients and dual blocks). A function of a problem
        that gives no y may ask for ``y``, and is told ``truth_at``.
    labels : int or pair, optional
        Number of the first class, e.g. 1; or what stands for the labels 0 and 1, e.g. (-1, 1).
    transpose : sequence of str, optional
        Matrices that the function has the other way round: arguments, parts of a model, "answer".
    rows : bool or sequence of str
        The function takes only batches: a vector is passed as a batch of one row; as a sequence,
        names of further arguments of which it wants one per row, e.g. ("r",).
    dtype : dtype, optional
        The function computes in this precision only; instances are rounded to it before they are
        posed, and judged with its tolerances.
    torch : bool or "gradient"
        Tensors in and out, on ``device``; with "gradient" the function is the loss, and the answer
        its gradient by ``torch.autograd``.
    out : str, optional
        The function writes its answer into this argument, an array like the main one.
    overwrites : str, optional
        The function writes its answer into this argument of the problem; it gets a copy.

    Returns
    -------
    Adapted
        A callable of the problem's arguments, also for use by hand.

    Raises
    ------
    InvalidArgumentError, CandidateSignatureError
        At once, for names that the problem or the function does not have.
    """
    task = None if problem is None else problems.lookup(problem)
    if function is None:
        given = dict(locals())
        options = {k: v for k, v in given.items() if k not in ("function", "task")}
        return functools.partial(adapt, **options)
    if not callable(function):
        raise CandidateSignatureError(f"function={function!r}: expected a callable")
    if out is not None and overwrites is not None:
        raise InvalidArgumentError(
            f"out={out!r}, overwrites={overwrites!r}: a function leaves its answer in one place; "
            "give one of them"
        )
    chain: list[Step] = []
    if dtype is not None:
        chain.append(Rounded(dtype))
    if scale or answer is not None:
        chain.append(Scaled(task, scale or {}, answer))
    if truth is not None:
        chain.append(WithTruth(task, truth, truth_at))
    if not isinstance(labels, int) or labels:
        chain.append(Labelled(labels))
    if rows is not False:
        chain.append(Rows(task, () if rows is True else rows))
    if transpose:
        chain.append(Transposed(task, transpose))
    if torch:
        chain.append(Tensors(task, torch, device))
    module = sys._getframe(1).f_globals.get("__name__", "__main__")
    return Adapted(
        function,
        task,
        chain,
        order,
        rename or {},
        dict(constants or {}),
        out,
        overwrites,
        None if dtype is None else chain[0].dtype,  # type: ignore[attr-defined]
        module,
    )
