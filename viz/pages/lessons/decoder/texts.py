"""The folded texts of the lesson on decoders (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "The [[decoder]] writes a text, one [[token]] at a time. It learns this from whole texts, at"
    " all positions in parallel: each predicts the next token. So no position may look at later"
    " ones, or it would copy the answer. A [[causal mask]] prevents that: before the [[softmax]],"
    " the [[score|scores]] of all later tokens are set to −∞, whose exponential is 0. The same is"
    " done for [[padding]], which only makes all texts of a [[batch]] equally long.",
)
HEAD_TEXT = (
    "One [[head]] over a few words. Each word has a random vector, and the three matrices for Q, K"
    " and V are random too: what matters is how one table leads to the next. The marked row is the"
    " token you follow; below, its numbers are written out. A hatched cell is hidden.",
)
FILL_TEXT = (
    "Why −∞ and not just a very large negative number? As long as a [[query]] sees some [[key]],"
    " both give 0. But they differ for a query that sees none, as in a row of padding. With −1e9"
    " all its scores are equal, and the softmax, which depends on differences only, spreads the"
    " weight evenly over all the keys that should be hidden. With −∞ a plain softmax gives 0/0,"
    " not a number (NaN); the attention here gives such a row weights of 0. In float16"
    " ([[half precision]]) −1e9 is too large to be represented: it becomes −∞ by [[overflow]].",
)
WRITE_TEXT = (
    "In use there is no answer to copy. The network reads the text, its last position gives a"
    " probability for every token, the most likely one is appended, and the network runs again,"
    " until it writes the [[end symbol]]. Keys and values of earlier tokens can be cached, because"
    " under a causal mask later tokens do not change them. (The network that knows dates also has"
    " an [[encoder]], which reads the date: that is the next lesson.)",
)
TAKEAWAYS = (
    "A mask acts on the scores, before the softmax: the rest of the row still sums to 1.",
    "Under a causal mask the results of earlier tokens never change, so training can process a"
    " whole text at once, and generation one token at a time.",
    "Hidden keys get −∞. A large negative number hides a key only if the query sees another one.",
)
TRIES = (
    Try(
        "No mask.",
        "Every word sees every word: in training it could copy the next one.",
        {"mask": "none"},
    ),
    Try(
        "Padding and a causal mask.",
        "The two positions at the end are padding: no token gives them weight.",
        {"mask": "both", "pads": 2},
    ),
    Try(
        "Nothing but padding, hidden by −1e9.",
        "Every row sees no key, and every weight comes out equal. Then choose −∞: all are 0.",
        {"words": "", "mask": "padding", "pads": 4, "fill": "large"},
    ),
    Try(
        "A date, to its end.",
        "“March the third, '98” comes out digit by digit, and then the end symbol.",
        {"writer": "dates", "written": 11},
    ),
    Try(
        "What an untrained decoder writes.",
        "It gives probabilities, but they mean nothing.",
        {"writer": "untrained", "written": 6},
    ),
)
