"""The hyperparameters of each kind of network, and their ranges.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from viz.pages.state import params as link

KINDS = {
    "encoder": "Encoder",
    "decoder": "Decoder",
    "seq2seq": "Encoder–decoder",
    "vit": "ViT",
    "smallest": "Smallest",
    "layer": "One layer",
}
ACTIVATIONS = (*("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "softplus", "leaky_relu"),)
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
YES_NO = ("yes", "no")
AFTER_EMBEDDING = "Whether embeddings are normalised before the first block"
FILLS = {"−∞": None, "−10⁹": -1e9}
SAME = "as in the blocks"
SHARES = ("0.0", "0.05", "0.1", "0.2", "0.3", "0.5")
SCORINGS = {"dot": "dot product", "bilinear": "bilinear", "additive": "additive"}
NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}
WIDEST = 16_384  # layer of a head
MOST_LAYERS = 8  # hidden ones of a head


Value = int | float | str
SECTIONS = (
    "Attention",
    "Dropout, while training",
    "Norms and embedding",
    "Head",
    "Patches",
    "Weights",
)


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
        titles: of the options, where they differ.
        control: "slider", "number", "decimal", "switch", "select" or "text".
        section: of "More" that it is in; empty outside of it.
        of: its name in the config.
        auto: whether an empty control means 0, and 0 a value derived from others.
    """

    name: str
    label: str
    help: str
    default: Value
    low: int = 0
    high: int = 0
    options: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    control: str = "slider"
    section: str = ""
    of: str = ""
    auto: bool = False

    def param(self, default: Value) -> link.Param:
        """Its parameter in the link."""
        if self.control == "text":
            return link.text(self.name, str(default))
        if self.options:
            return link.choice(self.name, str(default), self.options)
        if self.control == "decimal":
            return link.decimal(self.name, float(default), self.low, self.high)
        return link.number(self.name, int(default), self.low, self.high)


def _number(name: str, label: str, default: int, low: int, high: int, help: str, **more: Any):
    return Field(
        name, label, help, default, low, high, control=more.pop("control", "number"), **more
    )


def _words(name: str, label: str, default: str, options: tuple[str, ...], help: str, **more: Any):
    return Field(name, label, help, default, options=options, control="select", **more)


def _named(name: str, label: str, default: str, titles: Mapping[str, str], help: str, **more: Any):
    return _words(name, label, default, tuple(titles), help, titles=tuple(titles.values()), **more)


def _yes(name: str, label: str, default: str, help: str, section: str) -> Field:
    return _words(name, label, default, YES_NO, help, section=section)


