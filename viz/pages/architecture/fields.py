"""The hyperparameters of each kind of network, and their ranges.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viz.pages.state import params as link

KINDS = {
    "encoder": "Encoder",
    "decoder": "Decoder",
    "seq2seq": "Encoder–decoder",
    "vit": "ViT",
    "smallest": "Smallest",
}
ACTIVATIONS = (*("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "softplus", "leaky_relu"),)
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
YES_NO = ("yes", "no")
FILLS = {"−∞": None, "−10⁹": -1e9}
HIDDEN = ("none", "64", "256", "1000", "64 64", "256 256", "1000 1000")  # widths, in order
SAME = "as in the blocks"


@dataclass(frozen=True)
class Field:
    """One hyperparameter.

    Attributes:
        name: in the link, and in the config unless `of` is given.
        label: of its control.
        help: tooltip of its control.
        default: of the config, as the control represents it: 0 for None, "yes" for True.
        low: minimum of a number.
        high: maximum of a number.
        options: of a choice; empty for a number.
        control: "slider", "number", "switch" or "select".
        more: whether it is in the "More" section.
        of: its name in the config.
        auto: whether an empty control means 0, and 0 a value derived from others.
    """

    name: str
    label: str
    help: str
    default: int | str
    low: int = 0
    high: int = 0
    options: tuple[str, ...] = ()
    control: str = "slider"
    more: bool = False
    of: str = ""
    auto: bool = False

    def param(self, default: int | str) -> link.Param:
        """Its parameter in the link."""
        if self.options:
            return link.choice(self.name, str(default), self.options)
        return link.number(self.name, int(default), self.low, self.high)


def _number(name: str, label: str, default: int, low: int, high: int, help: str, **more: Any):
    return Field(
        name, label, help, default, low, high, control=more.pop("control", "number"), **more
    )


def _words(name: str, label: str, default: str, options: tuple[str, ...], help: str, **more: Any):
    return Field(name, label, help, default, options=options, control="select", **more)


def _yes(name: str, label: str, default: str, help: str) -> Field:
    return _words(name, label, default, YES_NO, help, more=True)


HEADS = _number(
    *("heads", "Heads", 4, 1, 32, "Number of attention heads per layer"), control="slider"
)
DEPTH = _number(*("depth", "Depth", 2, 1, 24, "Number of blocks in the stack"), control="slider")
DIM = _number("dim", "Dim", 64, 1, 4096, "Width of the model: features per token")
WIDTH = _number(
    *("head_dim", "Head width", 0, 0, 1024, "Features per head; if empty, dim / heads"), auto=True
)
MLP = _number("mlp", "MLP width", 256, 1, 16384, "Hidden width of the feed-forward network")
VOCAB = _number("vocab", "Vocabulary", 1000, 1, 300_000, "Number of tokens in the vocabulary")
PRE, POST = (
    Field("norm", "Norm", help, default, options=("post", "pre"), control="switch")
    for default in ("pre", "post")
    for help in ("LayerNorm after (post) or before (pre) each sub-layer",)
)
BEND = _words("activation", "Activation", "gelu", ACTIVATIONS, "In the feed-forward network")
ORDER = _words("positions", "Positions", "sinusoidal", POSITIONS, "How positions are encoded")
SEED = _number("seed", "Seed", 0, 0, 999, "Seed of the random weights", more=True)
BIAS = _yes("qkv_bias", "Bias of q, k and v", "yes", "Whether these projections add a bias")
SCALING = _words(
    *("dot_scaling", "Scores divided by", "sqrt", ("sqrt", "none", "fourth root")),
    "√width; nothing; or q and k by ∜width each",
    more=True,
)
FILL = _words(
    *("mask_fill", "Score of hidden keys", "−∞", tuple(FILLS)),
    "−∞ always hides a key; with −10⁹ a row whose keys are all hidden attends to all of them",
    more=True,
)
SCALED = _yes("embed_scale", "Embeddings × √dim", "no", "Whether embeddings are multiplied by √dim")
VALUES = _number(
    *("value_dim", "Value width", 0, 0, 1024, "Of one head; if empty, the head width"),
    more=True,
    auto=True,
)
TEXT = (HEADS, DEPTH, DIM, WIDTH, MLP, VOCAB)
FIELDS: dict[str, tuple[Field, ...]] = {
    "encoder": (
        *(*TEXT, POST, ORDER, BEND, VALUES, BIAS, SCALING, FILL, SCALED),
        _yes("embed_norm", "Norm before the blocks", "no", "A LayerNorm after the embedding"),
        SEED,
    ),
    "decoder": (
        *(*TEXT, PRE, ORDER, BEND, VALUES, BIAS, SCALING, FILL),
        _yes("embed_scale", "Embeddings × √dim", "yes", SCALED.help),
        _yes("tied", "Tied output", "yes", "Whether the output projection reuses the embedding"),
        SEED,
    ),
    "seq2seq": (
        _number("heads", "Heads", 8, 1, 32, HEADS.help, control="slider"),
        _number("depth", "Depth", 6, 1, 24, "Blocks in each tower", control="slider"),
        _number("dim", "Dim", 512, 1, 4096, DIM.help),
        _number("d_k", "Width of q, k", 64, 1, 1024, "Of one head"),
        _number("d_v", "Width of v", 64, 1, 1024, "Of one head"),
        _number("mlp", "MLP width", 2048, 1, 16384, MLP.help),
        _number("source_vocab", "Source words", 1000, 3, 300_000, VOCAB.help),
        _number("target_vocab", "Target words", 1000, 3, 300_000, VOCAB.help),
        *(POST, ORDER),
        _words("activation", "Activation", "relu", ACTIVATIONS, BEND.help),
        _yes("share_target", "Share target", "yes", "The output projection is the embedding"),
        _yes("share_source", "Share source", "yes", "Both towers share one embedding"),
        _words(
            *("scaling", "Scaling", "prj", ("emb", "prj", "none")),
            "If the target is shared: embeddings × √dim, logits / √dim, or neither",
            more=True,
        ),
        _yes("embed_norm", "Norm before the blocks", "yes", "A LayerNorm after the embedding"),
        *(BIAS, SCALING, FILL, SEED),
    ),
    "vit": (
        _number("image", "Image", 64, 1, 512, "Rows and columns of pixels"),
        _number("patch", "Patch", 8, 1, 128, "Rows and columns of a patch; must divide the image"),
        *(HEADS, DEPTH),
        _number(
            *(
                "dim",
                "Dim",
                64,
                0,
                4096,
                "Width of the model; if empty, patches are not projected",
            ),
            auto=True,
        ),
        *(WIDTH, MLP, PRE),
        _words(
            *("positions", "Positions", "learned"),
            ("learned", "sinusoidal", "sincos2d", "none"),
            "How patch positions are encoded",
        ),
        BEND,
        _words(
            *("pool", "Head reads", "class", ("class", "mean", "flatten"), "Input of the head"),
            of="head",
        ),
        _number("classes", "Classes", 10, 0, 30_000, "Number of classes; 0: no head"),
        _words(
            *("neurons", "Hidden layers of the head", "none", HIDDEN),
            "Their widths, in order; behind each stand BatchNorm and an activation",
            more=True,
        ),
        _words(
            *("head_activation", "Activation of the head", SAME, (SAME, *ACTIVATIONS)),
            "Between the layers of the head, if it has hidden ones",
            more=True,
        ),
        _words("patches", "Patches by", "linear", ("linear", "conv"), "Equivalent implementations"),
        _words(
            *("order", "Order", "p1 p2 c", ("p1 p2 c", "c p1 p2")),
            "Order of a patch's numbers: channels last or first",
            more=True,
        ),
        _number("channels", "Channels", 3, 1, 4, "Of the image", more=True),
        _number("registers", "Registers", 0, 0, 16, "Extra learned tokens, no position", more=True),
        *(BIAS, SCALING),
        _words(
            *("out_projection", "Output projection", "always", ("always", "needed")),
            "needed: omitted if a single head is as wide as the model",
            more=True,
        ),
        _yes("patch_norm", "Norm of patches", "no", "A LayerNorm after the projection"),
        SEED,
    ),
    "smallest": (_number("dim", "Dim", 3, 1, 1024, DIM.help), VOCAB, SEED),
}
TOKENS = _number("tokens", "Tokens", 16, 1, 1024, "Length of the input", control="slider")
SOURCE = _number("tokens", "Source tokens", 16, 1, 1024, "Read by the encoder", control="slider")
TARGET = _number("target", "Target tokens", 12, 1, 1024, "Read by the decoder", control="slider")


def fields(kind: str) -> tuple[Field, ...]:
    """The hyperparameters of this kind of network, including its input size."""
    inputs = {"vit": (), "seq2seq": (SOURCE, TARGET)}.get(kind, (TOKENS,))
    return (*FIELDS[kind], *inputs)


def value_of(field: Field, values: Mapping[str, Any]) -> int | str:
    """The value of the control for these fields of a config."""
    value = values.get(field.of or field.name, field.default)
    if field.name == "mask_fill":
        return next((word for word, fill in FILLS.items() if fill == value), "−∞")
    if field.name == "neurons" and not isinstance(value, str):
        return " ".join(map(str, value[:-1])) or "none"
    if field.name == "head_activation":
        return value or SAME
    if isinstance(value, bool):
        return "yes" if value else "no"
    return 0 if value is None else value


def meaning(field: Field, value: int | str) -> Any:
    """The config value for a value of the control."""
    if field.name == "mask_fill":
        return FILLS[str(value)]
    if field.name == "neurons":
        return () if value == "none" else tuple(map(int, str(value).split()))
    if field.name == "head_activation":
        return None if value == SAME else value
    if field.options == YES_NO:
        return value == "yes"
    return None if value == 0 and field.auto else value


def automatic(name: str, values: Mapping[str, int | str]) -> int | None:
    """The value that an empty control means; None where the other values are invalid."""
    if name == "dim":
        return int(values["channels"]) * int(values["patch"]) ** 2
    if name == "value_dim" and values["head_dim"]:
        return int(values["head_dim"])
    dim = int(values["dim"]) or automatic("dim", values) or 0
    heads = int(values["heads"])
    return None if dim % heads else dim // heads
