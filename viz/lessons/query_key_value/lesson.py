"""The story of queries, keys and values."""

from viz.lessons.inputs import Count, Reals
from viz.lessons.story import Lesson, Misreading, Option, Plan, Question, Step, Try

LESSON = Lesson(
    name="query_key_value",
    place=50,
    title="Query, key, value",
    icon="key",
    line="Three matrices give every word three roles, and something to learn.",
    parts=("projections",),
    needs=("by_hand",),
    minutes=20,
    figure="One token in three roles",
    inputs={
        "word": Count(2, 0, 2),
        "x": Reals((2, 0, 1, 0, 2, 1, 0, 0, 2), 10),
        "wq": Reals((-0.7, -0.2, 0.8, 0.4, -0.9, 0.4), 10),
        "wk": Reals((1.9, 1.1, -1.3, -0.6, 0.1, 0.8), 10),
        "wv": Reals((1.0, -0.9, 0.1, 1.0, 1.4, -1.0), 10),
        "dq": Reals((0, 0), 500),
        "dk": Reals((0, 0, 0, 0, 0, 0), 500),
    },
    steps=(
        Step(
            "roles",
            "One token, three vectors",
            (
                "Three tokens of a sentence, each a [[vector]] x of three [[feature|features]]:"
                " *animal*, *street* and *it*. Three matrices turn the same x, a column of numbers,"
                " into a @query(query), what the token looks for, a @key(key), what it can be"
                " matched on, and a @value(value), what it passes on.",
                "Training sets the three matrices: this is what attention learns. (The numbers here"
                " are invented to be easy to follow.) Click a number of x or of a matrix to change"
                " it; point at a result to see its sum.",
            ),
            formulas=(
                "@query(q) = @query(W_{Q}) x,   @key(k) = @key(W_{K}) x,   @value(v) ="
                " @value(W_{V}) x",
            ),
            code=(
                "@query(q) = @query(w_q) @ x",
                "@key(k) = @key(w_k) @ x",
                "@value(v) = @value(w_v) @ x",
            ),
        ),
        Step(
            "plane",
            "A query among keys",
            (
                "Queries and keys have two features here, so they are arrows in one plane: the"
                " @query(query) of *{token:s}*, and the @key(key) of every token, its own"
                " included. Attention only ever compares a query with a key, never two queries or"
                " two keys.",
                "**Drag the round handles**, or move to one with Tab and use the arrow keys."
                " In a network nobody moves them by hand: they follow from x and the matrices, and"
                " training changes the matrices.",
            ),
        ),
        Step(
            "score",
            "The score: one dot product",
            (
                "The [[score]] is the [[dot product]] of query and key, feature by feature,"
                " divided by √d (papers write √d_{k}): here d = 2, and the next lesson shows why"
                " one divides. *animal* scores {scores.0:.2f}, *street* {scores.1:.2f}, *it*"
                " {scores.2:.2f}.",
                "From each @key(key) a dashed line drops at a right angle onto the line of the"
                " @query(query). q·k is the length of the query times the distance from the origin"
                " to that point; it is negative if the point lies on the side away from the query."
                " So direction and length both count.",
            ),
            formulas=("score_{j} = @query(q) · @key(k_{j}) / √d",),
            ask=Question(
                "Before you see a number: with the arrows as they were at first, which key has the"
                " largest score with the query of *it*, and so gets the most weight?",
                (
                    Option(
                        "street: it points most nearly the same way as the query",
                        "Its direction is the nearest, but it is short. A dot product counts length"
                        " as well, and *animal* reaches farther along the query.",
                    ),
                    Option(
                        "it: its arrow is the longest",
                        "It is the longest, but it points away from the query: its dot product is"
                        " negative.",
                    ),
                    Option(
                        "animal: it reaches farthest along the query's direction",
                        "The dot product is the query's length times how far the key reaches along"
                        " it.",
                        right=True,
                    ),
                ),
            ),
            tries=(
                Try("Query at a right angle to animal", {"dq": (-1.2, 1.7)}),
                Try("street twice as long", {"dk": (0, 0, 0.9, 1, 0, 0)}),
            ),
        ),
        Step(
            "weights",
            "Softmax: the weights",
            (
                "[[softmax|Softmax]] turns the scores into @weight(weights), all positive, with the"
                " sum 1: *{best:s}* gets {largest:.1%}. Each weight depends on **all** scores: when"
                " one @key(key) moves, the weights of the others change as well.",
                "Lengthen the @query(query) without turning it: all scores grow in proportion, and"
                " their differences too, and the best key takes more. With q = 0 every score"
                " is 0, and all weights are equal.",
            ),
            formulas=("@weight(α_{j}) = exp(score_{j}) / Σ_{m} exp(score_{m})",),
            tries=(
                Try("Query twice as long", {"dq": (1.6, 0.8)}),
                Try("Query of zeros", {"dq": (-1.6, -0.8)}),
                Try("Query reversed", {"dq": (-3.2, -1.6)}),
            ),
        ),
        Step(
            "output",
            "The output: a weighted sum of values",
            (
                "@value(Values) live in a plane of their own: what is passed on need not look like"
                " what was matched. Each value arrow is shortened to its @weight(weight), and the"
                " pieces are laid end to end: the @output(output) is where they lead,"
                " ({output.0:.2f}, {output.1:.2f}).",
                "Drag the query and watch the output move through the shaded triangle. Moving a key"
                " changes how much of a value is taken, never the value itself.",
            ),
            formulas=("@output(output) = Σ_{j} @weight(α_{j}) @value(v_{j})",),
            ask=Question(
                "However the query and the keys are turned and stretched: where can the output"
                " end?",
                (
                    Option(
                        "Exactly on the value with the largest weight",
                        "Only in the limit: no weight is ever exactly 0, so the other values always"
                        " pull a little.",
                    ),
                    Option(
                        "Inside the triangle of the three values",
                        "The weights are positive and sum to 1, so the output is a mean of the"
                        " values: it stays between them.",
                        right=True,
                    ),
                    Option(
                        "Anywhere in the plane",
                        "That would need negative weights, or weights that sum to more or less"
                        " than 1. Softmax gives neither.",
                    ),
                ),
            ),
        ),
        Step(
            "five",
            "All tokens at once: five matrix products",
            (
                "Every token asks its own question. With a token in each row of X, the whole"
                " layer is **five matrix products**: three give @query(Q), @key(K) and @value(V),"
                " the fourth all scores, Q K^{T}, and the fifth the weighted sums. Between the last"
                " two, softmax works row by row. Papers write X W^{Q}, with the matrix transposed"
                " already.",
                "The row of *{token:s}* is framed. (Arrows that you moved by hand do not count"
                " here: Q and K come from the matrices again.) Choose another token, or change a"
                " number of X.",
            ),
            formulas=(
                "@output(Attention)(@query(Q), @key(K), @value(V)) = @weight(softmax)(@query(Q)"
                " @key(K^{T}) / √d) @value(V)",
            ),
            code=(
                "@query(q), @key(k) = x @ @query(w_q).T, x @ @key(w_k).T",
                "@value(v) = x @ @value(w_v).T",
                "scores = @query(q) @ @key(k).T / sqrt(d)",
                "@weight(weights) = softmax(scores, dim=-1)",
                "@output(output) = @weight(weights) @ @value(v)",
            ),
            tries=(Try("Follow animal", {"word": 0}), Try("Follow street", {"word": 1})),
        ),
        Step(
            "columns",
            "Rows or columns: which are the words?",
            (
                "The same symbols, with two words as *columns* of x: three inputs, two words. Q ="
                " W_{q} x then has a word in each column, and its rows are features, so Q K^{T}"
                " compares features with features. A course has printed this example, divided by"
                " √3, the width of the input: its weights are 0.5000, 0.5000 and 0.4996, 0.5004,"
                " its result 0.5549, 0.8582.",
                "The last row reads the same matrices word by word: Q holds a word in each row,"
                " scores are divided by √2, the width of a key, and word 1 gives word 0 a weight"
                " of 0.5424. Both look plausible. Before you trust a formula, check that **the"
                " rows of Q are what attends**.",
            ),
            formulas=("columns: Q = W_{q} x", "rows: Q = x^{T} W_{q}^{T}"),
            board=True,
        ),
    ),
    takeaways=(
        "q, k and v are three views of the same word; W^{Q}, W^{K} and W^{V} are learned.",
        "For one word four steps; for all words five matrix products: three give Q, K and V, one"
        " the scores, one the weighted sums.",
        "With words as columns the same symbols compare features. Rows of Q must be what attends.",
    ),
    misreading=Misreading(
        "Queries, keys and values are different inputs.",
        "In self-attention they are three projections of the same vectors.",
    ),
    plan=Plan(
        aim="Three learned matrices give the same word three roles.",
        show="The arrows; five matrix products for all; “Query of zeros”; then words as columns,"
        " where the same symbols compare features.",
        ask="All entries of the query matrix are 0. What are the weights? All 0 · **all equal** ·"
        " one-hot · not defined.",
    ),
    code=(
        "models.simple.word_by_word",
        "models.simple.feature_by_feature",
        "models.simple.one_head",
        "models.attention.functional.attend",
        "models.lessons.followed.follow",
    ),
)