def _share(name: str, label: str, help: str, default: float = 0.0) -> Field:
    """A probability of dropping something while training."""
    section, control = "Dropout, while training", "decimal"
    return Field(name, label, help, default, 0, 1, control=control, section=section)


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
ACTIVATION = _words("activation", "Activation", "gelu", ACTIVATIONS, "In the feed-forward network")
ORDER = _words("positions", "Positions", "sinusoidal", POSITIONS, "How positions are encoded")
SEED = _number("seed", "Seed", 0, 0, 999, "Seed of the random weights", section="Weights")
BIAS = _yes(
    "qkv_bias",
    "Bias of q, k and v",
    "yes",
    "Whether the query, key and value projections add a bias",
    "Attention",
)
OUT_BIAS = _yes(
    "out_bias",
    "Bias of the output",
    "yes",
    "Whether the output projection adds a bias",
    "Attention",
)
SCORING = _named(
    *("scoring", "Score", "dot", SCORINGS),
    "How a query is compared with a key: q·k; qᵀMk with a learned matrix per head; or"
    " wᵀ tanh(q + k) with a learned vector per head",
    section="Attention",
)
SCALING = _words(
    *("dot_scaling", "Scores divided by", "sqrt", ("sqrt", "none", "fourth root")),
    "√width; nothing; or q and k by ∜width each",
    section="Attention",
)
SCALE = Field(
    *(
        "times",
        "Score factor",
        "Replaces the division; if empty, scores are divided as chosen",
        0.0,
    ),
    *(0, 100),
    control="decimal",
    section="Attention",
    of="scale",
    auto=True,
)
SHORTCUT = _yes(
    *("value_shortcut", "Value shortcut", "no"),
    "Whether the values are added to the output of attention, bypassing its projection",
    "Attention",
)
FILL = _words(
    *("mask_fill", "Score of hidden keys", "−∞", tuple(FILLS)),
    "−∞ always hides a key; with −10⁹ a row whose keys are all hidden attends to all of them",
    section="Attention",
)
SCALED = _yes(
    *("embed_scale", "Embeddings × √dim", "no", "Whether embeddings are multiplied by √dim"),
    "Norms and embedding",
)
NORM_KIND = _named(
    *("norm_kind", "Kind of norm", "layer", NORMS),
    "RMSNorm divides by the root of the mean square; it takes no mean away and has no offset",
    section="Norms and embedding",
)
VALUES = _number(
    *("value_dim", "Value width", 0, 0, 1024, "Of one head; if empty, the head width"),
    section="Attention",
    auto=True,
)
KEY_WIDTH = _number(
    *("key_dim", "Key width", 0, 0, 1024),
    "Of one head; if empty, the head width. Another width needs bilinear scores",
    section="Attention",
    auto=True,
)
DROP = _share("dropout", "Dropout", "Of hidden units and of what each sub-layer adds", 0.1)
NO_DROP = _share("dropout", "Dropout", DROP.help)
DROPS = (
    _words(
        *("attention_dropout", "Of attention weights", SAME),
        (SAME, *SHARES),
        "Probability of dropping a weight after the softmax",
        section="Dropout, while training",
    ),
    _share("projection_dropout", "Of the projection", "After the output projection"),
    _share("output_dropout", "Of the output", "Once more, before the value shortcut is added"),
)
DROP_PATH = _share(
    "drop_path",
    "DropPath",
    "Probability that an item skips the last block; it falls linearly to 0 at the first",
)
TEXT = (HEADS, DEPTH, DIM, WIDTH, MLP, VOCAB)
FIELDS: dict[str, tuple[Field, ...]] = {
    "encoder": (
        *(
            *TEXT,
            POST,
            ORDER,
            ACTIVATION,
            SCORING,
            KEY_WIDTH,
            VALUES,
            BIAS,
            OUT_BIAS,
            SCALING,
            SCALE,
            SHORTCUT,
        ),
        *(FILL, DROP, *DROPS, DROP_PATH, NORM_KIND, SCALED),
        _yes("embed_norm", "Norm of embeddings", "no", AFTER_EMBEDDING, NORM_KIND.section),
        SEED,
    ),
    "decoder": (
        *(*TEXT, PRE, ORDER, ACTIVATION, SCORING, KEY_WIDTH, VALUES),
        *(BIAS, OUT_BIAS, SCALING, SCALE, SHORTCUT),
        *(FILL, DROP, *DROPS, DROP_PATH, NORM_KIND),
        _yes("embed_scale", "Embeddings × √dim", "yes", SCALED.help, SCALED.section),
        _yes("tied", "Tied output", "yes", "Whether logits reuse the embedding", SCALED.section),
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
        _words("activation", "Activation", "relu", ACTIVATIONS, ACTIVATION.help),
        *(SCORING, KEY_WIDTH, BIAS, OUT_BIAS, SCALING, SCALE, SHORTCUT),
        *(FILL, DROP, *DROPS, DROP_PATH),
        NORM_KIND,
        _yes("embed_norm", "Norm of embeddings", "yes", AFTER_EMBEDDING, NORM_KIND.section),
        _yes("share_target", "Share target", "yes", "Logits reuse the embedding", SCALED.section),
        _yes(
            *("share_source", "Share source", "yes", "Both towers share one embedding"),
            SCALED.section,
        ),
        _words(
            *("scaling", "Scaling", "prj", ("emb", "prj", "none")),
            "If the target is shared: embeddings × √dim, logits / √dim, or neither",
            section=SCALED.section,
        ),
        SEED,
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
        ACTIVATION,
        _words(
            *("pool", "Head reads", "class", ("class", "mean", "flatten"), "Input of the head"),
            of="head",
        ),
        _number("classes", "Classes", 10, 0, 30_000, "Number of classes; 0: no head"),
        *(SCORING, KEY_WIDTH, BIAS, OUT_BIAS, SCALING, SCALE, SHORTCUT),
        _words(
            *("out_projection", "Output projection", "always", ("always", "needed")),
            "needed: omitted if a single head is as wide as the model",
            section="Attention",
        ),
        *(NO_DROP, *DROPS, DROP_PATH, NORM_KIND),
        _yes(
            "patch_norm",
            "Norm of patches",
            "no",
            "Whether patches are normalised after their projection",
            NORM_KIND.section,
        ),
        Field(
            *(
                "neurons",
                "Hidden layers",
                "Their widths in order, such as 256 64; BatchNorm and activation after each",
            ),
            *("none",),
            control="text",
            section="Head",
        ),
        _words(
            *("head_activation", "Activation", SAME, (SAME, *ACTIVATIONS)),
            "Between the layers of the head, if it has hidden ones",
            section="Head",
        ),
        _words(
            *("head_dropout", "Dropout", SAME, (SAME, *SHARES)),
            "Before each layer of the head, while training",
            section="Head",
        ),
        _words("patches", "Patches by", "linear", ("linear", "conv"), "Equivalent implementations"),
        _words(
            *("order", "Order", "p1 p2 c", ("p1 p2 c", "c p1 p2")),
            "Order of a patch's numbers: channels last or first",
            section="Patches",
        ),
        _number("channels", "Channels", 3, 1, 4, "Of the image", section="Patches"),
        _number(
            *("registers", "Registers", 0, 0, 16, "Extra learned tokens, no position"),
            section="Patches",
        ),
        SEED,
    ),
    "smallest": (_number("dim", "Dim", 3, 1, 1024, DIM.help), VOCAB, SEED),
    "layer": (
        HEADS,
        _number("query_input_dim", "Queries' input", 24, 1, 4096, "Width of the vectors it reads"),
        _number("key_input_dim", "Keys' input", 16, 1, 4096, "Width of the vectors it reads"),
        _number("value_input_dim", "Values' input", 32, 1, 4096, "Width of the vectors it reads"),
        _number("dim", "Output", 64, 1, 4096, "Width of a vector that leaves the layer"),
        *(WIDTH, replace(KEY_WIDTH, section=""), replace(VALUES, section="")),
        replace(SCORING, section=""),
        *(BIAS, OUT_BIAS, SCALING, SCALE),
        _share("attention_dropout", "Of attention weights", DROPS[0].help),
        *DROPS[1:],
        *(replace(VOCAB, section="Weights"), SEED),
    ),
}
TOKENS = _number("tokens", "Tokens", 16, 1, 1024, "Length of the input", control="slider")
SOURCE = _number("tokens", "Source tokens", 16, 1, 1024, "Read by the encoder", control="slider")
TARGET = _number("target", "Target tokens", 12, 1, 1024, "Read by the decoder", control="slider")
KEYS = replace(SOURCE, label="Keys", help="Tokens that are attended to")
QUERIES = replace(TARGET, label="Queries", help="Tokens that attend")


