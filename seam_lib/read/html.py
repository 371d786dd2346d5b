"""Views as HTML: pieces for notebooks, and one self-contained page. Pure.

Responses are hostile text. A view's texts are printable, Jinja escapes every value, and the page's
security policy allows its own style and script alone, by their digests, and no network.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from seam_lib.read.gallery import RULES
from seam_lib.read.pages import asset, environment, policy, specimen_css, style
from seam_lib.read.specimens import Specimen, options, specimen_of
from seam_lib.read.view import view_of
from seam_lib.score.scorer import Finding

#: Marks a page as one that we wrote, so that it may be replaced.
GENERATOR = "seam specimens export"


def specimen_html(specimen: Specimen) -> str:
    """One specimen: message, both responses, evidence, removals, verdict."""
    return gallery_html({"": [specimen]})


def card(finding: Finding) -> str:
    """A finding that no file of labels holds yet, shown as every specimen is."""
    return specimen_html(specimen_of(finding))


def gallery_html(shown: Mapping[str, Sequence[Specimen]]) -> str:
    """The first specimen of each kind, with the kind's rule if it is one of Appendix E's.

    A kind that has none says so; one without a name has no heading.
    """
    views = [
        (kind, f"{RULES.get(kind, '')} (n = {len(found)})".strip(), [view_of(s) for s in found[:1]])
        for kind, found in shown.items()
    ]
    return str(_macros().gallery(views, specimen_css()))


def pair_html(pair: Sequence[Specimen]) -> str:
    """Specimens of one cluster side by side, each with its message and its response (Figure 1)."""
    return str(_macros().pair([view_of(specimen) for specimen in pair], specimen_css()))


def page_html(title: str, note: str, specimens: Sequence[Specimen]) -> str:
    """A page with all specimens, filters, search and keys, that needs nothing beside it.

    Args:
        title: The heading.
        note: What a reader must know about these runs.
        specimens: What to show, in this order.
    """
    css, js = style("page.css") + specimen_css(), asset("page.js")
    views = [view_of(specimen) for specimen in specimens]
    found = options(specimens)
    return str(_macros().page(GENERATOR, title, note, views, found, css, js, policy(css, js)))


@functools.cache
def _macros() -> Any:
    return environment().get_template("specimens.html.j2").module
