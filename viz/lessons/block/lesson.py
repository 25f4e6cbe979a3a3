"""The story of the block: the residual stream."""

from viz.lessons.inputs import Count, OneOf, Reals, Sentence, Within, Word
from viz.lessons.story import (
    ON_SCREEN,
    SMOLLM2,
    Lesson,
    Misreading,
    Option,
    Other,
    Page,
    Plan,
    Question,
    Step,
    Try,
)

REVERSE = "reverse"
REVERSED = "these weights: those of a network trained to reverse words"
ON = (0, 0, 0, 0)
X = (1.2, -0.4, 0.6, 0.2, -0.8, 1.5, 0.3, -1.1)  # two words of four features
FAR = (1.2, -0.4, 0.6, 0.2, 30, 1.5, 0.3, -1.1)
DOUBLED = (2.4, -0.8, 1.2, 0.4, -0.8, 1.5, 0.3, -1.1)

ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "leaky_relu")

NAME = "When Mary and John went to the store, John gave a drink to"
REPEAT = "magnet violet cobalt planet magnet violet cobalt"

LESSON = Lesson(
    name="block",
    place=90,
    title="The transformer block",
    icon="layers",
    line="Attention, residual connections, norms and a feed-forward network.",
    parts=("norm", "feed-forward"),
    real=("smollm2",),
    needs=("heads",),
    minutes=25,
    figure="The residual stream",
    computed=SMOLLM2,
    inputs={
        "network": OneOf("smollm2", ("smollm2", REVERSE)),
        "view": OneOf("stream", ("stream", "lens", "without")),
        "text": Sentence("The capital of France is"),
        "token": Count(15, 0, 15),
        "sublayer": Count(46, 0, 59),
        "way": OneOf("part", ("part", "path")),
        "word": Word("stream"),
        "place": Count(0, 0, 11),
        "off": Reals(ON),
        "norm": OneOf("pre", ("pre", "post")),
        "x": Reals(X, 40),
        "gain": Within(1, -3, 3),
        "shift": Within(0, -3, 3),
        "order": OneOf("post", ("pre", "post")),
        "activation": OneOf("relu", ACTIVATIONS),
    },
    steps=(
        Step(
            "stream",
            "A stream for each token",
            (
                "SmolLM2, a language model of 30 blocks, reads “{text:s}”. Each token starts as a"
                " [[vector]] of 576 numbers, its embedding, and runs through the network from left"
                " to right: the **residual stream**. The band is as wide as the vector of"
                " “{token:s}” is long: its norm is {first:.1f} at first and {last:.0f} after 30"
                " blocks.",
                "If no block added anything, the vector would arrive unchanged. Press another"
                " token to follow it. The first one is special: the norm of “{sink.token:s}”"
                " reaches {sink.norm:,.0f}. Many heads leave weight there that they have no use"
                " for.",
            ),
            other=Other(
                REVERSE,
                REVERSED,
                (
                    "A network of two blocks, trained for this app, reverses words. Each letter is"
                    " a [[vector]] of 64 numbers: its embedding plus its position. It runs through"
                    " the network from left to right: the **residual stream**. The band is as wide"
                    " as the vector of “{letter:s}” is long; its norm is {norms.0:.1f}.",
                    "If no sub-layer added anything, it would arrive unchanged. Press another"
                    " letter to follow it, or type a word of 4 to 12 letters.",
                ),
            ),
        ),
        Step(
            "attention",
            "Attention reads, and writes",
            (
                "[[attention|Attention]] reads a normalised copy of the stream, of this token and"
                " of all earlier ones, and **adds** its output to it: the [[residual connection]]."
                " The stream is never replaced. In block {block:d} a vector of norm"
                " {sum.added:.1f} is added to one of norm {sum.stream:.1f}, {sum.share:.0%} of it,"
                " and their sum has norm {sum.total:.1f}. Press other blocks.",
                "What is read has norm {parts.0.read:.1f}: the norm here is RMSNorm, a"
                " [[layer normalisation|layer norm]] that subtracts no mean. So however long the"
                " stream has grown, every block reads numbers of the same size. Attention is where"
                " tokens exchange information, and the only place in a block.",
            ),
            formulas=("x ← x + attention(norm(x))",),
            ask=Question(
                "The stream has norm {sum.stream:.1f}; attention adds a vector of norm"
                " {sum.added:.1f}. What is the norm of the sum?",
                (
                    Option(
                        "The sum of both norms",
                        "Only if both vectors pointed the same way: {sum.most:.1f}. They do not,"
                        " and the norm is {sum.total:.1f}.",
                    ),
                    Option(
                        "Something between their difference and their sum",
                        "From {sum.least:.1f} to {sum.most:.1f}, by the angle between them; here"
                        " {sum.total:.1f}. Vectors are added number by number; their norms are"
                        " not.",
                        right=True,
                    ),
                    Option(
                        "The norm of what attention added",
                        "That would be so without the residual connection. The input stays in the"
                        " sum, and its norm is {sum.total:.1f}.",
                    ),
                ),
            ),
            other=Other(
                REVERSE,
                REVERSED,
                (
                    "[[attention|Attention]] reads a normalised copy of the stream, of this letter"
                    " and of all others, and **adds** its output to it: the [[residual"
                    " connection]]. The stream is never replaced. Here a vector of norm"
                    " {sum.added:.1f} is added to one of norm {sum.stream:.1f}, and their sum has"
                    " norm {sum.total:.1f}.",
                    "This is where letters exchange information, and the only place in a block.",
                ),
            ),
        ),
        Step(
            "layernorm",
            "Inside a norm",
            (
                "Two words of four features show what [[layer normalisation|layer norm]] does. Each"
                " word is normalised by itself: the mean μ of its numbers is subtracted, and the"
                " rest divided by their standard deviation σ. Then each feature is scaled by γ and"
                " shifted by β, which are learned; here one slider sets all γ, the other all β.",
                "Type over a number of “Thinking”: all four of its outputs change, and none of"
                " “Machines”. [[batch normalisation|Batch norm]] works the other way: it takes mean"
                " and deviation of one feature over many examples.",
            ),
            formulas=(
                "μ = (1/H) Σ_{i} a_{i}",
                "σ^{2} = (1/H) Σ_{i} (a_{i} − μ)^{2}",
                "y_{i} = γ_{i} (a_{i} − μ) / σ + β_{i}",
            ),
            tries=(
                Try("“Thinking” doubled", {"x": DOUBLED}),
                Try("γ = 2, β = 1", {"gain": 2, "shift": 1}),
            ),
            ask=Question(
                "All four numbers of “Thinking” are doubled. What happens to the output of the"
                " norm?",
                (
                    Option(
                        "It doubles too",
                        "The mean doubles, but so does the deviation that everything is divided"
                        " by. Press the button below to see it.",
                    ),
                    Option(
                        "It stays the same",
                        "μ and σ double as well, and cancel. (A tiny ε below the square root, 10⁻⁵"
                        " or 10⁻⁶, keeps σ above 0; it changes the fourth digit at most here.)",
                        right=True,
                    ),
                    Option(
                        "It changes only in the first feature",
                        "μ and σ are taken over all features of the word, so one feature never"
                        " changes alone.",
                    ),
                ),
            ),
            computed=ON_SCREEN,
        ),
        Step(
            "batch",
            "Not by columns: BatchNorm",
            (
                "Three words of four features. [[layer normalisation|LayerNorm]] takes mean and"
                " deviation of a **row**, the features of one word. [[batch"
                " normalisation|BatchNorm]] takes those of a **column**, one feature over all"
                " words of the [[batch]].",
                "Try it: a 30 in the first feature of “Machines” leaves the LayerNorm of"
                " “Thinking” as it was, and changes its BatchNorm. LayerNorm needs no other word"
                " and no other text, so it is the same in training and in use. For pictures it"
                " normalises each by itself, too.",
            ),
            tries=(Try("“Machines” gets a 30", {"x": FAR}),),
            board=True,
            computed=ON_SCREEN,
        ),
        Step(
            "mlp",
            "The MLP reads, and writes",
            (
                "The [[feed-forward network]], or MLP, does the same: it reads a normalised copy"
                " and adds its output. In block {block:d} that has norm {parts.1.added:.1f},"
                " {parts.1.share:.0%} of the stream. It processes each token alone, with the same"
                " weights for all, and mixes no positions.",
                "Attention and MLP together are one block. The input of the MLP already holds what"
                " attention has added.",
            ),
            formulas=("x ← x + MLP(norm(x))",),
            code=(
                "x = x + attention(norm1(x))",
                "x = x + mlp(norm2(x))",
            ),
            other=Other(
                REVERSE,
                REVERSED,
                (
                    "The [[feed-forward network]], or MLP, does the same: it reads a normalised"
                    " copy and adds its output, of norm {adds.1:.1f}. It processes each letter"
                    " alone, with the same weights for all, and mixes no positions.",
                    "Attention and MLP together are one block. The input of the MLP already holds"
                    " what attention has added.",
                ),
            ),
        ),
        Step(
            "ffn",
            "The feed-forward network, opened",
            (
                "Two matrices with an [[activation]] between them: here 4 → 6 → 4 numbers,"
                " {board.parameters:d} [[parameters]]. W_{1} compares a word with six learned"
                " directions; the activation keeps some of the six matches, ReLU those above 0;"
                " W_{2} adds a learned vector for each that is kept. In large models the hidden"
                " layer is four times as wide, and holds most of the parameters.",
                "Both words use the same matrices, and neither sees the other: alone, “Thinking”"
                " gets the same numbers. Choose another activation: GELU and SiLU are smooth, tanh"
                " and sigmoid are bounded, softplus is never 0, leaky ReLU lets a little through"
                " below 0.",
            ),
            formulas=("FFN(x) = W_{2} act(W_{1} x + b_{1}) + b_{2}",),
            code=("out = down(relu(up(x)))",),
            board=True,
            computed="these weights: random ones",
        ),
        Step(
            "blocks",
            "The end is a plain sum",
            (
                "The stream at the end is the embedding and everything that 60 sub-layers have"
                " written, two in each block. The figure adds up how far each of these 61 vectors"
                " reaches in the direction of the sum: together they are 100 %. The last ten"
                " blocks supply {late:.0%}. A last norm and the head layer turn the sum into"
                " the next token: here “{guess:s}”, with {share:.1%}.",
                "Because all sub-layers share one stream, a later one can read what any earlier"
                " one has written, and gradients can flow back along the sum without passing"
                " through them. So a small share does not mean little use: early parts work"
                " through those that read them.",
            ),
            formulas=("x_{end} = x_{0} + a_{0} + m_{0} + a_{1} + m_{1} + …",),
            other=Other(
                REVERSE,
                REVERSED,
                (
                    "The second block adds two more vectors. So the stream at the end is a plain"
                    " sum: the input and everything that four sub-layers have written, two in each"
                    " block. A last norm and the head layer turn it into a letter: here"
                    " “{guess:s}”, with {share:.1%}.",
                    "Because all sub-layers share one stream, a later one can read what any"
                    " earlier one has written, and gradients can flow back along the sum without"
                    " passing through them.",
                ),
            ),
        ),
        Step(
            "ablate",
            "Switch a part off",
            (
                "Press a bar: the output of that sub-layer becomes zero, and the stream flows past"
                " it. That is an **ablation**, possible because every sub-layer only adds. Each"
                " bar is the probability of “{without.goal:s}” without its sub-layer: with all it"
                " is {without.share:.2f}, and it keeps more than half of that without"
                " {without.kept:d} of the {without.count:d}.",
                "Cut the **residual connection** around a sub-layer instead, so that its output"
                " alone goes on: as much remains after {without.cut:d} of {without.count:d} such"
                " cuts. For “The capital of France is” it is the one around the first MLP, beside"
                " whose output the embedding is small. An ablation shows that a part is needed,"
                " not what it computes.",
            ),
            tries=(
                Try("Cut the residual connections", {"view": "without", "way": "path"}),
                Try("Without the first MLP", {"view": "without", "sublayer": 1}),
                Try("A name", {"view": "without", "text": NAME}),
            ),
            inputs={"view": "without"},
            other=Other(
                REVERSE,
                REVERSED,
                (
                    "Press a sub-layer: its output becomes zero, and the stream flows past it."
                    " That is an **ablation**, possible because every sub-layer only adds. Now"
                    " {correct:d} of {count:d} letters are right.",
                    "For “stream”, the network still reverses the word without the last MLP, and"
                    " not at all without the attention of the second block: nothing else brings in"
                    " other letters. An ablation shows that a sub-layer is needed here, not what"
                    " it computes.",
                ),
                tries=(
                    Try("Without the last MLP", {"network": REVERSE, "off": (0, 0, 0, 1)}),
                    Try("Without the last attention", {"network": REVERSE, "off": (0, 0, 1, 0)}),
                    Try("No attention at all", {"network": REVERSE, "off": (1, 0, 1, 0)}),
                ),
            ),
        ),
        Step(
            "lens",
            "The logit lens",
            (
                "The **logit lens** (nostalgebraist 2020) reads a state of SmolLM2 as if the"
                " network ended there: last norm, then [[logits]]. Each column is a token, each"
                " row the states after so many blocks, and each cell the likeliest next token, the"
                " stronger the more probable.",
                "“{lens.goal:s}” has {lens.share:.3f} at the end and {lens.before:.3f} one block"
                " earlier. Earlier states are not yet written in the language of the output: most"
                " read as a full stop, a space or “the”. The embedding often reads as the token"
                " itself, for the table that it comes from is the one that reads it.",
            ),
            tries=(
                Try("A name", {"view": "lens", "text": NAME}),
                Try("A repeat", {"view": "lens", "text": REPEAT}),
            ),
            inputs={"view": "lens"},
        ),
        Step(
            "attribution",
            "Who raised the logit?",
            (
                "The stream is a sum, and a [[logits|logit]] is its dot product with a row of the"
                " table. So the logit is a sum, too, if the scale of the last norm is held at its"
                " value for this text: each head and each MLP has its own share. That is **direct"
                " logit attribution** (Elhage et al. 2021). “{board.best:s}” has"
                " {board.logit:.2f} and leads “{board.second:s}” by {board.gap:.2f}.",
                "Compare two tokens: what raises both cancels in the difference. Of all single"
                " parts, the one with the largest difference is {board.strongest:s}:"
                " {board.most:+.2f}. What a part does through later layers is counted there, not"
                " here; only an ablation shows that.",
            ),
            formulas=("logit_{w} = Σ_{part} W_{w} · (γ x_{part} / rms(x_{end}))",),
            tries=(Try("A name", {"text": NAME}), Try("A repeat", {"text": REPEAT})),
            board=True,
        ),
        Step(
            "norm",
            "Norm before, or after",
            (
                "Our network normalises what a sub-layer reads: [[pre-norm]]. From block to block"
                " the stream is never scaled, so it grows: over eight untrained blocks from"
                " {pre.first:.2f} to {pre.last:.2f}. The first transformer normalised the sum:"
                " [[post-norm]]. Its states keep the size 1, but the norm now lies on the stream"
                " itself.",
                "At the first step of training the last block's [[gradient]] is larger with"
                " post-norm, which is why it needs a warm-up (Xiong et al. 2020). Shown:"
                " {stack.norm:s}-norm, gradient {stack.gradient:.3f}.",
            ),
            formulas=(
                "pre-norm: x ← x + f(norm(x))",
                "post-norm: x ← norm(x + f(x))",
            ),
            tries=(
                Try("Post-norm", {"norm": "post"}),
                Try("Pre-norm", {"norm": "pre"}),
            ),
            computed="these weights: random ones",
        ),
        Step(
            "encoder",
            "A whole block, number by number",
            (
                "The block of the first [[transformer]], untrained, with two words of width 4. In"
                " [[self-attention]] every word reads every word: “Thinking” gives “Machines” a"
                " @weight(weight) of {small.other:.2f}. Its result is **added** to the input (the"
                " thin lines at the side) and the sum is normalised. Then the [[feed-forward"
                " network]] processes each word alone, and again: add, normalise.",
                "Numbers are rounded for display, so 0.01 + 0.19 may be shown as 0.21. Type over a"
                " number of “Thinking”. “Machines” changes too, but only because of the attention:"
                " nothing else crosses from word to word. An [[encoder]] is a stack of such"
                " blocks.",
            ),
            formulas=(
                "post-norm: z = LN(x + attention(x))",
                "post-norm: y = LN(z + FFN(z))",
                "pre-norm: z = x + attention(LN(x))",
                "pre-norm: y = z + FFN(LN(z))",
            ),
            code=(
                "z = norm1(x + attention(x))  # post-norm",
                "y = norm2(z + feed_forward(z))",
                "z = x + attention(norm1(x))  # pre-norm",
                "y = z + feed_forward(norm2(z))",
            ),
            tries=(
                Try("Pre-norm", {"order": "pre"}),
                Try("Post-norm", {"order": "post"}),
            ),
            computed="these weights: random ones",
        ),
        Step(
            "smallest",
            "The smallest transformer",
            (
                "Two words of three numbers. First attention alone: three random matrices, no"
                " biases, no division by √d, and no W^{O}. Its result is nearly the same for both"
                " words, −0.1773 and −0.1774 in the first feature, since untrained weights are"
                " nearly even.",
                "Then a whole transformer with an attention of its own: add the words, normalise,"
                " and map each word to one number with a [[linear layer]]: 1.0185 and 0.0264. Next"
                " would come a loss, and training.",
            ),
            code=(
                "x = norm(attention(x) + x)",
                "prediction = linear(x)  # 3 → 1",
            ),
            board=True,
            computed="these weights: random ones",
        ),
        Step(
            "training",
            "What training adds",
            (
                "A stack is N such blocks: an [[encoder]] with a vocabulary of 1,000, width 300, 6"
                " blocks of 5 heads and 100 hidden units turns ids of shape (2, 100) into vectors"
                " of shape (2, 100, 300). While it trains, [[dropout]] sets numbers to 0 at"
                " random, often 10 % of them, after the attention weights and after each"
                " sub-layer; here 25 %, and what stays is multiplied by {board.scale:.2f} so that"
                " the mean is kept.",
                "**DropPath** drops the whole branch of a text instead, so that its block does"
                " nothing: stochastic depth. Neither is active in use. Matrices often start as"
                " Xavier and Glorot propose: even random numbers within ±√(6 / (in + out)), so"
                " that neither signals nor gradients grow from layer to layer.",
            ),
            code=(
                "a = dropout(attention(norm1(x)))",
                "x = x + drop_path(a)",
            ),
            board=True,
            computed="random numbers, the same for one seed",
        ),
    ),
    takeaways=(
        "Add & Norm: the layer's input is added to its output, and the sum is normalised.",
        "LayerNorm depends on no other word and no other text: it is the same in training and in"
        " use.",
        "[[post-norm|Post-norm]] keeps all states at one size; [[pre-norm]] leaves a direct path"
        " through the whole stack: its states grow, and the gradients of its last block shrink"
        " with depth.",
        "The feed-forward network does not mix words. Only attention does.",
    ),
    misreading=Misreading(
        "LayerNorm averages over the words of a text.",
        "It uses the features of one word alone.",
    ),
    plan=Plan(
        aim="Attention and feed-forward network, each with a residual connection and a norm.",
        show="LayerNorm by rows; then BatchNorm, with a 30 for “Machines”; the feed-forward"
        " network, opened; norm before and after.",
        ask="Which part lets a word see another one? **Attention** · the feed-forward network ·"
        " LayerNorm · the residual connection.",
    ),
    code=(
        "models.blocks.AddNorm",
        "models.blocks.LayerNorm",
        "models.blocks.standardised",
        "models.lessons.norms.batch_normed",
        "models.blocks.FeedForward",
        "models.blocks.PostNormBlock.forward",
        "models.blocks.PreNormBlock.forward",
        "models.blocks.DropPath",
        "models.lessons.block_steps.block_steps",
        "models.lessons.depth.growth",
        "models.simple.unscaled",
        "models.simple.Smallest",
    ),
    pages=(
        Page("The smallest transformer, part by part", "architecture", {"preset": "smallest"}),
        Page(
            "The block of a small encoder, part by part",
            "architecture",
            {"preset": "small", "norm": "pre"},
        ),
    ),
    exercise="05-block",
)
