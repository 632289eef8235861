"""A figure's SVG made part of a page: nothing that loads or runs, and colours that follow the page's."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup

from prasanga.errors import InputError, reason
from prasanga.report.figures.palette import VARIABLES

_ACTIVE = {"script", "foreignobject", "iframe", "image"}


def inline(svg: str, *, label: str) -> Markup:
    """The `<svg>` element for a page, named `label` for those who do not see it.

    Prolog, comments and metadata go; colours of the palette become variables of the page's style, with the colour
    itself as a fallback.

    Raises:
        InputError: what is given is not SVG, or holds a script or anything from outside.
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise InputError(f"the figure is not SVG ({reason(error)}). Draw it again.") from error
    for element in root.iter():
        name = element.tag.rpartition("}")[2].lower()
        runs = name in _ACTIVE or any(key.startswith("on") for key in element.attrib)
        loads = any(key.rpartition("}")[2] == "href" and value[:1] != "#" for key, value in element.attrib.items())
        if runs or loads:
            raise InputError(f"the figure holds <{name}> with something that runs or loads. Draw it again.")
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    _, start, body = body.partition("<svg")
    attributes, _, body = body.partition(">")
    box = re.search(r'viewBox="[\d. -]+"', attributes)
    if not start or box is None:
        raise InputError("the figure has no <svg> element with a viewBox. Draw it again.")
    for colour, variable in VARIABLES.items():
        body = re.sub(re.escape(colour), f"var({variable}, {colour})", body, flags=re.IGNORECASE)
    return Markup('<svg {} role="img" aria-label="{}">{}').format(Markup(box.group()), label, Markup(body.strip()))
