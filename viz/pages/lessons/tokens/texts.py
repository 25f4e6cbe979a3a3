"""The folded texts of the lesson on tokens and embeddings (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A network computes with numbers, so a text is first cut into [[token|tokens]], each token gets"
    " an **id**, and each id selects a row of a table: its [[vector]], the [[embedding]]. The"
    " table is learned like every other [[matrix]].",
)
CUTS = (
    "Where to cut? **Words** need a huge vocabulary, and a word that is not in it is unknown."
    " **Bytes** need only 256 ids and can encode every text, but make it long, and attention costs"
    " n². **Word pieces** lie in between: frequent words are one token, rare words a few pieces."
    " MiniLM has 30,522 of them; its ids and its table are used below. It also adds [CLS] and [SEP]"
    " around the text, and reads everything in lower case.",
)
ROWS = (
    "Each id selects its row, here the first 6 of 384 [[feature|features]]. The same id always"
    " gets the same row, whatever stands around it: “bank” of a river and of money are one vector."
    " Telling them apart is what the [[attention]] layers are for.",
)
ONE_HOT = (
    "Selecting row i is the same as multiplying a [[one-hot]] vector, 1 at position i and 0"
    " elsewhere, by the table. So a table of embeddings is a [[linear layer]] without a"
    " [[bias]], and its [[gradient]] reaches only the rows that were selected."
)
NEIGHBOURS = (
    "Training gives similar vectors to tokens that are used alike. Choose a token: these rows of"
    " the table have the largest [[cosine similarity]] with its row. (“##” marks a piece that"
    " continues a word.)",
)
TRIES = (
    Try("A rare word.", "One word of seven letters becomes several pieces.", {"text": "zyzzyva"}),
    Try(
        "Two banks.",
        "Two meanings, one id, one row: the table knows nothing of the context.",
        {"text": "the bank of the river and the bank with my money", "token": 2},
    ),
    Try(
        "Other signs.",
        "A heart is four bytes in UTF-8 and one unknown token to MiniLM.",
        {"text": "I 💙 naïve cafés", "token": 2},
    ),
)
TAKEAWAYS = (
    "Text → tokens → ids → rows of a learned table. Only the rows enter the network.",
    "A vocabulary is a compromise: more ids, shorter texts; fewer ids, longer texts.",
    "A token's row does not depend on the text around it. Context comes with attention, order with"
    " positions.",
)
