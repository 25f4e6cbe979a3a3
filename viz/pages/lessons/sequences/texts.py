"""The folded texts of the lesson on why attention replaced recurrence (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "“The keys near the old cabinet **are** …”: the right verb depends on a word far back. A"
    " network that reads text must carry information across such distances. Three kinds of layer"
    " do this in different ways. A [[recurrence]] reads one [[token]] after another and keeps"
    " everything it knows in one state. A [[convolution]] sees a small window of neighbours."
    " [[attention|Attention]] connects every token with every other directly.",
)
WHERE = (
    "h is the state of the recurrence, x_{t} the token at position t, R an orthogonal [[matrix]],"
    " which changes no length, g its gain and U a matrix for the input. At every step all that is"
    " remembered is multiplied by g · R."
)
FADING = (
    "The chart shows how strongly each token influences the last position: the size of its"
    " [[gradient]], in untrained networks of width 16. Without tanh, each step multiplies the"
    " influence by exactly g: below 1 the beginning of the text is forgotten, above 1 it explodes."
    " tanh makes it shrink faster still. Attention reaches every token in one step, so distance"
    " does not matter.",
    "A trained recurrence can do better, with gates (LSTM, GRU), but the long path remains.",
)
COST_TEXT = (
    "The table gives the order of growth of the operations of one layer over n tokens of width d"
    " (Vaswani et al. 2017, table 1), how many of them must be done one after another, and the"
    " longest path between two positions. To count attention's multiplications, add up: n² · d for"
    " Q Kᵀ, n² · d for the weighted sums, and 4 n · d² for the four projections. So the projections"
    " cost more until a text is longer than 2 d tokens; from there the square dominates, in time"
    " and in the weights that are kept.",
    "Where a trained convolution applies the same fixed kernel to every input, attention computes"
    " its [[weights]] from each input. It assumes less, so it needs more data. The picture shows"
    " which positions an output depends on.",
)
TRIES = (
    Try(
        "A recurrence that forgets.",
        "g = 0.5 over 64 tokens: the first token counts 1.5 · 10⁻³² times as much as the last.",
        {"tokens": 64, "gain": 0.5},
    ),
    Try(
        "A recurrence that explodes.",
        "g = 1.2 without tanh: the first token counts 1.2³¹, or 285, times as much as the last.",
        {"gain": 1.2, "activation": "none"},
    ),
    Try(
        "A long text.",
        "2,048 tokens of width 64: now attention costs more than either of the others.",
        {"length": 2048},
    ),
)
TAKEAWAYS = (
    "A recurrence connects distant tokens through every step between them: n steps, one after"
    " another, and the influence shrinks or grows at each.",
    "A convolution works in parallel but needs many layers to connect distant positions.",
    "Attention connects any two positions in one step and works in parallel. It pays with n².",
)
