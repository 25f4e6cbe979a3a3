"""The numbers of a head: what each is called, its formula, source and range."""

from dataclasses import dataclass

NEAR = 5  # tokens on either side that count as local
VOCABULARY = 16_384  # tokens over which the copying score with embeddings is taken, at most
SAMPLED = 256  # rows over which the positional share is taken, at most


@dataclass(frozen=True)
class Measure:
    """One number per head.

    Attributes:
        key: its name in `heads`.
        title: for a control.
        formula: A is the weight, i the query, j the key; the mean is over queries.
        source: where it comes from.
        low: its smallest possible value.
        high: its largest; None if that depends on the text.
        about: what it says, in one sentence.
    """

    key: str
    title: str
    formula: str
    source: str
    low: float
    high: float | None
    about: str


CLARK = "Clark et al. 2019, section 3"
OLSSON = "Olsson et al. 2022, “In-context Learning and Induction Heads”"
ELHAGE = "Elhage et al. 2021, “A Mathematical Framework for Transformer Circuits”"
GU = "Gu et al. 2024, “When Attention Sink Emerges in Language Models”, section 3"

MEASURES = (
    Measure(
        "previous token",
        "Previous token",
        "mean A[i, i−1]",
        CLARK,
        0.0,
        1.0,
        "The share of weight on the token before.",
    ),
    Measure(
        "next token",
        "Next token",
        "mean A[i, i+1]",
        CLARK,
        0.0,
        1.0,
        "The share of weight on the token after.",
    ),
    Measure(
        "same token",
        "Same token",
        "mean A[i, i]",
        CLARK,
        0.0,
        1.0,
        "The share of weight that a token keeps for itself.",
    ),
    Measure(
        "duplicate token",
        "Duplicate token",
        "mean over i with a twin of Σ A[i, j], token j = token i, j ≠ i",
        "Wang et al. 2022, “Interpretability in the Wild”, section 3.2",
        0.0,
        1.0,
        "The share of weight on other occurrences of the same token.",
    ),
    Measure(
        "induction",
        "Induction",
        "mean over i with an earlier twin of Σ A[i, j+1], token j = token i, j + 1 < i",
        OLSSON,
        0.0,
        1.0,
        "The share of weight on what followed earlier occurrences of the same token.",
    ),
    Measure(
        "first token",
        "First token",
        "mean over i > 0 of A[i, 0]",
        CLARK,
        0.0,
        1.0,
        "The share of weight on the first token.",
    ),
    Measure(
        "separator",
        "Separators",
        "mean Σ A[i, j], j a special token after the first",
        CLARK,
        0.0,
        1.0,
        "The share of weight on the tokenizer’s own tokens, the first aside.",
    ),
    Measure(
        "punctuation",
        "Punctuation",
        "mean Σ A[i, j], j without a letter or digit",
        CLARK,
        0.0,
        1.0,
        "The share of weight on punctuation.",
    ),
    Measure(
        "local",
        f"Within {NEAR} tokens",
        f"mean Σ A[i, j], |i − j| ≤ {NEAR}",
        "Voita et al. 2019, section 4 (positional heads), for a wider neighbourhood",
        0.0,
        1.0,
        f"The share of weight at most {NEAR} tokens away.",
    ),
    Measure(
        "broad",
        "Broad",
        "mean H(A[i]) / ln(number of visible keys)",
        CLARK,
        0.0,
        1.0,
        "Entropy as a share of the largest possible: 1 for equal weights.",
    ),
    Measure(
        "entropy",
        "Entropy",
        "mean H(A[i]) = −Σ A[i, j] ln A[i, j], in nats",
        CLARK,
        0.0,
        None,
        "How spread out the weights of a query are: 0 for a single key. A sink of the softmax"
        " counts as one.",
    ),
    Measure(
        "effective keys",
        "Effective keys",
        "mean exp H(A[i])",
        "Hill 1973, diversity of order 1",
        1.0,
        None,
        "How many keys with equal weights would be as spread out.",
    ),
    Measure(
        "confidence",
        "Confidence",
        "mean of max over j of A[i, j]",
        "Voita et al. 2019, section 4",
        0.0,
        1.0,
        "The largest weight of a query.",
    ),
    Measure(
        "sink share",
        "Sink",
        "max over j of α(j), the mean of A[i, j] over the queries i that see j, if half of them do",
        GU,
        0.0,
        1.0,
        "The share of weight on the key that draws most: above 0.3 it is called a sink.",
    ),
    Measure(
        "distance",
        "Mean distance",
        "d = mean Σ A[i, j] |i − j| / Σ A[i, j]",
        "Vig and Belinkov 2019, section 4.2",
        0.0,
        None,
        "How far away what a head attends to is, in tokens.",
    ),
    Measure(
        "distance spread",
        "Spread of distance",
        "√(mean Σ A[i, j] |i − j|² / Σ A[i, j] − d²)",
        "Vig and Belinkov 2019, section 4.2",
        0.0,
        None,
        "The standard deviation of that distance, in tokens.",
    ),
    Measure(
        "positional",
        "Positional",
        f"η² of A[i, j] grouped by i − j, over at most {SAMPLED} queries",
        "the correlation ratio, Fisher 1925",
        0.0,
        1.0,
        "How much of the weights the offset alone explains: 1 if it decides them.",
    ),
    Measure(
        "copying",
        "Copying",
        "Re Σλ / Σ|λ|, λ the eigenvalues of W_V W_O",
        ELHAGE,
        -1.0,
        1.0,
        "Whether a head writes what it reads (1), or its opposite (−1).",
    ),
    Measure(
        "copying of tokens",
        "Copying of tokens",
        f"Re Σλ / Σ|λ|, λ of W_E W_V W_O W_U, over at most {VOCABULARY:,} tokens",
        ELHAGE,
        -1.0,
        1.0,
        "Whether attending to a token makes the same token likelier (1) or less so (−1).",
    ),
    Measure(
        "matching",
        "Matching",
        "Re Σλ / Σ|λ|, λ the eigenvalues of W_Q W_Kᵀ",
        ELHAGE,
        -1.0,
        1.0,
        "Whether queries look for keys with the same content (1) or the opposite (−1).",
    ),
)

PICTURE_MEASURES = (  # those of the patches of a picture, beside the ones above
    Measure(
        "patch distance",
        "Patch distance",
        "mean over patches i of Σ A[i, j] d(i, j) / Σ A[i, j], j a patch",
        "Dosovitskiy et al. 2021, appendix D.7",
        0.0,
        None,
        "How far away the patches that a patch attends to are, in patches.",
    ),
    Measure(
        "row entropy",
        "Entropy of all rows",
        "mean H(A[i]), in nats, over class token, registers and patches",
        CLARK,
        0.0,
        None,
        "How spread out the weights of a token are: 0 for a single key.",
    ),
)
