"""The story of many heads."""

from viz.pages.lessons.story import Option, Question, Step, Story, Try

SENTENCE = "The animal didn't cross the street because it was too tired."

STORY = Story(
    figure="heads",
    title="A band that splits into heads and joins again",
    inputs={
        "heads": "3",
        "token": 2,
        "head": 2,
        "trained": "no",
        "sentence": SENTENCE,
        "layer": 0,
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
        ),
        Step(
            "trained",
            "The heads of MiniLM",
            (
                "These are real maps: the 12 heads of one layer of [[MiniLM]], a trained encoder."
                " Each is named after the habit it comes closest to; its mean weight on that token"
                " is shown: the previous or next token, itself, the same word, the first or last"
                " token. A head with no habit above 0.4 is called “broad” or “mixed”.",
                "In layer 0, head 2 gives nearly all weight to the token before. Heads with nothing"
                " useful to attend to often put their weight on [CLS] or [SEP] (Clark et al."
                " 2019). A habit on one sentence does not prove what a head is for.",
            ),
            tries=(
                Try("Layer 0, head 2", {"layer": 0, "head": 2}),
                Try(
                    "Another sentence",
                    {"sentence": "Yesterday my sister planted seven small trees.", "head": 2},
                ),
            ),
        ),
    ),
)
