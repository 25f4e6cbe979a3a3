"""What each part of a network does, in one sentence for beginners."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.cost.parts import Part

DOES = {
    "input": "The input of the network.",
    "embedding": "Every token is mapped to a vector: a row of a learned table.",
    "positions": "Encodes the position of each token: attention alone ignores order.",
    "norm": "Normalises every token's vector to mean 0 and deviation 1, then applies a learned"
    " scale and offset.",
    "attention": "Every token gathers information from other tokens, in several heads at once."
    " Nowhere else do tokens exchange information.",
    "attend": "Each head compares every query with every key; a softmax turns the scores into"
    " weights, and the weights mix the values.",
    "feed-forward": "Two linear layers applied to each token separately, with the same weights.",
    "linear": "A weight matrix, and an offset for each output.",
    "activation": "A non-linear function: without it, two linear layers would collapse into one.",
    "add": "The residual connection: the input of the part is added to its output, so each part"
    " only computes a change.",
    "pool": "Rearranges or averages numbers; nothing is learned.",
    "head": "Turns the last vectors into a score for each class.",
    "block": "The repeated part: input and output have the same shape; each copy has its own"
    " weights.",
    "tower": "A stack of blocks.",
}
RMS = "Divides every token's vector by the root of its mean square, then applies a learned scale."
NAMED = {
    "query": "What each token looks for: its vector times a matrix, split into heads.",
    "key": "What each token can be matched on; compared with every query.",
    "value": "What each token passes on when it is attended to.",
    "out": "Concatenates the outputs of the heads and projects them to one vector per token.",
    "cut": "Cuts the image into patches and flattens each of them.",
    "prefix": "Learned vectors before the patches; the head reads the class token.",
    "output": "Compares every token's last vector with one vector per token of the vocabulary or"
    " class: one score for each.",
    "cross": "Every token of the target looks at the source: queries from the decoder, keys and"
    " values from the encoder's output.",
    "value_shortcut": "The values of all heads are added to what attention returns, bypassing its"
    " output projection.",
    "key_vectors": "What each word of the source can be matched on, before the layer: a random"
    " vector.",
    "value_vectors": "What each word of the source passes on, before the layer: a random vector of"
    " another width.",
    "query_vectors": "What each word of the target looks for, before the layer: a random vector.",
    "both": "Every word of the source offers a key and a value; queries come from the target.",
    "relation": "Positions that act inside the attention of every block, not on the vectors.",
}


def does(part: "Part") -> str:
    """One sentence about what a part does."""
    if part.kind == "norm" and "RMS" in part.title:
        return RMS
    return NAMED.get(part.name) or DOES[part.kind]
