"""What each view of the Positions page shows, and what it does not prove."""

# by view, or by scheme and view where the scheme needs words of its own
SHOWS = {
    "table": "One row per position, one column per dimension: low dimensions are fast waves, high"
    " ones slow, like the hands of many clocks. The row is added to the token's vector.",
    ("learned", "table"): "One row per position, one column per dimension: numbers that training"
    " found, added to the token's vector.",
    ("grid", "table"): "One row per patch, numbered row by row: the left half of the dimensions"
    " tells the column, and repeats with every row of patches; the right half tells the row.",
    ("rotary", "table"): "Cosines (left half) and sines (right half) of the angle by which each"
    " pair is turned at each position. Nothing is added to the token: queries and keys are turned.",
    "similar": "Cosine of every two positions: a bright diagonal that fades means that neighbours"
    " look alike.",
    "tiles": "Every tile is a map of the image: how alike its patch's position is to every other."
    " A blob at the patch's own place means that the table knows two dimensions; stripes mean that"
    " it knows only the number of the patch.",
    "distance": "Dot product of two positions against how far apart they are. Where the grey band"
    " is a line, only the distance counts.",
    ("rotary", "distance"): "Dot product of a query and a key with the same content, each turned"
    " by its position: only the distance counts.",
    ("alibi", "distance"): "What each head adds to a score, by distance: a steep head is"
    " short-sighted, a flat one sees far.",
    ("relative", "distance"): "What each head adds to a score, by distance: one step per bucket;"
    " far distances share one.",
    "pairs": "Each pair of dimensions is a hand on a dial: the position turns it, pair 0 fastest"
    " (below each: radians a step). Move query and key by the same number of steps: the angle"
    " between the two hands stays.",
    ("alibi", "bias"): "What each head adds to its scores: minus its slope times the distance."
    " Nothing is learned and nothing is added to the tokens.",
    ("relative", "bias"): "What each head adds to its scores: one number for each bucket of"
    " distances, the same along every diagonal. These numbers are random: untrained.",
    "buckets": "Which learned number a query and a key share: near distances have one each, far"
    " ones share, ever more of them; from 128 on there is one for all.",
    "regrid": "An image of another size has another grid. Resampling stretches the trained table"
    " over it; making the table anew goes on counting patches. Above one dimension, below the"
    " cosine with the patch in the middle.",
    "alone": "If all tokens were the same, what would each scheme make them attend to? Softmax of"
    " what position alone gives to the scores.",
}
NOT_PROVED = {
    "table": "It does not show what a head makes of these numbers: its query and key matrices may"
    " read some dimensions and ignore the rest.",
    "similar": "Alike is not attended to: a head's own matrices stand between these vectors and"
    " its weights.",
    "tiles": "That two patches look alike does not say that they attend to each other. Figure 7 of"
    " the ViT paper shows such tiles for learned positions; these schemes come from a formula, a"
    " text model or chance.",
    "distance": "These are the encodings themselves: in a model, content and learned matrices come"
    " in between, and can undo all of it.",
    ("alibi", "distance"): "Content can outweigh the bias: it is added to scores of any size.",
    ("relative", "distance"): "The shape of the steps is T5's, their heights are drawn by the seed:"
    " a trained T5 has others.",
    "pairs": "It shows angles, not attention: how much a pair matters depends on how long its part"
    " of query and key is.",
    "bias": "Content can outweigh a bias: it is added to scores of any size.",
    "buckets": "It shows which distances cannot be told apart by the bias, not what it says.",
    "regrid": "Which is better for a trained model is not shown: a table that was learned cannot be"
    " made anew, only resampled.",
    "alone": "No model does this: content takes part, and learned matrices stand in between. Here"
    " the added vectors are query and key themselves; rotary turns a vector of ones; ALiBi and T5"
    " (random, untrained) show the chosen head.",
}


def shows(scheme: str, view: str) -> str:
    """The sentence above the figures."""
    return SHOWS.get((scheme, view)) or SHOWS[view]


def not_proved(scheme: str, view: str) -> str:
    """The sentence below them."""
    return NOT_PROVED.get((scheme, view)) or NOT_PROVED[view]


def clipped(colours: float, largest: float) -> str:
    """That the colours of a learned table end before its numbers do."""
    return (
        f"The colours end at ±{colours:.2g}: 99 % of the numbers lie within. The others, up to"
        f" ±{largest:.2g}, are drawn in the last colour."
    )
