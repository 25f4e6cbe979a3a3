"""The folded texts of the lesson on the head layer (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "The last block leaves one [[vector]] for every [[token]]. The [[head layer]] turns it into an"
    " answer. A [[linear layer]] gives one number for every class, or for every word of the"
    " [[vocabulary]]: the [[logits]]. A [[softmax]] turns them into probabilities, and the largest"
    " is the answer. In training the [[cross entropy]] measures the error: minus the logarithm of"
    " the probability of the right class.",
)
STEP_TEXT = (
    "A decoder has read “The dog began to” and knows four words. h is the output of its last block"
    " at the last position; the right word is the target. Before exp, the largest logit is"
    " subtracted from all: the shares stay the same, and no exponential can [[overflow]]. The last"
    " column is the [[gradient]] of the loss: training moves each logit in the opposite direction."
    " With [[label smoothing]] the target is not entirely on the right word: a share of it is"
    " spread evenly over all four.",
)
TAKEAWAYS = (
    "A logit is the dot product of the vector and the row of W for the class.",
    "Probabilities depend only on differences of logits: adding the same number to all of them"
    " changes nothing.",
    "The loss is 0 only for a certain and right answer. Even probabilities for n classes cost"
    " log n.",
    "The gradient of the loss with respect to the logits is p, minus 1 at the right class: training"
    " lowers the other logits and raises the right one.",
)
TRIES = (
    Try(
        "A vector of zeros.",
        "All four words get 0.2500, and the loss is log 4 = 1.3863.",
        {"h11": 0.0, "h12": 0.0, "h13": 0.0},
    ),
    Try(
        "Confident and right.",
        "The same direction, four times as long: “bark” gets nearly all, and the loss nearly"
        " vanishes.",
        {"h11": 4.8, "h12": -1.6, "h13": 2.8},
    ),
    Try(
        "Confident and wrong.",
        "The same vector, but “fly” was right: the loss is large, top-1 and top-2 both miss.",
        {"h11": 4.8, "h12": -1.6, "h13": 2.8, "target": 4, "k": 2},
    ),
    Try(
        "A smoothed target.",
        "With 0.3 of the target spread over all words, being confident has a cost too.",
        {"h11": 4.8, "h12": -1.6, "h13": 2.8, "smoothing": "0.3"},
    ),
)
BATCH_TEXT = (
    "A [[batch]] of four vectors: yours, and three more. [[top-k|Top-k]] accuracy is the share of"
    " them whose right word is among the k with the largest logits. It does not measure how"
    " confident the network is; the loss does. Where training adds up several losses, each has a"
    " weight, which multiplies its gradients too.",
)
TRAINED_TEXT = (
    "A network trained for this app reverses words, letter by letter. Its head layer is the same:"
    " one vector for each position, one logit for each letter.",
)
