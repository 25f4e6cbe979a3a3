"""What each part of a network does, in one sentence for a newcomer."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.cost.parts import Part

DOES = {
    "input": "What the network is given.",
    "embedding": "Every token gets a vector of its own: a row of a table that is learned.",
    "positions": "Tells the network which token came where: attention alone does not know.",
    "norm": "Shifts and scales every token's vector to mean 0 and deviation 1, then by a learned"
    " factor and offset.",
    "attention": "Every token looks at others and takes in what it finds there, in several heads at"
    " once. The only place where tokens learn of each other.",
    "attend": "Each head compares every query with every key; a softmax turns the scores into"
    " weights, and the weights mix the values.",
    "feed-forward": "Two layers that work on each token by itself, the same for all of them.",
    "linear": "A matrix of weights, and an offset for each output.",
    "activation": "Bends the numbers: without it, two layers would be one.",
    "add": "The way round: what went into the part is added to what came out, so every part only"
    " has to say what to change.",
    "pool": "Rearranges numbers; nothing is learned.",
    "head": "Reads the last vectors and says how likely each class is.",
    "block": "The part that is repeated: same shape in and out, weights of its own in every copy.",
    "tower": "A stack of blocks.",
}
NAMED = {
    "query": "What each token asks: its vector times a matrix, cut into heads.",
    "key": "What each token answers to, compared with every query.",
    "value": "What each token hands over where it is attended to.",
    "out": "Mixes what the heads found, side by side, back into one vector per token.",
    "cut": "Cuts the image into patches and lines up the numbers of each.",
    "prefix": "Learned vectors in front of the patches; the class token is what the head reads.",
    "output": "Compares every token's last vector with one vector per answer, a word to come next"
    " or a class: a score for each.",
    "cross": "Every token of the target looks at the source: queries from the decoder, keys and"
    " values from the encoder's output.",
    "relation": "Order that reaches into every block's attention instead of the vectors.",
}
COUNTED = {
    "parameters": "Every number that is learned, once: shared matrices count where they are read"
    " first. It does not say which part matters most.",
    "flops": "Two for each multiplication with its addition, in matrix products and convolutions;"
    " norms, softmax and activations are left out, masked cells are counted. Time also depends on"
    " memory and machine.",
    "memory": "Bytes of the numbers each part writes and a backward pass needs, as float32, with"
    " the fused attention. A pass that is only traced keeps less.",
}


def does(part: "Part") -> str:
    """One sentence about what a part does."""
    return NAMED.get(part.name) or DOES[part.kind]
