"""The words of the lesson on scale and softmax."""

from viz.pages.lesson.frame import Try

TEXT = (
    "A [[softmax]] looks at differences between [[score|scores]]. When scores are large, the"
    " largest takes all the weight and the others get nearly none: the [[gradient]] vanishes, and"
    " training stands still. [[dot product|Dot products]] *are* large when vectors are long lists"
    " of numbers, so they are divided by √d first.",
)
FORMULA = (
    r"\operatorname{Var}(q \cdot k) = d \qquad"
    r" \operatorname{Var}\left(\frac{q \cdot k}{\sqrt{d}}\right) = 1"
)
TEMPERATURE = (
    "Dividing by √d is a [[temperature]] that is set once and for all. Below 1 the best score wins"
    " more; above 1 the weights become alike. A weight near 0 or 1 hardly moves any more when its"
    " score does: that is where learning stops."
)
VARIANCE = (
    "Queries and keys are drawn at random here, every number with [[variance]] 1. A sum of d"
    " products of such numbers has variance d. Without the scale, the largest of 8 weights comes"
    " near 1 as the width grows; with it, the picture is the same at every width."
)
ADDITIVE = (
    "The first attention scored a pair with a small network, v^{T} tanh(W q + U k):"
    " [[additive attention]]. Without a scale it does better at large widths. But all dot products"
    " together are one product of matrices, which is what processors do fastest, and nothing has to"
    " be held but the scores; the network needs a hidden layer for *every pair*. With the scale,"
    " the dot product learns as well. (The width d is the one chosen above.)",
)
HALVES = (
    "Some code divides q and k by ∜d each instead of their product by √d. On paper that is the"
    " same. In [[half precision]] it is not: numbers end at 65,504, and a product beyond that is"
    " infinite before it is divided ([[overflow]]). Dividing first keeps it in range.",
)
TOLD = {
    "temperature": "Scores are divided by it",
    "width": "How many numbers a query and a key have",
    "size": "All numbers of both vectors, so that q·k is their number times the square",
}
TRIES = (
    Try(
        "Nearly one-hot.",
        "A temperature of 0.1: one weight near 1, and all slopes near 0.",
        {"temperature": 0.1},
    ),
    Try("Nearly equal.", "A temperature of 10: nothing is chosen any more.", {"temperature": 10.0}),
    Try(
        "Scores of width 1024 without a scale.",
        "Differences of 30 and more: one takes all.",
        {"scores": "40 9 -3 -32", "width": 1024},
    ),
    Try("Narrow vectors.", "At width 2 the scale makes little difference.", {"width": 2}),
    Try(
        "A long text.",
        "4,096 tokens: what additive scores would have to hold.",
        {"tokens": 4096, "hidden": 1024},
    ),
    Try("In range.", "Numbers of size 4: both ways give the same score.", {"size": 4.0}),
    Try("Out of range.", "Numbers of size 100: only the fourth root survives.", {"size": 100.0}),
)
TAKEN = (
    "q·k has variance d; dividing by √d brings it back to 1, at any width.",
    "Large scores saturate the softmax: weights at 0 and 1 have no slope, so nothing is learned.",
    "Dot products win because they are one fast product of matrices and hold only the scores.",
    "∜d twice is √d once, but keeps half precision in range.",
)
