"""Configs of networks: one attention config for all of them, and what dataclasses promise."""

from dataclasses import MISSING, asdict, fields, replace
from typing import Any

import pytest

from models.attention import MultiHeadAttentionConfig
from models.blocks import StackConfig
from models.checks import FROM_ONE, FROM_ZERO, POSITIVE
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.layer import AttentionLayerConfig
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.ssru import TranslatorConfig
from models.vector_encoder import VectorEncoderConfig
from models.vit import ViTConfig

STACKS: tuple[Any, ...] = (
    EncoderConfig,
    DecoderConfig,
    Seq2SeqConfig,
    ViTConfig,
    VectorEncoderConfig,
)
NETWORKS: tuple[Any, ...] = (*STACKS, AttentionLayerConfig)
OTHERS: tuple[Any, ...] = (MultiHeadAttentionConfig, SmallestConfig, TranslatorConfig)
SHARES = ("dropout", "drop_path")
CHOSEN = {"activation", "head", "head_activation", "norm", "norm_kind", "order", "patches"}
CHOSEN |= {"dot_scaling", "out_projection", "positions", "scaling", "scoring"}
NAMES = {"d_k": "head_dim", "d_v": "value_dim", "attention_dropout": "dropout"}  # in the layer
NAMES |= {"query_input_dim": "input_dim"}
OTHER: dict[str, Any] = {  # than the default
    "dim": 105,
    "heads": 3,
    "head_dim": 35,
    "d_k": 35,
    "value_dim": 35,
    "d_v": 35,
    "key_dim": 35,
    "kv_heads": 3,
    "query_input_dim": 11,
    "key_input_dim": 13,
    "value_input_dim": 17,
    "qkv_bias": False,
    "out_bias": False,
    "scale": 0.3,
    "out_projection": "needed",
    "value_shortcut": True,
    "attention_dropout": 0.2,
    "projection_dropout": 0.3,
    "output_dropout": 0.4,
}


