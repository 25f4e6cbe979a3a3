"""The story of why attention replaced recurrence and convolution."""

from viz.lessons.inputs import Count, OneOf, Sentence, Within
from viz.lessons.story import SMOLLM2, Lesson, Misreading, Option, Plan, Question, Step, Try

LESSON = Lesson(
    name="sequences",
    place=10,
    title="Why attention?",
    icon="linear_scale",
    line="What recurrence and convolution lack: a short way between distant words.",
    parts=("network",),
    real=("smollm2",),
    needs=(),
    minutes=15,
    figure="The way from the first token to the last",
    inputs={
        "tokens": Count(12, 2, 20),
        "kernel": OneOf("3", ("3", "5", "7")),
        "width": Count(16, 4, 64),
        "gain": Within(0.9, 0.5, 1.2),
        "activation": OneOf("tanh", ("tanh", "none")),
        "sentence": Sentence("The keys near the old cabinet"),
    },
    steps=(
        Step(
            "recurrence",
            "One after another",
            (
                "“Keys near the old cabinet that stood in the dark back hall **are** …”: the right"
                " verb depends on a word far back, so a network must carry information from there."
                " A [[recurrence]] reads one [[token]] after another and keeps everything it knows"
                " in one state.",
                "From the first of {tokens:d} tokens to the last, information passes"
                " **{count.recurrence:d}**"
                " updates of the state. Each can weaken it, and none can start before the one"
                " before it has finished. In the formula, h_{t} is the state after token t and"
                " x_{t} the token's own vector: R only turns the old state, the gain g scales it,"
                " U brings the token in, and tanh keeps every number between −1 and 1. A"
                " stronger colour shows a state that keeps more of the first token.",
            ),
            formulas=("h_{t} = tanh(g R h_{t−1} + U x_{t})",),
            computed="these weights: random ones, of width 16",
        ),
        Step(
            "convolution",
            "A window at a time",
            (
                "A [[convolution]] computes all positions of a layer at once, each from a window of"
                " k neighbours. So a layer carries information only (k − 1) / 2 tokens to either"
                " side: with k = {kernel:d}, connecting both ends takes **{count.convolution:d}**"
                " layers.",
                "Filled dots are what the last output depends on. A wider window needs fewer"
                " layers but more weights; dilated windows, which skip tokens, bring the number"
                " down to about log_{k} n.",
            ),
        ),
        Step(
            "attention",
            "One hop",
            (
                "[[attention|Attention]] lets every position read every other one directly: from"
                " the first token to the last it is **{count.attention:d}** hop, however long the"
                " text. All positions are computed at once.",
                "The connections are not fixed either. A trained convolution applies the same"
                " kernel to every input; attention computes its [[weights]] from each input."
                " So it assumes less about its input, and usually needs more data to learn from.",
            ),
            ask=Question(
                "A convolution with k = {kernel:d} needs {count.convolution:d} layers to connect"
                " both ends of {tokens:d} tokens. How many layers of attention does it take for a"
                " text ten times as long?",
                (
                    Option(
                        "Ten times as many",
                        "Attention has no window that would have to be crossed step by step: every"
                        " position reads every other one directly.",
                    ),
                    Option(
                        "One",
                        "Every position reads every other one directly, at any length. The price is"
                        " the number of pairs, which comes next.",
                        right=True,
                    ),
                    Option(
                        "As many as the logarithm of the length",
                        "That holds for convolutions with dilated windows. Attention needs one"
                        " layer at any length.",
                    ),
                ),
            ),
        ),
        Step(
            "cost",
            "What one layer costs",
            (
                "Every pair of tokens is compared, so attention's work grows with n²: here"
                " {costs.attention.work:,d} multiplications without the projections, up to a"
                " constant factor, against {costs.recurrence.work:,d} for the recurrence (Vaswani"
                " et al. 2017, table 1). Without projections it is the cheaper of the two while a"
                " text has fewer tokens than a token has features: n < d. Queries, keys, values"
                " and outputs add 4n·d²; the lesson on encoder and decoder counts them.",
                "On a GPU another count matters more, the steps that must run one after another:"
                " {tokens:d} for the recurrence, 1 for convolution and attention.",
            ),
            tries=(
                Try("20 tokens of width 8", {"tokens": 20, "width": 8}),
                Try("20 tokens of width 64", {"tokens": 20, "width": 64}),
            ),
        ),
        Step(
            "influence",
            "What is left of the first token",
            (
                "The bars show how strongly each token influences the last output: the size of"
                " its [[gradient]], in untrained networks of width 16. In the recurrence, the first"
                " token counts {influence.recurrence.ratio:.5f} times as much as the last; in"
                " attention {influence.attention.ratio:.3f} times: the influence varies from token"
                " to token, but does not fall with distance.",
                "Without tanh every step multiplies the influence by exactly g = {gain:.2f}. So"
                " with g = 1.2 the first of 32 tokens counts 285 times as much as the last, and"
                " with tanh and g = 0.5, over 64 tokens, it counts 1.5 · 10^{−32} times as much."
                " Gates (LSTM, GRU) help, but the long path remains.",
            ),
            ask=Question(
                "A recurrence with g = 0.9 and tanh reads 12 tokens. How much does the first token"
                " count for the last state, compared with the last token?",
                (
                    Option(
                        "About nine tenths as much",
                        "0.9 is the factor of a single step. There are 11, and tanh makes each"
                        " smaller still.",
                    ),
                    Option(
                        "About a third: 0.9¹¹ = 0.31",
                        "That is right without tanh. The slope of tanh is at most 1, and below 1"
                        " wherever its input is not 0, so still less arrives.",
                    ),
                    Option(
                        "Less than a hundredth",
                        "Eleven factors of 0.9, and eleven slopes of tanh below 1.",
                        right=True,
                    ),
                ),
            ),
            tries=(
                Try("No tanh, g = 0.9", {"activation": "none"}),
                Try("No tanh, g = 1.2: it explodes", {"activation": "none", "gain": 1.2}),
            ),
            computed="these weights: random ones, of width 16",
        ),
        Step(
            "agree",
            "A real network reads far back",
            (
                "SmolLM2, a language model of 30 layers, must choose between “are” and “is”. The"
                " noun stands {board.distance:d} tokens back, and singular nouns between: still"
                " “are” is {board.ratio:.0f} times as probable as “is”. With “key” and plural"
                " nouns between it is the other way round.",
                "One head suffices to read that far: at the last token it gives “keys” a"
                " weight of {board.weight:.2f}. The last columns name, of all 270 heads, the one"
                " that gives the noun most. A large weight is no proof that this head decides;"
                " the lesson “What heads do” tests that. Type a text of your own: its second token"
                " is taken as the noun.",
            ),
            tries=(
                Try("Singular", {"sentence": "The key near the old cabinets"}),
                Try("A clause between", {"sentence": "The books that my sister bought"}),
            ),
            board=True,
            computed=SMOLLM2,
        ),
    ),
    takeaways=(
        "A recurrence connects distant tokens through every step between them: n steps, one after"
        " another, and the influence shrinks or grows at each.",
        "A convolution works in parallel but needs many layers to connect distant positions.",
        "Attention connects any two positions in one step and works in parallel. The price is n²"
        " comparisons.",
    ),
    misreading=Misreading(
        "Attention is cheap.",
        "Its cost grows with the square of the length; what it saves is the long path and the"
        " waiting.",
    ),
    plan=Plan(
        aim="What a network needs to connect distant words, and why recurrence and convolution"
        " find it hard.",
        show="The influence of the first token with g = 0.9, then without tanh, then 1.2; “Show"
        " numbers” for 64 tokens and for texts of 2,048.",
        ask="Without an activation and with g = 0.5, how much does a token 10 steps back count,"
        " against one that was just read? Half · a tenth · **about a thousandth** · as much."
        " (0.5¹⁰)",
    ),
    code=(
        "models.lessons.sequences.recurrent_influence",
        "models.lessons.sequences.attention_influence",
        "models.lessons.reach.cost",
        "models.lessons.reach.receptive_fields",
    ),
)
