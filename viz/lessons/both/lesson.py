"""The story of encoder and decoder: a date is read, and written a character at a time."""

from viz.lessons.inputs import Count, OneOf, Reals, Sentence, Word
from viz.lessons.story import (
    SIZES,
    Lesson,
    Misreading,
    Option,
    Other,
    Page,
    Plan,
    Question,
    Step,
    Try,
)

LESSON = Lesson(
    name="both",
    place=130,
    title="Encoder and decoder together",
    icon="sync_alt",
    line="One network reads, another writes, and attention joins them.",
    parts=("cross-attention",),
    needs=("position", "decoder"),
    minutes=25,
    figure="Reading and writing dates",
    computed="these weights: those of a network trained to write dates",
    real=("translate", "whisper"),
    inputs={
        "network": OneOf("dates", ("dates", "six")),
        "sentence": Sentence("The cat sat on the black chair because it was tired."),
        "date": Word("March the third, '98"),
        "written": Count(0, 0, 10),
        "head": Count(0, 0, 3),
        "at": Count(6, 0, 23),
        "length": Count(64, 2, 2048),
        "width": Count(64, 16, 1024),
        "off": Reals((0, 0, 0)),
        "word": Count(3, 0, 10),
    },
    steps=(
        Step(
            "encode",
            "The encoder reads everything at once",
            (
                "This network was trained to write any date as year-month-day. Its [[encoder]]"
                " reads the date as you type it, all characters in one pass, without a mask:"
                " every character attends to every other, on both sides.",
                "Press a character to see its @weight(weights) in the chosen head. The encoder's"
                " output is one vector for each character, and it is computed **once**.",
            ),
            tries=(
                Try("4/11/2031", {"date": "4/11/2031"}),
                Try("13 December 2013", {"date": "13 December 2013"}),
            ),
        ),
        Step(
            "cross",
            "The decoder asks the encoder",
            (
                "The [[decoder]] starts from a begin symbol. In [[cross-attention]] its position"
                " gives the @query(query); @key(keys) and @value(values) come from the encoder's"
                " output. The thickness of a line is its @weight(weight) in the chosen head.",
                "To write “{now:s}” this head attends most to “{most.token:s}” at position"
                " {most.at:d}, with {most.weight:.0%}. All years here lie between 1950 and 2049,"
                " so two digits of a year decide its century.",
            ),
            formulas=("softmax(@query(Q_{target}) @key(K_{source})^{T} / √d) @value(V_{source})",),
            code=(
                "@query(q) = target @ w_q",
                "@key(k), @value(v) = encoded @ w_k, encoded @ w_v",
                "@output(out) = softmax(@query(q) @ @key(k).mT / √d) @ @value(v)",
            ),
            ask=Question(
                "The date is “March the third, '98”. Which characters will the decoder attend to"
                " for the first digit that it writes?",
                (
                    Option(
                        "The first ones, “Ma”",
                        "The target begins with the year, and here the year comes last. Attention"
                        " need not go from left to right.",
                    ),
                    Option(
                        "The year at the end, “98”",
                        "The year is written first, so it is looked up first, wherever it stands.",
                        right=True,
                    ),
                    Option(
                        "All about equally",
                        "An untrained network would do that. This one has learned where to look.",
                    ),
                ),
            ),
        ),
        Step(
            "write",
            "One character per step",
            (
                "So far {written:d} characters are written. Press the framed one to write it, move"
                " the slider, or press Play. Each step appends the likeliest character, and the"
                " decoder runs again, with a new @query(query) to the *same* keys and values. Below"
                " the frame are the three likeliest characters.",
                "Next comes “{now:s}”, and “{most.token:s}” (position {most.at:d}) has the largest"
                " weight, {most.weight:.0%}. Other heads look elsewhere: try them while the month"
                " is written.",
            ),
            tries=(
                Try("The month, head 2", {"written": 6, "head": 2}),
                Try("The day, head 3", {"written": 9, "head": 3}),
                Try("98-4-23, year first", {"date": "98-4-23"}),
            ),
            inputs={"written": 3},
        ),
        Step(
            "kinds",
            "Three kinds of attention",
            (
                "Below the target are the weights of its *masked self-attention*: what is being"
                " written also depends on what has been written. So the three kinds are: the"
                " **source on itself**, everything in sight; the **target on itself**, under a"
                " causal mask; and the **target on the source**.",
                "Not every character needs the source: a digit of the day does, but a hyphen could"
                " be written from its position alone.",
            ),
            tries=(Try("A hyphen", {"written": 4}), Try("The last digit", {"written": 9})),
            inputs={"written": 4},
        ),
        Step(
            "align",
            "The alignment, as a map",
            (
                "All rows together are the [[alignment]]: one row for each character written,"
                " one column for each character read. A row is one @query(query), and its"
                " @weight(weights) sum to 1. Nobody labelled which characters belong together:"
                " it was learned from pairs of dates alone.",
                "It shows where a head reads, not why a digit was written: other heads, and what"
                " has been written, count too.",
            ),
            tries=(
                Try("Head 2", {"head": 2}),
                Try("1998-3-3", {"date": "1998-3-3"}),
            ),
        ),
        Step(
            "cut",
            "Cut the month",
            (
                "A map suggests where a digit comes from; cutting tests it. Some characters are"
                " hidden from every head of the [[cross-attention]], and the board shows the"
                " probability of each right character, after the right ones before it.",
                "Without “March” the second digit of the month keeps only {board.month:.2f}; the"
                " year ({board.year:.2f}) and the day stay. Each part of the target rests on its"
                " own part of the source.",
            ),
            board=True,
        ),
        Step(
            "crossing",
            "Words that cross",
            (
                "The same in a real translator: the one in Firefox, from English to Portuguese."
                " “The cat sat on the black chair because it was tired.” becomes “O gato"
                " sentou-se na cadeira preta porque estava cansado.” The board is head 0 of its"
                " decoder's last layer, which was trained to align words.",
                "“cadeira” takes {board.chair:.2f} of its weight from “chair”, and then “preta”"
                " {board.black:.2f} from “black”: the adjective follows the noun in Portuguese, so"
                " the diagonal turns back there. “it” has no row: Portuguese leaves it out.",
            ),
            board=True,
            computed="these weights: those of a trained translator",
        ),
        Step(
            "grows",
            "A translation grows",
            (
                "The same translator writes one token after another, {board.count:d} in all, and"
                " each reads the source anew: the table names the token that the aligning head"
                " gives most weight to, and the probability of what was written. It is least sure"
                " of “{board.least:s}”, with {board.share:.2f}.",
                "Long words are written in pieces, and each piece reads the same word. Type an"
                " English sentence of your own.",
            ),
            tries=(
                Try("How are you today?", {"sentence": "How are you today?"}),
                Try("A red house", {"sentence": "She bought a small red house near the sea."}),
            ),
            board=True,
            computed="these weights: those of an English–Portuguese translator (Bergamot)",
        ),
        Step(
            "spoken",
            "From words to seconds: Whisper",
            (
                "Whisper's [[encoder]] reads sound, and its decoder writes text. So a row of"
                " [[cross-attention]] is a curve over *time*, in frames of {board.frame:.0f} ms:"
                " where a token is heard. {board.heads:d} of its 24 cross-attention heads were"
                " chosen by its authors because they follow the speech.",
                "Choose a word: the curve is the mean @weight(weight) of these heads while it is"
                " written. “{board.word:s}” has {board.share:.2f} on the {board.heard:.1f} s of the"
                " recording, most of all at {board.top:.2f} s; what is missing to 1 lies on the"
                " silence that fills the input up to 30 s.",
                "The marked times come from all rows together: from the cheapest path through them"
                " that never goes back in time. {board.inside:d} of {board.words:d} curves are"
                " highest inside their word's time. The network writes no times here: they are"
                " read off its weights.",
            ),
            tries=(
                Try("“animal”", {"word": 1}),
                Try("“tired.”", {"word": 10}),
            ),
            board=True,
            computed="these weights: those of Whisper tiny.en",
        ),
        Step(
            "whole",
            "The whole transformer",
            (
                "The [[encoder]] on the left reads the date once. Its normalised output gives the"
                " @key(keys) and @value(values) of the [[cross-attention]] in the [[decoder]],"
                " whose last state the [[head layer]] turns into a probability for every"
                " character. The likeliest is written, joins the decoder's input, and the decoder"
                " runs again, until it writes the end symbol.",
                "The bands are the residual streams of “{most.token:s}” and of the position that"
                " writes “{now:s}”, as wide as their norms. Here each side has one block; the"
                " first transformer had six.",
            ),
            tries=(
                Try("Begin again", {"written": 0}),
                Try("The last character", {"written": 10}),
                Try("Six blocks on each side", {"network": "six"}),
            ),
            other=Other(
                "six",
                SIZES,
                (
                    "The first transformer (Vaswani et al. 2017) stacks six blocks on each side."
                    " Each reads the stream that the block below has left; all have the same"
                    " shape, and weights of their own: {six.encoder:,d} [[parameters]] in an"
                    " encoder block, {six.decoder:,d} in a decoder block, which has a"
                    " [[cross-attention]] too.",
                    "The encoder's blocks do not talk to the decoder's one by one. Only the"
                    " output of the **last** one is handed over: every decoder block makes its own"
                    " @key(keys) and @value(values) of it.",
                ),
                (Try("One block on each side", {"network": "dates"}),),
            ),
        ),
        Step(
            "inside",
            "Three sub-layers in a decoder block",
            (
                "An encoder block has two sub-layers, a decoder block three: **masked"
                " attention** reads what has been written, **cross-attention** reads the source,"
                " and the [[feed-forward network]] processes each position alone. Each reads a"
                " normalised copy of the stream and adds its output to it.",
                "Press a sub-layer to switch it off. The top row shows the predictions at each"
                " position, after the right characters so far: {stacks.correct:d} of"
                " {stacks.count:d} are right.",
            ),
            code=(
                "x = x + attention(norm1(x))  # causal mask",
                "x = x + cross(norm2(x), encoded)",
                "x = x + mlp(norm3(x))",
            ),
            tries=(
                Try("Without cross-attention", {"off": (0, 1, 0)}),
                Try("Without masked attention", {"off": (1, 0, 0)}),
                Try("All sub-layers", {"off": (0, 0, 0)}),
            ),
            ask=Question(
                "The cross-attention is switched off. What can the decoder still predict?",
                (
                    Option(
                        "Nothing at all",
                        "It still knows where it is and what has been written. That is enough for"
                        " the hyphens, which stand at the same positions in every date.",
                    ),
                    Option(
                        "The hyphens, and digits only by luck",
                        "Positions and earlier characters are left, and they settle the form of a"
                        " date, not which date it is.",
                        right=True,
                    ),
                    Option(
                        "The whole date: it has been trained on it",
                        "Even a date from its training cannot be recognised by a decoder that does"
                        " not read the source.",
                    ),
                ),
            ),
        ),
        Step(
            "sharing",
            "One matrix or three",
            (
                "Three matrices have a row for each token: the [[embedding]] of the source, that"
                " of the target, and the one that computes the [[logits]]. With [[weight sharing]]"
                " they are one, which needs one vocabulary for both languages and saves"
                " {board.saved:,d} parameters here.",
                "But embeddings should have numbers near 1, or the [[positional"
                " encoding|positions]] outweigh them; a matrix for logits needs small ones. So the"
                " embedding is multiplied by √d (`emb`), or the logits are divided by √d (`prj`,"
                " for a matrix that starts near 1), or nothing is scaled. Scaling applies only"
                " where the output shares the target's embedding. The first transformer had d ="
                " 512, 2,048 hidden units, 6 layers on each side and 8 heads with d_{k} = d_{v} ="
                " 64.",
            ),
            code=(
                "self.out.weight = self.target_embedding.weight",
                "x = embedding(ids) * sqrt(d)  # emb",
                "logits = out(x) / sqrt(d)  # prj",
            ),
            board=True,
            computed="these weights: random ones, of width 64",
        ),
        Step(
            "cost",
            "What it costs",
            (
                "A recurrent network would need {cost.steps.recurrence:,d} steps, one after the"
                " other, for {cost.length:,d} tokens; a layer of attention needs 1, and connects"
                " any two of them directly. Its price is the square: n²·d multiplications for"
                " Q K^{T}, and as many again for the weighted sums.",
                "But the four [[projection|projections]] cost 4n·d². They are the larger part"
                " until a text has more than 2d = {cost.equal:,d} tokens; from there on the"
                " square dominates, in time and in stored weights.",
            ),
            formulas=("2 n²·d + 4 n·d² = {cost.total:,d}",),
            tries=(
                Try("n = 2d", {"length": 128, "width": 64}),
                Try("n = 2048, d = 64", {"length": 2048, "width": 64}),
            ),
            computed=SIZES,
        ),
    ),
    takeaways=(
        "In cross-attention the pattern has a row for every target token and a column for every"
        " source token.",
        "The encoder runs once; the decoder runs once per written token and attends to the"
        " encoder's output each time.",
        "Sharing replaces three matrices by one. `emb` and `prj` keep it from being too small for"
        " one use or too large for the other.",
    ),
    misreading=Misreading(
        "The encoder runs again for every written token.",
        "It runs once; only the decoder runs again.",
    ),
    plan=Plan(
        aim="Cross-attention joins what is read to what is written.",
        show="The cross-attention of “March the third, '98” and of “1998-3-3”: the first rows look"
        " at the year, wherever it stands.",
        ask="In cross-attention, where do keys and values come from? The target · **the encoder's"
        " output** · the source's embedding · the step before.",
    ),
    code=(
        "models.seq2seq.Seq2Seq.forward",
        "models.blocks.PostNormDecoderBlock.forward",
        "models.lessons.sharing.shared",
        "models.lessons.reach.multiplications",
    ),
    pages=(
        Page(
            "Open a date in the explorer",
            "explore",
            {
                "model": "dates",
                "input": "3 March 1998",
                "layer": 0,
                "attention": "cross",
                "head": 0,
            },
        ),
    ),
)
