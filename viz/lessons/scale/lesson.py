"""The story of the scale and the softmax."""

from viz.lessons.inputs import Count, OneOf, Reals, Sentence, Within
from viz.lessons.story import (
    ON_SCREEN,
    SMOLLM2,
    Lesson,
    Misreading,
    Option,
    Page,
    Plan,
    Question,
    Step,
    Try,
)

LESSON = Lesson(
    name="scale",
    place=60,
    title="Scale and softmax",
    icon="straighten",
    line="Why scores are divided by √d, and what happens if they are not.",
    parts=("softmax",),
    real=("smollm2",),
    needs=("query_key_value",),
    minutes=15,
    figure="Dot products that spread",
    computed="random numbers, the same for one seed",
    inputs={
        "sentence": Sentence("The animal didn't cross the street because it was too tired."),
        "width": Count(64, 1, 512),
        "temperature": Within(1, 0.1, 10),
        "size": Within(32, 0.5, 200),
        "seed": Count(2, 0, 99),
        "q": Reals((1.2, -0.5), 10),
        "key_width": Count(1, 1, 3),
        "scoring": OneOf("bilinear", ("dot", "bilinear", "additive")),
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
                "@weight(α_{j}) = exp(@query(q) · @key(k_{j}))"
                " / Σ_{m} exp(@query(q) · @key(k_{m}))",
            ),
            tries=(Try("d = 4", {"width": 4}), Try("d = 512", {"width": 512})),
        ),
        Step(
            "slope",
            "A saturated weight has no slope",
            (
                "How much does a @weight(weight) move when its own score moves a little? By"
                " α (1 − α): at most 0.25, at α = 0.5, and almost 0 where α is near 0 or 1. Each"
                " dot is one of the eight keys.",
                "With all weights near 0 or 1, changing a score changes next to nothing, and hardly"
                " any [[gradient]] reaches the @query(queries) and @key(keys). Vaswani et al."
                " (2017, section 3.2.1) suspected this as the reason why unscaled dot products did"
                " worse than additive attention at large widths.",
            ),
            formulas=("∂@weight(α_{j}) / ∂score_{j} = @weight(α_{j}) (1 − @weight(α_{j}))",),
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
                " that. For 4,096 tokens and 1,024 hidden units, 17 million scores against 17"
                " billion hidden numbers.",
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
            computed=ON_SCREEN,
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
            formulas=("@weight(α) = softmax(scores / T)",),
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
            computed=ON_SCREEN,
        ),
        Step(
            "spread",
            "A trained network's scores",
            (
                "The argument assumes numbers of mean 0 and variance 1. Training leaves that"
                " behind: these are six heads of SmolLM2, of width 64, on a sentence. Divided by"
                " √64, the scores of head {board.head:d} of layer {board.layer:d} still have a"
                " standard deviation of {board.widest:.1f}, where random ones have 1: this head"
                " has learned to be nearly certain.",
                "So √d does not keep scores small for ever; it lets training *start* where the"
                " softmax has slopes. Without the division, the mean largest weight of each of the"
                " six would be {board.unscaled:.2f} or more. Means are over all tokens but the"
                " first, which sees itself alone.",
            ),
            tries=(Try("A repeat", {"sentence": "magnet violet cobalt planet magnet violet"}),),
            board=True,
            computed=SMOLLM2,
        ),
    ),
    takeaways=(
        "q·k has variance d; dividing by √d brings it back to 1, at any width.",
        "Large differences between scores saturate the softmax: weights at 0 and 1 have no slope,"
        " so nothing is learned.",
        "Dot products prevail because they are one fast matrix product and keep only the scores.",
        "Dividing by ∜d twice equals dividing by √d once, but in float16 only ∜d keeps a large q·k"
        " in range.",
    ),
    misreading=Misreading(
        "Large scores saturate the softmax.",
        "Large *differences* do: adding 100 to every score changes nothing.",
    ),
    plan=Plan(
        aim="Q·k has variance d, so scores are divided by √d.",
        show="The width from 1 to 512, without and with the scale; then the temperature and the"
        " slopes; “Show numbers” has every width.",
        ask="The numbers of q and k are independent, with mean 0 and variance 1, and d = 64. What"
        " is the standard deviation of q·k? 1 · **8** · 64 · 4,096.",
    ),
    code=(
        "models.lessons.scaling.softened",
        "models.attention.scores.softmax",
        "models.lessons.scaling.slopes",
        "models.lessons.scaling.walks",
        "models.attention.scores.Dot",
        "models.attention.scores.Bilinear",
        "models.attention.scores.Additive",
        "models.lessons.widths.three_widths",
        "models.lessons.scaling.dot_costs",
        "models.lessons.scaling.additive_costs",
        "models.lessons.scaling.halves",
    ),
    pages=(
        Page(
            "The scores of a layer of width 64, part by part",
            "architecture",
            {"preset": "small", "dim": 64, "heads": 1},
        ),
    ),
)
