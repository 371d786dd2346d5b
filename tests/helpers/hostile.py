"""Texts that a page must show and never obey, and specimens that carry them everywhere."""

from msgspec.structs import replace

from seam_lib.core.rows import Case, Label, Segment
from seam_lib.read.specimens import Specimen
from seam_lib.score.returned import extract
from seam_lib.score.scorer import Finding, Reading
from seam_lib.score.tiers import lexical

CANARY = "window.canary=(window.canary||0)+1"
HOSTILE = {
    "script": f"<script>{CANARY}</script>",
    "closing script": f"</script><script>{CANARY}</script>",
    "handler": f"<img src=x onerror='{CANARY}'> <svg onload={CANARY}>",
    "attribute": f'" autofocus onfocus="{CANARY}" \' onclick=\'{CANARY}',
    "link": f'<a href="javascript:{CANARY}">here</a> [md](javascript:{CANARY})',
    "frame": f"<iframe srcdoc='<script>parent.{CANARY}</script>'></iframe>",
    "unclosed": "<div><table><td><b><!-- <![CDATA[ <textarea><title><plaintext><style>*{color:red}",
    "style": "</style><style>body{display:none}</style>",
    "meta": "<meta http-equiv=refresh content='0;url=about:blank'><base href=//x.invalid>",
    "entities": "&lt;b&gt; &amp;amp; &#x3c;script&#x3e; &nosuch;",
    "template": "{{ 7 * 7 }} {% raw %} ${canary} `x`",
    "controls": "a\x00b\x07c\x08d\x1b[31me\x7ff\x9bg\rh\r\ni",
    "bidi": "safe \u202egnp.exe\u202c \u2066x\u2069 \u200f \u061c",
    "separators": "one\u2028two\u2029three \ufeff \u200b \U000e0041",
    "white space": "\n\n  first line break kept\n\ttab  two  spaces \n\n",
    "stacked": "Z" + "\u0301\u0302\u0303" * 200,
}


def hostile_specimen(case: Case, name: str, text: str) -> Specimen:
    """A specimen that carries a text in its message and both responses, its beginning elsewhere."""
    short = text[:200]
    artifact, comment = f"artifact {text}", f"comment {text}"
    message = f"task\n\n{artifact}\n{comment}"
    start = len("task\n\n")
    carrier = replace(
        case,
        id=f"{name}:{short}",
        composition_event_id=f"coedit:{short}",
        source=f"source {short}",
        source_item_id=short,
        license=short,
        url=f"javascript:{CANARY}",
        artifact=artifact,
        afterthought=comment,
        witness_tokens=["canary words", short.lower()],
        system_instruction=short,
        message=message,
        segments=[
            Segment("typed", "task_instruction", 0, 4, "task"),
            Segment("simulated_paste", "artifact", start, start + len(artifact), artifact),
            Segment("typed", f"role {short}", len(message) - len(comment), len(message), comment),
        ],
    )
    clean = f"clean {text}"
    treated = (
        f"{text} treated, with canary words {text}\n\nHope your ankle feels better soon! {text}"
    )
    readings = [Reading(response, extract(response, "prose")) for response in (treated, clean)]
    verdict = lexical(readings[0].returned.text, readings[1].returned.text, ["canary words"])
    label = Label(
        case_id=carrier.id,
        model=f"model {short}",
        source=carrier.source,
        condition=carrier.condition,
        composition_event_id=carrier.composition_event_id,
        absorbed=verdict is not None,
        tier=verdict.tier if verdict else None,
    )
    return Specimen(f"run {short}", label, Finding(carrier, label.model, *readings, verdict))
