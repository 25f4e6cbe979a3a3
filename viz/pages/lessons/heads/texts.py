"""The folded texts of the lesson on heads (its steps: story.py)."""

from viz.pages.lessons import course
from viz.pages.lessons.frame import Try

TEXT = (
    "One [[attention]] can mix words in one way only. [[multi-head attention|Several heads]] run"
    " side by side, each with [[query|queries]], [[key|keys]] and [[value|values]] of its own, so"
    " each can look for something else, in a representation subspace of its own (Vaswani et al."
    " 2017, section 3.2.2). Their results are put side by side and mixed by one more"
    " [[matrix]], W^{O}. Commonly each [[head]] gets an equal share of the model's [[width]], so"
    " that the matrix products of many heads cost no more than those of one; but the width of a"
    " head is free.",
)
WHERE = (
    "X holds a word in each row. Every head i has its own three matrices for queries, keys and"
    " values, and d is the width of its queries and keys. The square brackets put the results of"
    " all heads side by side."
)
LAYER = (
    "Words are random here too. Shapes are texts × tokens × features, or texts × heads × tokens"
    " × features (or keys) after the split. The tables show the first text."
)
TRAINED_TEXT = (
    "What do trained heads do? Here are the heads of [[MiniLM]], 12 in each of its 6 layers, on"
    " your sentence. Each cell names the habit a head comes closest to, with the mean"
    " [[weights|weight]] that words give to the previous [[token]], to themselves, to the next one,"
    " to the same word elsewhere, or to the special token that MiniLM puts at the beginning (first,"
    " [CLS]) or the end (last, [SEP]). A head that reaches 0.4 in none of them is “broad” if its"
    " weights are nearly even, and “mixed” otherwise; its number is that of its strongest habit."
    " One weight can count for two habits: what stands before the first word is [CLS].",
    "Heads with nothing useful to attend to often put their weight on a special token (Clark et al."
    " 2019); choose “words alone” to see what the rest does. A habit is what a head does on this"
    " sentence; it does not prove what the head is for.",
)
TAKEAWAYS = (
    "All heads at once are one large matrix product, cut into parts afterwards: the same numbers as"
    " one head after another.",
    "With model width / heads each, the number of heads changes neither the [[parameters]] nor the"
    " cost of the matrix products; only the softmax, and the weights if they are kept, grow with"
    " it. With heads as wide as the model, everything grows with their number.",
    "Dividing q and k by ∜d each is the same as dividing their product by √d; it only makes a"
    " difference for large numbers in float16 ([[half precision]]).",
    "Heads learn to do different things in training. At first only their random weights differ.",
)
TRIES = (
    Try(
        "8 heads of width 64 in a model of width 128.",
        "Together they are 512 wide, and the last matrix brings that back to 128."
        f" Lesson {course.number('vision')} has such heads.",
        {"dim": 128, "heads": 8, "width": "free", "own": 64},
    ),
    Try(
        "20 heads, each as wide as the model.",
        "Input and output are 8 × 5 × 10, with 200 numbers per token in between; q and k are"
        " divided by ∜10 each.",
        {"dim": 10, "heads": 20, "width": "wide", "tokens": 5, "batch": 8}
        | {"scaling": "fourth root"},
    ),
    Try(
        "An input of another width.",
        "The input is 16 × 5 × 5, the output 16 × 5 × 100, with 5 heads.",
        {"dim": 100, "heads": 5, "reads": 5, "tokens": 5, "batch": 16},
    ),
    Try(
        "One head as wide as the model.",
        "There is nothing to join, so the last matrix can be left out.",
        {"heads": 1, "width": "wide", "project": "needed"},
    ),
    Try(
        "3 heads in 16.",
        "16 is not divisible by 3: the error lists what would work.",
        {"heads": 3},
    ),
)
TRAINED_TRIES = (
    Try(
        "One word back.",
        "Layer 0, head 2 gives nearly all weight to the token before, whatever the words are.",
        {"sentence": "Yesterday my sister planted seven small trees.", "layer": 0, "head": 2},
    ),
    Try(
        "Words alone.",
        "Without [CLS] and [SEP], layer 1, head 8 looks at the next word.",
        {"among": "words", "layer": 1, "head": 8},
    ),
)
