"""Presets: published networks by name, with their config and input size.

Nothing here needs torch until a config is asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from models.catalogue import CHECKPOINTS, Entry, bundled, read_config

if TYPE_CHECKING:
    from models.model import Config

CONFIGS = {
    "encoder": ("models.encoder", "EncoderConfig"),
    "decoder": ("models.decoder", "DecoderConfig"),
    "seq2seq": ("models.seq2seq", "Seq2SeqConfig"),
    "vit": ("models.vit", "ViTConfig"),
    "smallest": ("models.smallest", "SmallestConfig"),
    "layer": ("models.layer", "AttentionLayerConfig"),
}
KINDS = tuple(CONFIGS)


@dataclass(frozen=True)
class Preset:
    """One named network.

    Attributes:
        title: for readers.
        kind: one of `KINDS`.
        source: where it comes from; empty for sizes to play with.
        fields: of its config; the rest are that config's defaults.
        tokens: how many go in, where an image does not say it.
        target: how many the decoder of an encoder–decoder reads.
        model: of the catalogue, if its weights come with the app; else they are random.
    """

    title: str
    kind: str
    source: str
    fields: Mapping[str, Any] = field(hash=False)
    tokens: int = 16
    target: int = 12
    model: str = ""

    @property
    def config(self) -> "Config":
        return config_of(self.kind, self.fields)


def config_of(kind: str, fields: Mapping[str, Any]) -> "Config":
    """A config of this kind.

    Raises:
        ValueError: for fields that do not fit together, or another kind.
    """
    if kind not in CONFIGS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, received {kind!r}")
    module, name = CONFIGS[kind]
    return getattr(import_module(module), name)(**fields)


def _text(dim: int, depth: int, heads: int, mlp: int, **more: Any) -> dict[str, Any]:
    plain = {"norm": "post", "positions": "sinusoidal", "activation": "relu", "dropout": 0.0}
    return {"dim": dim, "depth": depth, "heads": heads, "mlp": mlp, **plain | more}


def _image(image: int, patch: int, dim: int | None, depth: int, heads: int, mlp: int, **more: Any):
    plain = {"image": image, "patch": patch, "channels": 3, "norm": "pre", "positions": "learned"}
    plain |= {"activation": "gelu", "patches": "linear", "order": "p1 p2 c", "head": "class"}
    return {"dim": dim, "depth": depth, "heads": heads, "mlp": mlp, **plain | more}


VASWANI = "Vaswani et al. 2017, “Attention Is All You Need”"
DOSOVITSKIY = "Dosovitskiy et al. 2021, “An Image is Worth 16×16 Words”"
COURSE = "“Let's see what's the transformer inside”, a course's notebook"
LECTURE = "“The Next Wave: Transformer”, a lecture on computer vision"
STEPS = "“Lets understand Vision Transformer in 6 simple steps”"
RAW = _image(
    *(256, 16, None, 6, 6, 100),
    order="c p1 p2",
    head="flatten",
    norm="post",
    positions="sinusoidal",
    activation="relu",
)
PRESETS: dict[str, Preset] = {
    "small": Preset(
        "Small encoder",
        "encoder",
        "",
        _text(64, 2, 4, 256, vocab=1000, activation="gelu", max_tokens=1024),
    ),
    "encoder-300": Preset(
        "Encoder, 300 wide, 6 blocks",
        "encoder",
        COURSE,
        _text(300, 6, 5, 100, vocab=1000, max_tokens=1000),
        tokens=100,
    ),
    "wide-heads": Preset(
        "Heads as wide as the model",
        "encoder",
        "“Transformers from scratch”, Bloem 2019, as a notebook implements it: 20 heads of width"
        " 10, and q and k divided by ∜10 each",
        _text(10, 1, 20, 40, vocab=1000, head_dim=10, qkv_bias=False, dot_scaling="fourth root")
        | {"positions": "none"},
        tokens=5,
    ),
    "bert-base": Preset(
        "BERT-base",
        "encoder",
        "Devlin et al. 2019, “BERT”; without its pooler",
        _text(768, 12, 12, 3072, vocab=30522, activation="gelu", positions="learned")
        | {"max_tokens": 512, "segments": 2, "embed_norm": True, "eps": 1e-12, "dropout": 0.1},
        tokens=128,
    ),
    "small-decoder": Preset(
        "Small decoder",
        "decoder",
        "",
        _text(64, 2, 4, 256, vocab=1000, norm="pre", activation="gelu", max_tokens=1024),
    ),
    "gpt2-small": Preset(
        "GPT-2 small",
        "decoder",
        "Radford et al. 2019, “Language Models are Unsupervised Multitask Learners”",
        _text(768, 12, 12, 3072, vocab=50257, norm="pre", positions="learned")
        | {"activation": "gelu_tanh", "max_tokens": 1024, "embed_scale": False, "dropout": 0.1},
        tokens=128,
    ),
    "small-seq2seq": Preset(
        "Small encoder–decoder",
        "seq2seq",
        "",
        _text(64, 2, 4, 256, source_vocab=1000, target_vocab=1000, d_k=16, d_v=16)
        | {"max_tokens": 1024},
    ),
    "transformer": Preset(
        "Transformer, weights shared",
        "seq2seq",
        f"{LECTURE}: with a norm in front of the blocks, and logits divided by √dim",
        _text(512, 6, 8, 2048, source_vocab=1000, target_vocab=1000, d_k=64, d_v=64, dropout=0.1)
        | {"max_tokens": 200},
    ),
    "transformer-base": Preset(
        "The original Transformer (base)",
        "seq2seq",
        f"{VASWANI}; one vocabulary of 37,000 for source and target",
        _text(512, 6, 8, 2048, source_vocab=37000, target_vocab=37000, d_k=64, d_v=64, dropout=0.1)
        | {"max_tokens": 1024, "scaling": "emb", "embed_norm": False},
        tokens=32,
        target=32,
    ),
    "small-vit": Preset(
        "Small ViT",
        "vit",
        "",
        _image(64, 8, 64, 2, 4, 256, classes=10),
    ),
    "vit-14": Preset(
        "ViT 224/14, width 128",
        "vit",
        STEPS,
        _image(224, 14, 128, 6, 8, 2048, head_dim=64, qkv_bias=False, classes=1000, dropout=0.1),
    ),
    "vit-32": Preset(
        "ViT 256/32, width 1024",
        "vit",
        f"{STEPS}, its last cell",
        _image(256, 32, 1024, 6, 16, 2048, head_dim=64, qkv_bias=False, classes=1000)
        | {"dropout": 0.1},
    ),
    "vit-raw": Preset(
        "ViT without a projection",
        "vit",
        f"{COURSE}; its encoder alone",
        RAW | {"classes": 0},
    ),
    "vit-raw-head": Preset(
        "ViT without a projection, 197 M head",
        "vit",
        f"{COURSE}; all patches in a row into layers of 1000, 1000 and 10",
        RAW | {"neurons": (1000, 1000, 10)},
    ),
    "vit-conv": Preset(
        "ViT 224/16, patches by convolution",
        "vit",
        LECTURE,
        _image(224, 16, 768, 12, 12, 3072, patches="conv", qkv_bias=False, classes=1000)
        | {"token_std": 0.0, "position_std": 0.0, "drop_path": 0.1},
    ),
    "pixels": Preset(
        "28 × 28 pixels as tokens",
        "vit",
        f"{LECTURE}: the 784 × 784 matrix that makes patches necessary",
        _image(28, 1, 64, 2, 4, 256, channels=1, head="mean", classes=10),
    ),
    "vit-b16": Preset(
        "ViT-B/16",
        "vit",
        DOSOVITSKIY,
        _image(224, 16, 768, 12, 12, 3072, patches="conv", classes=1000, eps=1e-12),
    ),
    "smallest": Preset(
        "The smallest transformer",
        "smallest",
        "“Transformer”, a course's notebook: one head, a norm, a line to one number",
        {"dim": 3},
        tokens=2,
    ),
    "layer": Preset("Three widths", "layer", "", {}),
    "layer-100": Preset(
        "Width 5 to 100, 5 heads",
        "layer",
        f"{COURSE}: 16 items of 5 words",
        {"query_input_dim": 5, "key_input_dim": 5, "value_input_dim": 5, "dim": 100, "heads": 5},
        tokens=5,
        target=5,
    ),
    "layer-additive": Preset(
        "Additive score",
        "layer",
        "Bahdanau et al. 2015, “Neural Machine Translation by Jointly Learning to Align and"
        " Translate”: the score; with one head, and small",
        {"heads": 1, "head_dim": 32, "value_dim": 32, "scoring": "additive", "dim": 32},
    ),
}


def _trained(entry: Entry) -> Preset:
    """A model that was trained here, with the sizes it has."""
    config = read_config(CHECKPOINTS / entry.folder).get("config", {})
    fields: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in config.items()
    }
    most = fields.get("max_tokens", Preset.tokens)
    sizes = {"tokens": min(Preset.tokens, most), "target": min(Preset.target, most)}
    return Preset(f"{entry.title} (trained)", entry.kind, "", fields, **sizes, model=entry.name)


PRESETS |= {f"trained-{e.name}": _trained(e) for e in bundled() if e.trained_here}


def first_of(kind: str) -> str:
    """The name of the first preset of a kind."""
    return next(name for name, preset in PRESETS.items() if preset.kind == kind)
