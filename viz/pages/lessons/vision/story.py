"""The story of the vision transformer: patches become a sequence, and are attended to."""

from viz.pages.lessons.story import Option, Question, Step, Story, Try

STORY = Story(
    figure="vision",
    title="From a picture to a sequence, and back",
    inputs={"picture": "a-star", "shuffle": "none", "layer": 1, "head": 1, "position": 27},
    steps=(
        Step(
            "cut",
            "A picture is cut into patches",
            (
                "A [[transformer]] reads a [[sequence]] of vectors, so the picture is cut into"
                " squares of {patch:d} × {patch:d} pixels, the [[patch|patches]]. This picture"
                " gives {count:d} of them, and each is {flat:d} numbers: three colour values per"
                " pixel.",
                "Why not single pixels? They would be {side:d}² = 4,096 tokens, and every head"
                " would need a weight for every pair of them.",
            ),
        ),
        Step(
            "sequence",
            "The patches lift off into a row",
            (
                "Row by row the patches are lined up, like the words of a text. One"
                " [[linear layer]], the same for all, maps the {flat:d} numbers of each patch to"
                " {width:d}: that is a [[token]]. A [[convolution]] whose stride equals its"
                " kernel size computes the same.",
            ),
            formulas=("x_{i} → x_{i} E,  i = 1 … N",),
        ),
        Step(
            "class",
            "A class token in front",
            (
                "One more vector is put in front, the [[class token]]. It is a parameter, the"
                " same for every picture, and stands for no patch. Its @query(query) can gather"
                " from all patches what the answer needs; with it there are {tokens:d} tokens.",
            ),
            formulas=("[x_{class}; x_{1} E; …; x_{N} E]",),
        ),
        Step(
            "positions",
            "Positions are added",
            (
                "To each token a vector for its position is added. Press a bar below a patch: the"
                " bars show how similar each position's vector is to that one. Similar positions"
                " lie beside it, and also 8 positions before and after: there are the patches"
                " above and below it. The vectors encode row *and* column.",
                "This network computes them from row and column, by sines and cosines. In the"
                " original they are learned, from the index in the sequence alone, and come to"
                " reflect rows and columns.",
            ),
            formulas=("z_{0} = [x_{class}; x_{1} E; …; x_{N} E] + E_{pos}",),
            ask=Question(
                "Each position in the row gets a vector. Which other positions will have the most"
                " similar ones?",
                (
                    Option(
                        "Only the next ones in the row, before and after",
                        "Those, but not only: patches above and below each other in the picture are"
                        " 8 positions apart in the row, and their vectors are similar too.",
                    ),
                    Option(
                        "Its neighbours in the picture",
                        "The two beside it, and those 8 before and after, which lie above and"
                        " below.",
                        right=True,
                    ),
                    Option(
                        "None: every position's vector is unrelated",
                        "That would be a table of random numbers. These vectors are computed from"
                        " row and column, so neighbours are alike.",
                    ),
                ),
            ),
        ),
        Step(
            "shuffle",
            "Attention does not know where",
            (
                "If **tokens are shuffled together with their positions**, the answer stays"
                " “{before.name:s}”: the probabilities change by no more than rounding. Every sum"
                " runs over all tokens, in whatever order. If **patches alone** are shuffled, each"
                " gets the position of another: that is another picture.",
                "So nothing in attention knows two dimensions. Cutting does, and so do the"
                " position vectors here, as does resampling learned ones for another image size.",
            ),
            tries=(
                Try("Tokens with positions", {"shuffle": "tokens"}),
                Try("Patches alone", {"shuffle": "patches"}),
            ),
            ask=Question(
                "All {count:d} patch tokens are shuffled, *after* their positions were added. What"
                " happens to the answer?",
                (
                    Option(
                        "It changes: the picture is scrambled",
                        "Each token still carries its position vector, and that is all the"
                        " network knows of where it lies.",
                    ),
                    Option(
                        "It stays the same",
                        "The class token's sums run over the same keys and values in another"
                        " order.",
                        right=True,
                    ),
                    Option(
                        "It gets less certain",
                        "No number enters that depends on the order: only rounding differs.",
                    ),
                ),
            ),
            inputs={"shuffle": "tokens"},
        ),
        Step(
            "block",
            "Through the encoder's blocks",
            (
                "Each block is the [[pre-norm]] encoder block: the [[layer normalisation|norm]]"
                " stands *before* each layer, and the layer's output is added to what went in. The"
                " small grids show how long each patch's vector is after every step of block"
                " {block.layer:d}. The class token's has norm {block.class.0:.1f} at the start and"
                " {block.class.6:.1f} at the end.",
                "Attention is the only step in which patches meet; the [[feed-forward network|MLP]]"
                " processes one token at a time. Go through the layers, and compare the patches of"
                " the object with the rest.",
            ),
            formulas=(
                "z′_{l} = MHSA(LN(z_{l−1})) + z_{l−1}",
                "z_{l} = MLP(LN(z′_{l})) + z′_{l}",
            ),
            code=(
                "z = z + attention(norm1(z))",
                "z = z + mlp(norm2(z))",
            ),
            tries=(
                Try("First block", {"layer": 0}),
                Try("Last block", {"layer": 3}),
            ),
        ),
        Step(
            "attention",
            "Attention, back over the picture",
            (
                "The patches return to their places, lit by the @weight(weights) of the class"
                " token's @query(query) in one head of the trained network; the clearest are"
                " those it attends to most, one of them with {largest:.0%}. It gives itself"
                " {own:.0%}.",
                "Go through layers and heads: they differ. A weight shows where the head reads,"
                " not what it takes from there.",
            ),
            formulas=("@weight(a) = softmax(@query(q_{class}) @key(K)^{T} / √d)",),
            tries=(
                Try("Layer 0, head 3", {"layer": 0, "head": 3}),
                Try("Layer 3, head 3", {"layer": 3, "head": 3}),
            ),
        ),
        Step(
            "answer",
            "One token becomes the answer",
            (
                "After {depth:d} blocks the state of the class token is normalised: the head reads"
                " only y; the outputs of the patches are ignored. One linear layer turns y into"
                " @output(logits), and a [[softmax]] for each question into probabilities:"
                " “{answer.name:s}” gets {answer.share:.0%}.",
            ),
            formulas=("y = LN(z_{L}^{0})", "@output(logits) = W y + b"),
            code=(
                "z = blocks(z)  # token × width",
                "y = layer_norm(z[0])  # the class token",
                "@output(logits) = y @ W.T + b",
            ),
            tries=(
                Try("A heart", {"picture": "a-heart"}),
                Try("A moon, scrambled", {"picture": "a-moon", "shuffle": "patches"}),
            ),
        ),
    ),
)
