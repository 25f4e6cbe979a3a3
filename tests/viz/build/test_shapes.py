"""Shapes, parameters and FLOPs of a network that has not run, against networks that are run."""

import random
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import start
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.layer import AttentionLayerConfig
from models.model import BUILT, Model
from models.presets import PRESETS
from models.run import trace
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.ssru import TranslatorConfig
from models.vit import ViTConfig
from viz.build.picture import Picture
from viz.build.shapes import check_input, shapes

TEXT: dict[str, Any] = {"vocab": 53, "dim": 35, "heads": 5, "depth": 3, "mlp": 47, "max_tokens": 31}
BOTH: dict[str, Any] = {**TEXT, "source_vocab": 53, "target_vocab": 53, "d_k": 7, "d_v": 7}
del BOTH["vocab"]
IMAGE: dict[str, Any] = {"image": 21, "patch": 7, "dim": 35, "heads": 5, "depth": 3, "mlp": 47}
TOKENS, TARGET = 13, 11
ENCODERS: list[dict[str, Any]] = [
    {},
    {"positions": "learned", "segments": 2, "embed_norm": True, "norm": "pre"},
    {"positions": "relative", "value_dim": 11, "qkv_bias": False},
    {"classes": 7, "last_norm": True, "scoring": "bilinear", "key_dim": 11, "value_dim": 3},
    {"scoring": "additive", "out_bias": False, "value_shortcut": True, "norm_kind": "rms"},
    {"positions": "alibi", "mask_fill": -1e9},
]
DECODERS: list[dict[str, Any]] = [
    {},
    {"norm": "post", "tied": False, "norm_kind": "rms"},
    {"positions": "rotary", "head_dim": 6, "gated": True, "kv_heads": 1},
    {"scoring": "bilinear", "positions": "rotary", "head_dim": 6, "mask_fill": -1e9},
]
PAIRS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "share_target": False, "share_source": False, "drop_path": 0.2},
    {"last_norm": True, "embed_norm": False, "scaling": "emb", "positions": "learned", "d_v": 9},
    {"scoring": "additive", "positions": "relative", "mask_fill": -1e9},
]
VITS: list[dict[str, Any]] = [
    {"patches": "conv", "classes": 17},
    {"head": "flatten", "neurons": (17, 19, 5), "norm": "post", "dim": None, "heads": 3},
    {"head": "mean", "registers": 2, "patch_norm": True},
    {"head": "flatten", "registers": 2, "positions": "none", "head_activation": "relu"},
    {"classes": 0, "positions": "sinusoidal"},
    {"heads": 1, "head_dim": 35, "out_projection": "needed"},
]
CONFIGS = [
    *(EncoderConfig(**TEXT | more) for more in ENCODERS),
    *(DecoderConfig(**TEXT | more) for more in DECODERS),
    *(Seq2SeqConfig(**BOTH | more) for more in PAIRS),
    *(ViTConfig(**IMAGE | more) for more in VITS),
    SmallestConfig(dim=7, vocab=53, max_tokens=31),
    AttentionLayerConfig(vocab=53, max_tokens=31, dim=35, heads=5, value_dim=9),
]


def inputs(config):
    ids = torch.randint(3, 53, (1, TOKENS))
    if isinstance(config, Seq2SeqConfig | AttentionLayerConfig):
        return ids, torch.randint(3, 53, (1, TARGET))
    return (torch.randn(1, 3, 21, 21),) if isinstance(config, ViTConfig) else (ids,)


def named(config):
    usual = vars(type(config)())
    changed = [f"{k}={v}" for k, v in vars(config).items() if v != usual[k]]
    return f"{type(config).__name__}({', '.join(changed)})"


