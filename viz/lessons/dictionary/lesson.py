"""The story of the soft dictionary."""

from viz.lessons.inputs import Within, Word
from viz.lessons.story import Lesson, Misreading, Option, Page, Plan, Question, Step, Try

LESSON = Lesson(
    name="dictionary",
    place=30,
    title="Soft dictionary",
    icon="menu_book",
    line="Attention is a look-up in a dictionary that may answer with a mixture.",
    parts=("mixture",),
    needs=(),
    minutes=15,
    figure="A dictionary of heights",
    inputs={
        "query": Word("Anna"),
        "temperature": Within(0.2, 0.05, 5),
    },
    steps=(
        Step(
            "exact",
            "An ordinary dictionary",
            (
                "A dictionary holds @key(keys), here four people, and a @value(value) for each:"
                " their height in centimetres. It answers a @query(query) that equals one of the"
                " keys, and no other: “Anna” is not in it, so there is **no answer**.",
                "Type another query below the figure. Only an exact match finds a value.",
            ),
            tries=(Try("Ask for Ann", {"query": "Ann"}), Try("Ask for Anna", {"query": "Anna"})),
        ),
        Step(
            "similarity",
            "A soft one compares",
            (
                "A soft dictionary compares the query with *every* key. Here the [[similarity]] is"
                " s = exp(−d), where d is the [[edit distance]]: the number of letters to insert,"
                " remove or replace. Equal names have s = 1, and each letter of difference divides"
                " s by e ≈ 2.72.",
                "“{query:s}” and “Ann” differ by {distances.0:d}, so s = {similarities.0:.3f};"
                " “Michelle” is {distances.2:d} letters away, so s = {similarities.2:.4f}. Thicker"
                " lines mean more similar.",
            ),
            formulas=("s_{i} = exp(−d(@query(q), @key(k_{i})))",),
        ),
        Step(
            "softmax",
            "Similarities become weights",
            (
                "[[softmax|Softmax]] turns the similarities into @weight(weights): each"
                " exp(s / T) is divided by their sum, {total:.2f}. The weights are positive and"
                " sum to 1; {best:s} gets {largest:.1%}.",
                "Move the [[temperature]] T: lowering it concentrates the weight on the best key,"
                " raising it evens the weights out.",
            ),
            formulas=("@weight(α_{i}) = exp(s_{i} / T) / Σ_{j} exp(s_{j} / T)",),
            tries=(
                Try("T = 0.05: almost one-hot", {"temperature": 0.05}),
                Try("T = 5: almost even", {"temperature": 5}),
            ),
        ),
        Step(
            "flow",
            "Values flow to the answer",
            (
                "Every @value(value) flows into the @output(answer), as wide as its"
                " @weight(weight): Ann's 167 counts {weights.0:.1%}, Mike's 186"
                " {weights.1:.1%}. The answer is the weighted sum, **{answer:.2f}** cm. It is a"
                " mixture; when one key has most of the weight, it is close to that key's value.",
            ),
            formulas=("@output(answer) = Σ_{i} @weight(α_{i}) @value(v_{i})",),
            code=(
                "scores = similarity(@query(q), @key(k))",
                "@weight(weights) = softmax(scores / T)",
                "@output(answer) = @weight(weights) @ @value(v)",
            ),
            ask=Question(
                "The weights are on the screen. What will the answer to “{query:s}” be?",
                (
                    Option(
                        "167, the value of the nearest key",
                        "Only if Ann had *all* the weight. She has {weights.0:.1%}, and the other"
                        " values count a little too: {answer:.2f}.",
                    ),
                    Option(
                        "174.75, the mean of the four",
                        "That is the answer where all weights are equal, as at a very high"
                        " temperature. Here it is {answer:.2f}.",
                    ),
                    Option(
                        "A mixture, nearest to the value with the most weight",
                        "Each value counts as much as its weight: {answer:.2f}.",
                        right=True,
                    ),
                ),
            ),
        ),
        Step(
            "ways",
            "Six ways to weigh",
            (
                "Softmax is one way among several. Here “Anna” has similarities 0.98, 0.05, 0.05"
                " and 0.1, typed by hand, and every row turns them into @weight(weights) in"
                " another way. As they are they sum to 1.18: no weight is negative, so the answer"
                " lies in the [[convex cone]] of the values, and 199.06 cm is taller than all four"
                " people.",
                "Weights that also sum to 1 give a [[convex combination]], which stays between the"
                " smallest and the largest value: the usual case in deep learning. One weight of 1"
                " is a **database query**; equal weights are [[average pooling]], 174.75 for"
                " everybody. Dividing by the sum fails if it is 0 or if similarities are negative,"
                " such as 0.9, −0.3, 0.2, −0.1; softmax takes any numbers.",
            ),
            formulas=(
                "plain: @weight(α_{i}) = s_{i} / Σ_{j} s_{j}",
                "softmax: @weight(α_{i}) = exp(s_{i}) / Σ_{j} exp(s_{j})",
            ),
            board=True,
        ),
        Step(
            "words",
            "Values that are words",
            (
                "Fruit and their colours. “pickles” is a key, so an exact query returns green."
                " Without that key nothing matches: the nearest in meaning, by the vectors of"
                " [[MiniLM]], is {board.meaning:s}, hence brown; by letters {board.letters:s} is"
                " nearest, {board.apart:d} edits away, and green is right by luck alone. “citrus”"
                " shares hardly a letter with orange and gives it {board.citrus:.0%} at T = 0.1.",
                "“pi” has weights 0.05, 0.075, 0.075, 0.3, 0.4 and 0.1. Colours cannot be"
                " averaged: 0.4 × brown means nothing. What can be added are the weights of equal"
                " values, and {board.winner:s} wins. In a network values are always"
                " [[vector|vectors]], which can be averaged. The same query may get another answer"
                " from other entries, and the code is the same for a dictionary of any size.",
            ),
            board=True,
            computed="these weights: those of MiniLM, and from the numbers on the screen",
        ),
        Step(
            "learn",
            "Soft, and so learnable",
            (
                "A small change of the query or of T changes every weight a little, and the answer"
                " with them: the look-up is **differentiable**. A network can therefore learn by"
                " gradient descent what each token looks for (its @query(query)), what it can be"
                " matched on (its @key(key)) and what it passes on (its @value(value)). That is"
                " [[attention]].",
                "Nothing has to be compressed into one vector first: without attention every query"
                " would get the same answer, for instance the mean {mean:.2f}. Here each query gets"
                " its own.",
            ),
            tries=(
                Try("Ask for Andrea", {"query": "Andrea"}),
                Try("Ask for Mikael", {"query": "Mikael"}),
                Try("Ask for Zoe", {"query": "Zoe"}),
            ),
            ask=Question(
                "“Zoe” resembles none of the four names. What will the soft dictionary answer?",
                (
                    Option(
                        "Nothing: she is not in it",
                        "That is what the ordinary dictionary does. Softmax always hands out"
                        " weights that sum to 1, so there is always an answer. Ask for Zoe below.",
                    ),
                    Option(
                        "About the mean of the four heights",
                        "All similarities are close to 0, so all weights are close to 1/4. An"
                        " answer is not yet a match. Ask for Zoe below.",
                        right=True,
                    ),
                    Option(
                        "About 0 cm: every similarity is close to 0",
                        "Similarities near 0 do not mean weights near 0: only their differences"
                        " matter. Ask for Zoe below.",
                    ),
                ),
            ),
        ),
    ),
    takeaways=(
        "Attention is a look-up that may answer with a mixture: similarity, normalisation,"
        " weighted sum.",
        "Softmax turns any numbers into weights: positive, and summing to 1. The temperature sets"
        " how sharp they are.",
        "Nothing has to be compressed: every query gets its own answer from all the entries.",
    ),
    misreading=Misreading(
        "Softmax picks the best key.",
        "It weights all of them; only a low temperature comes near to picking.",
    ),
    plan=Plan(
        aim="Attention is a look-up that may answer with a mixture: similarity, normalisation,"
        " weighted sum.",
        show="The query “Anna”, which is no key; each step of the figure; then the temperature"
        " from 0.05 to 5.",
        ask="At a very high temperature, what is the answer to any query? The value of the nearest"
        " key · **the mean of all values** · zero · no answer.",
    ),
    code=(
        "models.lessons.dictionary.edit_distance",
        "models.lessons.dictionary.edits",
        "models.lessons.dictionary.embedded",
        "models.lessons.dictionary.normalised",
        "models.lessons.dictionary.pooled",
        "models.lessons.dictionary.case",
    ),
    pages=(
        Page(
            "See how MiniLM reads a query",
            "explore",
            {"model": "minilm", "input": "Anna", "layer": 3, "head": 1},
        ),
    ),
)
