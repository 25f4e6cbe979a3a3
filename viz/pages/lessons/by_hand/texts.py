"""The folded texts and numbers of the lesson on self-attention by hand (its steps: story.py)."""

from viz.pages.lessons.frame import Try

# torch.rand with seed 10, rounded to four decimals
X = (
    (0.4580846428871155, 0.4828565716743469, 0.3124983310699463),
    (0.6150216460227966, 0.21394729614257812, 0.4118261933326721),
)
FILM, VIEWER = ((0.9, 0.1, -0.4),), ((0.8, -0.2, 0.5),)
TEXT = (
    "For a network a word is a [[vector]]: a few numbers, its [[feature|features]]."
    " [[self-attention|Self-attention]] gives every word a new vector that also carries information"
    " from the other words: a soft dictionary in which each word is query, key and value at once."
    " How much a word takes from another depends on their similarity, the [[dot product]] of their"
    " vectors. A [[softmax]] turns these [[score|scores]] into [[weights]], and the new vector is"
    " the weighted sum of all words. Here nothing is learned; the next lesson adds that.",
)
WHERE = (
    "Each row of the [[matrix]] X is a word. Xᵀ is the transpose, rows and columns exchanged: X Xᵀ"
    " holds the dot product of every word with every word. Y holds the new vectors."
)
TAKEAWAYS = (
    "Scores are symmetric: word 0 is exactly as similar to word 1 as word 1 is to word 0. Weights"
    " are not, because each row is divided by its own sum.",
    "No weight is negative and every row of weights sums to 1, so each output is a weighted mean:"
    " in every feature it lies between the smallest and the largest of the words.",
    "The dot product grows with the length of the vectors as well as with their similarity.",
)
FILM_TEXT = (
    "Why a dot product? Rate what a film offers and what a viewer likes, feature by feature, with"
    " numbers from −1 to 1. Where both are large with the same sign, the product is large; where"
    " they disagree, it is negative. The sum measures how well they match.",
)
TRIES = (
    Try(
        "Two equal words.",
        "All scores are equal, so every weight is 0.5.",
        {"x21": X[0][0], "x22": X[0][1], "x23": X[0][2]},
    ),
    Try(
        "Word 0 three times as long.",
        "Longer vectors have larger scores: word 0 gets more than 0.7 of the weight, even from"
        " word 1.",
        {"x11": 1.3743, "x12": 1.4486, "x13": 0.9375},
    ),
    Try(
        "Words at right angles.",
        "Nothing in common: the score is 0, and yet the weight is not, since exp(0) = 1.",
        {"x11": 1.0, "x12": 0.0, "x13": 0.0, "x21": 0.0, "x22": 1.0, "x23": 0.0},
    ),
    Try(
        "Only the scores.",
        "Stop before the softmax: the table is symmetric. Then go on with →.",
        {"step": 1},
    ),
)
FILM_TRIES = (
    Try(
        "A viewer who hates romance.",
        "Every product is negative now, and so is the sum.",
        {"viewer11": -0.8, "viewer12": -0.2, "viewer13": 0.5},
    ),
    Try(
        "The perfect viewer.",
        "The same signs everywhere: the sum is as large as it can be for ratings up to 1.",
        {"viewer11": 1.0, "viewer12": 1.0, "viewer13": -1.0},
    ),
    Try(
        "A viewer without preferences.",
        "All zeros: the sum is 0, neither a match nor a mismatch.",
        {"viewer11": 0.0, "viewer12": 0.0, "viewer13": 0.0},
    ),
)