def chance(seed: int) -> Any:
    """A config drawn at random, of any kind, that fits together."""
    draw = random.Random(seed)
    width, heads = draw.choice([4, 6, 10]), draw.choice([1, 2, 3])
    some: dict[str, Any] = {
        "heads": heads,
        "depth": draw.choice([1, 2]),
        "mlp": draw.randrange(3, 40),
        "norm": draw.choice(["pre", "post"]),
        "norm_kind": draw.choice(["layer", "rms"]),
        "scoring": draw.choice(["dot", "bilinear", "additive"]),
        "qkv_bias": draw.random() < 0.5,
        "out_bias": draw.random() < 0.5,
        "seed": seed,
    }
    text = some | {"dim": heads * width, "max_tokens": 31}
    positions = draw.choice(["sinusoidal", "learned", "rotary", "alibi", "relative", "none"])
    text["positions"] = positions
    kind = draw.randrange(4)
    if kind == 0:
        classes, segments = draw.choice([0, 7]), draw.choice([0, 2])
        return EncoderConfig(**text, vocab=53, classes=classes, segments=segments)
    if kind == 1:
        return DecoderConfig(**text, vocab=53, tied=draw.random() < 0.5)
    if kind == 2:
        words = {"source_vocab": 53, "target_vocab": 53}
        return Seq2SeqConfig(**text, **words, d_k=width, d_v=draw.choice([width, 5]))
    head, patches = draw.choice(["class", "mean", "flatten"]), draw.choice(["conv", "linear"])
    more = {"registers": draw.choice([0, 2]), "classes": draw.choice([0, 5])}
    return ViTConfig(
        **some, dim=heads * width, image=21, patch=7, head=head, patches=patches, **more
    )


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_parameters_and_flops_are_those_of_the_network_and_of_torch_s_counter(config):
    agree(config)


def test_so_they_are_for_120_networks_drawn_at_random():
    for seed in range(120):
        agree(chance(seed))


def agree(config):
    """On the processor torch's counter knows the plain kernel, not the fused one."""
    network, counter = BUILT[type(config)][1](config).eval(), FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), counter:
        network(*inputs(config))
    card = shapes(config, TOKENS, TARGET).card("")
    assert card.parameters == sum(each.numel() for each in network.parameters())
    assert card.flops == counter.get_total_flops(), config


def boxes(picture, address=""):
    """Every box below a card: title, shape, parameters and FLOPs."""
    for item in picture.card(address).items:
        for each in (item, *item.inner[:1]):
            if each.kind in ("box", "heads", "head"):
                yield each.title, each.shape, each.parameters, each.flops
            if each.opens[:2] in ("m:", "h:"):
                yield from boxes(picture, each.opens)


@pytest.mark.parametrize("config", [c for c in CONFIGS if not isinstance(c, ViTConfig)], ids=named)
def test_boxes_before_a_pass_are_those_after_it(config):
    network = BUILT[type(config)][1](config).eval()
    both = isinstance(config, Seq2SeqConfig | AttentionLayerConfig)
    source, *target = inputs(config)
    ran = trace(Model("a network", network, None, trained=False), source, *(target if both else ()))
    before, after = shapes(config, TOKENS, TARGET), Picture.of(ran)
    assert [*boxes(before)] == [*boxes(after)]


def test_hand_numbers():
    base = shapes(PRESETS["encoder-300"].config, 100)
    (layers,) = (item for item in base.card("").items if item.kind == "layers")
    assert len(layers.inner) == 6
    first = {item.title: item for item in base.card(layers.inner[0].opens).items}
    assert first["5 heads"].flops == 2 * 2 * 100 * 100 * 300
    assert first["Feed-forward"].flops == 2 * 2 * 100 * 300 * 100
    projections = [first[name] for name in ("Query", "Key", "Value", "Output projection")]
    assert sum(item.parameters for item in projections) == 4 * (300 * 300 + 300)
    head = shapes(PRESETS["vit-raw-head"].config).card("").items[-1]
    assert head.parameters == 196_608_000 + 1000 + 1000 * 1000 + 1000 + 1000 * 10 + 10 + 4 * 1000


@pytest.mark.parametrize(
    ("config", "tokens", "says"),
    [
        (EncoderConfig(max_tokens=7), 8, "tokens: expected 1 to 7, received 8"),
        (DecoderConfig(), 0, "tokens: expected 1 to 512, received 0"),
        (TranslatorConfig(), 5, "there are no shapes of a TranslatorConfig"),
    ],
)
def test_what_does_not_fit_is_refused(config, tokens, says):
    with pytest.raises(ValueError, match=says):
        shapes(config, tokens)
    check_input(ViTConfig(), 0, 0)  # whose image says it


SCRIPT = """
import sys
from models.presets import PRESETS
from viz.build.shapes import shapes
for each in PRESETS.values():
    shapes(each.config, 5, 5).card("")
sys.exit("torch._dynamo" in sys.modules)
"""


def test_shapes_do_not_import_the_compiler():
    """Which takes seconds, and drawing or multiplying on the meta device would."""
    assert subprocess.run([sys.executable, "-c", SCRIPT], cwd=start.ROOT).returncode == 0
