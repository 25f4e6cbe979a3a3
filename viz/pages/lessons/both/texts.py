"""The folded texts of the lesson on encoder and decoder together (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "The [[encoder]] reads the whole source at once. The [[decoder]] writes the target, and each of"
    " its blocks has an additional layer: [[cross-attention]]. Its [[query|queries]] come from the"
    " target, its [[key|keys]] and [[value|values]] from the encoder's output. So there are three"
    " kinds of [[attention]]: the source on itself, the target on what has been written so far, and"
    " the target on the source.",
)
ALIGNED_TEXT = (
    "This network was trained to write any date as year-month-day. The cross-attention shows the"
    " [[alignment]]: while the year is written it looks at the year, wherever that stands. Each"
    " row predicts the token *after* it, so the row of “<begin>” finds the first digit. The next"
    " row need not look: all years here lie between 1950 and 2049, so a 9 follows the 1, and a 0"
    " the 2. Try other heads: not every one does the same work.",
)
SHARING_TEXT = (
    "Three matrices are of size vocabulary × width: the source's [[embedding]], the target's, and"
    " the one that computes [[logits]]. With [[weight sharing]] they are one, which needs one"
    " vocabulary for both languages. But an embedding should have numbers near 1, or the added"
    " [[positional encoding|positions]] dominate it; and a matrix that computes logits should have"
    " small ones, or the logits are far too large. So either the embedding is"
    " multiplied by √d (`emb`), or the logits are divided by √d (`prj`), or nothing is done"
    " (`none`). Scaling applies only if the output shares the target's embedding.",
    "The table measures an untrained network. Its matrix is initialised with small numbers, as"
    " logits require. So `emb` fits: the embedding becomes as large as the positions. With `prj`"
    " and `none` the positions dominate, and `prj` makes small logits smaller still: it is meant"
    " for a matrix initialised with numbers near 1.",
)
TAKEAWAYS = (
    "In cross-attention the pattern has a row for every target token and a column for every source"
    " token.",
    "The encoder runs once; the decoder runs once per written token and attends to the encoder's"
    " output each time.",
    "Sharing replaces three matrices by one. `emb` and `prj` keep it from being too small for one"
    " use or too large for the other.",
)
TRIES = (
    Try(
        "The year comes last, and is written first.",
        "“March the third, '98”: the first rows look at the end of the source.",
        {"date": "March the third, '98"},
    ),
    Try(
        "Another form of the same date.",
        "“1998-3-3”: now the first rows look at the beginning.",
        {"date": "1998-3-3"},
    ),
    Try(
        "Nothing shared.",
        "Three matrices: more parameters. All three rows are equal: emb and prj do nothing.",
        {"target": "no", "source": "no"},
    ),
    Try(
        "Two vocabularies of different size, shared.",
        "Not possible: an error explains why.",
        {"words": 300},
    ),
)
