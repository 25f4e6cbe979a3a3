"""The folded texts of the lesson on sampling and the key–value cache (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A trained [[decoder]] gives every token a probability. Which one is written? The likeliest"
    " ([[greedy]]) is always the same, and long texts written in this way tend to repeat"
    " themselves. **Sampling** draws the next token by its probability. Three settings decide how"
    " daring it is: [[temperature]], **top-k** and **top-p**.",
)
SYMBOLS = (
    "z are the [[logits]], T the temperature. Top-k keeps the k likeliest tokens. Top-p keeps the"
    " fewest likeliest tokens that together have probability p (nucleus sampling, Holtzman et al."
    " 2020): few where the network is sure, many where it is not. What is left is scaled to sum"
    " to 1."
)
BARS = (
    "The network knows 155 words of English. Left: its probabilities for the next word."
    " Middle: what is drawn from. Right: 1,000 draws. “She” and “he” are both right here: sampling"
    " writes either, greedy decoding always the same.",
)
CACHE = (
    "The network then reads the text again, one token longer. Under a [[causal mask]] the"
    " [[key|keys]] and [[value|values]] of earlier tokens do not change, so they can be **cached**:"
    " only the new token is computed, and it attends to the cached keys. The result is the same;"
    " the price is memory that grows with the text.",
    "The table counts multiplications for one more token, in a network of your size (all matrix"
    " products of the blocks, and the logits).",
)
TRIES = (
    Try(
        "Cold.",
        "T = 0.2: the likeliest word is drawn almost always. At T → 0 sampling is greedy.",
        {"temperature": 0.2},
    ),
    Try(
        "Hot, but only the best three.",
        "T = 3 evens the probabilities out; top-k = 3 keeps it from writing nonsense.",
        {"temperature": 3.0, "k": 3},
    ),
    Try(
        "The nucleus.",
        "p = 0.9: “she” and “he” together have it, and nothing else is ever drawn.",
        {"p": 0.9},
    ),
)
TAKEAWAYS = (
    "Temperature reshapes the probabilities; top-k and top-p cut off the unlikely tail.",
    "Top-k keeps a fixed number of tokens, top-p as many as the network's doubt requires.",
    "With a key–value cache a step computes one token instead of all. The outputs are equal; only"
    " time and memory change.",
)
