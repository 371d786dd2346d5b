"""Specimens as HTML: pieces for notebooks, and one self-contained page. Pure.

Responses are hostile text. Jinja escapes every value, `printable` shows characters that would act
instead of being seen, and the page's security policy allows its own style and script alone, by
their digests, and no network.
"""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from seam_lib.core.messages import LEGEND, printable, stretches
from seam_lib.core.rows import Case
from seam_lib.read.gallery import RULES, Kind, kind_of
from seam_lib.read.specimens import Mark, Specimen, compared, facets, options

#: By this a page of ours is known.
GENERATOR = "seam specimens export"


class View(NamedTuple):
    """A specimen as the template sees it: everything worked out, nothing but text."""

    id: str
    run: str
    model: str
    case: Case
    absorbed: str
    tier: str
    kind: str
    message: list[tuple[str, str]]
    clean: list[Mark]
    treated: list[Mark]
    steps: str
    evidence_unknown: bool
    link: str
    facets: dict[str, str]

    @property
    def roles(self) -> list[str]:
        """The roles of the message's stretches, each once; tags and line breaks have none."""
        return list(dict.fromkeys(role for role, _ in self.message))


def view_of(specimen: Specimen) -> View:
    """Work out what the template shows of a specimen."""
    case = specimen.case
    clean, treated = compared(specimen)
    removals = specimen.finding.treated.returned.removals
    url = case.url or ""
    return View(
        id=f"{specimen.run}/{specimen.label.model}/{case.id}",
        run=specimen.run,
        model=specimen.label.model,
        case=case,
        absorbed=_shown(specimen.label.absorbed),
        tier=specimen.tier,
        kind=kind_of(specimen) or "",
        message=[(role, text) for role, text in stretches(case) if text],
        clean=clean,
        treated=treated,
        steps=", ".join(dict.fromkeys(removal.step for removal in removals)),
        evidence_unknown=specimen.label.absorbed and not specimen.evidence,
        link=url if url.startswith("https://") else "",
        facets={name: _shown(value) for name, value in facets(specimen).items()},
    )


def _shown(value: str | bool) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"


def specimen_html(specimen: Specimen) -> str:
    """One specimen: message, both responses, evidence, removals, verdict."""
    return str(_macros().specimen(view_of(specimen), _asset("specimens.css")))


def pair_html(pair: Sequence[Specimen]) -> str:
    """Specimens of one cluster side by side, each with its message and its response (Figure 1)."""
    return str(_macros().pair([view_of(s) for s in pair], _asset("specimens.css")))


def gallery_html(shown: Mapping[Kind, Sequence[Specimen]]) -> str:
    """The first specimen of each kind with its rule; a kind without any says so (Appendix E)."""
    kinds = [
        (kind, RULES[kind], len(found), view_of(found[0]) if found else None)
        for kind, found in shown.items()
    ]
    return str(_macros().gallery(kinds, _asset("specimens.css")))


def page_html(title: str, note: str, specimens: Sequence[Specimen]) -> str:
    """A page with all specimens, filters, search and keys, that needs nothing beside it.

    Args:
        title: The heading.
        note: What a reader must know about these runs.
        specimens: What to show, in this order.
    """
    css = _asset("page.css") + _asset("specimens.css")
    js = _asset("page.js")
    views = [view_of(specimen) for specimen in specimens]
    policy, filters = _policy(css, js), _filters(specimens)
    return str(_macros().page(GENERATOR, title, note, views, filters, css, js, policy))


def _filters(specimens: Sequence[Specimen]) -> list[tuple[str, list[str]]]:
    """The filters that tell these specimens apart, with their values."""
    found = options(specimens).items()
    return [(name, list(map(_shown, values))) for name, values in found if len(values) > 1]


def _policy(css: str, js: str) -> str:
    """A Content-Security-Policy under which only this style and this script are used."""
    return f"default-src 'none'; style-src {_digest(css)}; script-src {_digest(js)}"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> Markup:
    """A file of ours from the templates folder: the only text that goes in as it is."""
    path = resources.files("seam_lib.read").joinpath("templates", name)
    return Markup(path.read_text(encoding="utf-8"))


@functools.cache
def _macros() -> Any:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("seam_lib.read"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.globals["legend_of"] = LEGEND
    return environment.get_template("specimens.html.j2").module


def _finalize(value: Any) -> Any:
    """Make every value of the template printable; markup is ours already."""
    return value if isinstance(value, Markup) else printable(str(value))
