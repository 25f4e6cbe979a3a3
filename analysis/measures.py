"""The numbers of a head: what each is called, its formula, source and range."""

from dataclasses import dataclass

NEAR = 5  # tokens on either side that count as local
VOCABULARY = 16_384  # tokens over which the copying score with embeddings is taken, at most


@dataclass(frozen=True)
class Measure:
    """One number per head.

    Attributes:
        key: its name in `heads`.
        formula: A is the weight, i the query, j the key; the mean is over queries.
        source: where it comes from.
        about: what it says, in one sentence.
        title: for a control; that of "" is the key.
        low: its smallest possible value.
        high: its largest; None if that depends on the text.
    """

    key: str
    formula: str
    source: str
    about: str
    title: str = ""
    low: float = 0.0
    high: float | None = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.key.capitalize())


CLARK = "Clark et al. 2019, section 3"
OLSSON = "Olsson et al. 2022, “In-context Learning and Induction Heads”"
ELHAGE = "Elhage et al. 2021, “A Mathematical Framework for Transformer Circuits”"
GU = "Gu et al. 2024, “When Attention Sink Emerges in Language Models”, section 3"

MEASURES = (
    Measure("previous token", "mean A[i, i−1]", CLARK, "The share of weight on the token before."),
    Measure("next token", "mean A[i, i+1]", CLARK, "The share of weight on the token after."),
    Measure(
        "same token", "mean A[i, i]", CLARK, "The share of weight that a token keeps for itself."
    ),
    Measure(
        "duplicate token",
        "mean over i with a twin of Σ A[i, j], token j = token i, j ≠ i",
        "Wang et al. 2022, “Interpretability in the Wild”, section 3.2",
        "The share of weight on other occurrences of the same token.",
    ),
    Measure(
        "induction",
        "mean over i with an earlier twin of Σ A[i, j+1], token j = token i, j + 1 < i",
        OLSSON,
        "The share of weight on what followed earlier occurrences of the same token.",
    ),
    Measure(
        "first token",
        "mean over i > 0 of A[i, 0]",
        CLARK,
        "The share of weight on the first token.",
    ),
    Measure(
        "separator",
        "mean Σ A[i, j], j a special token after the first",
        CLARK,
        "The share of weight on the tokenizer’s own tokens, the first aside.",
        title="Separators",
    ),
    Measure(
        "punctuation",
        "mean Σ A[i, j], j without a letter or digit",
        CLARK,
        "The share of weight on punctuation.",
    ),
    Measure(
        "local",
        f"mean Σ A[i, j], |i − j| ≤ {NEAR}",
        "Voita et al. 2019, section 4 (positional heads), for a wider neighbourhood",
        f"The share of weight at most {NEAR} tokens away.",
        title=f"Within {NEAR} tokens",
    ),
    Measure(
        "broad",
        "mean H(A[i]) / ln(number of visible keys)",
        CLARK,
        "Entropy as a share of the largest possible: 1 for equal weights.",
    ),
    Measure(
        "entropy",
        "mean H(A[i]) = −Σ A[i, j] ln A[i, j], in nats",
        CLARK,
        "How spread out the weights of a query are: 0 for one key; a softmax’s sink counts as one.",
        high=None,
    ),
    Measure(
        "effective keys",
        "mean exp H(A[i])",
        "Hill 1973, diversity of order 1",
        "How many keys with equal weights would be as spread out.",
        low=1.0,
        high=None,
    ),
    Measure(
        "confidence",
        "mean of max over j of A[i, j]",
        "Voita et al. 2019, section 4",
        "The largest weight of a query.",
    ),
    Measure(
        "sink share",
        "max over j of α(j), the mean of A[i, j] over the queries i that see j, if half of them do",
        GU,
        "The share of weight on the key that draws most: above 0.3 it is called a sink.",
        title="Sink",
    ),
    Measure(
        "distance",
        "d = mean Σ A[i, j] |i − j| / Σ A[i, j]",
        "Vig and Belinkov 2019, section 4.2",
        "How far away what a head attends to is, in tokens.",
        title="Mean distance",
        high=None,
    ),
    Measure(
        "distance spread",
        "√(mean Σ A[i, j] |i − j|² / Σ A[i, j] − d²)",
        "Vig and Belinkov 2019, section 4.2",
        "The standard deviation of that distance, in tokens.",
        title="Spread of distance",
        high=None,
    ),
    Measure(
        "positional",
        "η² of A[i, j] grouped by i − j",
        "the correlation ratio, Fisher 1925",
        "How much of the weights the offset alone explains: 1 if it decides them.",
    ),
    Measure(
        "copying",
        "Re Σλ / Σ|λ|, λ the eigenvalues of W_V W_O",
        ELHAGE,
        "Whether a head writes what it reads (1), or its opposite (−1).",
        low=-1.0,
    ),
    Measure(
        "copying of tokens",
        f"Re Σλ / Σ|λ|, λ of W_E W_V W_O W_U, over at most {VOCABULARY:,} tokens",
        ELHAGE,
        "Whether attending to a token makes the same token likelier (1) or less so (−1).",
        low=-1.0,
    ),
    Measure(
        "matching",
        "Re Σλ / Σ|λ|, λ the eigenvalues of W_Q W_Kᵀ",
        ELHAGE,
        "Whether queries look for keys with the same content (1) or the opposite (−1).",
        low=-1.0,
    ),
)
PICTURE_MEASURES = (  # those of the patches of a picture, beside the ones above
    Measure(
        "patch distance",
        "mean over patches i of Σ A[i, j] d(i, j) / Σ A[i, j], j a patch",
        "Dosovitskiy et al. 2021, appendix D.7",
        "How far away the patches that a patch attends to are, in patches.",
        high=None,
    ),
    Measure(
        "row entropy",
        "mean H(A[i]), in nats, over class token, registers and patches",
        CLARK,
        "How spread out the weights of a token are: 0 for a single key.",
        title="Entropy of all rows",
        high=None,
    ),
)
