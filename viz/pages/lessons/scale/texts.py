"""The folded texts of the lesson on scale and softmax (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A [[softmax]] depends on differences between [[score|scores]]. When they are large, the best"
    " score takes all the weight and the others get nearly none: the [[gradient]] vanishes, and"
    " training stalls. [[dot product|Dot products]] *are* far apart when [[vector|vectors]] have"
    " many features, so they are divided by √d first, d being the [[width]] of a query and a key.",
)
WHERE = (
    "Var is the [[variance]]; of q·k it is taken over many queries q and keys k whose numbers are"
    " drawn at random, with mean 0 and variance 1. The charts below show it."
)
FORMULA = (
    r"\operatorname{Var}(q \cdot k) = d \qquad"
    r" \operatorname{Var}\left(\frac{q \cdot k}{\sqrt{d}}\right) = 1"
)
TEMPERATURE = (
    "The weights are the softmax of the scores divided by T, the [[temperature]]. Below 1 the best"
    " score wins more; above 1 the weights become similar. A weight near 0 or 1 hardly changes when"
    " its score does: its slope is near 0, and learning stops. The slope is largest, 0.25, at a"
    " weight of 0.5. Dividing by √d is a fixed temperature."
)
VARIANCE = (
    "Queries and keys are drawn at random here, every number with [[variance]] 1. A sum of d"
    " products of such numbers has variance d. Without the scale, the largest of 8 weights comes"
    " near 1 as the width grows; with it, the picture is the same at every width."
)
ADDITIVE = (
    "The first attention (Bahdanau et al. 2015) scored a pair with a small network, v^{T} tanh(W q"
    " + U k): [[additive attention]], where W, U and v are learned. At large widths, dot products"
    " without a scale do worse (Vaswani et al. 2017, section 3.2.1). But all dot products"
    " together are one product of matrices, which is what processors do fastest, and only the"
    " scores have to be kept; the network needs a hidden layer for *every pair*. The scale fixes"
    " dot products at large widths. (The width d is the one chosen above.)",
)
HALVES = (
    "Some code divides q and k by ∜d each instead of their product by √d. On paper that is the"
    " same. In float16 ([[half precision]]) it is not: the largest number is 65,504, and a larger"
    " product is infinite before it is divided ([[overflow]]). If you divide first, a score"
    " overflows only when its final value exceeds 65,504.",
)
TEMPERATURE_HELP = "Scores are divided by it"
WIDTH_HELP = "Number of features of a query and a key"
SIZE_HELP = "The value of all features of both vectors: q·k is d times its square"
TEMPERATURE_TRIES = (
    Try(
        "Nearly one-hot.",
        "A temperature of 0.1: one weight near 1, and all slopes near 0.",
        {"temperature": 0.1},
    ),
    Try("Nearly equal.", "A temperature of 10: nothing is chosen any more.", {"temperature": 10.0}),
    Try(
        "Scores typical of width 1024, without the scale.",
        "The first leads by 31: it takes all.",
        {"scores": "40 9 -3 -32"},
    ),
    Try(
        "The same scores divided by √1024 = 32.",
        "All four count again.",
        {"scores": "1.25 0.28125 -0.09375 -1"},
    ),
)
WIDTH_TRIES = (
    Try(
        "Narrow vectors.",
        "At width 2 the scale makes little difference to the largest weight.",
        {"width": 2},
    ),
    Try(
        "Wide vectors.",
        "At width 1024 the variance is near 1024, and the largest of 8 weights near 1.",
        {"width": 1024},
    ),
)
COST_TRIES = (
    Try(
        "A long text.",
        "4,096 tokens and a hidden layer of 1024: 17 million numbers in memory for dot products,"
        " 1,024 times as many for the network.",
        {"tokens": 4096, "hidden": 1024},
    ),
)
HALF_TRIES = (
    Try(
        "In range.", "Numbers of size 4: both ways give the same score.", {"size": 4.0, "width": 64}
    ),
    Try(
        "Out of range.",
        "Numbers of size 64: q·k is 262,144, and only the fourth root survives.",
        {"size": 64.0, "width": 64},
    ),
)
TAKEAWAYS = (
    "q·k has variance d; dividing by √d brings it back to 1, at any width.",
    "Large differences between scores saturate the softmax: weights at 0 and 1 have no slope, so"
    " nothing is learned.",
    "Dot products prevail because they are one fast matrix product and keep only the scores.",
    "Dividing by ∜d twice equals dividing by √d once, but in float16 only ∜d keeps a large q·k in"
    " range.",
)
