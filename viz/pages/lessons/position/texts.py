"""The folded texts of the lesson on positions (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "[[self-attention|Self-attention]] compares words regardless of their order. So a [[vector]]"
    " that encodes the position is added to each word before the first layer: the [[positional"
    " encoding]]. The fixed kind has no parameters. Each pair of features is the sine and cosine of"
    " a clock hand; the first pair turns fast, every further one more slowly. Together they encode"
    " the position, as the hands of a clock show the time.",
)
WHERE = (
    "P_{i,2j} is what is added at position i to feature 2j, and d the [[width]] of a word. The"
    " pair j takes the features 2j and 2j + 1; its hand turns by 1 / 10000^{2j/d} from each"
    " position to the next."
)
ORDER_TEXT = (
    "The same words in another order, through one self-attention with random weights. Without"
    " positions every word gets the very same vector in both orders: “dog bites man” and “man bites"
    " dog” are the same bag of words. With positions the vectors move. The tables show three"
    " features of each word in the second order; “moved by” is the distance between its whole"
    " vectors in the two orders.",
)
SLIP_TEXT = (
    "The formula is often misprinted with 2j+1/d as the cosine's exponent, while the code uses 2j/d"
    " for both. Read as (2j+1)/d or as 2j + 1/d, sine and cosine of a pair have different"
    " frequencies. Then sin² + cos² is no longer 1, and the similarity of two positions depends on"
    " where they are, not on their distance alone: the grey band shows the smallest and the largest"
    " [[dot product]] at each distance. (Positions and width are those chosen above.)",
)
LEARNED_TEXT = (
    "[[MiniLM]] learned its positions: 512 vectors, initialised at random. Adjacent positions"
    " became similar, as in the fixed table, without being forced to; and so did positions about 6"
    " or 12 apart, the stripes beside the diagonal. Position 0 is different from all others: it"
    " always holds the same special [[token]]. But a learned table ends: there is no vector for"
    " position 512. The fixed one can be computed for any position.",
)
LEARNED_NOTE = (
    "The [[cosine similarity]] of every two of the first 64 positions: vectors of 384 numbers each."
)
TAKEAWAYS = (
    "Without positions and without a causal mask, attention is blind to order: permuting the words"
    " only permutes the vectors.",
    "Sine and cosine of one pair must share one frequency. Then the dot product of two positions"
    " depends on their distance alone.",
    "Fixed positions have no parameters and can be computed for any position, though a network"
    " learns only the lengths it is trained on; learned ones cost a vector each and end.",
)
TABLE_TRIES = (
    Try(
        "60 positions of 32 features.",
        "In feature 30, position 1 has 1.7783e-04 (0.00017783) and position 57 has 1.0136e-02.",
        {"at": 59, "pair": 15},
    ),
    Try(
        "4 features only.",
        "Two clock hands: one goes round about every 6 positions, the other hardly moves.",
        {"dim": 4, "length": 20, "at": 3, "pair": 1},
    ),
)
ORDER_TRIES = (
    Try(
        "“the dog saw the cat”, backwards.",
        "Without positions both “the” are the same to the last digit.",
        {"words": "the dog saw the cat", "order": "reverse"},
    ),
)
SLIP_TRIES = (
    Try(
        "The right exponent.",
        "sin² + cos² is 1, and the grey band is gone: only the distance matters.",
        {"slip": "right"},
    ),
    Try(
        "The exponent 2j + 1/d.",
        "Almost all cosines stay at 1, and half of the table carries no information.",
        {"slip": "literal", "pair": 3},
    ),
)
