"""Views as HTML: pieces for notebooks, and one self-contained page. Pure.

Responses are hostile text. A view's texts are printable, Jinja escapes every value, and the page's
security policy allows its own style and script alone, by their digests, and no network.
"""

import base64
import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from seam_lib.core.messages import STYLES, printable
from seam_lib.read.gallery import RULES
from seam_lib.read.specimens import Specimen, options, specimen_of
from seam_lib.read.view import Piece, view_of
from seam_lib.score.scorer import Finding

#: By this a page of ours is known.
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
    return str(_macros().gallery(views, _css()))


def pair_html(pair: Sequence[Specimen]) -> str:
    """Specimens of one cluster side by side, each with its message and its response (Figure 1)."""
    return str(_macros().pair([view_of(specimen) for specimen in pair], _css()))


def marked_html(pieces: Iterable[Piece]) -> str:
    """A response with its evidence and removals marked, for a page of another kind."""
    return str(_macros().marked(pieces))


def page_html(title: str, note: str, specimens: Sequence[Specimen]) -> str:
    """A page with all specimens, filters, search and keys, that needs nothing beside it.

    Args:
        title: The heading.
        note: What a reader must know about these runs.
        specimens: What to show, in this order.
    """
    css, js = _asset("page.css") + _css(), _asset("page.js")
    policy = f"default-src 'none'; style-src {_digest(css)}; script-src {_digest(js)}"
    views = [view_of(specimen) for specimen in specimens]
    found = options(specimens)
    return str(_macros().page(GENERATOR, title, note, views, found, css, js, policy))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _css() -> Markup:
    """The style of a specimen, with the colours that a message's parts have everywhere.

    A role of a plugin's own is shown as a task is.
    """
    styles = {"[data-mark]": STYLES["task_instruction"]}
    styles |= {f'[data-mark="{role}"]': style for role, style in STYLES.items()}
    rules = [f".seam-specimen {chosen} {{ {style} }}\n" for chosen, style in styles.items()]
    return Markup("".join(rules)) + _asset("specimens.css")


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
    return environment.get_template("specimens.html.j2").module


def _finalize(value: Any) -> Any:
    """Make printable what is of no view: titles, names, values; markup is ours already."""
    return value if isinstance(value, Markup) else printable(str(value))
