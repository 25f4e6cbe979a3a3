"""The folded texts of the lesson on the soft dictionary (its steps: story.py)."""

from viz.pages.lessons.frame import Try

FRUIT = (
    "apple: green\nbanana: yellow\norange: orange\npickles: green\npineapple: brown"
    "\nraspberry: crimson"
)
NO_PICKLES = FRUIT.replace("pickles: green\n", "")
TEXT = (
    "A dictionary holds [[key|keys]] and [[value|values]]. An ordinary one answers a [[query]]"
    " only if it is one of the keys. A soft one compares the query with *every* key, turns the"
    " [[similarity|similarities]] into [[weights]], and answers with the weighted sum of the"
    " values. That is [[attention]]. The weights change smoothly with the query and the keys: this"
    " look-up is differentiable, and therefore it can be learned by gradient descent. It works for"
    " a dictionary of any size, needs no summary of it, and its answers change with its"
    " entries.",
)
FORMULAS = (
    r"\text{answer}(q) = \sum_i \alpha(q, k_i)\, v_i",
    r"\text{softmax: } \alpha(q, k_i) = \frac{\exp(s_i / T)}{\sum_j \exp(s_j / T)}",
    r"\text{sum to one: } \alpha(q, k_i) = \frac{s_i}{\sum_j s_j}",
)
WHERE = (
    "Here q is the query; k_{i} and v_{i} are the key and the value of entry i; s_{i} is the"
    " similarity of q and k_{i}; α is the weight computed from it. T is the [[temperature]]:"
    " lowering it concentrates weight on the best key; raising it evens the weights out."
)
SIMILARITY = {
    "exact": "**Exact match.** s is 1 for a key that equals the query, and 0 for any other.",
    "edit": "**[[edit distance|Edit distance.]]** d letters have to be inserted, removed or"
    " replaced to turn the query into the key; s = exp(−d) is 1 for the same word and falls with"
    " every letter.",
    "embedding": "**[[embedding|Embedding.]]** [[MiniLM]], a small trained network, turns each word"
    " into a [[vector]] of 384 numbers; s is the [[cosine similarity]] of the query's vector and"
    " the key's.",
    "given": "**Typed by hand.** The similarities are the numbers in the box, one for each key.",
}
HOW = {
    "none": "**No normalisation.** α is the similarity itself.",
    "one-hot": "**[[one-hot|One-hot.]]** α is 1 for the most similar key and 0 for all others.",
    "top-k": "**[[top-k|Top-k.]]** The k most similar keys share the weight equally.",
    "average": "**Average.** Every key gets the same weight, whatever the query.",
    "sum": "**Sum to one.** α is the similarity divided by the sum of all similarities.",
    "softmax": "**[[softmax|Softmax.]]** Each similarity is divided by T; α is exp(s/T) divided by"
    " the sum of these exponentials: weights are positive and sum to 1.",
}
CASES = {
    "no valid answer": "No key is similar to the query: every weight is 0, and there is **no valid"
    " answer**, as for a missing key in an ordinary dictionary.",
    "database query": "One weight is 1 and all others are 0: a **database query**, as an ordinary"
    " dictionary answers it if the query is one of its keys.",
    "average pooling": "All weights are equal: [[average pooling]].",
    "convex combination": "No weight is negative and they sum to 1: a [[convex combination]], the"
    " usual case in deep learning.",
    "convex cone": "No weight is negative, but they do not sum to 1: a point in the [[convex cone]]"
    " of the values.",
    "linear combination": "Some weights are negative: any linear combination can come out.",
}
EQUAL = "Here all keys are equally similar to the query."
UNASKED = "The query no longer matters."
ANSWERS = {  # where values are numbers
    "average pooling": "The answer is the mean of the values.",
    "convex combination": "The answer lies between the smallest and the largest value.",
    "convex cone": "The answer may be larger or smaller than all values.",
    "linear combination": "The answer may even have the opposite sign.",
}
WORDS = (
    "Colours are words: 0.4 × green has no meaning, so they cannot be averaged. What *can* be added"
    " are the weights of equal values; the answer is a share for each value, and the largest wins."
    " In a network, values are always [[vector|vectors]], and vectors can be averaged."
)
FIXED = (
    "Without attention everything has to be compressed into one vector before the query is known:"
    " here the mean of all values, the same answer to every query. Attention consults the"
    " dictionary for each query: in this table each key in turn is the query."
)
TYPED = (
    "(Typed similarities belong to one query. Choose another similarity to try every key as the"
    " query.)"
)
TRIES = (
    Try(
        "Anna, with weights typed by hand.",
        "They sum to 1.18: a cone, and 199.06 is taller than all four.",
        {"similarity": "given", "how": "none"},
    ),
    Try(
        "Average pooling.", "The query no longer matters: 174.75 for everybody.", {"how": "average"}
    ),
    Try(
        "An ordinary dictionary, with the query Anna.",
        "No key matches: no valid answer.",
        {"similarity": "exact", "how": "none"},
    ),
    Try(
        "The same, with the query Ann.",
        "One weight is 1: a database query.",
        {"similarity": "exact", "how": "none", "query": "Ann"},
    ),
    Try(
        "“pi” among fruit.",
        "Weights typed by hand; colours cannot be averaged.",
        {
            "pairs": FRUIT,
            "query": "pi",
            "similarity": "given",
            "how": "none",
            "given": "0.05 0.075 0.075 0.3 0.4 0.1",
        },
    ),
    Try(
        "“pickles”, which are in the dictionary.",
        "Exactly green.",
        {"pairs": FRUIT, "query": "pickles", "similarity": "exact", "how": "none"},
    ),
    Try(
        "“pickles”, which are not in the dictionary.",
        "The key that is nearest in meaning answers instead: pineapple, so brown.",
        {"pairs": NO_PICKLES, "query": "pickles", "similarity": "embedding", "how": "one-hot"},
    ),
    Try(
        "The same by letters.",
        "Now apple is nearest, 5 letters away, and green is right by luck alone.",
        {"pairs": NO_PICKLES, "query": "pickles", "how": "one-hot"},
    ),
    Try(
        "By meaning: “citrus”.",
        "Orange gets most of the weight, though hardly a letter is the same.",
        {
            "pairs": FRUIT,
            "query": "citrus",
            "similarity": "embedding",
            "temperature": 0.1,
        },
    ),
    Try(
        "Negative similarities.",
        "Dividing by their sum gives an error; softmax accepts them.",
        {"similarity": "given", "given": "0.9 -0.3 0.2 -0.1", "how": "sum"},
    ),
    Try(
        "The two best.",
        "Top-k with k = 2: Ann and Mike share the weight. (Andrew is as near as Mike, but later.)",
        {"how": "top-k"},
    ),
    Try("A high temperature.", "All weights become alike.", {"temperature": 5.0}),
    Try(
        "A low temperature.",
        "The best key takes all: softmax becomes one-hot.",
        {"temperature": 0.05},
    ),
)
TAKEAWAYS = (
    "Attention is a look-up that may answer with a mixture: similarity, normalisation, weighted"
    " sum.",
    "Softmax turns any numbers into weights: positive, and summing to 1. The temperature sets how"
    " sharp they are.",
    "Nothing has to be compressed: every query gets its own answer from all the entries.",
)
