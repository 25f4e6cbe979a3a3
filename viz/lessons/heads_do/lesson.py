"""The story of what heads do."""

from viz.lessons.inputs import Count, OneOf, Sentence, Word
from viz.lessons.story import Lesson, Misreading, Option, Page, Plan, Question, Step, Try

LESSON = Lesson(
    name="heads_do",
    place=140,
    title="What heads do",
    icon="science",
    line="Roles of trained heads, what happens without them, and what weights do not explain.",
    parts=("heads",),
    needs=("heads", "decoder"),
    minutes=25,
    figure="Four heads read a repeat",
    computed="these weights: those of a network trained on repeated texts",
    real=("smollm2",),
    inputs={
        "network": OneOf("small", ("small", "smollm2")),
        "text": Word("dreamdream"),
        "words": Sentence("magnet violet cobalt planet magnet violet cobalt"),
        "query": Count(6, 0, 12),
        "head": Count(1, 0, 3),
        "later": Count(3, 2, 3),
        "spot": Count(1, 0, 3),
        "sink": Count(0, 0, 3),
        "ablated": OneOf("none", ("none", "0", "1", "2", "3")),
        "sentence": Sentence("the keys near the cabinet"),
        "reader": Count(1, 0, 3),
        "hidden": Count(3, 0, 7),
    },
    steps=(
        Step(
            "previous",
            "One head looks one token back",
            (
                "A small trained network of two layers of attention with two [[head|heads]] each"
                " reads a text that repeats itself. Below are its four maps: a row for each"
                " @query(query), a column for each @key(key); a stronger colour is a larger"
                " @weight(weight).",
                "One diagonal stands out: head 1 of layer 0 attends to the token just before, with"
                " mean weight {roles.previous.1:.2f}. It is a **previous-token head**: it leaves a"
                " note in each token, saying which token came before it. Press another map to see"
                " its arrows.",
            ),
        ),
        Step(
            "induction",
            "Another asks what came next",
            (
                "SmolLM2, a language model of 30 layers that was trained on ordinary text, has such"
                " heads too. Its previous-token head is head 0 of layer 16. Two layers up, head 6"
                " of layer 18 uses that note: “{asks:s}” looks for a token that *follows* an"
                " earlier “{asks:s}”, and its largest weight, {found_weight:.2f}, is on"
                " “{finds:s}”, whose note holds “{before:s}”: the thin arrow.",
                "So the head reads how the text went on last time, and the likeliest next token"
                " is “{predicted.token:s}”, with probability {predicted.share:.2f}. This is an"
                " **induction head** (Elhage et al. 2021; Olsson et al. 2022). Press other tokens;"
                " in the first half there is nothing to find.",
            ),
            tries=(
                Try("The small network", {"network": "small", "query": 6}),
                Try("The previous-token head", {"network": "smollm2", "query": 7, "spot": 0}),
            ),
            inputs={"network": "smollm2", "query": 7},
            ask=Question(
                "A language model reads “magnet violet cobalt planet magnet violet cobalt”."
                " One of its heads helps to predict what follows the second “cobalt”. Where does"
                " it attend to most?",
                (
                    Option(
                        "To the first “cobalt”",
                        "There stands what is known already. What is needed is the token that came"
                        " after it: “{finds:s}”.",
                    ),
                    Option(
                        "To the token after the first “cobalt”",
                        "“{finds:s}”, with a weight of {found_weight:.2f}: it followed last time,"
                        " so it may follow again.",
                        right=True,
                    ),
                    Option(
                        "To the token just before it",
                        "That is what the previous-token head does. Here the largest weight is on"
                        " “{finds:s}”.",
                    ),
                ),
            ),
        ),
        Step(
            "ablate",
            "Break induction",
            (
                "A pattern only suggests a role. **Ablation** tests it: press a head, and its"
                " values become 0. The bars are measured on 64 random tokens that come twice (drawn"
                " with seed 0; other draws give other numbers, alike in kind): how often the next"
                " token of the second half is predicted; {tests.0.accuracy:.0%} with all heads.",
                "Without the previous-token head it is {tests.1.accuracy:.0%}, and the loss rises"
                " from {tests.0.loss:.1f} to {tests.1.loss:.1f}: all induction heads need its"
                " note. Without the induction head it is {tests.2.accuracy:.0%}, for others do the"
                " same. A head next to it hardly matters: {tests.3.loss:.1f} without head 1 of"
                " layer 16, and without each of the {controls.count:d} other heads of both layers,"
                " measured beforehand and drawn as dots, the loss is {controls.median:.1f} in the"
                " middle and {controls.most:.1f} at most.",
            ),
            tries=(
                Try(
                    "Without the previous-token head",
                    {"network": "smollm2", "query": 7, "ablated": "0"},
                ),
                Try(
                    "Without the induction head",
                    {"network": "smollm2", "query": 7, "ablated": "1"},
                ),
                Try("Without its neighbour", {"network": "smollm2", "query": 7, "ablated": "2"}),
                Try("The small network", {"network": "small", "query": 6, "ablated": "1"}),
            ),
            inputs={"network": "smollm2", "query": 7, "ablated": "0"},
        ),
        Step(
            "sink",
            "A place to park weight",
            (
                "@weight(Weights) sum to 1, so a head that finds nothing must still put its weight"
                " somewhere. Often that is the first token, an **attention sink** (Xiao et al."
                " 2024). Head 8 of layer 18 leaves {roles.first.3:.2f} there on average; without"
                " it the loss is {tests.4.loss:.1f}, as with it.",
                "Head 6 of layer 18, the induction head, parks its weight there in the first half,"
                " where nothing has come twice yet. Press its map.",
            ),
            tries=(Try("The induction head", {"network": "smollm2", "query": 7, "sink": 1}),),
            inputs={"network": "smollm2", "query": 7, "sink": 3},
        ),
        Step(
            "drink",
            "Who gets the drink?",
            (
                "“When Mary and John went to the store, John gave a drink to”: SmolLM2 goes on"
                " with “Mary”, {board.given:.2f}, for John has been named twice. If Mary gives it,"
                " “John” comes next. **Patching** asks where this is decided: the network reads"
                " the first sentence, but the state of one token, in one layer, is that of the"
                " second.",
                "At the second name the answer is reversed up to layer 16 ({board.early:.2f} for"
                " John) and no longer from layer 24 on. At the last token it is the other way"
                " round ({board.late:.2f} at layer 24). Between layers 16 and 24 attention has"
                " carried the name from there to here: head 4 of layer 24 gives “Mary” 0.81.",
            ),
            board=True,
            inputs={"network": "smollm2", "query": 7},
        ),
        Step(
            "hide",
            "Attention is not explanation",
            (
                "Head {reads.head:d} of layer {reads.layer:d} gives “{reads.hidden:s}”"
                " @weight({reads.weight:.2f}) of its weight. Without this key, {reads.change:.2f}"
                " of the predicted probability moves. Press other keys, or choose another head.",
                "Weight and effect disagree often: other heads may carry the same information, the"
                " @value(value) may matter little, or the head as a whole (Jain and Wallace 2019)."
                " A map shows where a head reads, not why the network answers.",
            ),
            formulas=("change = ½ Σ_{i} |p_{i} − p_{i}′|",),
            tries=(Try("A key that matters", {"reader": 3, "hidden": 4}),),
            ask=Question(
                "Another network, which knows 155 words of English, reads “the keys near the"
                " cabinet”. At the last word, one head gives “near” a weight of 0.91. Hide “near”"
                " from this head: how much of the probability of the next word moves?",
                (
                    Option(
                        "About 0.9, as much as the weight",
                        "The weight is the share of “near” in the head's output; it is not how"
                        " much the prediction depends on that output: only 0.01 moves.",
                    ),
                    Option(
                        "About half",
                        "It may seem safe to expect less than the weight, but it is far less: only"
                        " 0.01 moves.",
                    ),
                    Option(
                        "About 0.01, next to nothing",
                        "Only 0.01 moves: the network predicts almost the same without it.",
                        right=True,
                    ),
                ),
            ),
            computed="these weights: those of a network trained on template sentences",
        ),
        Step(
            "same",
            "Other weights, the same output",
            (
                "Weights need not even be unique. A head returns its @weight(weights) times the"
                " @value(values). Where there are more keys than value features, other weights"
                " give exactly the same output (Brunner et al. 2020): here six keys with values of"
                " two features.",
                "{board.moved:.0%} of the weight has moved, and key 5 lost all it had; no later"
                " layer can tell the difference. In a real head values have many features, but"
                " texts have more tokens still.",
            ),
            board=True,
            computed="random numbers, the same for one seed",
        ),
    ),
    takeaways=(
        "Numbers over many texts suggest a role: previous token, induction, sink.",
        "Ablation tests it. Two heads with the same pattern can differ in how much depends on"
        " them.",
        "Weights show where a head reads, not why the network answers as it does: other weights"
        " can give the same output, and the key with the most weight may not matter.",
    ),
    misreading=Misreading(
        "The key with the most weight is the reason for the answer.",
        "Hide it and see: “near” has 0.91 of the weight, and hiding it moves 0.01 of the"
        " probability.",
    ),
    plan=Plan(
        aim="A pattern suggests a role; only an intervention tests it.",
        show="The four heads of the induction network, then the ablations, then “near” with 0.91"
        " of the weight and no effect.",
        ask="Two heads have the same pattern. Does the network need them equally? Yes · **not"
        " necessarily: ablate and measure** · only in the same layer · only if both are sinks.",
    ),
    code=(
        "models.lessons.head_roles.repeats",
        "models.lessons.head_roles.ablations",
        "models.edits.Ablate",
        "models.lessons.head_roles.next_probabilities",
        "models.lessons.head_roles.removals",
        "models.lessons.head_roles.other_weights",
    ),
    pages=(
        Page(
            "See the induction head at work",
            "explore",
            {"model": "induction", "input": "junk dream vow junk", "layer": 1, "head": 1},
        ),
        Page(
            "The name that gets the drink, in SmolLM2",
            "explore",
            {
                "model": "smollm2",
                "input": "When Mary and John went to the store, John gave a drink to",
                "layer": 24,
                "head": 4,
                "token": 13,
            },
        ),
    ),
)
