"""The story of the decoder: a masked grid that grows by a token."""

from viz.lessons.inputs import Count, OneOf, Word
from viz.lessons.story import SMOLLM2, Lesson, Misreading, Option, Page, Plan, Question, Step, Try

SMALL = {"text": "the king saw", "written": 5}  # what the small network knows
FRAMED = {"written": 9}  # as much of a sentence as there is room for

LESSON = Lesson(
    name="decoder",
    place=110,
    title="The decoder and masks",
    icon="visibility_off",
    line="Writing a word at a time, without seeing what comes next.",
    parts=("masked attention",),
    needs=("block", "head_layer"),
    minutes=20,
    figure="A decoder writes a sentence",
    computed=SMOLLM2,
    real=("smollm2",),
    inputs={
        "text": Word("The sun rises in the"),
        "written": Count(6, 0, 9),
        "window": Count(11, 1, 11),
        "ahead": Count(0, 0, 10),
        "network": OneOf("smollm2", ("smollm2", "trained", "copying")),
        "head": Count(0, 0, 3),
        "place": OneOf("13.8", ("13.8", "16.0", "11.6", "18.8")),
    },
    steps=(
        Step(
            "read",
            "A decoder predicts the next token",
            (
                "A [[decoder]] turns a text into a probability for every token that could come"
                " next. This one is SmolLM2, a small language model for everyday text: 30 blocks of"
                " nine heads, and a vocabulary of 49,152 tokens. It has read a few words, without"
                " the begin symbol that many networks put first; on the right are the three"
                " likeliest next tokens.",
                "Each row of the grid holds the @weight(weights) of one @query(query): how much"
                " that token attends to each @key(key), here in head {head:d} of layer {layer:d}."
                " Hover over a cell to see its score.",
            ),
            tries=(
                Try("The capital of France is", {"text": "The capital of France is"}),
                Try("The opposite of hot is", {"text": "The opposite of hot is"}),
            ),
        ),
        Step(
            "mask",
            "No position may look ahead",
            (
                "A [[causal mask]] hides every later token. It acts on the *scores*, before the"
                " [[softmax]]: the triangle above the diagonal is set to −∞. As exp(−∞) is 0,"
                " these @weight(weights) are exactly 0, and the rest of the row still sums to 1.",
                "The first row sees only itself, so its only weight is 1, whatever its score. Try"
                " other heads: one looks at the token before, one at itself, and one, far up,"
                " leaves nearly all of its weight on the first token.",
            ),
            tries=(
                Try("The token before", {"place": "16.0"}),
                Try("Itself", {"place": "11.6"}),
                Try("The first token", {"place": "18.8"}),
            ),
            formulas=(
                "@weight(A) = softmax(@query(Q) @key(K)^{T} / √d + M)",
                "M_{ij} = 0 where j ≤ i, −∞ where j > i",
            ),
        ),
        Step(
            "padding",
            "Padding, and rows that see nothing",
            (
                "[[padding|Padding]] makes all texts of a [[batch]] equally long. It is masked as"
                " a column: no token gives it weight, here under a causal mask as well. What the"
                " padding itself attends to is never used.",
                "Much code writes −1e9 in place of −∞. As long as a @query(query) sees some"
                " @key(key), both give 0. If all its keys are hidden, −1e9 makes all scores equal,"
                " and softmax spreads the weight over exactly the keys that should be hidden. −∞"
                " gives 0/0, not a number (NaN), in a plain softmax; the attention here gives such"
                " a row weights of 0. In float16 −1e9 overflows to −∞.",
            ),
            code=(
                "scores = scores.masked_fill(mask == 0, -1e9)",
                "mask = padding_mask & causal_mask",
            ),
            board=True,
            computed="random numbers, and from the scores on the screen",
        ),
        Step(
            "write",
            "Each token adds a row and a column",
            (
                "The likeliest token is appended and the network runs again: that is"
                " [[greedy]] generation. Each @output(written token) adds a row, its own query,"
                " and a column, its key. The new column is masked for all earlier rows, so"
                " **nothing that was there changes**.",
                "Press the framed prediction to write it, move the slider, or press Play.",
            ),
            tries=(
                Try("She opened the door and", {"text": "She opened the door and", **FRAMED}),
                Try("Nothing written yet", {"written": 0}),
            ),
            ask=Question(
                "A token is appended. Which of the weights that are already there change?",
                (
                    Option(
                        "All: every row is normalised again",
                        "A row is normalised over the keys it sees, and none of the earlier rows"
                        " sees the new one.",
                    ),
                    Option(
                        "None",
                        "The new column lies above the diagonal for every earlier row: its"
                        " weight there is 0.",
                        right=True,
                    ),
                    Option(
                        "Only those of the row before",
                        "That row may not look ahead either: the new key is masked for it too.",
                    ),
                ),
            ),
            inputs={"written": 3},
        ),
        Step(
            "parallel",
            "All positions at once",
            (
                "Every row makes a prediction, not only the last: each position predicts the"
                " token after it. So in training one pass over a text of n tokens is n"
                " exercises, computed **in parallel**, and each is compared with the token that"
                " does come next. A bold prediction equals it; hover for the probability of the"
                " right one.",
                "Here the right token gets {mean_share:.0%} on average. Much of it cannot be"
                " known: “The sun” may go on in many ways, “golden” hardly.",
            ),
            code=(
                "logits = decoder(ids)  # token × vocabulary",
                "loss = cross_entropy(logits[:-1], ids[1:])",
            ),
        ),
        Step(
            "edge",
            "Drag the edges of the mask",
            (
                "Both handles can be dragged, or moved with the arrow keys. The lower one leaves"
                " each @query(query) a **window** of the last w tokens; the @weight(weights) that"
                " remain are renormalised to a sum of 1. Here the mask moves in all heads of all"
                " layers.",
                "Under the mask as it is now, “{fell.answer:s}” after “{fell.token:s}” has a"
                " probability of {fell.now:.0%}; under the causal mask it has {fell.causal:.0%}. A"
                " window hides what a prediction rests on, and the first token, where most heads"
                " of this network leave weight that they have no use for; without a mask all"
                " inputs are unlike those of training.",
            ),
            tries=(
                Try("Window of 3", {"window": 3}),
                Try("Causal again", {}),
                Try("No mask", {"ahead": 10}),
            ),
            inputs={"window": 3},
        ),
        Step(
            "cheat",
            "Without a mask the answer is in sight",
            (
                "With the upper handle dragged to the right, each position sees its own"
                " @output(answer), the framed cell. A head that looks there can copy it. The"
                " copying network does just that: its weights are set by hand to find the next"
                " position. Without a mask the right token has {sight.copying.unmasked:.0%} on"
                " average; under the mask it has {sight.copying.causal:.0%}, for then the answer"
                " is hidden.",
                "A small network trained under the mask never learned to copy, because it never"
                " could. Unmasked, it gets inputs that it has not been trained on:"
                " {sight.trained.unmasked:.0%}, and {sight.trained.causal:.0%} under the mask.",
            ),
            tries=(
                Try("Copies, no mask", {"network": "copying", "ahead": 10, **SMALL}),
                Try("Copies, causal mask", {"network": "copying", **SMALL}),
                Try("Trained, no mask", {"network": "trained", "ahead": 10, **SMALL}),
            ),
            ask=Question(
                "A decoder is trained without a mask, and its loss falls to almost 0. What has it"
                " learned?",
                (
                    Option(
                        "To write excellent English",
                        "It never had to predict: the next token was among its keys. When it"
                        " writes, there is no next token to look at.",
                    ),
                    Option(
                        "To copy the next token",
                        "That is by far the easiest way to a low loss, and useless for writing:"
                        " then the next token does not exist yet.",
                        right=True,
                    ),
                    Option(
                        "Nothing: without a mask no gradient flows",
                        "Gradients flow, and even to more keys. They lead to the easiest solution.",
                    ),
                ),
            ),
            inputs={"network": "copying", "ahead": 10, **SMALL},
            computed="these weights: those of the network you choose, trained or set by hand",
        ),
        Step(
            "cache",
            "Keys and values are kept",
            (
                "Under a causal mask earlier rows never change, so nor do the @key(keys) and"
                " @value(values) of earlier tokens, in any layer. A **key–value cache** keeps"
                " them. For each new token only one row is computed: its @query(query) against"
                " all keys.",
                "With and without the cache the probabilities of this text differ by at most"
                " {difference:.1e}, by rounding. The price is memory: two vectors per token,"
                " layer and head: SmolLM2 keeps those of three heads a layer, which three query"
                " heads share each.",
            ),
            code=(
                "@key(k) = cat([cache.k, new.k])",
                "@value(v) = cat([cache.v, new.v])",
                "@weight(α) = softmax(@query(new.q) @ @key(k).mT / √d)  # one row",
                "@output(out) = @weight(α) @ @value(v)",
            ),
        ),
    ),
    takeaways=(
        "A mask acts on the scores, before the softmax: the rest of the row still sums to 1.",
        "Under a causal mask the results of earlier tokens never change, so training can process a"
        " whole text at once, and generation one token at a time.",
        "Hidden keys get −∞. A large negative number hides a key only if the query sees another"
        " one.",
    ),
    misreading=Misreading(
        "The mask is there because the future is unknown.",
        "In training it is known, and would be copied.",
    ),
    plan=Plan(
        aim="Training predicts every next token at once, so later ones must be hidden.",
        show="The causal mask, then padding hidden by −1e9 and by −∞; then drag the edges of the"
        " mask.",
        ask="Where does the mask act? On the weights after the softmax · **on the scores before"
        " it** · on the values · on the loss.",
    ),
    code=(
        "models.attention.mask.Mask.visible",
        "models.attention.pattern.Pattern.scores",
        "models.attention.pattern.Pattern.weights",
        "models.lessons.hidden_row.hidden_row",
        "models.decoder.Decoder.forward",
        "models.decode.greedy",
    ),
    pages=(
        Page(
            "Open this sentence in the explorer",
            "explore",
            {"model": "smollm2", "input": "The keys to the cabinet", "layer": 24, "head": 4},
        ),
    ),
    exercise="02-masks",
)
