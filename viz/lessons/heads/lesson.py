"""The story of many heads."""

from viz.lessons.inputs import Count, OneOf, Sentence
from viz.lessons.story import (
    SIZES,
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

SENTENCE = "The animal didn't cross the street because it was too tired."

CELL = {"trained": "cell", "layer": 3, "head": 1}  # “it” attends to “animal”

LESSON = Lesson(
    name="heads",
    place=70,
    title="Many heads",
    icon="view_column",
    line="Several attentions side by side, each free to look for something else.",
    parts=("heads",),
    real=("smollm2",),
    needs=("query_key_value",),
    minutes=20,
    figure="A band that splits into heads and joins again",
    computed="these weights: random ones, of width 12",
    inputs={
        "heads": OneOf("3", ("1", "2", "3", "4", "6", "12")),
        "token": Count(2, 0, 3),
        "head": Count(2, 0, 11),
        "trained": OneOf("no", ("no", "yes", "cell")),
        "among": OneOf("all", ("all", "words")),
        "sentence": Sentence(SENTENCE),
        "layer": Count(0, 0, 5),
        "query": Count(10, 0, 19),
        "key": Count(2, 0, 19),
        "element": Count(0, 0, 31),
    },
    steps=(
        Step(
            "band",
            "One token, three projections",
            (
                "Each token is a [[vector]], here of 12 numbers: x is the vector of “{word:s}”."
                " Three learned matrices turn it into a @query(query), a @key(key) and a"
                " @value(value), of 12 numbers each. Blue cells are negative numbers, brown ones"
                " positive.",
                "The words and the matrices are random here. What follows is about how the numbers"
                " are divided, not about what they mean. Press another word to follow it.",
            ),
            formulas=("@query(q) = x W^{Q}   @key(k) = x W^{K}   @value(v) = x W^{V}",),
        ),
        Step(
            "split",
            "The band splits",
            (
                "The 12 numbers are cut into {count:d} equal parts of {width:d}: the"
                " [[head|heads]]. Nothing is computed by cutting: the projections stay one large"
                " matrix product each.",
                "Head i sees only its own columns of W^{Q}, W^{K} and W^{V}. They project x onto"
                " {width:d} directions of the 12: a **representation subspace** of its own"
                " (Vaswani et al. 2017, section 3.2.2). What lies outside it, this head cannot"
                " compare.",
            ),
            formulas=("d = dim / heads = 12 / {count:d} = {width:d}",),
            code=("q = rearrange(@query(q), 'b t (h d) -> b h t d', h=h)",),
        ),
        Step(
            "maps",
            "Each head attends on its own",
            (
                "Every head compares its own parts of the queries and keys, and takes its own"
                " [[softmax]]: one map of @weight(weights) for each head, a row for each query."
                " Press a map to read it.",
                "With three heads, “was” attends mostly to “the” in head 0, to “cat” in head 1 and"
                " to itself in head 2. One head would have to settle for a single mixture.",
            ),
            formulas=("@weight(A_{i}) = softmax(@query(q_{i}) @key(k_{i})^{T} / √d)",),
            ask=Question(
                "All heads read the same four words. Will a word give them the same weights in"
                " every head?",
                (
                    Option(
                        "Yes: the words are the same",
                        "The words are, but each head compares other numbers of their queries and"
                        " keys, so its scores differ, and its weights.",
                    ),
                    Option(
                        "No: each head compares other numbers",
                        "Its scores come from its own part of q and k alone, so its weights may"
                        " rank the words differently.",
                        right=True,
                    ),
                    Option(
                        "Only training makes them differ",
                        "Training decides *how* they differ. Even with random matrices, as here,"
                        " no two heads agree.",
                    ),
                ),
            ),
            tries=(
                Try("“cat”, two heads", {"heads": "2", "token": 1}),
                Try("12 heads of width 1", {"heads": "12"}),
            ),
        ),
        Step(
            "join",
            "Outputs join, and are mixed",
            (
                "Each head returns its weighted sum of @value(values): {width:d} numbers. Side by"
                " side, {count:d} heads make 12 numbers again, as many as x had.",
                "So far no number from one head has met a number from another. W^{O} changes that:"
                " each number of the @output(output) is a sum over all 12, so over all heads. It is"
                " the same as giving each head its own rows of W^{O} and adding up what the heads"
                " contribute.",
            ),
            formulas=("@output(out) = [ head_{0} … head_{h−1} ] W^{O}",),
        ),
        Step(
            "eight",
            "Eight heads: Z₀ … Z₇",
            (
                "The first [[transformer]] had eight heads. Each has matrices of its own,"
                " initialised at random, and returns its own result Z_{i}: here four words × two"
                " numbers. Side by side they are 16 numbers for each word, as wide as the model,"
                " and W^{O} mixes them: every number of Z is a sum over all 16.",
                "Before training the heads differ only in their random numbers. Training makes"
                " them differ in what they look for.",
            ),
            formulas=("Z = [ Z_{0} … Z_{7} ] W^{O}",),
            board=True,
            computed="these weights: random ones, of width 16",
        ),
        Step(
            "cost",
            "What more heads cost",
            (
                "With the width divided among them, {count:d} heads have the same"
                " {now.parameters:,d} [[parameters]] as one, and the same"
                " {now.projections:,d} + {now.products:,d} multiplications.",
                "But every head has its own map. Exponentials, and weights where they are stored,"
                " grow with heads × tokens²: here {one.exponentials:d} for one head and"
                " {now.exponentials:d} for {count:d}. For long texts that is memory worth saving:"
                " fused kernels never store the whole map.",
            ),
            ask=Question(
                "The width stays 12. From one head to twelve, what grows?",
                (
                    Option(
                        "The number of parameters",
                        "The matrices stay 12 × 12 and are only cut differently:"
                        " {now.parameters:,d} parameters for any number of heads.",
                    ),
                    Option(
                        "All of the work",
                        "Heads are narrower in proportion, so the matrix products cost the same."
                        " Only the softmax runs once for every head.",
                    ),
                    Option(
                        "The work of the softmax, and the weights",
                        "Each head has a map of tokens × tokens weights: 12 maps in place of one.",
                        right=True,
                    ),
                    Option(
                        "Nothing",
                        "Nearly: parameters and matrix products stay. But each head has a map of"
                        " its own, with an exponential for each weight.",
                    ),
                ),
            ),
            computed=SIZES,
        ),
        Step(
            "shapes",
            "Any number, any width",
            (
                "The width of a head is free. Eight heads of 64 in a model of 128 are 512 numbers"
                " together, and W^{O} brings them back to 128. Twenty heads, each as wide as a"
                " model of 10, have 200 numbers for each token; their q and k are often divided by"
                " ∜10 each instead of their product by √10. One head as wide as the model needs no"
                " W^{O}.",
                "Code for `torch.bmm` merges batch and heads: 8 × 20 = 160 matrices of 5 × 10."
                " Input and output may differ in width, as in the last column, from 5 to 100. Then"
                " no residual connection fits, and some code adds the values instead, a **value"
                " shortcut**: out + v.",
            ),
            code=(
                "q = @query(q).reshape(b, t, h, d).permute(0, 2, 1, 3)",
                "q = q.reshape(b * h, t, d)  # batch × heads",
                "@weight(w) = softmax(bmm(q, k.mT) / sqrt(d), dim=-1)",
            ),
            board=True,
            computed=SIZES,
        ),
        Step(
            "trained",
            "The heads of MiniLM",
            (
                "These are real maps: the 12 heads of one layer of [[MiniLM]], a trained encoder."
                " Each is named after the habit it comes closest to; its mean weight on that token"
                " is shown: the previous or next token, itself, the same word, the first or last"
                " token. A head with no habit above 0.4 is called “broad” or “mixed”.",
                "In layer 1, head 8 looks at the next token and most others at the first, [CLS]:"
                " heads with nothing useful to attend to often put their weight on [CLS] or [SEP]"
                " (Clark et al. 2019). In layer 0, head 2 gives nearly all weight to the token"
                " before. A habit on one sentence does not prove what a head is for.",
            ),
            tries=(
                Try("Layer 0, head 2", {"layer": 0, "head": 2}),
                Try(
                    "Another sentence",
                    {"sentence": "Yesterday my sister planted seven small trees.", "head": 2},
                ),
            ),
            inputs={"layer": 1, "head": 8},
            computed="these weights: those of MiniLM",
        ),
        Step(
            "cell",
            "From a cell to one multiplication",
            (
                "Press a cell of the map: it opens. In this head “{cell.asks:s}” has a"
                " @query(query) of {cell.width:d} numbers and “{cell.asked:s}” a @key(key) of"
                " {cell.width:d}. They are multiplied one by one; each bar is a product. Press a"
                " bar: below is that one multiplication.",
                "The bars sum to {cell.sum:.2f}; divided by √{cell.width:d} that is the [[score]],"
                " {cell.score:.2f}, and the softmax over its row gives the @weight(weight)"
                " {cell.weight:.2f}. This one map takes {cell.of_map:,d} such multiplications;"
                " MiniLM has 72 maps.",
            ),
            formulas=("@query(q) · @key(k) = Σ_{i} @query(q_{i}) @key(k_{i})",),
            tries=(
                Try("“it” and “street”", {**CELL, "query": 10, "key": 8}),
                Try("“tired” and “animal”", {**CELL, "query": 13, "key": 2}),
            ),
            inputs=CELL,
            computed="these weights: those of MiniLM",
        ),
        Step(
            "deep",
            "The heads of a language model",
            (
                "SmolLM2 has {board.heads:d} heads, nine in each of 30 layers. On this sentence"
                " {board.count:d} of them give their weight mostly to the first token, where heads"
                " of causal models leave weight that they have no use for: an **attention sink**."
                " {board.others:d} have no habit above 0.4.",
                "The few others have clear roles, and the table names the clearest of each. What"
                " such a head is for, and what is lost without it, is the subject of the lesson"
                " “What heads do”.",
            ),
            tries=(
                Try(
                    "A repeat",
                    {"sentence": "magnet violet cobalt planet magnet violet cobalt planet"},
                ),
            ),
            board=True,
            computed=SMOLLM2,
        ),
    ),
    takeaways=(
        "All heads at once are one large matrix product, cut into parts afterwards: the same"
        " numbers as one head after another.",
        "With model width / heads each, the number of heads changes neither the [[parameters]] nor"
        " the cost of the matrix products; only the softmax, and the weights if they are kept,"
        " grow with it. With heads as wide as the model, everything grows with their number.",
        "Dividing q and k by ∜d each is the same as dividing their product by √d; it only makes a"
        " difference for large numbers in float16 ([[half precision]]).",
        "Heads learn to do different things in training. At first only their random weights"
        " differ.",
    ),
    misreading=Misreading(
        "Each head reads its own slice of the input.",
        "Each projects the full width; only the projections are cut into parts.",
    ),
    plan=Plan(
        aim="Several attentions side by side, then one matrix that mixes their results.",
        show="Z₀ … Z₇ and the shapes; then MiniLM's heads: layer 0, head 2 looks one token back.",
        ask="A model of width 128 goes from 1 head to 8, each 128 / 8 wide. Its attention"
        " parameters are **as many** · 8 times as many · an eighth · 64 times as many.",
    ),
    code=(
        "models.attention.MultiHeadAttention.forward",
        "models.simple.head_by_head",
        "analysis.habits.habits",
    ),
    pages=(
        Page(
            "Open layer 0, head 2 of MiniLM in the explorer",
            "explore",
            {
                "model": "minilm",
                "input": "The animal didn't cross the street because it was too tired.",
                "layer": 0,
                "head": 2,
            },
        ),
    ),
    exercise="03-multi-head-attention",
)
