"""The folded texts and the printed numbers of the lesson on q, k and v (its steps: story.py)."""

from viz.pages.lessons.frame import Try

# Two words as columns (seed 10) and the matrices of queries (0), keys (1) and values (2), as a
# course has printed them to four decimals
X = (
    (0.4580846428871155, 0.4828565716743469),
    (0.3124983310699463, 0.6150216460227966),
    (0.21394729614257812, 0.4118261933326721),
)
QUERY = (
    (1.5409960746765137, -0.293428897857666, -2.1787893772125244),
    (0.5684312582015991, -1.0845223665237427, -1.3985954523086548),
)
KEY = (
    (0.7576315999031067, 0.2793108820915222, 0.40306925773620605),
    (0.7346844673156738, 0.029281556606292725, 0.7998586297035217),
)
VALUE = (
    (0.6146950721740723, 0.38101285696029663, 0.6371143460273743),
    (0.47446107864379883, 0.7135938405990601, 0.6190363764762878),
)
TEXT = (
    "Every word plays three roles. Its [[query]] is what it looks for, its [[key]] what it can"
    " be matched on, its [[value]] what it passes on. Three [[matrix|matrices]] compute the"
    " three vectors from the same word, and these matrices are what training sets: now there is"
    " something to learn. The [[score|scores]] are divided by √d_{k}, d_{k} being the [[width]] of"
    " a key, so that they do not grow with it (the next lesson shows why).",
)
WHERE = (
    "Q, K and V hold the queries, keys and values of all words, a word in each row; Kᵀ is K with"
    " rows and columns exchanged. Here d_{k} = 2."
)
COLUMNS = (
    "The [[matrix]] x holds a word in each *column*: three inputs, two words. W_{q}, W_{k} and"
    " W_{v} map three inputs to two [[feature|features]]."
)
BY_WORD = (
    "**Word by word**: each row of Q, K and V is a word. QKᵀ compares words with words, and the"
    " scores are divided by √2, 2 being the width of a key. This is the intended meaning of the"
    " formula."
)
BY_FEATURE = (
    "**Words as columns**, as a course has printed it: Q = W_{q} x has a word in each column, so"
    " each of its *rows* is a feature over all words. QKᵀ then compares features with features, and"
    " it was divided by √3, 3 being the width of the *input*. The symbols are the same and the"
    " numbers look plausible, but nothing here shows how much one word attends to another: check"
    " what your rows are."
)
TRIES = (
    Try("Only the scores.", "Stop before the softmax: these may be negative.", {"step": 1}),
    Try(
        "Equal queries.",
        "With only zeros in the matrix of queries every score is 0, and every weight one half.",
        {"edit": "q", "q11": 0.0, "q12": 0.0, "q13": 0.0, "q21": 0.0, "q22": 0.0, "q23": 0.0},
    ),
    Try(
        "Larger queries.",
        "Ten times as large: word 1 now gives itself 0.15 and word 0 0.85, not 0.46 and 0.54.",
        {
            "edit": "q",
            "q11": 15.41,
            "q12": -2.93,
            "q13": -21.79,
            "q21": 5.68,
            "q22": -10.85,
            "q23": -13.99,
        },
    ),
    Try(
        "Values that copy.",
        "The matrix of values picks inputs 0 and 1, so values are inputs.",
        {"edit": "v", "v11": 1.0, "v12": 0.0, "v13": 0.0, "v21": 0.0, "v22": 1.0, "v23": 0.0},
    ),
    Try(
        "Words as columns, by itself.",
        "Two features look at each other, not two words.",
        {"reading": "columns"},
    ),
)
TAKEAWAYS = (
    "q, k and v are three views of the same word; W_{q}, W_{k} and W_{v} are learned.",
    "For one word four steps; for all words five matrix products: three give Q, K and V, one the"
    " scores, one the weighted sums.",
    "With words as columns the same symbols compare features. Rows of Q must be what attends.",
)