def fields(kind: str) -> tuple[Field, ...]:
    """The hyperparameters of this kind of network, including its input size."""
    inputs = {"vit": (), "seq2seq": (SOURCE, TARGET), "layer": (KEYS, QUERIES)}.get(kind, (TOKENS,))
    return (*FIELDS[kind], *inputs)


def value_of(field: Field, values: Mapping[str, Any]) -> Value:
    """The value of the control for these fields of a config."""
    value = values.get(field.of or field.name, field.default)
    if field.name == "mask_fill":
        return next((word for word, fill in FILLS.items() if fill == value), "−∞")
    if field.name == "neurons" and not isinstance(value, str):
        return " ".join(map(str, value[:-1])) or "none"
    if field.options and field.options[0] == SAME:
        return SAME if value is None else str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return 0 if value is None else value


def meaning(field: Field, value: Value) -> Any:
    """The config value for a value of the control.

    Raises:
        ValueError: for widths that cannot be read.
    """
    if field.name == "mask_fill":
        return FILLS[str(value)]
    if field.name == "neurons":
        return _widths(str(value))
    if field.options and field.options[0] == SAME:
        return None if value == SAME else _number_or_word(str(value))
    if field.options == YES_NO:
        return value == "yes"
    return None if value == 0 and field.auto else value


def _number_or_word(text: str) -> float | str:
    return float(text) if text in SHARES else text


def _widths(text: str) -> tuple[int, ...]:
    """Widths of layers: "256 64", or "none"."""
    words = text.replace(",", " ").split()
    if words in ([], ["none"]):
        return ()
    sound = all(
        word.isascii() and word.isdigit() and 1 <= int(word[:9]) <= WIDEST for word in words
    )
    if not sound or len(words) > MOST_LAYERS:
        raise ValueError(
            f"hidden layers: expected up to {MOST_LAYERS} widths from 1 to {WIDEST:,} such as"
            f" 256 64, or none; received {text[:30]!r}"
        )
    return tuple(map(int, words))


def automatic(name: str, values: Mapping[str, Value]) -> int | None:
    """The value that an empty control means; None where the other values are invalid."""
    if name == "dim":
        return int(values["channels"]) * int(values["patch"]) ** 2
    width = values.get("d_k") or values.get("head_dim")  # of an encoder–decoder, or of any other
    if name in ("key_dim", "value_dim") and width:
        return int(width)
    dim = int(values["dim"]) or automatic("dim", values) or 0
    heads = int(values["heads"])
    return None if dim % heads else dim // heads
