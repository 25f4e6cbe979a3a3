"""Counting from a config alone, against networks that are built, run and measured."""

import inspect
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import start
from models.cost.count import QUANTITIES, parts, total, walk
from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.layer import AttentionLayer, AttentionLayerConfig
from models.presets import PRESETS
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.smallest import Smallest, SmallestConfig
from models.ssru import TranslatorConfig
from models.vit import ViT, ViTConfig

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
NETWORKS = {
    EncoderConfig: Encoder,
    DecoderConfig: Decoder,
    Seq2SeqConfig: Seq2Seq,
    ViTConfig: ViT,
    SmallestConfig: Smallest,
    AttentionLayerConfig: AttentionLayer,
}


def inputs(config):
    ids = torch.randint(3, 53, (1, TOKENS))
    if isinstance(config, Seq2SeqConfig | AttentionLayerConfig):
        return ids, torch.randint(3, 53, (1, TARGET))
    return (torch.randn(1, 3, 21, 21),) if isinstance(config, ViTConfig) else (ids,)


def named(config):
    usual = vars(type(config)())
    changed = [f"{k}={v}" for k, v in vars(config).items() if v != usual[k]]
    return f"{type(config).__name__}({', '.join(changed)})"


def sizes(shape):
    return [size for _, size in shape]


def found(config, *lengths):
    return {path: part for path, _, part in walk(parts(config, *lengths))}


def test_hand_numbers():
    base = found(PRESETS["encoder-300"].config, 100)
    assert base["blocks/attention"].parameters == 4 * (300 * 300 + 300)
    assert base["blocks/attention/attend"].flops == 2 * 2 * 100 * 100 * 300
    assert base["blocks/feed_forward"].flops == 2 * 2 * 100 * 300 * 100
    assert base["blocks"].times == 6
    head = found(PRESETS["vit-raw-head"].config)
    assert head["head/layer_1"].parameters == 196_608_000 + 1000
    assert head["input"].takes == (("channels", 3), ("rows", 256), ("columns", 256))
    pair = found(Seq2SeqConfig(**BOTH), TOKENS, TARGET)
    assert pair["decoder"].gives == (("tokens", TARGET), ("vocab", 53))
    assert pair["decoder/blocks/cross"].context == (("source", TOKENS), ("dim", 35))


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_parameters_are_those_of_the_built_network(config):
    network = NETWORKS[type(config)](config)
    numbers = sum(parameter.numel() for parameter in network.parameters())
    assert total(parts(config, TOKENS, TARGET), "parameters") == numbers


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_flops_are_those_of_torchs_counter(config):
    """On the processor torch's counter knows the plain kernel, not the fused one."""
    network, counter = NETWORKS[type(config)](config).eval(), FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), counter:
        network(*inputs(config))
    assert total(parts(config, TOKENS, TARGET), "flops") == counter.get_total_flops()


@pytest.mark.parametrize("config", CONFIGS, ids=named)
def test_parts_fit_together(config):
    """What a part gives is what the next takes, a whole is the sum of its parts, and code runs."""

    def check(row):
        for before, after in itertools.pairwise(row):
            if after.kind not in ("projection", "attend", "linear", "pool", "head", "tower"):
                assert sizes(before.gives) == sizes(after.takes), (before.name, after.name)
        assert len({each.name for each in row}) == len(row)
        for part in row:
            file = Path(inspect.getsourcefile(inspect.unwrap(part.source)) or "")
            assert file.is_relative_to(start.ROOT / "models")
            assert part.title
            assert part.formula
            assert not part.skips or part.skips in [each.name for each in row]
            if part.parts:
                for quantity in QUANTITIES:
                    assert getattr(part, quantity) == total(part.parts, quantity)
                check(part.parts)

    check(parts(config, TOKENS, TARGET))


@pytest.mark.parametrize(
    ("config", "tokens", "says"),
    [
        (EncoderConfig(max_tokens=7), 8, "tokens: expected 1 to 7, received 8"),
        (DecoderConfig(), 0, "tokens: expected 1 to 512, received 0"),
        (TranslatorConfig(), 5, "SmallestConfig, AttentionLayerConfig, received Trans"),
    ],
)
def test_what_does_not_fit_is_refused(config, tokens, says):
    with pytest.raises(ValueError, match=says):
        parts(config, tokens)


SCRIPT = """
import sys
from models.cost.count import parts
from models.presets import PRESETS
for each in PRESETS.values():
    parts(each.config, each.tokens, each.target)
sys.exit("torch._dynamo" in sys.modules)
"""


def test_counting_does_not_import_the_compiler():
    """Which takes seconds, and drawing or multiplying on the meta device would."""
    assert subprocess.run([sys.executable, "-c", SCRIPT], cwd=start.ROOT).returncode == 0
