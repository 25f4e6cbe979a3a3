"""The story of the block: the residual stream."""

from viz.pages.lessons.story import Option, Question, Step, Story, Try

ON = (0, 0, 0, 0)
X = (1.2, -0.4, 0.6, 0.2, -0.8, 1.5, 0.3, -1.1)  # two words of four features
DOUBLED = (2.4, -0.8, 1.2, 0.4, -0.8, 1.5, 0.3, -1.1)

STORY = Story(
    figure="block",
    title="The residual stream through two blocks",
    inputs={
        "word": "stream",
        "place": 0,
        "off": ON,
        "norm": "pre",
        "x": X,
        "gain": 1,
        "shift": 0,
        "order": "post",
    },
    steps=(
        Step(
            "stream",
            "A stream for each token",
            (
                "A network of two blocks, trained for this app, reverses words. Each letter is a"
                " [[vector]] of 64 numbers: its embedding plus its position. It runs through the"
                " network from left to right: the **residual stream**. The band is as wide as the"
                " vector of “{letter:s}” is long; its norm is {norms.0:.1f}.",
                "If no layer added anything, it would arrive unchanged. Press another letter to"
                " follow it, or type a word of 4 to 12 letters.",
            ),
        ),
        Step(
            "attention",
            "Attention reads, and writes",
            (
                "[[attention|Attention]] reads a normalised copy of the stream, of this letter and"
                " of all others, and **adds** its output to it: the [[residual connection]]. The"
                " stream is never replaced. Here a vector of norm {adds.0:.1f} is added to one of"
                " norm {norms.0:.1f}, and their sum has norm {norms.1:.1f}.",
                "This is where letters exchange information, and the only place in a block.",
            ),
            formulas=("x ← x + attention(norm(x))",),
            ask=Question(
                "The stream has norm {norms.0:.1f}; attention adds a vector of norm {adds.0:.1f}."
                " What is the norm of the sum?",
                (
                    Option(
                        "The sum of both norms",
                        "Only if both vectors pointed the same way: {most:.1f}. They do not, and"
                        " the norm is {norms.1:.1f}.",
                    ),
                    Option(
                        "Something between their difference and their sum",
                        "From {least:.1f} to {most:.1f}, by the angle between them; here"
                        " {norms.1:.1f}. Vectors are added number by number; their norms are not.",
                        right=True,
                    ),
                    Option(
                        "The norm of what attention added",
                        "That would be so without the residual connection. The input stays in the"
                        " sum, and its norm is {norms.1:.1f}.",
                    ),
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
                        "μ and σ double as well, and cancel. (A tiny ε below the square root, 10⁻⁵,"
                        " keeps σ above 0; it changes the fourth digit at most here.)",
                        right=True,
                    ),
                    Option(
                        "It changes only in the first feature",
                        "μ and σ are taken over all features of the word, so one feature never"
                        " changes alone.",
                    ),
                ),
            ),
        ),
        Step(
            "mlp",
            "The MLP reads, and writes",
            (
                "The [[feed-forward network]], or MLP, does the same: it reads a normalised copy"
                " and adds its output, of norm {adds.1:.1f}. It processes each letter alone, with"
                " the same weights for all, and mixes no positions.",
                "Attention and MLP together are one block. The input of the MLP already holds what"
                " attention has added.",
            ),
            formulas=("x ← x + MLP(norm(x))",),
            code=(
                "x = x + attention(norm1(x))",
                "x = x + mlp(norm2(x))",
            ),
        ),
        Step(
            "blocks",
            "Another block, and the answer",
            (
                "The second block adds two more vectors. So the stream at the end is a plain sum:"
                " the input and everything that four layers have written. A last norm and the head"
                " layer turn it into a letter: here “{guess:s}”, with {share:.1%}.",
                "Because all layers share one stream, a later layer can read what any earlier one"
                " has written, and gradients can flow back along the sum without passing through"
                " the layers.",
            ),
            formulas=("x_{end} = x_{0} + a_{0} + m_{0} + a_{1} + m_{1}",),
        ),
        Step(
            "ablate",
            "Switch a layer off",
            (
                "Press a layer: its output becomes zero, and the stream flows past it. That is an"
                " **ablation**, possible because every layer only adds. Now {correct:d} of"
                " {count:d} letters are right.",
                "For “stream”, the network still reverses the word without the last MLP, and not"
                " at all without the attention of the second block: nothing else brings in other"
                " letters. An ablation shows that a layer is needed here, not what it computes.",
            ),
            tries=(
                Try("Without the last MLP", {"off": (0, 0, 0, 1)}),
                Try("Without the last attention", {"off": (0, 0, 1, 0)}),
                Try("No attention at all", {"off": (1, 0, 1, 0)}),
            ),
        ),
        Step(
            "norm",
            "Norm before, or after",
            (
                "Our network normalises what a layer reads: [[pre-norm]]. From block to"
                " block the stream is never scaled, so it grows: over eight untrained blocks from"
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
                "z = LN(x + attention(x))",
                "y = LN(z + FFN(z))",
            ),
            code=(
                "z = norm1(x + attention(x))",
                "y = norm2(z + feed_forward(z))",
            ),
            tries=(
                Try("Pre-norm", {"order": "pre"}),
                Try("Post-norm", {"order": "post"}),
            ),
        ),
    ),
)