def names_of(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


@pytest.mark.parametrize("kind", NETWORKS)
def test_each_field_of_the_attention_reaches_it(kind: Any) -> None:
    given = {name: value for name, value in OTHER.items() if name in names_of(kind)}
    layer = kind(**given).attention
    assert {name: getattr(layer, NAMES.get(name, name)) for name in given} == given
    assert kind(scoring="bilinear").attention.scoring == "bilinear"
    assert kind(dot_scaling="none").attention.dot_scaling == "none"
    reached = {NAMES.get(name, name) for name in {*given, "scoring", "dot_scaling"}}
    common = names_of(kind) & names_of(MultiHeadAttentionConfig)
    assert common - {"dropout"} <= reached  # so a new field is tested, too


@pytest.mark.parametrize("kind", STACKS)
def test_the_dropout_of_weights_is_the_common_one_unless_it_has_its_own(kind: Any) -> None:
    assert kind(dropout=0.3).attention.dropout == 0.3
    assert kind(dropout=0.3, attention_dropout=0.0).attention.dropout == 0.0


def test_a_network_without_a_projection_of_patches_is_as_wide_as_a_patch() -> None:
    assert ViTConfig(image=6, patch=3, dim=None, heads=9).attention.dim == 27


def test_an_encoder_decoder_hands_each_common_field_to_its_encoder() -> None:
    common = names_of(Seq2SeqConfig) & names_of(EncoderConfig)
    given = {name: value for name, value in OTHER.items() if name in common | {"d_k", "d_v"}}
    given |= {"depth": 3, "mlp": 47, "activation": "tanh", "norm": "pre", "positions": "alibi"}
    given |= {"max_tokens": 31, "dropout": 0.25, "padding": 5, "embed_norm": False, "seed": 7}
    given |= {"last_norm": False, "drop_path": 0.15, "norm_kind": "rms", "mask_fill": -1e9}
    config = Seq2SeqConfig(19, 23, share_source=False, **given, eps=1e-3)
    assert common - {*given, "scoring", "dot_scaling", "eps"} == set()
    for name in common:
        assert getattr(config.encoder, name) == getattr(config, name), name
    assert (config.encoder.head_dim, config.encoder.value_dim) == (35, 35)
    assert config.encoder.vocab == 19


@pytest.mark.parametrize("kind", [*NETWORKS, MultiHeadAttentionConfig])
def test_a_config_is_a_value(kind: Any) -> None:
    config = kind(heads=2, qkv_bias=False, scale=0.5)
    assert (config.heads, config.qkv_bias, config.scale) == (2, False, 0.5)
    assert eval(repr(config), {kind.__name__: kind}) == config
    assert kind(**asdict(config)) == config
    assert len({config, replace(config), kind(), replace(config, heads=1)}) == 3
    assert replace(config, heads=4, qkv_bias=True, scale=None) == replace(kind(), heads=4)


@pytest.mark.parametrize("kind", [*NETWORKS, MultiHeadAttentionConfig, StackConfig])
def test_no_field_is_declared_again_with_the_same_default(kind: type) -> None:
    base: Any = kind.__mro__[1]
    common = {field.name: (field.type, field.default) for field in fields(base)}
    defaults = vars(kind)
    for field in fields(kind):
        if field.name in kind.__annotations__ and field.name in common:
            assert (field.type, defaults[field.name]) != common[field.name], field.name
        assert field.default is not MISSING


@pytest.mark.parametrize("kind", [*NETWORKS, *OTHERS])
def test_a_field_out_of_its_range_is_named(kind: Any) -> None:
    ranges = {
        **dict.fromkeys(FROM_ONE, (0, "at least 1")),
        **dict.fromkeys(FROM_ZERO, (-1, "at least 0")),
        **dict.fromkeys(POSITIVE, (0.0, "a number above 0")),
        **{name: (1.0, "0 up to 1") for name in names_of(kind) if name.endswith(SHARES)},
        **dict.fromkeys(names_of(kind) & CHOSEN, ("other", "one of")),
    }
    for name in names_of(kind) & ranges.keys():
        wrong, expected = ranges[name]
        wrong = float(wrong) if name.endswith("_std") else wrong
        with pytest.raises(ValueError, match=f"^{name}: expected {expected}.*, received '?{wrong}"):
            kind(**{name: wrong})


TIED = "source_vocab = target_vocab, received 101 and 1000"


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (MultiHeadAttentionConfig, {"dim": 35, "heads": 4}, "1, 5, 7, 35 for dim 35, received 4"),
        (
            MultiHeadAttentionConfig,
            {"scale": 0.5, "dot_scaling": "none"},
            "expected one of them, .* received 0.5 and 'none' with dot",
        ),
        (
            MultiHeadAttentionConfig,
            {"scoring": "additive", "scale": 0.5},
            "received 0.5 and 'sqrt' with additive scores",
        ),
        (
            MultiHeadAttentionConfig,
            {"value_dim": 13, "value_shortcut": True},
            "= dim, received 4 × 13 and 64",
        ),
        (DecoderConfig, {"dropout": -0.1}, "dropout: expected 0 up to 1, received -0.1"),
        (DecoderConfig, {"mask_fill": 1.0}, "fill: expected a number below 0, received 1"),
        (EncoderConfig, {"head_dim": 7, "positions": "rotary"}, "an even head width, received 7"),
        (EncoderConfig, {"padding": 1000}, "padding: expected 0 to 999, received 1000"),
        (Seq2SeqConfig, {"d_k": 7, "positions": "rotary"}, "an even head width, received 7"),
        (Seq2SeqConfig, {"padding": 1000}, "padding: expected 0 to 999, received 1000"),
        (Seq2SeqConfig, {"end": 0}, "an id other than begin and end, received 0, 1 and 0"),
        (Seq2SeqConfig, {"source_vocab": 101}, f"share_source: expected {TIED}"),
        (TranslatorConfig, {"dim": 15}, "heads must divide dim"),
        (TranslatorConfig, {"dim": 7, "heads": 1}, "an even number from 4, received 7"),
        (TranslatorConfig, {"end": 1000}, "end: expected 0 to 999, received 1000"),
        (ViTConfig, {"image": 224, "patch": 17}, "not divide image 224: .* of 1, 2, 4, 7,.*224"),
        (ViTConfig, {"image": (224, 100), "patch": 16}, "patch 16 does not divide image 100"),
        (ViTConfig, {"image": 0}, "image, patch: expected at least 1, received 0 and"),
        (ViTConfig, {"patch": (3, -5)}, r"at least 1, received 64 and \(3, -5\)"),
        (ViTConfig, {"heads": 5}, r"heads must divide dim: .* for dim 64, received 5"),
        (ViTConfig, {"patch": 4, "dim": None, "heads": 5}, "for dim 48, received 5"),
        (ViTConfig, {"dim": None, "patches": "conv"}, "expected 'linear' without a dim"),
        (
            ViTConfig,
            {"dim": 42, "heads": 1, "positions": "sincos2d"},
            "by 4, received 42",
        ),
        (ViTConfig, {"neurons": (13, 0)}, r"neurons: expected widths from 1, received \(13, 0\)"),
        (ViTConfig, {"neurons": (13, 7), "classes": 2}, r"last of neurons \(13, 7\), received 2"),
    ],
)
def test_fields_that_do_not_fit_are_refused(kind: Any, wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**wrong)
