"""The story of the block: the residual stream."""

from viz.pages.lessons.story import Option, Question, Step, Story, Try

ON = (0, 0, 0, 0)

STORY = Story(
    figure="block",
    title="The residual stream through two blocks",
    inputs={"word": "stream", "place": 0, "off": ON, "norm": "pre"},
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
                        " {norms.1:.1f}. Of vectors the numbers are added, not the norms.",
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
                " at all without the attention of the second block: the other letters must come"
                " from somewhere. An ablation shows that a layer is needed here, not what it"
                " computes.",
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
    ),
)
