"""The story of the scale and the softmax."""

from viz.pages.lessons.story import Option, Question, Step, Story, Try

STORY = Story(
    figure="scale",
    title="Dot products that spread",
    inputs={
        "width": 64,
        "temperature": 1,
        "size": 32,
        "seed": 2,
        "q": (1.2, -0.5),
        "key_width": 1,
        "scoring": "bilinear",
    },
    steps=(
        Step(
            "grow",
            "Dot products spread with the width",
            (
                "Draw a @query(query) and a @key(key) at random, each number independently, with"
                " mean 0 and [[variance]] 1, and take their [[dot product]]. Here are 4,000 of"
                " them, at [[width]] d = {width:d}.",
                "**Move d.** The dot products stay centred at 0, but they spread: each is a sum of"
                " d products of variance 1, and variances of independent numbers add. So the"
                " variance is d, and the spread, the [[standard deviation]], is √d. Measured:"
                " {variance:.2f} and {deviation:.2f}.",
            ),
            formulas=("Var(@query(q) · @key(k)) = d",),
            tries=(Try("d = 1", {"width": 1}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "walk",
            "A sum that walks away",
            (
                "The same, feature by feature: one @query(query) with eight @key(keys). Every"
                " further feature adds a random product, up or down, and the sums drift apart like"
                " eight random walks. The dashed lines are ±√d: beyond the first few features,"
                " about two thirds of such walks are between them.",
                "Steps up and down partly cancel. That is why the spread grows like √d, and not"
                " like d.",
            ),
            ask=Question(
                "You make queries and keys **four times** as wide. How much wider does the spread"
                " (the standard deviation) of the dot products become?",
                (
                    Option(
                        "4 times: there are four times as many products",
                        "The *variance* becomes 4 times as large. The spread is its root, because"
                        " positive and negative products partly cancel.",
                    ),
                    Option(
                        "2 times",
                        "The variance is d, so the spread is √d, and √4 = 2.",
                        right=True,
                    ),
                    Option(
                        "It stays the same: the mean is 0 at any width",
                        "The mean stays 0, but single dot products lie farther and farther from"
                        " it.",
                    ),
                ),
            ),
            tries=(Try("d = 128", {"width": 128}), Try("Another draw", {"seed": 1})),
        ),
        Step(
            "softmax",
            "Large differences saturate the softmax",
            (
                "The eight scores of that one query, unscaled, and their @weight(weights). The"
                " best key leads by {gap:.2f} and gets {largest:.1%}. Adding 100 to all eight"
                " scores would change nothing: a [[softmax]] depends only on *differences*, and"
                " large differences saturate it.",
                "The mean of the largest weight over 500 queries is {mean_largest:.3f} at this"
                " width. Move d up: it comes near 1, and attention becomes a choice of one.",
            ),
            formulas=(
                "@weight(w_{j}) = exp(@query(q) · @key(k_{j}))"
                " / Σ_{m} exp(@query(q) · @key(k_{m}))",
            ),
            tries=(Try("d = 4", {"width": 4}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "slope",
            "A saturated weight has no slope",
            (
                "How much does a @weight(weight) move when its own score moves a little? By"
                " w (1 − w): at most 0.25, at w = 0.5, and almost 0 where w is near 0 or 1. Each"
                " dot is one of the eight keys.",
                "With all weights near 0 or 1, changing a score changes next to nothing, and hardly"
                " any [[gradient]] reaches the @query(queries) and @key(keys). Vaswani et al."
                " (2017, section 3.2.1) suspected this as the reason why unscaled dot products did"
                " worse than additive attention at large widths.",
            ),
            formulas=("∂@weight(w_{j}) / ∂score_{j} = @weight(w_{j}) (1 − @weight(w_{j}))",),
            tries=(Try("d = 4", {"width": 4}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "scaled",
            "Divide by √d",
            (
                "If the spread is √d, divide by it: the scores have variance {scaled_variance:.2f}"
                " now, about 1 at any width. On the left the weights without the scale, on the"
                " right with it; hollow and full dots on the curve.",
                "Over 500 queries the largest weight is {mean_scaled_largest:.3f} on average with"
                " √d, and {mean_largest:.3f} without. Trained queries and keys need not have"
                " variance 1: the scale makes a good start, and training may still sharpen.",
            ),
            formulas=(
                "score_{j} = @query(q) · @key(k_{j}) / √d,   Var(@query(q) · @key(k) / √d) = 1",
            ),
            code=(
                "scores = @query(q) @ @key(k).T / math.sqrt(d)",
                "@weight(weights) = softmax(scores, dim=-1)",
            ),
            ask=Question(
                "Now every score is divided by √d. What will the largest weight do, averaged over"
                " many queries, as d goes from 16 to 512?",
                (
                    Option(
                        "Still come near 1, only later",
                        "Without the scale it does. With it, the scores have variance 1 at every"
                        " width, so the softmax sees the same kind of numbers.",
                    ),
                    Option(
                        "Stay about the same",
                        "The scaled scores have variance 1 at every width: about 0.36 for the"
                        " largest of eight.",
                        right=True,
                    ),
                    Option(
                        "Fall towards 1/8: dividing by ever more makes all scores equal",
                        "√d grows, but so do the dot products, at the same rate: their ratio keeps"
                        " its spread.",
                    ),
                ),
            ),
            tries=(Try("d = 16", {"width": 16}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "others",
            "Other scores: bilinear and additive",
            (
                "A **bilinear** score has a learned matrix M between @query(query) and @key(key),"
                " which may then differ in width; with M = I it is the dot product. **Additive**"
                " attention (Bahdanau et al. 2015) is a small network. None is scaled here, and M,"
                " W, U and v are random. Move d: the first two spread like √d, the third does not:"
                " {others.2.deviation:.2f} here, because tanh lies between −1 and 1.",
                "But additive attention needs {hidden:d} hidden units for *every pair*, while all"
                " dot products are one product of matrices. Divided by √d they need no more than"
                " that.",
            ),
            formulas=(
                "bilinear: @query(q)^{T} M @key(k)",
                "additive: v^{T} tanh(W @query(q) + U @key(k))",
            ),
            tries=(Try("d = 4", {"width": 4}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "widths",
            "Queries, keys and values of three widths",
            (
                "A dot product pairs the first number of the @query(query) with the first of the"
                " @key(key), and so on: both need the same width. The other two scores do not."
                " Here a query of 2 numbers meets ten keys of {widths.key_width:d}. M has a row"
                " for each number of the query and a column for each number of a key:"
                " @query(q)^{T} M is the query translated to the width of the keys. In the"
                " additive score, W and U bring both to the width of v.",
                "@value(Values) are only added up, so their width is free: here 4, and the"
                " @output(output) has the same. Change a number of q, the score, or the width of"
                " the keys. A [[batch]] of two such look-ups has queries of shape (2, 1, 2), keys"
                " of (2, 10, {widths.key_width:d}) and values of (2, 10, 4); its output has the"
                " shape {widths.shape:s}: two items, one query each, four numbers.",
            ),
            code=(
                "scores = @query(q) @ M @ @key(k).mT  # or",
                "scores = tanh(@query(q) @ W.T + @key(k) @ U.T) @ v",
                "@output(output) = softmax(scores, dim=-1) @ @value(values)",
            ),
            tries=(
                Try("Dot product, widths 2 and 1", {"scoring": "dot"}),
                Try("Dot product, keys of width 2", {"scoring": "dot", "key_width": 2}),
                Try("Query of zeros: a plain mean", {"q": (0, 0)}),
            ),
        ),
        Step(
            "temperature",
            "√d is a fixed temperature",
            (
                "Dividing scores by a number before the softmax is a [[temperature]] T. Below 1 it"
                " sharpens: the best key gains, down to a choice of one. Above 1 it evens the"
                " @weight(weights) out, towards 1/8 each. Here the scaled scores are divided by T"
                " as well; the largest weight is {tempered_largest:.3f}.",
                "At T = 1/√d the two divisions cancel, and you are back at the unscaled scores.",
            ),
            formulas=("@weight(w) = softmax(scores / T)",),
            tries=(
                Try("T = 0.125 = 1/√64: unscaled", {"temperature": 0.125}),
                Try("T = 10", {"temperature": 10}),
            ),
        ),
        Step(
            "half",
            "When to divide: the range of float16",
            (
                "Some code divides q and k by ∜d each instead of their product by √d: on paper the"
                " same. In float16 it is not. Its largest number is 65,504; a larger q·k becomes"
                " infinite ([[overflow]]), and dividing afterwards does not bring it back. If you"
                " divide first, a score overflows only when its final value exceeds 65,504.",
                "This limit is float16's own: bfloat16, the other format of 16 bits, reaches"
                " 3.4 · 10^{38}, as float32 does.",
            ),
            formulas=("(@query(q) / ∜d) · (@key(k) / ∜d) = @query(q) · @key(k) / √d",),
            tries=(
                Try("In range: all 4", {"size": 4}),
                Try("Both overflow: all 100", {"size": 100}),
            ),
        ),
    ),
)
