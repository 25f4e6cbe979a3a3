"""The texts of the lesson on the encoder block."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A block holds two layers: [[attention]], where words look at each other, and a"
    " [[feed-forward network]], where every word is worked on alone. Round each goes a [[residual"
    " connection]]: what went in is added to what came out, so a layer only has to say what"
    " changes. And [[layer normalisation]] keeps their scale constant.",
)
SYMBOLS = (
    "f is one of the two layers. μ is the mean of the H [[feature|features]] of one word, σ² their"
    " [[variance]]. ε is a tiny number that keeps the division possible. γ and β are learned, one"
    " of each per feature.",
)
WAY_TEXT = (
    "Read each table from top to bottom: your word x on its way through a block, beside words 2 and"
    " 3 below. The bracket is the residual connection: what stands at its top is added at its foot."
    " Both blocks have the same random matrices; only the place of the norm differs.",
)
NORM_TEXT = (
    "Here f(x) is yours to set, in place of a layer's output. Go through the steps with the arrow"
    " keys: s is the sum of both, and all that follows is worked out from its four numbers.",
)
BATCH_TEXT = (
    "Two more words come along. LayerNorm norms every word by its own numbers: a row at a time."
    " [[batch normalisation|BatchNorm]] norms every [[feature]] over all words of the [[batch]]: a"
    " column at a time. Change a number of another word, and BatchNorm moves yours too.",
)
TAKEAWAYS = (
    "Add & Norm: the layer's input is added to its output, and the sum is normed.",
    "LayerNorm needs no other word and no other text: training and use do the same.",
    "[[post-norm|Post-norm]] keeps all states at one size, [[pre-norm]] leaves a straight way"
    " through the whole stack: its states grow, and its last gradients shrink with depth.",
    "The feed-forward network does not mix words. Only attention does.",
)
TRIES = (
    Try(
        "A layer that adds nothing.",
        "f(x) = 0: what comes out is x itself, normed.",
        {"y11": 0.0, "y12": 0.0, "y13": 0.0, "y14": 0.0},
    ),
    Try(
        "Ten times as large.",
        "x and f(x) times ten: the normed vector is the same, because only the pattern counts.",
        {"x11": 20.0, "x12": 5.0, "x13": -10.0, "x14": 5.0}
        | {"y11": 5.0, "y12": -5.0, "y13": 10.0, "y14": 10.0},
    ),
    Try(
        "Another word, far away.",
        "Word 2 gets a 30: your word keeps its LayerNorm, and its BatchNorm changes.",
        {"other11": 30.0},
    ),
    Try(
        "16 blocks.",
        "The states of pre-norm have grown to about three times their first size.",
        {"depth": 16},
    ),
)
DEPTH_TEXT = (
    "The first transformer norms after the sum ([[post-norm]]), most later ones before the layer"
    " ([[pre-norm]]). Here blocks of both kinds are stacked, with random weights. The first chart"
    " says how large the numbers of a word are after each block, the second how long the"
    " [[gradient]] is that would change the last block in a first step of training. In a post-norm"
    " stack it stays as large as in a small one, too large for a first step: training begins with"
    " very small steps, a warm-up."
    " In a pre-norm stack it shrinks as more blocks share the work (Xiong et al. 2020).",
)
FEED_TEXT = (
    "The feed-forward network takes your normed vector (“out” above) to more features, applies an"
    " activation, and comes back. It does this for every word with the same two matrices and looks"
    " at no other word: the result is the same alone and in company. The middle is often four"
    " times as wide; here it goes 4 → {hidden} → 4, with random weights.",
)
