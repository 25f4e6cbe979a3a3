"""The story of sampling and of the key–value cache."""

from viz.lessons.inputs import Count, Sentence, Within
from viz.lessons.story import SIZES, Lesson, Misreading, Option, Plan, Question, Step, Try

LESSON = Lesson(
    name="sampling",
    place=120,
    title="Sampling and the cache",
    icon="casino",
    line="From probabilities to a written token, and why the next one is cheap.",
    parts=("output",),
    needs=("decoder",),
    minutes=15,
    figure="The next word: drawn, then remembered",
    computed="these weights: those of SmolLM2",
    real=("smollm2",),
    inputs={
        "start": Sentence("The capital of France is"),
        "temperature": Within(1, 0.1, 5),
        "k": Count(0, 0, 10),
        "p": Within(1, 0.05, 1),
        "written": Count(0, 0, 11),
        "length": Count(512, 2, 4096),
    },
    steps=(
        Step(
            "probabilities",
            "A probability for every word",
            (
                "SmolLM2, a [[decoder]] of 30 layers, reads the text and gives each [[token]] of"
                " its vocabulary a [[logits|logit]] z: {count:,d} numbers. [[softmax|Softmax]]"
                " makes them probabilities; the ten largest are shown.",
                "Which one is written? The likeliest, “{best:s}”, is the [[greedy]] choice:"
                " always the same, and long texts written this way tend to repeat themselves."
                " **Sampling** draws a word by its probability instead.",
            ),
            formulas=("@output(p_{i}) = exp(z_{i}) / Σ_{j} exp(z_{j})",),
        ),
        Step(
            "temperature",
            "Temperature: bolder or safer",
            (
                "The logits are divided by the [[temperature]] T first. Below 1 the likeliest words"
                " gain, above 1 the unlikely ones; the order never changes. Outlines show T = 1.",
                "Now “{best:s}” has {warm.0:.1%}, and all words outside the first ten have"
                " {others.warm:.1%} together. Each of those is rare, but there are many of them:"
                " a bold setting soon writes nonsense.",
            ),
            formulas=("@output(p_{i}) = exp(z_{i} / T) / Σ_{j} exp(z_{j} / T)",),
            tries=(
                Try("T = 0.3: nearly greedy", {"temperature": 0.3}),
                Try("T = 3: almost anything", {"temperature": 3}),
            ),
            ask=Question(
                "All logits are divided by T = 3. Which word is the likeliest then?",
                (
                    Option(
                        "The same as before",
                        "Dividing by a positive number keeps the order, and softmax keeps it too."
                        " Only the distances shrink.",
                        right=True,
                    ),
                    Option(
                        "Another one: the temperature reshuffles them",
                        "The order never changes. It is the *draw* that picks other words more"
                        " often, because their probabilities have grown.",
                    ),
                    Option(
                        "None: all are equally likely",
                        "That is so only in the limit of a very large T. At T = 3 the order is"
                        " still there.",
                    ),
                ),
            ),
            inputs={"temperature": 3},
        ),
        Step(
            "cut",
            "Cut the tail off",
            (
                "**Top-k** keeps the k likeliest words: drag the line. **Top-p** keeps the fewest"
                " likeliest words that together reach probability p (the right column adds them up;"
                " Holtzman et al. 2020): few where the network is sure, many where it is not.",
                "Hatched words can no longer be drawn: {cut:.1%} of the probability. What is left,"
                " {kept:,d} of {count:,d} tokens, is scaled to sum to 1; the outlines show it"
                " before.",
            ),
            formulas=("@output(p_{i}) = exp(z_{i} / T) / Σ_{j kept} exp(z_{j} / T)",),
            tries=(
                Try("T = 3, top-k = 3", {"temperature": 3, "k": 3}),
                Try("T = 1, top-p = 0.9", {"p": 0.9}),
                Try("T = 3, top-p = 0.9", {"temperature": 3, "p": 0.9}),
            ),
            inputs={"temperature": 3, "k": 3},
        ),
        Step(
            "cache",
            "Remember keys and values",
            (
                "The word is written, and the network reads a text one token longer. Under a"
                " [[causal mask]] the @key(keys) and @value(values) of earlier tokens do not"
                " change, so they are **cached**. Only the new token gets a @query(query), a key"
                " and a value; it attends to all that are kept.",
                "Press the button below the row to write. Nothing of the answer is lost: all"
                " probabilities agree within {difference:.0e}, which is rounding.",
                "For each token SmolLM2 keeps 30 layers × 2 × 3 heads × 64 numbers, in 16 bits"
                " {kept_kib:.1f} KiB. Its nine heads have a query each, but three of them share a"
                " key and a value: with nine of each it would be 67.5 KiB.",
            ),
            code=(
                "@key(keys) = cat([@key(keys), @key(k_new)])",
                "@value(values) = cat([@value(values), @value(v_new)])",
                "@weight(α) = softmax(@query(q_new) @ @key(keys).T / sqrt(d))",
                "@output(out) = @weight(α) @ @value(values)",
            ),
        ),
        Step(
            "cost",
            "Time for memory",
            (
                "This is a decoder of 12 layers of width 768 with a vocabulary of 50,000 tokens."
                " Without a cache, the token after {length:,d} others costs **{without:,d}**"
                " multiplications, with one **{with:,d}**: {times:,.1f} times fewer. Drag the ring"
                " to other lengths.",
                "The price is memory: a key and a value per token and layer, here {memory:,.1f} MiB"
                " in 16-bit numbers. It grows with the text, and the caches of long"
                " texts and many users fill a graphics card.",
            ),
            ask=Question(
                "A network of 12 layers of width 768 has read 512 tokens. How many times fewer"
                " multiplications does the next token take with a cache?",
                (
                    Option(
                        "About 2 times",
                        "Far more: without a cache *all* 512 tokens are worked out again for every"
                        " new one. For {length:,d} tokens it is {times:,.1f} times.",
                    ),
                    Option(
                        "About 20 times",
                        "More: every layer would work out all 512 tokens again instead of one. For"
                        " {length:,d} tokens it is {times:,.1f} times.",
                    ),
                    Option(
                        "More than 300 times",
                        "In the layers 512 times fewer; the logits, which are computed once either"
                        " way, bring it down. For {length:,d} tokens it is {times:,.1f} times.",
                        right=True,
                    ),
                ),
            ),
            computed=SIZES,
        ),
    ),
    takeaways=(
        "Temperature reshapes the probabilities; top-k and top-p cut off the unlikely tail.",
        "Top-k keeps a fixed number of tokens, top-p as many as the network's doubt requires.",
        "With a key–value cache a step computes one token instead of all. The outputs are equal;"
        " only time and memory change.",
    ),
    misreading=Misreading(
        "The cache approximates.",
        "Under a causal mask keys and values of earlier tokens do not change, so nothing is lost.",
    ),
    plan=Plan(
        aim="From probabilities to a written token, and why a cache changes time but not results.",
        show="“The capital of France is” at T = 0.3, 1 and 3; then top-p = 0.9; then the"
        " cost with and without a cache.",
        ask="T goes towards 0. Sampling becomes **greedy** · uniform · undefined · the same as"
        " top-p.",
    ),
    code=(
        "models.lessons.sampling.next_probabilities",
        "models.lessons.sampling.step_cost",
        "models.decode.greedy",
    ),
    exercise="07-decoding",
)
