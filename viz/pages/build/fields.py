"""The settings of each kind of network, and their ranges.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from viz.pages.state import params as link
from viz.values import real

KINDS = {
    "encoder": "Encoder",
    "decoder": "Decoder",
    "seq2seq": "Encoder–decoder",
    "vit": "ViT",
    "smallest": "Smallest",
    "layer": "One layer",
}
SECTIONS = {
    "attention": "Attention",
    "dropout": "Dropout, while training",
    "norms": "Norms and embedding",
    "head": "Head",
    "patches": "Patches",
    "weights": "Weights",
}
FILLS = {"−∞": None, "−10⁹": -1e9}
SAME = "as in the blocks"
WIDEST = 16_384  # layer of a head
MOST_LAYERS = 8  # hidden ones of a head

Value = int | float | str


@dataclass(frozen=True)
class Field:
    """One hyperparameter.

    Attributes:
        name: in the link, and in the config unless `of` is given.
        label: of its control.
        default: of the config, as the control represents it: 0 for None, "yes" for True.
        span: least and largest value of a number.
        options: of a choice, by value their titles; empty for a number or a text.
        section: of "More" that it is in; "" outside of it.
        help: tooltip of its control.
        slider: whether its control is one.
        auto: whether an empty control means 0, and 0 a value derived from others.
        of: its name in the config.
    """

    name: str
    label: str
    default: Value
    span: tuple[float, float]
    options: Mapping[str, str]
    section: str
    help: str
    slider: bool = False
    auto: bool = False
    of: str = ""

    def param(self, default: Value) -> link.Param:
        """Its parameter in the link."""
        low, high = self.span
        if self.options:
            return link.choice(self.name, str(default), self.options)
        if isinstance(self.default, str):
            return link.text(self.name, str(default))
        if isinstance(self.default, float):
            return link.Param(self.name, float(default), real(low, high))
        return link.number(self.name, int(default), int(low), int(high))


# name | label | default | least to largest number, or choices | section of "More" | help
TABLE = """
heads | Heads | 4 | 1 to 32, slider | | Number of attention heads per layer
depth | Layers | 2 | 1 to 24, slider | | Number of blocks in a stack
dim | Width | 64 | 1 to 4096 | | Width of the model: features per token
head_dim | Head width | 0 | 0 to 1024, auto | | Features per head; if empty, dim / heads
d_k | Width of q, k | 64 | 1 to 1024 | | Of one head
d_v | Width of v | 64 | 1 to 1024 | | Of one head
mlp | Feed-forward | 256 | 1 to 16384 | | Hidden width of the feed-forward network
vocab | Vocabulary | 1000 | 1 to 300000 | | Number of tokens in the vocabulary
source_vocab | Source words | 1000 | 3 to 300000 | | Number of tokens in the vocabulary
target_vocab | Target words | 1000 | 3 to 300000 | | Number of tokens in the vocabulary
query_input_dim | Queries' input | 24 | 1 to 4096 | | Width of the vectors it reads
key_input_dim | Keys' input | 16 | 1 to 4096 | | Width of the vectors it reads
value_input_dim | Values' input | 32 | 1 to 4096 | | Width of the vectors it reads
image | Image | 64 | 1 to 512 | | Rows and columns of pixels
patch | Patch | 8 | 1 to 128 | | Rows and columns of a patch; must divide the image
norm | Norm | post | post, pre | | LayerNorm after (post) or before (pre) each sub-layer
positions | Positions | sinusoidal | sinusoidal, learned, rotary, alibi, relative, none | | \
How positions are encoded
activation | Activation | gelu | relu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus, leaky_relu \
| | In the feed-forward network
pool | Head reads | class | class, mean, flatten | | Input of the head
classes | Classes | 10 | 0 to 30000 | | Number of classes; 0: no head
patches | Patches by | linear | linear, conv | | Equivalent implementations
scoring | Score | dot | dot = dot product, bilinear, additive | attention | Of a query and a key: \
q·k; qᵀMk with a learned matrix per head; or wᵀ tanh(q + k) with a learned vector per head
key_dim | Key width | 0 | 0 to 1024, auto | attention | Of one head; if empty, the head width. \
Another width needs bilinear scores
value_dim | Value width | 0 | 0 to 1024, auto | attention | Of one head; if empty, the head width
qkv_bias | Bias of q, k and v | yes | yes, no | attention | Whether these projections add a bias
out_bias | Bias of the output | yes | yes, no | attention | Whether its projection adds a bias
dot_scaling | Scores divided by | sqrt | sqrt, none, fourth root | attention | √width; nothing; \
or q and k by ∜width each
times | Score factor | 0.0 | 0 to 100, auto | attention | Replaces the division; if empty, scores \
are divided as chosen
value_shortcut | Value shortcut | no | yes, no | attention | Whether the values are added to the \
output of attention, bypassing its projection
mask_fill | Score of hidden keys | −∞ | −∞, −10⁹ | attention | −∞ always hides a key; with −10⁹ a \
row whose keys are all hidden attends to all of them
out_projection | Output projection | always | always, needed | attention | needed: omitted if a \
single head is as wide as the model
dropout | Dropout | 0.1 | 0 to 0.95 | dropout | Of hidden units and of what each sub-layer adds
attention_dropout | Of attention weights | as in the blocks | as in the blocks, 0.0, 0.05, 0.1, \
0.2, 0.3, 0.5 | dropout | Probability of dropping a weight after the softmax
projection_dropout | Of the projection | 0.0 | 0 to 0.95 | dropout | After the output projection
output_dropout | Of the output | 0.0 | 0 to 0.95 | dropout | Once more, before the value shortcut
drop_path | DropPath | 0.0 | 0 to 0.95 | dropout | Probability that an item skips the last block; \
it falls linearly to 0 at the first
norm_kind | Kind of norm | layer | layer = LayerNorm, rms = RMSNorm | norms | RMSNorm divides by \
the root of the mean square; it takes no mean away and has no offset
embed_scale | Embeddings × √dim | no | yes, no | norms | Whether embeddings are multiplied by √dim
embed_norm | Norm of embeddings | no | yes, no | norms | Whether a norm precedes the first block
tied | Tied output | yes | yes, no | norms | Whether logits reuse the embedding
share_target | Share target | yes | yes, no | norms | Logits reuse the embedding
share_source | Share source | yes | yes, no | norms | Both towers share one embedding
scaling | Scaling | prj | emb, prj, none | norms | If the target is shared: embeddings × √dim, \
logits / √dim, or neither
patch_norm | Norm of patches | no | yes, no | norms | Whether projected patches are normalised
neurons | Hidden layers | none | | head | Their widths in order, such as 256 64; BatchNorm and \
activation after each
head_activation | Activation | as in the blocks | as in the blocks, relu, gelu, gelu_tanh, silu, \
tanh, sigmoid, softplus, leaky_relu | head | Between the layers of the head, if it has hidden ones
head_dropout | Dropout | as in the blocks | as in the blocks, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5 | head \
| Before each layer of the head, while training
order | Order | p1 p2 c | p1 p2 c, c p1 p2 | patches | Order of a patch's numbers: channels last \
or first
channels | Channels | 3 | 1 to 4 | patches | Of the image
registers | Registers | 0 | 0 to 16 | patches | Extra learned tokens, no position
seed | Seed | 0 | 0 to 999 | weights | Seed of the random weights
"""


def _options(text: str) -> dict[str, str]:
    """Choices by value: "dot = dot product" has another title than value."""
    pairs = (each.split(" = ") for each in text.split(", ") if each)
    return {value: (*title, value)[0] for value, *title in pairs}


def _field(row: str) -> Field:
    name, label, text, values, section, help = (each.strip() for each in row.split("|"))
    default = float(text) if "." in text else int(text) if text.isdigit() else text
    if isinstance(default, str):
        return Field(name, label, default, (0, 0), _options(values), section, help)
    span, *flags = values.split(", ")
    low, high = map(float, span.split(" to "))
    slider, auto = "slider" in flags, "auto" in flags
    return Field(name, label, default, (low, high), {}, section, help, slider, auto)


EVERY = {each.name: each for each in map(_field, TABLE.strip().splitlines())}
EVERY["times"] = replace(EVERY["times"], of="scale")
EVERY["pool"] = replace(EVERY["pool"], of="head")
SCORES = "qkv_bias out_bias dot_scaling times"
DROPS = "attention_dropout projection_dropout output_dropout"
BLOCKS = f"scoring key_dim {SCORES} value_shortcut dropout {DROPS} drop_path norm_kind"
TEXT = f"heads depth dim head_dim mlp vocab norm positions activation value_dim mask_fill {BLOCKS}"
PAIR = "heads depth dim d_k d_v mlp source_vocab target_vocab norm positions activation mask_fill"
IMAGE = "image patch heads depth dim head_dim mlp norm positions activation pool classes patches"
WIDTHS = "query_input_dim key_input_dim value_input_dim dim head_dim key_dim value_dim"


def _of(names: str, **changed: Mapping[str, Any] | Value) -> tuple[Field, ...]:
    """Fields by name, some with other attributes, or with another default alone."""
    changes = {
        name: change if isinstance(change, Mapping) else {"default": change}
        for name, change in changed.items()
    }
    return tuple(replace(EVERY[name], **changes.get(name, {})) for name in names.split())


FIELDS: dict[str, tuple[Field, ...]] = {
    "encoder": _of(f"{TEXT} embed_scale embed_norm seed"),
    "decoder": _of(f"{TEXT} embed_scale tied seed", norm="pre", embed_scale="yes"),
    "seq2seq": _of(
        f"{PAIR} {BLOCKS} embed_norm share_target share_source scaling seed",
        heads=8,
        depth=6,
        dim=512,
        mlp=2048,
        activation="relu",
        embed_norm="yes",
    ),
    "vit": _of(
        f"{IMAGE} {BLOCKS} out_projection patch_norm neurons head_activation head_dropout"
        " order channels registers seed",
        dim={"span": (0, 4096), "auto": True, "help": "Width; if empty, of a patch’s numbers"},
        norm="pre",
        positions={
            "default": "learned",
            "options": _options("learned, sinusoidal, sincos2d, none"),
        },
        dropout=0.0,
    ),
    "smallest": _of("dim vocab seed", dim=3),
    "layer": _of(
        f"heads {WIDTHS} scoring {SCORES} {DROPS} vocab seed",
        dim={"label": "Output", "help": "Width of a vector that leaves the layer"},
        key_dim={"section": ""},
        value_dim={"section": ""},
        scoring={"section": ""},
        attention_dropout={"default": 0.0, "span": (0, 0.95), "options": {}},
        vocab={"section": "weights"},
    ),
}


def value_of(field: Field, values: Mapping[str, Any]) -> Value:
    """The value of the control for these fields of a config."""
    value = values.get(field.of or field.name, field.default)
    if field.name == "mask_fill":
        return next((word for word, fill in FILLS.items() if fill == value), "−∞")
    if field.name == "neurons" and not isinstance(value, str):
        return " ".join(map(str, value[:-1])) or "none"
    if SAME in field.options:
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
    if SAME in field.options:
        words = str(value)
        return None if words == SAME else float(words) if words[0].isdigit() else words
    if "yes" in field.options:
        return value == "yes"
    return None if value == 0 and field.auto else value


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
