"""The story of self-attention by hand."""

from viz.lessons.inputs import Count, Reals
from viz.lessons.story import Lesson, Misreading, Option, Page, Plan, Question, Step, Try

X = (0.458085, 0.482857, 0.312498, 0.615022, 0.213947, 0.411826)  # torch.rand with seed 10

LESSON = Lesson(
    name="by_hand",
    place=40,
    title="Self-attention by hand",
    icon="calculate",
    line="Two words look at each other, and every number can be checked.",
    parts=("scores",),
    needs=("tokens", "dictionary"),
    minutes=15,
    figure="Two words and every sum",
    inputs={
        "film": Reals((0.9, 0.1, -0.4), 10),
        "viewer": Reals((0.8, -0.2, 0.5), 10),
        "x": Reals(X, 10),
        "row": Count(0, 0, 1),
    },
    steps=(
        Step(
            "rate",
            "A film and a viewer",
            (
                "Does this film suit this viewer? Rate what the @key(film) offers and what the"
                " @query(viewer) likes, feature by feature, from −1 to 1. Now both are"
                " [[vector|vectors]] of three numbers, and numbers can be compared.",
                "The viewer asks, like a @query(query); the film is what can be found, like a"
                " @key(key). Click a number to change it.",
            ),
        ),
        Step(
            "match",
            "How well they match: a sum of products",
            (
                "Multiply feature by feature, then add: viewer · film = {match:.2f}. A product is"
                " positive where the two agree in sign, negative where they disagree, and large"
                " only where *both* numbers are. This sum is the [[dot product]].",
                "The bars in the figure lay the products end to end: romance first, then action,"
                " then comedy. Where they end is the match.",
            ),
            formulas=(
                "@query(q) · @key(k) = @query(q_{0}) @key(k_{0}) + @query(q_{1}) @key(k_{1})"
                " + @query(q_{2}) @key(k_{2})",
            ),
            ask=Question(
                "With the ratings as they were at first: film and viewer agree about romance, and"
                " disagree about action and comedy. What is the sum of the three products?",
                (
                    Option(
                        "Negative: two disagreements against one agreement",
                        "It is not a vote. Romance counts 0.72, the two disagreements only −0.02"
                        " and −0.20: the sum is 0.50.",
                    ),
                    Option(
                        "Positive: both ratings of romance are high",
                        "0.9 · 0.8 = 0.72 outweighs −0.02 and −0.20: the sum is 0.50.",
                        right=True,
                    ),
                    Option(
                        "1.7, the sum of the two ratings of romance",
                        "Ratings are multiplied, not added: 0.9 · 0.8 = 0.72, and the other two"
                        " products reduce it.",
                    ),
                ),
            ),
            tries=(
                Try("A viewer who hates romance", {"viewer": (-0.8, -0.2, 0.5)}),
                Try("The perfect viewer", {"viewer": (1, 1, -1)}),
                Try("No preferences", {"viewer": (0, 0, 0)}),
            ),
        ),
        Step(
            "scores",
            "Every word with every word",
            (
                "Now two words of a sentence, each with three [[feature|features]], in the rows of"
                " X. Each word is a @query(query), in its row on the left, and a @key(key), in its"
                " column above: the [[score]] where a row meets a column is the dot product of the"
                " two words. X X^{T} holds all scores. (Every number is computed with all its"
                " digits and rounded for display: the printed factors may differ from a printed"
                " sum in the last digit.)",
                "Press *word 0* or *word 1* to follow its row; point at a score for its sum. The"
                " dot product grows with the length of the vectors as well as with their"
                " similarity.",
            ),
            formulas=("S = @query(X) @key(X^{T})",),
            tries=(
                Try("Word 0 three times as long", {"x": (1.3743, 1.4486, 0.9375, *X[3:])}),
                Try("Words at right angles", {"x": (1, 0, 0, 0, 1, 0)}),
            ),
        ),
        Step(
            "softmax",
            "Each row becomes weights",
            (
                "[[softmax|Softmax]] works row by row: exp of each score, divided by the row's sum."
                " Word 0 gives itself {weights.0.0:.4f} and word 1 {weights.0.1:.4f}; word 1 gives"
                " word 0 {weights.1.0:.4f}.",
                "No @weight(weight) is negative, and every row sums to 1. A score of 0 still gets"
                " weight, because exp(0) = 1: apart from rounding, softmax never gives exactly 0.",
            ),
            formulas=("@weight(A_{ij}) = exp(S_{ij}) / Σ_{m} exp(S_{im})",),
            ask=Question(
                "The table of scores is symmetric: word 0 matches word 1 exactly as well as word 1"
                " matches word 0. Is the table of weights symmetric too?",
                (
                    Option(
                        "Yes: equal scores give equal weights",
                        "Only within a row. Each row is divided by its own sum: {sums.0:.4f} for"
                        " word 0, {sums.1:.4f} for word 1.",
                    ),
                    Option(
                        "No: each row is divided by its own sum",
                        "The exponentials are equal, the sums are not: {sums.0:.4f} for word 0,"
                        " {sums.1:.4f} for word 1.",
                        right=True,
                    ),
                    Option(
                        "No: softmax puts all the weight on the largest score of a row",
                        "It puts *most* weight there, not all. But the tables do differ: each row"
                        " is divided by its own sum.",
                    ),
                ),
            ),
            tries=(Try("Two equal words", {"x": (*X[:3], *X[:3])}),),
        ),
        Step(
            "mix",
            "Each output lies between the words",
            (
                "The @output(output) of a word is the sum of all words, each times its"
                " @weight(weight); here a word is its own @value(value). No weight is negative and"
                " every row sums to 1, so each output is a weighted mean: **feature by feature it"
                " lies between the smallest and the largest of the words**.",
                "That is all of [[self-attention]]: a soft dictionary in which each word is query,"
                " key and value at once. Nothing here is learned; the next lesson adds that.",
            ),
            formulas=("@output(Y) = @weight(softmax)(@query(X) @key(X^{T})) @value(X)",),
            code=(
                "scores = @query(x) @ @key(x).T",
                "@weight(weights) = softmax(scores, dim=-1)",
                "@output(y) = @weight(weights) @ @value(x)",
            ),
            tries=(
                Try("Follow word 1", {"row": 1}),
                Try("Words at right angles", {"x": (1, 0, 0, 0, 1, 0)}),
            ),
        ),
    ),
    takeaways=(
        "Scores are symmetric: word 0 is exactly as similar to word 1 as word 1 is to word 0."
        " Weights are not, because each row is divided by its own sum.",
        "No weight is negative and every row of weights sums to 1, so each output is a weighted"
        " mean: in every feature it lies between the smallest and the largest of the words.",
        "The dot product grows with the length of the vectors as well as with their similarity.",
    ),
    misreading=Misreading(
        "Weights are symmetric because scores are.",
        "Each row is divided by its own sum.",
    ),
    plan=Plan(
        aim="A word is query, key and value at once; every weight can be computed on paper.",
        show="The steps from scores to weights to outputs; then “Words at right angles”.",
        ask="Two words of length 1 stand at right angles. How much weight does one give the other?"
        " 0 · **0.27** · 0.5 · 0.73. (e⁰ / (e¹ + e⁰))",
    ),
    code=(
        "models.simple.unlearned",
        "models.simple.one_head",
        "models.lessons.followed.follow",
        "models.attention.functional.attend",
    ),
    pages=(
        Page(
            "See self-attention on a whole sentence, in a trained model",
            "explore",
            {
                "model": "minilm",
                "input": "The viewer liked the film because it was short",
                "layer": 3,
                "head": 1,
            },
        ),
    ),
    exercise="01-attention",
)
