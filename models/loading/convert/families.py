"""Checkpoints of the library in our networks: families.toml has tables of settings and names.

BERT is a post-norm encoder with learned positions, two segment embeddings and a LayerNorm after
the embeddings (Devlin et al. 2019). Llama is a pre-norm decoder with RMSNorm, rotary positions, a
gated feed-forward network and shared key and value heads (Touvron et al. 2023). ViT and DINOv2 are
pre-norm encoders with a class token, learned positions and patches by convolution (Dosovitskiy et
al. 2021). DINOv2 multiplies its branches by a learned vector before they are added (LayerScale,
Touvron et al. 2021), which is folded into the layer before it, exactly:

    x + λ ∘ (W h + b) = x + (diag(λ) W) h + λ ∘ b

Settings and weights that we would have to ignore, and that change the network, are refused by name.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.vit import ViTConfig

ACTIVATIONS = {"gelu": "gelu", "relu": "relu"}
ACTIVATIONS |= dict.fromkeys(("gelu_new", "gelu_pytorch_tanh"), "gelu_tanh")
MUST_BE = {"is_decoder": False, "add_cross_attention": False, "chunk_size_feed_forward": 0}
MUST_BE |= {"pruned_heads": {}}
# Settings of training, saving, generating and of heads on top: no trace of them in the network.
IGNORED = re.compile(
    r"_.*|model_type|architectures|.*dropout(_prob)?|initializer_range|gradient_checkpointing"
    r"|use_cache|.*_token_id|torch_dtype|dtype|transformers_version|id2label|label2id|num_labels"
    r"|problem_type|finetuning_task|output_.*|return_dict|torchscript|tie_.*|is_encoder_decoder"
    r"|pooler_.*|directionality|language|name|model_max_length|encoder_stride"
    r"|pretraining_tp|is_llama_config|rope_interleaved"
    r"|drop_path_rate|layerscale_value|out_features|out_indices|stage_names"
    r"|reshape_hidden_states|use_mask_token"
)
PREFIX = re.compile(r"^(bert|vit|dinov2|model)\.")
BLOCK = re.compile(r"(?:encoder\.layer|layers)\.(\d+)\.(.+)")
OLD_KINDS = {"gamma": "weight", "beta": "bias"}
COMPUTED = ("position_ids", "token_type_ids", "rotary_emb.inv_freq")  # tables that follow
LEFT_OUT = re.compile(r"(pooler|cls|classifier|qa_outputs|decoder|dropout)\..*|.*\.mask_token")
SPARE = re.compile(r"(^|\.)(pooler|mask_token)(\.|$)")  # of weights that no output depends on
Settings = Mapping[str, Any]
State = Mapping[str, Tensor]


class Family(NamedTuple):
    """A model type of the library as one of our networks."""

    config: type[Any]
    fixed: Settings  # what the config always holds
    sizes: Mapping[str, str]  # our names of settings without which there is no network
    usual: Mapping[str, tuple[str, Any]]  # of others, and the values that stand for missing ones
    must_be: Settings  # of which one value (or null) is known here
    names: Mapping[str, str]  # ours of the parts of a block, and of other modules and weights
    # what several settings, or the weights, say about the config, beside what is known so far
    more: Callable[[Settings, State, dict[str, Any]], dict[str, Any]]
    read: Sequence[str] = ()  # settings that are read by `more` alone

    def config_of(self, settings: Settings, state: State) -> Any:
        """Our config for the contents of a config.json.

        Raises:
            ValueError: for a setting that is missing, unknown, or asks for another architecture.
        """
        missing = [name for name in self.sizes if name not in settings]
        if missing:
            raise ValueError(f"config.json lacks {', '.join(missing)}")
        for name, value in settings.items():
            if name in self.must_be and value not in (self.must_be[name], None):
                raise ValueError(f"{name}: expected {self.must_be[name]!r}, received {value!r}")
        usual = {name: (ours, 1) for name, ours in self.sizes.items()} | dict(self.usual)
        known = {*usual, *self.must_be, *self.read}
        unknown = [name for name in settings if name not in known and not IGNORED.fullmatch(name)]
        if unknown:
            raise ValueError(f"config.json has settings this converter does not know: {unknown}")
        given = {
            ours: _checked(name, settings.get(name, value), value)
            for name, (ours, value) in usual.items()
        }
        return self.config(**given | self.more(settings, state, given), **self.fixed)

    def weights_of(self, state: State, config: Any) -> tuple[dict[str, Tensor], tuple[str, ...]]:
        """A checkpoint under our names, and the names of the weights that were left out.

        A weight without a place keeps its name.
        """
        converted, left_out = {}, []
        for name, tensor in state.items():
            short = PREFIX.sub("", name)
            ours = self._ours(short)
            if ours is not None and not (ours == "output.weight" and config.tied):
                converted[ours] = tensor
            elif ours is None and LEFT_OUT.fullmatch(short):
                left_out.append(name)
            elif ours is None and not short.endswith(COMPUTED):
                converted[name] = tensor
        return _folded(converted), tuple(left_out)

    def _ours(self, name: str) -> str | None:
        block = BLOCK.fullmatch(name)
        path, _, kind = (block[2] if block else name).rpartition(".")
        if path not in self.names:
            return self.names.get(name)
        start = f"blocks.{block[1]}." if block else ""
        return f"{start}{self.names[path]}.{OLD_KINDS.get(kind, kind)}"


def heads_in(left_out: Iterable[str]) -> tuple[str, ...]:
    """The weights of heads among those that a network has no place for."""
    return tuple(name for name in left_out if not SPARE.search(name))


def _checked(name: str, value: Any, usual: Any) -> Any:
    """A setting, if it is of the kind of its usual value; None stands for a size, or nothing."""
    if isinstance(usual, list):
        sides = (value, value) if isinstance(value, int) else value
        if not isinstance(sides, list | tuple) or len(sides) != 2:
            raise ValueError(f"{name}: expected a whole number or two, received {value!r}")
        return tuple(_checked(name, side, 1) for side in sides)
    if isinstance(usual, str):
        if not isinstance(value, str) or value not in ACTIVATIONS:
            raise ValueError(f"{name}: expected one of {list(ACTIVATIONS)}, received {value!r}")
        return ACTIVATIONS[value]
    if usual is None and value is None:
        return None
    expected, fits = {
        bool: ("true or false", type(value) is bool),
        float: ("a number", isinstance(value, int | float)),
    }.get(type(usual), ("a whole number from 1", type(value) is int and value >= 1))
    if not fits:
        raise ValueError(f"{name}: expected {expected}, received {value!r}")
    return value


def _of_llama(settings: Settings, state: State, given: dict[str, Any]) -> dict[str, Any]:
    """The base of the wavelengths, and whether the embedding is the output projection as well.

    It is without one in the file. A config that ties them does not where both are there and differ,
    as in transformers (`PreTrainedModel.tie_weights`).
    """
    rope = settings.get("rope_parameters") or {}
    if not isinstance(rope, Mapping) or rope.get("rope_type", "default") != "default":
        raise ValueError(f"rope_parameters: expected rope_type 'default', received {rope!r:.80}")
    unknown = sorted({*rope} - {"rope_type", "rope_theta"})
    if unknown:
        raise ValueError(f"rope_parameters: expected only rope_theta, received {unknown}")
    base = rope.get("rope_theta", settings.get("rope_theta", 10_000.0))
    short = {PREFIX.sub("", name): each for name, each in state.items()}
    head, embedding = short.get("lm_head.weight"), short.get("embed_tokens.weight")
    tied = head is None
    if head is not None and settings.get("tie_word_embeddings") is True:
        tied = embedding is None or torch.equal(head.float(), embedding.float())
    return {"rotary_base": _checked("rope_theta", base, 1.0), "tied": tied}


def _of_vit(settings: Settings, state: State, given: dict[str, Any]) -> dict[str, Any]:
    """The pixels that patches cover, and the classes of ViT's classifier."""
    (high, wide), patch, classifier = given["image"], given["patch"], state.get("classifier.weight")
    classes = 0 if classifier is None or settings["model_type"] != "vit" else len(classifier)
    more = {"image": (high - high % patch[0], wide - wide % patch[1]), "classes": classes}
    if settings["model_type"] == "dinov2":  # which states a ratio
        more["mlp"] = given["dim"] * given["mlp"]
    return more


