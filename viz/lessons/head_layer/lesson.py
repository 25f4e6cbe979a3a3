"""The story of the head layer."""

from viz.lessons.inputs import Count, OneOf, Reals, Sentence, Within
from viz.lessons.story import (
    ON_SCREEN,
    SMOLLM2,
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

FOUR = "words"
STABLE = (
    "So adding the same number to every logit changes nothing. That is why the largest logit can be"
    " subtracted from all of them first: then no exponential overflows."
)
MOVED = (
    "One step of size η moves the loss from {loss:.3f} to {moved.loss:.3f}. Here the logits"
    " themselves are moved. A network moves W, h and everything before them, and the logits follow."
)

LESSON = Lesson(
    name="head_layer",
    place=100,
    title="The head layer",
    icon="bar_chart",
    line="From vectors to probabilities, and the loss.",
    parts=("head layer",),
    real=("smollm2",),
    needs=("scale",),
    minutes=15,
    figure="From the last vector to the loss",
    computed=SMOLLM2,
    inputs={
        "network": OneOf("smollm2", ("smollm2", FOUR)),
        "text": Sentence("The capital of France is"),
        "smoothing": OneOf("0.1", ("0", "0.1", "0.3")),
        "h": Reals((1.2, -0.4, 0.7)),
        "target": Count(1, 0, 5),
        "rate": Within(1.0, 0, 4),
        "temperature": Within(1.0, 0.2, 5),
    },
    steps=(
        Step(
            "vector",
            "What the last block leaves",
            (
                "SmolLM2 has read “{text:s}”. Its last block leaves one [[vector]] h at the last"
                " position, here after the last norm: {dim:d} numbers, each a bar; its norm is"
                " {norm:.1f}. It is all that the [[head layer]] sees.",
                "No single number stands for a word; the direction of h does. Type another text,"
                " or switch to a vector of three numbers that can be dragged.",
            ),
            tries=(
                Try("The opposite of hot is", {"text": "The opposite of hot is"}),
                Try("The dog began to", {"text": "The dog began to"}),
            ),
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "A decoder has read “The dog began to” and knows four words. Its last block"
                    " leaves one [[vector]] h at the last position, here of three features. It is"
                    " all that the [[head layer]] sees.",
                    "Drag a bar of h up or down, or press it and use the arrow keys. Everything"
                    " that follows is computed from these three numbers.",
                ),
            ),
        ),
        Step(
            "logits",
            "A logit for each word",
            (
                "The matrix W has one row for each of {vocab:,d} tokens. The [[dot product]] of"
                " that row with h is the token's [[logits|logit]]: large where h points the way"
                " the row does. It is the product of both norms and the cosine of their angle: for"
                " “{best:s}” {norm:.1f} · {rows.0:.2f} · {cosines.0:.3f} = {logits.0:.2f}. Even"
                " the best row is far from parallel to h.",
                "Here W is the embedding table itself, **tied**: the vectors that tokens are read"
                " with are also what h is compared with. “{best:s}” leads “{second:s}” by"
                " {gap:.2f}.",
            ),
            formulas=("logits = W h",),
            code=("logits = h @ embedding.weight.T",),
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "The matrix W has one row for each word. The [[dot product]] of that row with"
                    " h is the word's [[logits|logit]]: large where h points the way the row does."
                    " Any number can come out. Here “{best:s}” leads “{second:s}” by {gap:.2f}.",
                    "Often W is the embedding table itself, **tied**: the vectors that words are"
                    " read with are then also what h is compared with.",
                ),
                tries=(
                    Try("A vector of zeros", {"network": FOUR, "h": (0, 0, 0)}),
                    Try("h twice as long", {"network": FOUR, "h": (2.4, -0.8, 1.4)}),
                ),
            ),
        ),
        Step(
            "probabilities",
            "Logits become probabilities",
            (
                "[[softmax|Softmax]] turns the logits into positive numbers that sum to 1. Only"
                " differences count: “{best:s}” is exp({gap:.2f}) = {ratio:.2f} times as probable"
                " as “{second:s}”, whatever the other logits are. All tokens not named share"
                " {rest:.1%}.",
                STABLE,
            ),
            formulas=("p_{i} = exp(logit_{i}) / Σ_{j} exp(logit_{j})",),
            ask=Question(
                "The logit of “{best:s}” is {gap:.2f} larger than that of “{second:s}”. How do"
                " their probabilities compare?",
                (
                    Option(
                        "They differ by the same amount",
                        "Logits differ by {gap:.2f}, and no two probabilities can differ by more"
                        " than 1. A difference of logits becomes a ratio: exp({gap:.2f}) ="
                        " {ratio:.2f}.",
                    ),
                    Option(
                        "Their ratio is exp of the difference",
                        "exp(a) / exp(b) = exp(a − b), here {ratio:.2f}: the sum below the line is"
                        " the same for both and cancels.",
                        right=True,
                    ),
                    Option(
                        "Their ratio is the ratio of the logits",
                        "Logits may be negative or zero, so their ratio means nothing here. The"
                        " exponentials are compared: exp({gap:.2f}) = {ratio:.2f}.",
                    ),
                ),
            ),
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "[[softmax|Softmax]] turns the logits into positive numbers that sum to 1."
                    " Only differences count: “{best:s}” is exp({gap:.2f}) = {ratio:.2f} times as"
                    " probable as “{second:s}”, whatever the other logits are.",
                    STABLE,
                ),
            ),
        ),
        Step(
            "loss",
            "The loss looks at one probability",
            (
                "In training the right token, the target, is known: press another one to change"
                " it. The [[cross entropy]] is −log of the target's probability: for “{word:s}”"
                " −log {probability:.3f} = **{loss:.3f}**.",
                "The loss is 0 only where the target has all the probability, and grows without"
                " limit as that probability goes to 0. Even probabilities for {vocab:,d} tokens"
                " cost log {vocab:,d} = {even:.2f}: a useful number to compare with at the start"
                " of training.",
            ),
            formulas=("loss = −log p_{target}",),
            tries=(Try("The favourite was right", {"target": 0}),),
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "In training the right word, the target, is known: press another word to"
                    " change it. The [[cross entropy]] is −log of the target's probability: for"
                    " “{word:s}” −log {probability:.3f} = **{loss:.3f}**.",
                    "The loss is 0 only where the target has all the probability, and grows"
                    " without limit as that probability goes to 0. Four equal probabilities cost"
                    " log 4 = {even:.3f}: a useful number to compare with at the start of"
                    " training.",
                ),
                tries=(
                    Try("The favourite was right", {"network": FOUR, "target": 0}),
                    Try(
                        "Certain and wrong",
                        {"network": FOUR, "target": 2, "h": (2.8, -1, 0.6)},
                    ),
                ),
            ),
        ),
        Step(
            "gradient",
            "Which way each logit is moved",
            (
                "The [[gradient]] of the loss with respect to the logits is p − y, where y is 1 for"
                " the target and 0 for all others. Training moves each logit in the opposite"
                " direction: the new one is beside the old. The target's rises, all others fall,"
                " and those with a large probability fall most. All {vocab:,d} numbers sum to 0.",
                MOVED,
            ),
            formulas=(
                "∂ loss / ∂ logit_{i} = p_{i} − y_{i}",
                "logit_{i} ← logit_{i} − η (p_{i} − y_{i})",
            ),
            code=(
                "loss = F.cross_entropy(logits, target)",
                "loss.backward()  # logits.grad == p - y",
            ),
            ask=Question(
                "The target “{word:s}” has probability {probability:.3f}. What is the gradient for"
                " its logit?",
                (
                    Option(
                        "p, as for every word",
                        "For every *other* word. The target's has 1 subtracted, which makes it"
                        " negative: {slope:.3f}.",
                    ),
                    Option(
                        "p − 1",
                        "{probability:.3f} − 1 = {slope:.3f}. It is negative, so a step against it"
                        " raises the logit.",
                        right=True,
                    ),
                    Option(
                        "0: it is the right word",
                        "It would be 0 only if the target already had probability 1. Here it is"
                        " p − 1 = {slope:.3f}.",
                    ),
                ),
            ),
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "The [[gradient]] of the loss with respect to the logits is p − y, where y is"
                    " 1 for the target and 0 for all others. Training moves each logit in the"
                    " opposite direction: arrows show it. The target's rises, all others fall, and"
                    " those with a large probability fall most. The four numbers sum to 0.",
                    MOVED,
                ),
            ),
        ),
        Step(
            "smooth",
            "A smoothed target",
            (
                "Four words, and a vector of three numbers. With [[label smoothing]] the target is"
                " not entirely on the right word: “{board.word:s}” gets {board.share:.3f} and"
                " every other word {board.other:.3f}. The loss compares all probabilities:"
                " {board.loss:.3f}, against {board.sharp:.3f} without smoothing. The gradient is"
                " p − y as before, with the smoothed y.",
                "So being certain costs something too, and training stops pushing logits apart"
                " without end. Press a button and compare.",
            ),
            formulas=("loss = −Σ_{i} y_{i} log p_{i}",),
            code=(
                "loss = F.cross_entropy(",
                "    logits, target, label_smoothing=0.1",
                ")",
            ),
            tries=(
                Try("Confident and right", {"h": (4.8, -1.6, 2.8), "target": 0}),
                Try("No smoothing", {"smoothing": "0"}),
            ),
            board=True,
            computed=ON_SCREEN,
        ),
        Step(
            "topk",
            "Top-k: how often it is among the best",
            (
                "A [[batch]] of four vectors: the one of the four words, and three more."
                " [[top-k|Top-k]] accuracy is the share of vectors whose right word is among the k"
                " most probable. It does not say how confident the network is; the mean loss does:"
                " {board.loss:.3f}. Where several losses are added up, each has a weight, which"
                " multiplies its gradients, too.",
                "**Mixup** and **CutMix** blend two pictures and their labels for training: then"
                " no single class is right, and accuracy on such pictures means nothing. Measure"
                " it on pictures as they are.",
            ),
            tries=(Try("Confident and wrong", {"h": (4.8, -1.6, 2.8), "target": 3}),),
            board=True,
            computed=ON_SCREEN,
        ),
        Step(
            "temperature",
            "Temperature, when it writes",
            (
                "When a trained network writes, its logits may be divided by a [[temperature]] T"
                " before the softmax. T below 1 makes the differences larger and the choice more"
                " certain; T above 1 evens the probabilities out. The most probable token stays"
                " the same at every T: “{best:s}” has {largest:.1%} at T = 1 and"
                " {sampled_largest:.1%} at the T you chose.",
                "All tokens not named have {rest:.1%} at T = 1 and {sampled_rest:.1%} now. Each is"
                " improbable, but there are tens of thousands: that is why sampling at a high"
                " temperature soon goes astray, and why top-k and top-p leave them out. As T goes"
                " to 0 the most probable token takes all: greedy decoding.",
            ),
            formulas=("p_{i} = exp(logit_{i} / T) / Σ_{j} exp(logit_{j} / T)",),
            tries=(
                Try("T = 0.3", {"temperature": 0.3}),
                Try("T = 4", {"temperature": 4}),
            ),
            inputs={"temperature": 2},
            other=Other(
                FOUR,
                ON_SCREEN,
                (
                    "When a trained network writes, its logits may be divided by a [[temperature]]"
                    " T before the softmax. T below 1 makes the differences larger and the choice"
                    " more certain; T above 1 evens the probabilities out. The most probable word"
                    " stays the same at every T.",
                    "“{best:s}” has {largest:.1%} at T = 1 and {sampled_largest:.1%} at the T you"
                    " chose. As T goes to 0 the most probable word takes all: greedy decoding.",
                ),
                tries=(
                    Try("T = 0.3", {"network": FOUR, "temperature": 0.3}),
                    Try("T = 4", {"network": FOUR, "temperature": 4}),
                ),
            ),
        ),
    ),
    takeaways=(
        "A logit is the dot product of the vector and the row of W for the class.",
        "Probabilities depend only on differences of logits: adding the same number to all of them"
        " changes nothing.",
        "The loss is 0 only for a certain and right answer. Even probabilities for n classes cost"
        " log n.",
        "The gradient of the loss with respect to the logits is p, minus 1 at the right class:"
        " training lowers the other logits and raises the right one.",
    ),
    misreading=Misreading(
        "The same accuracy means the same loss.",
        "Accuracy does not measure confidence.",
    ),
    plan=Plan(
        aim="Logits, softmax, cross entropy and its gradient.",
        show="The four words, with a vector of zeros: 0.25 for each word, loss log 4 = 1.3863; then"
        " confident and right, confident and wrong, on the step about top-k.",
        ask="All logits grow by 5. The loss rises · falls · **stays** · depends on the target.",
    ),
    code=(
        "models.output.Projection.forward",
        "models.output.log_softmax",
        "models.output.softmax",
        "models.output.cross_entropy",
        "models.output.top_k_accuracy",
        "models.lessons.loss_steps.loss_steps",
    ),
    pages=(
        Page(
            "A network that reverses words: its probabilities, letter by letter",
            "explore",
            {"model": "reverse", "input": "stream", "layer": 1, "head": 0},
        ),
    ),
    exercise="06-loss",
)
