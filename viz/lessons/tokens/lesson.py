"""The story of tokens and embeddings."""

from viz.lessons.inputs import Count, Word
from viz.lessons.story import Lesson, Misreading, Option, Page, Plan, Question, Step, Try

LESSON = Lesson(
    name="tokens",
    place=20,
    title="Tokens and embeddings",
    icon="data_array",
    line="A text becomes ids, and each id selects a vector from a table.",
    parts=("tokens",),
    real=("smollm2",),
    needs=(),
    minutes=15,
    figure="From a text to rows of a table",
    computed="these weights: the embedding table of MiniLM",
    inputs={
        "text": Word("Our bank rewilded the river bank"),
        "token": Count(2, 0, 11),
    },
    steps=(
        Step(
            "pieces",
            "A text is cut into pieces",
            (
                "A network computes with numbers, so a text is first cut into [[token|tokens]]."
                " Here are three ways. A vocabulary of **words** never covers every word."
                " **Bytes** cover every text with 256 symbols, but make it long: {byte_count:d}"
                " instead of {word_count:d}.",
                "**Word pieces** lie between: a frequent word is one token, a rare word several;"
                " “##” marks a piece that continues a word. These are the pieces of [[MiniLM]],"
                " which reads everything in lower case and adds [CLS] and [SEP]. Type a text of"
                " your own below the figure.",
            ),
            tries=(
                Try("A rare word: zyzzyva", {"text": "zyzzyva", "token": 1}),
                Try("A heart: 4 bytes, [UNK]", {"text": "I 💙 naïve cafés", "token": 2}),
            ),
            computed="the vocabulary of MiniLM",
        ),
        Step(
            "ids",
            "Every piece has a number",
            (
                "The [[vocabulary]] is a fixed list of {vocab:,d} pieces, made before training from"
                " a large collection of text. A token's **id** is its index in that list:"
                " “{piece:s}” is number {id:d}. Press another token to see its id among its"
                " neighbours in the list.",
                "The order means nothing to the network: pieces with adjacent ids are unrelated. An"
                " id is a name, not a quantity.",
            ),
            code=("ids = tokenizer.encode(text)",),
            computed="the vocabulary of MiniLM",
        ),
        Step(
            "table",
            "A table has a row for each id",
            (
                "The [[embedding]] table E has one row for each id: {vocab:,d} rows of {dim:d}"
                " numbers, {parameters:,d} [[parameters]] in all. The figure shows the first 12"
                " [[feature|features]] of a few rows; blue cells are negative, brown ones"
                " positive.",
                "The numbers are learned by gradient descent like every other weight of the"
                " network; a step changes only the rows that its texts have selected. Looking up"
                " row i is the same as multiplying E by a [[one-hot]] vector with its 1 at i, so"
                " the table is a [[linear layer]] without a [[bias]].",
            ),
            formulas=("x_{t} = E[id_{t}] = onehot(id_{t}) E",),
        ),
        Step(
            "rows",
            "Each id picks its row",
            (
                "The row of “{piece:s}” is copied out of the table, and so is the row of every"
                " other token. Stacked, they are the text as the network receives it: {count:d}"
                " tokens × {dim:d} features.",
                "The same id always selects the same row, whatever stands around it. The row knows"
                " neither the context nor the position: the first comes with [[attention]], the"
                " second with a [[positional encoding]].",
            ),
            code=("x = E[ids]",),
            ask=Question(
                "“bank” occurs twice in “Our bank rewilded the river bank”: once an institution,"
                " once the side of a river. How do the two rows picked from the table differ?",
                (
                    Option(
                        "They differ, because the meanings do",
                        "The table is asked for an id and for nothing else. Both are id 2924, so"
                        " both get the same numbers. Attention has to distinguish them.",
                    ),
                    Option(
                        "They differ, because the positions do",
                        "The position is not part of the look-up. It is added afterwards, from"
                        " another table.",
                    ),
                    Option(
                        "Not at all",
                        "One id, one row. What the words around it mean for “bank” is worked out"
                        " later, by attention.",
                        right=True,
                    ),
                ),
            ),
        ),
        Step(
            "nearest",
            "Similar rows for similar use",
            (
                "Training gives similar vectors to pieces that are used alike. These rows of the"
                " table have the largest [[cosine similarity]] with that of “{piece:s}”, over all"
                " {dim:d} features: first “{nearest.0.piece:s}”, with"
                " {nearest.0.similarity:.3f}.",
                "Nobody told the table which words are related: only gradients from the training"
                " task did. Press other tokens, or try a few words.",
            ),
            tries=(
                Try("tuesday", {"text": "See you on Tuesday", "token": 4}),
                Try("doctor", {"text": "The doctor is in", "token": 2}),
            ),
            ask=Question(
                "Which rows of the table will be most similar to the row of “{piece:s}”?",
                (
                    Option(
                        "Those beside it in the list, with adjacent ids",
                        "The order of the list means nothing: training never compares neighbouring"
                        " rows. Most similar is “{nearest.0.piece:s}”.",
                    ),
                    Option(
                        "Those of pieces that are spelled alike",
                        "The network sees ids, no letters. Spelling counts only where similar words"
                        " are also used alike. Most similar is “{nearest.0.piece:s}”.",
                    ),
                    Option(
                        "Those of pieces that are used alike",
                        "Pieces in similar contexts get similar gradients. Most similar is"
                        " “{nearest.0.piece:s}”, with {nearest.0.similarity:.3f}.",
                        right=True,
                    ),
                ),
            ),
        ),
        Step(
            "beside",
            "Another vocabulary: byte-level pairs",
            (
                "A language model cuts otherwise. SmolLM2 starts from bytes and merges the pairs"
                " that are frequent: **byte pair encoding**. A piece keeps the space before it,"
                " shown as ␣, and upper case; no text is unknown, as every byte is in the"
                " vocabulary. MiniLM has {board.other:d} tokens here, [CLS] and [SEP] included,"
                " and SmolLM2 has {board.count:d}.",
                "Its table has {board.vocab:,d} rows of {board.dim:d} numbers,"
                " {board.parameters:,d} in all: {board.share:.0%} of its [[parameters]]. The same"
                " table computes the [[logits]] at the end. The last column names the row most"
                " similar by cosine: often the same word with another space, case or number.",
            ),
            tries=(
                Try("A rare word: zyzzyva", {"text": "zyzzyva"}),
                Try("A heart: three tokens", {"text": "I 💙 naïve cafés"}),
            ),
            board=True,
            computed="these weights: the tables of MiniLM and SmolLM2",
        ),
    ),
    takeaways=(
        "Text → tokens → ids → rows of a learned table. Only the rows enter the network.",
        "A vocabulary is a compromise: more ids, shorter texts; fewer ids, longer texts.",
        "A token's row does not depend on the text around it. Context comes with attention, order"
        " with positions.",
    ),
    misreading=Misreading(
        "An embedding knows the meaning in context.",
        "The table does not; the layers after it do.",
    ),
    plan=Plan(
        aim="Text → tokens → ids → rows of a learned table.",
        show="A sentence of the class's own as words, pieces and bytes; the two “bank”s, with one"
        " row; the neighbours of a name.",
        ask="“bank” stands twice in a text, once by a river and once with money. Their rows of the"
        " table are **the same** · similar · unrelated · different in the sign.",
    ),
    code=(
        "models.lessons.tokens.words",
        "models.lessons.tokens.utf8",
        "models.lessons.tokens.rows",
        "models.lessons.tokens.selected",
        "models.lessons.tokens.nearest",
    ),
    pages=(
        Page(
            "See these tokens attend to each other",
            "explore",
            {"model": "minilm", "input": "Our bank rewilded the river bank", "layer": 3, "head": 1},
        ),
    ),
)
