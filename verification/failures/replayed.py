"""Documents of a failure that was run again, or made smaller."""

from typing import Any

from verification.failures import answers
from verification.failures.replay import Replay
from verification.failures.shrink import complexity
from verification.report.document import Block, Cell, Code, Document, Paragraph, table
from verification.report.run_report import terms_table
from verification.verdicts.verdict import Result, Verdict


def document(stored: Replay, result: Result) -> Document:
    """A stored failure beside what the same call does now; positive only if it passes."""
    then, now = Verdict(stored.verdict), result.verdict
    rows = [
        ("then", Cell(then.value, "bad" if then.is_bad else ""), stored.message),
        ("now", Cell(now.value, "good" if now is Verdict.PASS else "bad"), result.message),
    ]
    blocks: list[Block] = [table("", ("", "verdict", "message"), rows)]
    same = None
    if stored.returned is not None and result.answer is not None:
        same = answers.equal(stored.returned, result.answer)
        bits = "the same bits as then" if same else f"then {answers.readable(stored.returned)}"
        blocks.append(Paragraph(f"Returned {answers.readable(result.answer)}: {bits}.", "dim"))
    if result.terms:
        blocks.append(terms_table("Certificate now", result.terms))
    if stored.right is not None:
        blocks.append(Paragraph(f"Right: {answers.readable(stored.right)}."))
    if stored.code:
        blocks.append(Code("The failure as it was found", stored.code))
    data = {
        "problem": stored.instance.problem.name,
        "check": stored.check,
        "then": {"verdict": then.value, "message": stored.message},
        "now": result.to_dict(),
        "same_bits": same,
    }
    return Document(
        f"{stored.instance.problem}: {stored.check} run again",
        tuple(blocks),
        now is Verdict.PASS,
        data,
        good="passes now",
        bad="still fails" if now.is_bad else f"not judged now: {now}",
    )


def shrunk_document(before: Replay, after: Replay) -> Document:
    """Sizes before and after, and the smaller failure as code."""
    counts = [n for n in before.instance.problem.counts if before.instance.get(n) is not None]
    sizes = [
        (
            name,
            str(_entries(replay)),
            *(answers.short(replay.instance[n]) for n in counts),
            replay.message,
        )
        for name, replay in (("before", before), ("after", after))
    ]
    columns = ("", "numbers in arrays", *counts, "message")
    smaller = complexity(after.instance) < complexity(before.instance)
    text = "A smaller counterexample was found." if smaller else "None smaller was found."
    blocks: list[Block] = [
        table("", columns, sizes, ["numbers in arrays"]),
        Paragraph(text, "" if smaller else "dim"),
        Code("Smallest counterexample found", after.code),
    ]
    data: dict[str, Any] = {
        "smaller": smaller,
        "before": before.to_dict(),
        "after": after.to_dict(),
    }
    done = "made smaller" if smaller else "not made smaller"
    return Document(f"{after.instance.problem}: {after.check} {done}", tuple(blocks), None, data)


def _entries(replay: Replay) -> int:
    return sum(v.size for v in replay.instance.params.values() if hasattr(v, "size"))
