"""The story of positions."""

from viz.lessons.inputs import Count, OneOf, Reals, Sentence
from viz.lessons.story import SMOLLM2, Lesson, Misreading, Option, Page, Plan, Question, Step, Try

EMBEDDINGS = (0.3, -0.8, 0.5, 0.1, -0.6, 0.4, 0.9, -0.2, 0.7, 0.2, -0.4, 0.6)

LESSON = Lesson(
    name="position",
    place=80,
    title="Position",
    icon="tag",
    line="Without a mask, attention ignores order: how positions are encoded.",
    parts=("position",),
    real=("smollm2",),
    needs=("query_key_value",),
    minutes=20,
    figure="A position as a row of clock hands",
    computed="the formulas",
    inputs={
        "sentence": Sentence("The animal didn't cross the street because it was too tired."),
        "position": Count(7, 0, 19),
        "other": Count(3, 0, 19),
        "added": OneOf("no", ("no", "yes")),
        "mask": OneOf("none", ("none", "causal")),
        "far": Count(400, 0, 5000),
        "first": Count(0, 0, 17),
        "embeddings": Reals(EMBEDDINGS, 10),
    },
    steps=(
        Step(
            "order",
            "Without positions",
            (
                "“dog bites man” and “man bites dog”, through one [[self-attention]] with random"
                " weights. Nothing in it depends on where a word stands, so each word gets the same"
                " vector in both orders: permuting the words only permutes the results.",
                "Without positions the largest difference between the two orders is 0.00; add them"
                " and it grows. The figure's is {order.largest:.2f}. A [[causal mask]] breaks the"
                " symmetry as well, even without positions: a word then sees only itself and the"
                " words before it, and those change.",
            ),
            tries=(
                Try("Add positions", {"added": "yes"}),
                Try("Only a causal mask", {"mask": "causal"}),
            ),
            computed="these weights: random ones, of width 16",
        ),
        Step(
            "hand",
            "One clock hand",
            (
                "So a vector that depends on the position is added to each token: the"
                " [[positional encoding]]. Two of its features are the sine and the cosine of one"
                " angle, the tip of a clock hand that starts at the top and turns by 1 radian from"
                " each position to the next.",
                "Drag the hand, or move the slider. One hand alone is ambiguous: after 44 positions"
                " (7 turns, nearly exactly) it points almost where it did.",
            ),
            formulas=("P_{p,0} = sin p     P_{p,1} = cos p",),
        ),
        Step(
            "clock",
            "Eight hands, eight speeds",
            (
                "Each further pair of features is a slower hand; here each turns at 0.316 times the"
                " speed of the one before. The fast hands separate neighbours, the slow ones"
                " separate the beginning from the end, as seconds and hours do on a clock.",
                "Row {position:d} of the table is what all hands show there: 16 numbers between −1"
                " and 1, with nothing to learn. Its length is √8 = {length:.3f} at every position,"
                " since sin² + cos² = 1 for each hand.",
            ),
            formulas=(
                "P_{p,2j} = sin(p / 10000^{2j/d})",
                "P_{p,2j+1} = cos(p / 10000^{2j/d})",
            ),
            code=("x = x + sinusoidal(tokens, dim)",),
        ),
        Step(
            "sixty",
            "Sixty positions, as PyTorch prints them",
            (
                "The corners of a table of 60 positions and 32 features: 16 hands, of which the"
                " first turns by 1 radian and the last by 1/10000^{30/32} = 0.00018. Feature 30 is"
                " the slow hand's sine: 1.7783e−04 at position 1, 1.0136e−02 at position 57."
                " Feature 0 is the fast one's: 0.84147 at position 1.",
                "The table is added to the tokens as it is: tokens of shape (1, 60, 32) stay (1,"
                " 60, 32). It is computed once, for as many positions as may be needed, often"
                " 200 or 1,000, and is no parameter.",
            ),
            code=(
                "speed = 10000 ** (-arange(0, d, 2) / d)",
                "P[:, 0::2] = (position * speed).sin()",
                "P[:, 1::2] = (position * speed).cos()",
            ),
            board=True,
        ),
        Step(
            "misprint",
            "A misprint to know",
            (
                "The formula is often printed with 2j+1/d as the exponent of the cosine, while the"
                " code uses 2j/d for both. Read as (2j+1)/d or literally as 2j + 1/d, the sine and"
                " the cosine of a pair turn at different speeds. Then sin² + cos² is no longer 1.",
                "And the dot product of two positions depends on where they are, not on their"
                " distance alone: at one distance it differs by up to {board.spread:.2f}. With the"
                " right exponent it differs by rounding. Read literally, almost all cosines stay"
                " near 1, and half of the table carries no information.",
            ),
            formulas=("right: P_{p,2j+1} = cos(p / 10000^{2j/d})",),
            board=True,
        ),
        Step(
            "add",
            "Added to the tokens",
            (
                "With four features there are two hands: one turns by 1 radian for each position,"
                " the other by 0.01. Each word's [[embedding]] has four numbers too, and the row"
                " of its position is **added** to it, number by number. The [[transformer]] reads"
                " only the sums.",
                "Turn a hand, or move the slider: the words now stand at positions"
                " {small.first:d} to {small.last:d}. The embeddings stay, the sums change. Type"
                " over an embedding to change it: only the sum below it follows.",
            ),
            formulas=("z_{p} = x_{p} + P_{p}",),
            tries=(
                Try("Positions 0, 1, 2", {"first": 0}),
                Try("Positions 10, 11, 12", {"first": 10}),
            ),
        ),
        Step(
            "distance",
            "Only the distance counts",
            (
                "Multiply two rows: each pair of hands contributes the cosine of the angle between"
                " them. Move both positions by the same amount, and every angle between hands"
                " stays. At {position:d} and {other:d} the [[dot product]] is {dot:.3f}; five"
                " positions later it is {moved_dot:.3f}.",
                "It is largest at distance 0 and the same for both directions. A network can learn"
                " projections that use it, or that distinguish before from after.",
            ),
            formulas=("P_{p} · P_{r} = Σ_{j} cos(ω_{j} (p − r))",),
            ask=Question(
                "Positions {position:d} and {other:d} move on by five each. What happens to the"
                " dot product of their rows?",
                (
                    Option(
                        "It shrinks: both are farther from the start",
                        "The start plays no part. Each hand turns by the same angle in both rows,"
                        " so the angle between them stays, and with it the dot product.",
                    ),
                    Option(
                        "It stays the same",
                        "Each pair contributes cos(ω(p − r)), which depends on the distance"
                        " alone: {dot:.3f} before and {moved_dot:.3f} after.",
                        right=True,
                    ),
                    Option(
                        "It changes, but not predictably",
                        "The numbers of both rows change, yet the angle between their hands does"
                        " not: {moved_dot:.3f}, as before.",
                    ),
                ),
            ),
            tries=(
                Try("Neighbours", {"position": 8, "other": 7}),
                Try("Far apart", {"position": 19, "other": 1}),
            ),
        ),
        Step(
            "rotary",
            "Rotary: turn, rather than add",
            (
                "Rotary embeddings (Su et al. 2021) add nothing to the token. Inside each attention"
                " they turn every pair of the @query(query) and of the @key(key) by its position"
                " times the speed of that pair. Lengths stay as they are.",
                "Again only the angle between them counts. The same query and key, at"
                " {position:d} and {other:d}, give q·k = {rotary.score:.3f}; five positions later"
                " {rotary.moved_score:.3f}. Unlike the curve before, this one need not be"
                " symmetric: before and after may score differently.",
            ),
            formulas=("(R_{p} @query(q)) · (R_{r} @key(k)) = @query(q) · (R_{r−p} @key(k))",),
            code=(
                "@query(q) = rotate(@query(q), angles)",
                "@key(k) = rotate(@key(k), angles)  # values are not turned",
            ),
        ),
        Step(
            "speeds",
            "The speeds that real heads use",
            (
                "SmolLM2 turns the 32 pairs of each head's queries and keys, with the base 100,000:"
                " the first by 1 radian a token, the last once in {board.longest:,.0f} tokens,"
                " though the network reads 8,192 at most. So the slow pairs hardly turn: they can"
                " compare meaning whatever the distance, and only the fast ones tell neighbours"
                " apart.",
                "The shares bound what the pairs can add to q·k: the product of the lengths of"
                " both parts. Head 0 of layer 16, which looks at the token before, has"
                " {board.fast:.0%} in its four fastest pairs; the induction head, head 6 of layer"
                " 18, has {board.induction:.0%} there and {board.slow:.0%} in the eight slowest.",
            ),
            formulas=("angle = p / 100000^{2j/64}",),
            tries=(Try("A repeat", {"sentence": "magnet violet cobalt planet magnet violet"}),),
            board=True,
            computed=SMOLLM2,
        ),
        Step(
            "alibi",
            "ALiBi: a penalty for distance",
            (
                "ALiBi (Press et al. 2022) leaves queries and keys alone. It subtracts slope ×"
                " distance from each score, with a fixed slope for each head: here 1/2, 1/4 … 1/256"
                " for eight heads.",
                "The query stands at {position:d}; keys after it are masked. With equal scores the"
                " steepest head keeps {alibi.nearest:.0%} of its @weight(weight) on the query's own"
                " position, the flattest {alibi.widest:.0%}: it weights all keys nearly alike. Real"
                " scores can still outweigh the penalty.",
            ),
            formulas=("score = @query(q) · @key(k) / √d − m_{head} |p − r|",),
            ask=Question(
                "ALiBi subtracts slope × distance from each score. One head has the slope 1/2,"
                " another 1/256. Which of them attends farther back, if all scores are equal?",
                (
                    Option(
                        "The one with the slope 1/2",
                        "The larger the slope, the faster the penalty grows: this head keeps"
                        " {alibi.nearest:.0%} of its weight on the query's own position.",
                    ),
                    Option(
                        "The one with the slope 1/256",
                        "At distance 7 its penalty is only 7/256 ≈ 0.03: it weights all keys nearly"
                        " alike, its own position with {alibi.widest:.0%}.",
                        right=True,
                    ),
                    Option(
                        "Both alike: softmax normalises every row",
                        "Softmax depends on differences between scores, and the slope sets how"
                        " large they are.",
                    ),
                ),
            ),
        ),
        Step(
            "learned",
            "Learned positions",
            (
                "[[MiniLM]] learned its positions: {board.count:d} vectors of {board.dim:d}"
                " numbers, {board.parameters:,d} [[parameters]], random at first. The pictures"
                " show the [[cosine similarity]] of every two of the first 24, a row and a column"
                " for each: the stronger the colour, the more similar. Neighbours became similar"
                " without being forced to: {board.learned:.4f} for positions 20 and 21, against"
                " {board.fixed:.4f} in the fixed table.",
                "So did positions about 6 or 12 apart, the stripes beside the diagonal. Position 0"
                " is unlike all others: it always holds [CLS]. A learned table costs a vector for"
                " each position, and it ends.",
            ),
            code=(
                "p = nn.Parameter(torch.zeros(1, tokens, dim))",
                "x = x + p",
            ),
            board=True,
            computed="these weights: the learned positions of MiniLM",
        ),
        Step(
            "length",
            "Computable is not learned",
            (
                "The hands can be computed for any position, {far:d} included; a learned table"
                " ends. But a network only learns to *use* the positions it is trained on: sums of"
                " hands that it has never met can mislead every layer that follows.",
                "Press et al. (2022) measured it: past the length they were trained on, models with"
                " sinusoidal positions soon grew worse, rotary ones somewhat later, while those"
                " with ALiBi held.",
            ),
            tries=(
                Try("Position 511", {"far": 511}),
                Try("Position 512", {"far": 512}),
            ),
        ),
    ),
    takeaways=(
        "Without positions and without a causal mask, attention is blind to order: permuting the"
        " words only permutes the vectors.",
        "Sine and cosine of one pair must share one frequency. Then the dot product of two"
        " positions depends on their distance alone.",
        "Fixed positions have no parameters and can be computed for any position, though a network"
        " learns only the lengths it is trained on; learned ones cost a vector each and end.",
    ),
    misreading=Misreading(
        "A decoder is blind to order too.",
        "Its causal mask shows each token a different number of others.",
    ),
    plan=Plan(
        aim="Without a mask, attention ignores order; positions are added to the words.",
        show="The clock hands; “dog bites man” with and without positions.",
        ask="No positions, no mask, and the words reversed. The new vectors **are the same, in"
        " reversed order** · change · become equal · become zero.",
    ),
    code=(
        "models.positional.sinusoidal",
        "models.positional.Sinusoidal",
        "models.positional.Learned",
        "models.lessons.order.permuted",
        "models.lessons.order.misread",
    ),
    pages=(
        Page(
            "This table, and all other schemes, on the Positions page",
            "positions",
            {"length": 60, "width": 32, "position": 1, "dim": 0},
        ),
    ),
    exercise="04-sinusoidal-positions",
)
