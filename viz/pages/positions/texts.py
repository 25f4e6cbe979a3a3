"""What each view of the Positions page shows, and what it does not prove."""

# by view, or by scheme and view for scheme-specific texts
SHOWS = {
    "table": "One row per position, one column per dimension: low dimensions are fast waves, high"
    " ones slow, like the hands of many clocks. The row is added to the token's vector.",
    ("learned", "table"): "One row per position, one column per dimension: learned numbers, added"
    " to the token's vector.",
    ("grid", "table"): "One row per patch, numbered row by row: the left half of the dimensions"
    " encodes the column, and repeats with every row of patches; the right half encodes the row.",
    ("rotary", "table"): "Cosines (left half) and sines (right half) of the angle by which each"
    " pair is rotated at each position. Nothing is added to the token: queries and keys are"
    " rotated.",
    "similar": "Cosine similarity of all pairs of positions: a bright diagonal that fades means"
    " that neighbours are similar.",
    "tiles": "Every tile is a map of the image: how similar its patch's position is to every other."
    " A blob at the patch's own position means that the table encodes two dimensions; stripes mean"
    " that it encodes only the index of the patch.",
    "distance": "Dot product of two positions by distance. Where the grey band shrinks to a line,"
    " only the distance matters.",
    ("rotary", "distance"): "Dot product of a query and a key with the same content, each rotated"
    " by its position: only the distance matters.",
    ("alibi", "distance"): "What each head adds to a score, by distance: a steep head is"
    " local, a flat one sees far.",
    ("relative", "distance"): "What each head adds to a score, by distance: one step per bucket;"
    " far distances share one.",
    "pairs": "Each pair of dimensions is a hand on a dial, rotated by the position, pair 0 fastest"
    " (below each: radians per step). Move query and key by the same number of steps: the angle"
    " between the two hands stays the same.",
    ("alibi", "bias"): "What each head adds to its scores: minus its slope times the distance."
    " Nothing is learned and nothing is added to the tokens.",
    ("relative", "bias"): "What each head adds to its scores: one number for each bucket of"
    " distances, the same along every diagonal. These numbers are random: untrained.",
    "buckets": "The bucket of each query and key: near distances have one each, far ones share"
    " increasingly wide ones; all distances from 128 on share the last.",
    "regrid": "An image of another size has another grid. Resampling stretches the trained table"
    " over it; computing a new table keeps the spacing of patches. Top: one dimension; bottom: the"
    " cosine with the central patch.",
    "alone": "If all tokens were equal, what would each scheme make them attend to? The softmax of"
    " the scores that position alone gives.",
}
PICKING = {
    "table": "Click a cell to follow its position and dimension.",
    "similar": "Click a row to follow its position.",
    "alone": "Click a row to follow its query.",
}
NOT_PROVED = {
    "table": "This table does not show how a head uses these numbers: its query and key matrices"
    " may read some dimensions and ignore the rest.",
    "similar": "Similarity is not attention: a head's own matrices stand between these vectors and"
    " its weights.",
    "tiles": "Similar positions need not attend to each other. Figure 7 of the ViT paper shows such"
    " tiles for learned positions; these come from a formula, a text model or a random table.",
    "distance": "These are the encodings themselves: in a model, content and learned matrices come"
    " in between, and can undo all of it.",
    ("alibi", "distance"): "Content can outweigh the bias: it is added to scores of any size.",
    ("relative", "distance"): "The buckets are T5's, their biases are random: a trained T5 has"
    " others.",
    "pairs": "It shows angles, not attention: how much a pair matters depends on how long its part"
    " of query and key is.",
    "bias": "Content can outweigh a bias: it is added to scores of any size.",
    "buckets": "It shows which distances share a bias, not the value of the bias.",
    "regrid": "It does not show which is better for a trained model; a learned table can only be"
    " resampled.",
    "alone": "No model does this: content and learned matrices matter too. Here the position"
    " vectors serve as queries and keys; rotary rotates a vector of ones; ALiBi and T5 (random,"
    " untrained) show the selected head.",
}


def shows(scheme: str, view: str) -> str:
    """The text above the figures."""
    return SHOWS.get((scheme, view)) or SHOWS[view]


def picking(view: str) -> str:
    """What a click on a figure of this view does; empty if nothing."""
    return PICKING.get(view, "")


def not_proved(scheme: str, view: str) -> str:
    """The text below the figures: what they do not prove."""
    return NOT_PROVED.get((scheme, view)) or NOT_PROVED[view]


def clipped(colours: float, largest: float) -> str:
    """A note that the colour range of a learned table is clipped."""
    return (
        f"The colour range ends at ±{colours:.2g} and covers 99 % of the numbers. The others, up to"
        f" ±{largest:.2g}, have the last colour."
    )
