"""The selection of the attention views in a link, from its declaration in viz/selection.py.

Python reads it when a page is entered; from then on the view owns it and writes it. Defaults of
layer, head and token are each page's own.
"""

from viz.pages.state import params as link
from viz.selection import OF_VIEWS, Option
from viz.views import forms_of, kind_of

SITE = (  # beside layer and kind, whose defaults are each page's own
    link.text("tower", ""),
    link.text("module", ""),  # of several in one layer
    link.number("part", None, 0, 999),  # of a tower that runs several times
)
PLACE = ("layer", "attention", "head", "token", "direction", "scale")
SCALES = ("fixed", "own")  # of a text's picture
REPLACED = {  # values of older links, and what they open
    "form": {"vectors": "head", "qk": "head", "stages": "head"},
    "method": {"decompx": "alti", "added": "norms"},
    "sinks": {"renormalised": "hidden"},
    "proof": dict.fromkeys(("road", "grey", "drop"), "deletion"),
}


def param(option: Option) -> link.Param:
    """An option as a parameter of a link."""
    replaced = REPLACED.get(option.name, {})
    return link.Param(option.name, option.start, kind_of(option), replaced=replaced)


SINKS = param(OF_VIEWS["sinks"])
OVERLAY = tuple(param(each) for each in OF_VIEWS.values() if forms_of(each.name) == ("image",))
FORMS = tuple(
    param(each)
    for each in OF_VIEWS.values()
    if each.name not in PLACE and forms_of(each.name) != ("image",)
)
SELECTED = frozenset(PLACE) | {each.name for each in (*SITE, *FORMS, *OVERLAY)}
