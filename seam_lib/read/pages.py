"""What our pages are made with: templates that escape, a policy that lets nothing else in.

Texts are hostile. Jinja escapes every value, `printable` shows characters that would act instead of
being seen, and the page's security policy allows its own style and script alone, by their digests,
and no network.
"""

import base64
import hashlib
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from seam_lib.core import palette
from seam_lib.core.messages import STYLES, printable


def environment() -> jinja2.Environment:
    """Templates of this room, in which every value is escaped and printable."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("seam_lib.read"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Markup) else printable(str(value))


def asset(name: str) -> Markup:
    """A file of ours from the templates folder: the only text that goes in as it is."""
    path = resources.files("seam_lib.read").joinpath("templates", name)
    return Markup(path.read_text(encoding="utf-8"))


def style(name: str) -> Markup:
    """A style sheet of ours, with the colours that it names after the palette."""
    sheet = jinja2.Template(
        asset(name), keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    return Markup(sheet.render(vars(palette)))


def specimen_css() -> Markup:
    """The style of a specimen, with the colours that a message's parts have everywhere.

    A role of a plugin's own is shown as a task is.
    """
    styles = {"[data-mark]": STYLES["task_instruction"]}
    styles |= {f'[data-mark="{role}"]': style for role, style in STYLES.items()}
    rules = [f".seam-specimen {chosen} {{ {style} }}\n" for chosen, style in styles.items()]
    return Markup("".join(rules)) + style("specimens.css")


def policy(css: str, js: str) -> str:
    """A Content-Security-Policy under which only this style and this script are used."""
    return f"default-src 'none'; style-src {_digest(css)}; script-src {_digest(js)}"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
