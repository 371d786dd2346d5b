"""Outputs in, labels out: join responses with their cases and clean counterparts, and judge them.

What is scored (paper, Section 4): a usable treated response whose clean counterpart is usable. The
labels go to a JSON Lines file in the release's format, and a file beside it, NAME.meta.json, says
which rules, which semantic tier and which inputs made them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from seam_lib.core.answers import Flaw, delivered, flaw, usable, words
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, sha256, write_json, write_rows
from seam_lib.core.rows import TIERS, Case, Label, Output, in_order
from seam_lib.score.returned import Returned, extract
from seam_lib.score.tiers import (
    LEXICAL_TIERS,
    Entailment,
    Question,
    Verdict,
    find_witness,
    lexical,
    semantic,
)

#: The scorer version of the paper whose rules these are.
RULES = "2.4.3"
#: Said wherever rates are shown that were scored without the semantic tier.
LEXICAL_ONLY = (
    "Semantic tier off: only the two lexical tiers were run, so a comment that is paraphrased "
    "without its witness words counts as not absorbed."
)


class Reading(NamedTuple):
    """A response and the artifact found in it."""

    response: str
    returned: Returned

    @property
    def removed(self) -> list[tuple[str, str]]:
        """Each stretch that extraction removed, behind the name of the step that did."""
        return [(step, self.response[start:end]) for step, start, end in self.returned.removals]


class Finding(NamedTuple):
    """All that a label rests on."""

    case: Case
    model: str
    treated: Reading
    clean: Reading
    verdict: Verdict | None


class Drop(msgspec.Struct, frozen=True, omit_defaults=True):
    """A treated response that gets no label, and why.

    Attributes:
        case_id: The treated case.
        model: Who answered it.
        condition: The case's condition.
        side: Which response of the pair cannot be scored; the treated one, if neither can.
        flaw: What is wrong with that response.
        finish_reason: The server's word for its end, if it gave one.
    """

    case_id: str
    model: str
    condition: str
    side: Literal["treated", "clean"]
    flaw: Flaw
    finish_reason: str | None = None

    def __str__(self) -> str:
        return f"{self.side} response unusable: {words(self.flaw, self.finish_reason)}"


class _Unusable(NamedTuple):
    """What is wrong with a response, and the server's word for its end."""

    flaw: Flaw
    finish_reason: str | None = None


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What made a file of labels; stored beside it.

    Attributes:
        rules: The version of the scoring rules.
        nli: The entailment model, its revision and its libraries, or "off".
        inputs: SHA-256 of each input file, by path.
        planned: Treated cases by condition, times models.
        labelled: Labels by condition.
        dropped: Treated responses without a label.
    """

    rules: str
    nli: str
    inputs: dict[str, str]
    planned: dict[str, int]
    labelled: dict[str, int]
    dropped: list[Drop]


def score(
    cases: Sequence[Case], outputs: Iterable[Output], engine: Entailment | None = None
) -> tuple[list[Finding], list[Drop]]:
    """Judge every treated response that can be scored.

    Args:
        cases: The benchmark.
        outputs: Answers of one model or several, in any order but for this: where a case has more
            than one row, the last one counts.
        engine: The semantic tier; None leaves it out.

    Returns:
        Findings and drops, each sorted by model and case id.

    Raises:
        SeamError: An output answers a case that the benchmark does not hold.
    """
    by_id = {case.id: case for case in cases}
    clean_of = {c.composition_event_id: c.id for c in cases if c.condition == "clean"}
    readings, unusable = _read(by_id, outputs)
    findings: list[Finding] = []
    drops: list[Drop] = []
    for model, case_id in sorted([*readings, *unusable]):
        case = by_id[case_id]
        if case.condition == "clean":
            continue
        key, clean_key = (model, case_id), (model, clean_of.get(case.composition_event_id, ""))
        treated, clean = readings.get(key), readings.get(clean_key)
        if treated and clean:
            findings.append(Finding(case, model, treated, clean, _lexical(case, treated, clean)))
        elif key in unusable:
            drops.append(Drop(case_id, model, case.condition, "treated", *unusable[key]))
        else:
            why = unusable.get(clean_key, _Unusable("missing"))
            drops.append(Drop(case_id, model, case.condition, "clean", *why))
    return (_ask(findings, engine) if engine else findings), drops


def _read(
    cases: dict[str, Case], outputs: Iterable[Output]
) -> tuple[dict[tuple[str, str], Reading], dict[tuple[str, str], _Unusable]]:
    """Take the latest row of each model and case; extract the artifacts of the usable ones."""
    latest = {(output.model, output.case_id): output for output in outputs}
    readings: dict[tuple[str, str], Reading] = {}
    unusable: dict[tuple[str, str], _Unusable] = {}
    for key, output in latest.items():
        if output.case_id not in cases:
            raise SeamError(
                f"The output of {output.model} for case {output.case_id!r} has no case in the "
                "benchmark. Give the cases that the model was run on."
            )
        found = flaw(output)
        if found:
            unusable[key] = _Unusable(found, output.finish_reason)
        else:
            response = delivered(output)
            readings[key] = Reading(response, extract(response, cases[output.case_id].genre))
    return readings, unusable


def _lexical(case: Case, treated: Reading, clean: Reading) -> Verdict | None:
    return lexical(treated.returned.text, clean.returned.text, case.witness_tokens or [])


def judge(
    case: Case, response: str, clean_response: str, engine: Entailment | None = None
) -> Finding:
    """Judge one answer, as `score` judges all of them.

    Args:
        case: A case with a comment.
        response: The answer to it.
        clean_response: The answer to the same message without the comment.
        engine: The semantic tier; None leaves it out.
    """
    treated, clean = (
        Reading(text, extract(text, case.genre)) for text in (response, clean_response)
    )
    finding = Finding(case, "", treated, clean, _lexical(case, treated, clean))
    return _ask([finding], engine)[0] if engine else finding


def pick_answer(
    cases: Sequence[Case], outputs: Iterable[Output], case_id: str | None = None
) -> tuple[Case, str, str]:
    """One case with its answer and the clean answer, to be judged step by step.

    Args:
        cases: The benchmark.
        outputs: A model's answers.
        case_id: Which case; by default the shortest message whose answer has something to show at
            each step, or else the shortest of all.

    Raises:
        SeamError: No such case has a usable answer beside a usable clean one.
    """
    answered = {output.case_id: delivered(output) for output in outputs if usable(output)}
    clean_of = {c.composition_event_id: c.id for c in cases if c.condition == "clean"}
    pairs = [
        (case, answered[case.id], answered[clean_of[case.composition_event_id]])
        for case in sorted(cases, key=lambda case: len(case.message))
        if case.afterthought is not None
        and case_id in (None, case.id)
        and case.id in answered
        and clean_of.get(case.composition_event_id) in answered
    ]
    if not pairs:
        raise SeamError(
            f"{case_id or 'no case with a comment'}: has no usable answer beside a usable clean "
            "one. Case ids stand in the benchmark's field `id`; `seam health RUN` tells what came "
            "back."
        )
    return next((pair for pair in pairs if _shows_both(*pair[:2])), pairs[0])


def _shows_both(case: Case, response: str) -> bool:
    """Whether extraction removes a part of an answer, and a witness stands in what is left."""
    text = extract(response, case.genre).text
    return text != response and bool(find_witness(text, case.witness_tokens or []))


def _ask(findings: list[Finding], engine: Entailment) -> list[Finding]:
    """Put what the lexical tiers left open to the semantic tier; code is never asked."""
    is_open = [j.verdict is None and j.case.genre != "code" for j in findings]
    questions = [
        Question(j.treated.returned.text, j.clean.returned.text, j.case.forbidden_proposition)
        for j, ask in zip(findings, is_open, strict=True)
        if ask
    ]
    answers = iter(semantic(questions, engine))
    return [
        j._replace(verdict=next(answers)) if ask else j
        for j, ask in zip(findings, is_open, strict=True)
    ]


def to_label(finding: Finding) -> Label:
    """The finding's row in the release's format."""
    case = finding.case
    return Label(
        case_id=case.id,
        model=finding.model,
        source=case.source,
        condition=case.condition,
        composition_event_id=case.composition_event_id,
        absorbed=finding.verdict is not None,
        tier=finding.verdict.tier if finding.verdict else None,
    )


def read_and_score(
    cases_path: Path, outputs_path: Path, engine: Entailment | None, only: str | None = None
) -> tuple[list[Finding], list[Drop]]:
    """Judge a file of outputs and write nothing.

    Args:
        cases_path: The benchmark, a folder or a file.
        outputs_path: JSON Lines of `rows.Output`; the release's files of outputs are such.
        engine: The semantic tier, or None.
        only: A treated case, to judge that one alone.

    Raises:
        SeamError: An input is missing or malformed, or cases and outputs do not belong together.
    """
    cases = read_benchmark(cases_path)
    outputs = read_rows(outputs_path, Output)
    if only is None:
        return score(cases, outputs, engine)
    cluster = {case.id: case.composition_event_id for case in cases}.get(only)
    if cluster is None:
        raise SeamError(f"{only}: no such case in {cases_path}. Case ids stand in its field `id`.")
    pair = [
        case
        for case in cases
        if case.composition_event_id == cluster and (case.id == only or case.condition == "clean")
    ]
    ids = {case.id for case in pair}
    return score(pair, (output for output in outputs if output.case_id in ids), engine)


def score_files(
    root: Path, cases_path: Path, outputs_path: Path, labels_path: Path, engine: Entailment | None
) -> tuple[list[Finding], Provenance]:
    """Score a file of outputs: write the labels and, beside them, what made them.

    Args:
        root: The folder to which the provenance's paths are relative, where they lie in it.
        cases_path: As in `read_and_score`.
        outputs_path: As in `read_and_score`.
        labels_path: Where the labels go, one JSON row a line, sorted by model and case id.
        engine: The semantic tier, or None.

    Returns:
        What each label rests on, and what made the file.

    Raises:
        SeamError: As in `read_and_score`; or there is nothing to score.
    """
    cases = read_benchmark(cases_path)
    findings, drops = score(cases, read_rows(outputs_path, Output), engine)
    if not findings and not drops:
        raise SeamError(f"{outputs_path}: holds no answer to a case with a comment. Run it first.")
    models = {finding.model for finding in findings} | {drop.model for drop in drops}
    inputs = [*cases_path.glob("*.jsonl")] if cases_path.is_dir() else [cases_path]
    provenance = Provenance(
        rules=RULES,
        nli=str(engine) if engine else "off",
        inputs={_relative(path, root): sha256(path) for path in [*inputs, outputs_path]},
        planned=_count((c.condition for c in cases if c.condition != "clean"), len(models)),
        labelled=_count(finding.case.condition for finding in findings),
        dropped=drops,
    )
    write_rows(labels_path, map(to_label, findings))
    write_json(provenance_path(labels_path), msgspec.to_builtins(provenance))
    return findings, provenance


def notice(made: Provenance) -> str:
    """What to say beside rates about the semantic tier of their labels."""
    return LEXICAL_ONLY if made.nli == "off" else f"Semantic tier: {made.nli}."


def tiers_run(made: Provenance) -> tuple[str, ...]:
    """The tiers that took part."""
    return tuple(LEXICAL_TIERS) if made.nli == "off" else TIERS


def coverage(made: Provenance) -> list[dict[str, str | int]]:
    """What became of the planned cases.

    Returns:
        One row a condition: condition, planned, labelled, treated unusable, clean unusable (or
        missing), unanswered.
    """
    rows: list[dict[str, str | int]] = []
    for condition in in_order(made.planned):
        planned = made.planned[condition]
        sides = Counter(drop.side for drop in made.dropped if drop.condition == condition)
        labelled = made.labelled.get(condition, 0)
        rows.append(
            {
                "condition": condition,
                "planned": planned,
                "labelled": labelled,
                "treated unusable": sides["treated"],
                "clean unusable": sides["clean"],
                "unanswered": planned - labelled - sides.total(),
            }
        )
    return rows


def provenance_path(labels_path: Path) -> Path:
    """Where the provenance of a file of labels lies."""
    return labels_path.with_suffix(".meta.json")


def read_provenance(labels_path: Path) -> Provenance:
    """Read what made a file of labels.

    Raises:
        SeamError: It is missing or malformed.
    """
    path = provenance_path(labels_path)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Provenance)
    except (OSError, msgspec.DecodeError) as error:
        raise SeamError(f"{path}: cannot be read: {error}. Score the run again.") from None


def _relative(path: Path, root: Path) -> str:
    path = path.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _count(conditions: Iterable[str], times: int = 1) -> dict[str, int]:
    return {name: count * times for name, count in Counter(conditions).items()}
