"""The texts of the lesson on decoders."""

from viz.pages.lessons.frame import Try

TEXT = (
    "The [[decoder]] writes a text, one [[token]] at a time. It learns this from whole texts, at"
    " all positions in parallel: each predicts the next token. So none may look at what comes"
    " later, or it would copy the answer. A [[causal mask]] sees to that: before the [[softmax]],"
    " the [[score|scores]] of all later tokens are set to −∞, whose exponential is 0. The same is"
    " done to [[padding]], which only fills up a [[batch]].",
)
HEAD_TEXT = (
    "One [[head]] over a few words. Each word has a random vector, and the three matrices that make"
    " Q, K and V of it are random too: what counts here is the way from one table to the next. The"
    " marked row is the token you follow; below, its numbers are written out. A hatched cell is"
    " hidden.",
)
FILL_TEXT = (
    "Why −∞ and not just a very large negative number? As long as a [[query]] sees some [[key]],"
    " both give 0. But a query that sees none, as in a row of padding, tells them apart. Under"
    " −1e9 all its scores are equal, and the softmax, which only knows differences, spreads the"
    " weight evenly over everything that was to be hidden. Under −∞ a plain softmax gives 0/0,"
    " which is no number (NaN); the attention here gives such a row weights of 0. In float16"
    " ([[half precision]]) −1e9 is too large to be represented: it becomes −∞ by [[overflow]].",
)
WRITE_TEXT = (
    "In use there is no answer to copy. The network reads what stands there, the last place gives"
    " a probability for every token, the likeliest is put behind the text, and it reads again,"
    " until it writes the [[end symbol]]. Keys and values of earlier tokens can be kept, because"
    " under a causal mask nothing that comes later changes them. (The network that knows dates has"
    " an [[encoder]] besides, which reads the date: that is the next lesson.)",
)
TAKEAWAYS = (
    "A mask acts on the scores, before the softmax: the rest of the row still sums to 1.",
    "Under a causal mask the results of earlier tokens never change, so a whole text can be learned"
    " at once and written a token at a time.",
    "Hidden keys get −∞. A large negative number hides only as long as something else is seen.",
)
TRIES = (
    Try(
        "No mask.",
        "Every word sees every word: in training it could copy the next one.",
        {"mask": "none"},
    ),
    Try(
        "Padding and what comes later.",
        "Two places at the end only fill up: nobody gives them weight.",
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
        "Probabilities are there, and mean nothing.",
        {"writer": "untrained", "written": 6},
    ),
)
