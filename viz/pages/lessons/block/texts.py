"""The folded texts of the lesson on the encoder block (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A block holds two layers: [[attention]], where words look at each other, and a"
    " [[feed-forward network]], which processes every word separately. Around each goes a"
    " [[residual connection]]: the input of the layer is added to its output, so a layer only"
    " computes a change. And [[layer normalisation]] keeps the scale constant.",
)
SYMBOLS = (
    "f is one of the two layers. μ is the mean of the H [[feature|features]] of one word, σ² their"
    " [[variance]]. ε is a tiny number that avoids a division by zero. γ and β are learned, one of"
    " each per feature.",
)
WAY_TEXT = (
    "Read each table from top to bottom: your word x, word 0, on its way through a block, together"
    " with words 1 and 2 below. The bracket is the residual connection: the line at its top is"
    " added at its bottom. Both blocks have the same random matrices; only the norm is placed"
    " differently.",
)
NORM_TEXT = (
    "Here you set f(x) yourself, in place of a layer's output. Go through the steps with the arrow"
    " keys: s is the sum of both, and everything that follows is computed from its four numbers.",
)
BATCH_TEXT = (
    "Now with two more words. LayerNorm normalises every word by its own numbers: a row at a time."
    " [[batch normalisation|BatchNorm]] normalises every [[feature]] over all words of the"
    " [[batch]]: a column at a time. Change a number of another word, and BatchNorm changes yours"
    " too.",
)
TAKEAWAYS = (
    "Add & Norm: the layer's input is added to its output, and the sum is normalised.",
    "LayerNorm depends on no other word and no other text: it is the same in training and in use.",
    "[[post-norm|Post-norm]] keeps all states at one size; [[pre-norm]] leaves a direct path"
    " through the whole stack: its states grow, and the gradients of its last block shrink with"
    " depth.",
    "The feed-forward network does not mix words. Only attention does.",
)
TRIES = (
    Try(
        "A layer that adds nothing.",
        "f(x) = 0: the output is x itself, normalised.",
        {"y11": 0.0, "y12": 0.0, "y13": 0.0, "y14": 0.0},
    ),
    Try(
        "Ten times as large.",
        "x and f(x) times ten: the normalised vector is the same, as only ratios matter.",
        {"x11": 20.0, "x12": 5.0, "x13": -10.0, "x14": 5.0}
        | {"y11": 5.0, "y12": -5.0, "y13": 10.0, "y14": 10.0},
    ),
    Try(
        "Another word, far away.",
        "A feature of word 1 becomes 30: the LayerNorm of your word stays, its BatchNorm changes.",
        {"other11": 30.0},
    ),
    Try(
        "16 blocks.",
        "The states of pre-norm have grown to about three times their first size.",
        {"depth": 16},
    ),
)
DEPTH_TEXT = (
    "The first transformer normalises after the sum ([[post-norm]]), most later ones before the"
    " layer ([[pre-norm]]). Here blocks of both kinds are stacked, with random weights. The first"
    " chart shows how large the numbers of a word are after each block, the second the size of the"
    " [[gradient]] of the last block in the first step of training. In a post-norm stack it does"
    " not shrink with depth and is too large for a first step: training has to start with very"
    " small steps, a warm-up."
    " In a pre-norm stack it shrinks as more blocks share the work (Xiong et al. 2020).",
)
FEED_TEXT = (
    "The feed-forward network maps your normalised vector (“out” above) to more features, applies"
    " an activation, and maps it back. It does this for every word with the same two matrices and"
    " looks at no other word: the result does not depend on the other words. The hidden layer is"
    " often four times as wide; here the widths are 4 → {hidden} → 4, with random weights.",
)