def _folded(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights without an axis for the batch, and with LayerScale in the layer before it."""
    for name in {"prefix", "positions.table"} & {*state}:
        state[name] = state[name].flatten(0, -2)
    for name in [name for name in state if name.endswith(".lambda1")]:
        scale = state.pop(name).float()
        for kind, by in (("weight", scale[:, None]), ("bias", scale)):
            layer = f"{name.removesuffix('.lambda1')}.{kind}"
            if layer in state:
                state[layer] = by * state[layer].float()
    return state


KINDS = {"encoder": EncoderConfig, "decoder": DecoderConfig, "vit": ViTConfig}
MORE = {"llama": _of_llama, "vit": _of_vit, "dinov2": _of_vit}


def _families() -> dict[str, Family]:
    """The families of families.toml, by their model types."""
    stated = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    families = {}
    for name, parts in stated["families"].items():
        parts["config"], more = KINDS[parts.pop("kind")], MORE.get(name, lambda *given: {})
        parts["usual"] = {
            n: (ours, *value, None)[:2] for n, (ours, *value) in parts["usual"].items()
        }
        parts["must_be"] = MUST_BE | parts.get("must_be", {})
        parts["names"] = stated["shared"].get(parts.pop("shared", ""), {}) | parts.get("names", {})
        families[name] = Family(**parts, more=more)
    return families


FAMILIES = _families()
