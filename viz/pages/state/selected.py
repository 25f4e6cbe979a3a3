"""The selection of the attention views in a link: its names, values and defaults.

Python reads it when a page is entered; from then on the view owns it and writes it. Defaults of
layer, head and token are each page's own.
"""

from viz.pages.state import params as link

SITE = (  # beside layer and kind, whose defaults are each page's own
    link.text("tower", ""),
    link.text("module", ""),  # of several in one layer
    link.number("part", None, 0, 999),  # of a tower that runs several times
)
PLACE = ("layer", "attention", "head", "token", "direction", "scale")
SCALES = ("fixed", "own", "log")  # of a text's picture
METHODS = (
    *("mean", "max", "rollout", "flow", "alti", "decompx", "norms", "added"),
    *("gradient", "chefer", "attnlrp"),
)
SINKS = link.choice("sinks", "shown", ("shown", "hidden", "renormalised"))
FORMS = (  # of a text's picture, and what of it is drawn
    link.choice("form", "matrix", ("matrix", "lines", "text", "qk", "stages", "model")),
    link.numbers("shown", 999),
    link.choice("values", "weights", ("weights", "scores")),
    SINKS,
    link.number("partner", None, 0, 99_999),  # the other token of a pair
    link.numbers("layers", 999),
    link.choice("average", "no", ("no", "yes")),
    link.decimal("least", 0, 0, 1),
    link.number("top", 0, 0, 64),
    link.text("find", ""),
    link.span("rows"),
    link.span("columns"),
    link.choice("block", "all", ("all", "aa", "ab", "ba", "bb")),
    link.choice("method", "rollout", METHODS),  # of all layers together
    link.choice("beside", "", ("", *METHODS)),
    link.text("output", ""),
    link.choice("tested", "no", ("no", "yes")),  # whether the faithfulness of a relevance
    link.choice("fusion", "mean", ("mean", "max", "min")),  # of rollout and flow
    link.decimal("discard", 0, 0, 0.95),  # of rollout
    link.choice("beside_fusion", "", ("", "mean", "max", "min")),  # "": as the first method
    link.decimal("beside_discard", None, 0, 0.95),
    link.choice("overview", "atlas", ("atlas", "scatter", "table")),  # of every head
    link.text("plot", ""),
    link.text("rank", ""),
    link.choice("arrangement", "layers", ("layers", "rank")),
    link.text("conditions", ""),
)
OVERLAY = (  # of weights over a picture
    link.choice("ground", "colour", ("colour", "grey")),
    link.choice("paint", "patches", ("patches", "smooth", "mask")),
    link.number("opacity", 100, 10, 100),
    link.choice("outliers", "no", ("no", "yes")),  # whether patches count as sinks too
)
SELECTED = frozenset(PLACE) | {param.name for param in (*SITE, *FORMS, *OVERLAY)}
