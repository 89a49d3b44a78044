"""What a replay file says, as a document: what fails, by how much, in which term, and what is right.

Nothing here needs the solver: the answer stands in the file, and its certificate is computed again
from it, where the check is about one answer.
"""

from typing import Any

from verification import certificates, checks
from verification.failures import answers
from verification.failures.replay import Replay
from verification.failures.run_command import command
from verification.report.document import Block, Cell, Code, Document, Paragraph, number, table
from verification.report.run_report import settings_rows, terms_table
from verification.verdicts.verdict import Judgement, Terms, Verdict

#: Entries of an answer that are compared one by one.
ENTRIES = 40


def describe(terms: Terms) -> str:
    """The first term that exceeds its tolerance, in words; empty if none does."""
    for name, (value, tolerance) in terms.items():
        if tolerance is not None and not value <= tolerance:
            share = value / tolerance if tolerance > 0 else float("inf")
            times = f", {number(share)} times as much" if share < float("inf") else ""
            return f"{name} is {number(value, 3)}, allowed is {number(tolerance, 3)}{times}"
    return ""


def again(replay: Replay) -> dict[str, Judgement]:
    """Certificates of the stored answer, computed now; empty where a check is not about one answer."""
    instance, answer, _ = answers.asked(replay.instance, replay.rows, replay.returned)
    if answer is None or answer.x is None:
        return {}
    if instance.problem.kind == "models":
        from verification.verdicts import verify_model

        if not answer.parts:
            return {}
        return {"with the witness": answers.opinion(verify_model.judge, instance, answer)}
    right = replay.right
    whole = replay.returned.x if replay.returned is not None else None
    same_shape = right is None or _shape(whole) == _shape(right.x)
    if not same_shape:
        return {}
    found = {"by its gap": answers.opinion(certificates.certify, instance, answer)}
    by_truth = answers.opinion(certificates.judge, instance, answer)
    if by_truth != found["by its gap"]:
        found["against the solution"] = by_truth
    return found


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def document(replay: Replay) -> Document:
    """The explanation of a replay file."""
    instance = replay.instance
    check = checks.discover().get(replay.check)
    asks = str(check.__doc__ or "").partition("\n")[0] if check else "not a check of this version"
    facts = [
        ("problem", instance.problem.name),
        ("candidate", " ".join(replay.program) or replay.candidate),
        ("check", f"{replay.check}: {asks}"),
        ("family of instances", instance.family),
        ("found by", _found_by(replay)),
        *((name, cell.text) for name, cell in settings_rows(replay.settings)),
        ("versions", ", ".join(f"{n} {v}" for n, v in replay.environment.items())),
    ]
    blocks: list[Block] = [table("The failure", ("", ""), facts)]
    bad = Verdict(replay.verdict).is_bad
    blocks.append(Paragraph(f"{replay.verdict}: {replay.message}", "bad" if bad else ""))
    if said := describe(replay.terms):
        blocks.append(Paragraph(f"What fails: {said}.", "bad"))
    if replay.terms:
        blocks.append(terms_table("Certificate as it was found", replay.terms))
    else:
        blocks.append(Paragraph("No certificate: the message is the whole evidence.", "dim"))
    now = again(replay)
    if any(judgement.terms == replay.terms for judgement in now.values()):
        blocks.append(Paragraph("The same numbers come out of the answer in the file now.", "dim"))
    for how, judgement in now.items():
        if judgement.terms and judgement.terms == replay.terms:
            continue
        title = f"The answer in the file, certified again {how}: {judgement.verdict}"
        if judgement.terms:
            blocks.append(terms_table(title, judgement.terms))
        else:
            blocks.append(Paragraph(f"{title}. {judgement.message}", "dim"))
    about, _, which = answers.asked(instance, replay.rows, replay.returned)
    arguments = [(name, answers.short(value)) for name, value in about.params.items()]
    note = f"This is {which}; the code below has all of them." if which else ""
    blocks.append(table("The instance", ("argument", "value"), arguments, note=note))
    blocks += _answer_blocks(replay)
    if replay.code:
        blocks.append(Code("To paste", replay.code))
    data = {
        **replay.to_dict(),
        "exceeded": describe(replay.terms),
        "certified_again": {
            how: {"verdict": j.verdict.value, "message": j.message, "terms": dict(j.terms)}
            for how, j in now.items()
        },
        "returned_values": answers.readable(replay.returned),
        "right_values": answers.readable(replay.right),
    }
    title = f"{instance.problem}: {replay.verdict} in {replay.check}"
    return Document(title, tuple(blocks), None, data)


def _found_by(replay: Replay) -> str:
    if replay.seed is None:
        return "not recorded (schema 1)"
    return command(replay) or f"profile {replay.profile}, seed {replay.seed}"


def _answer_blocks(replay: Replay) -> list[Block]:
    rows: list[tuple[str | Cell, ...]] = [
        ("returned", answers.readable(replay.returned)),
        ("right", "not known" if replay.right is None else answers.readable(replay.right)),
    ]
    note = ""
    if replay.returned is not None and replay.right is not None:
        shapes = _shape(replay.returned.x), _shape(replay.right.x)
        if shapes[0] != shapes[1]:
            note = (
                f"Returned has shape {shapes[0]}; the right answer is that of "
                f"{'all rows' if replay.rows else 'the instance alone'}, of shape {shapes[1]}: "
                f"{'' if replay.rows else 'the check asks for more than one, or '}the shape is what "
                "is wrong."
            )
    blocks: list[Block] = [table("The answers", ("", ""), rows, note=note)]
    if entries := answers.differences(replay.returned, replay.right):
        shown = [
            (name, repr(got), repr(right), number(got - right, 3))
            for name, got, right in entries[:ENTRIES]
        ]
        more = len(entries) - len(shown)
        note = f"{more} more entries differ." if more > 0 else ""
        columns = ("entry", "returned", "right", "difference")
        blocks.append(table("Entries that differ", columns, shown, columns[1:], note))
    if replay.right_terms:
        blocks.append(terms_table("Certificate of the right answer", replay.right_terms))
    return blocks
