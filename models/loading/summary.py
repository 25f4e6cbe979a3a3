"""Summary of a loaded model: sizes, inputs, memory."""

import re
from typing import Any, NamedTuple

from models.encoder import EncoderConfig
from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.layer import AttentionLayerConfig
from models.model import Config, Model
from models.request import Reads
from models.seq2seq import Seq2SeqConfig
from models.ssru import TranslatorConfig
from models.vector_encoder import VectorEncoderConfig
from models.vit import ViTConfig

HEADER = 2**14  # characters of a README that are searched for a licence
LICENCE = re.compile(r"---\s*\n(?:(?!---).*\n)*?license:\s*['\"]?([\w.+-]+)")
WIDTHS = ("hidden_size", "d_model", "width", "dim")
DEPTHS = ("num_hidden_layers", "num_layers", "depth")
PARTS = ("text_config", "vision_config", "audio_config", "encoder", "decoder")


class Part(NamedTuple):
    """The sizes of one stack of layers; None where the config has none."""

    name: str  # of the tower; "" for a single one
    layers: int | None
    heads: int | None  # of queries, in each layer
    kv_heads: int | None  # of keys and values
    dim: int | None  # width of the hidden states
    mlp: int | None  # hidden width of the feed-forward network
    positions: str  # kind of position encoding
    max_tokens: int | None = None


def parts(model: Model) -> tuple[Part, ...]:
    """The stacks of layers a model is made of."""
    config = model.network.config
    inner = [(name, getattr(config, name, None)) for name in PARTS]
    inside = [(name.partition("_")[0], part) for name, part in inner if hasattr(part, "to_dict")]
    if inside and not isinstance(getattr(config, "num_hidden_layers", None), int):
        return tuple(_part(name, part) for name, part in inside)
    paired = isinstance(config, Seq2SeqConfig | TranslatorConfig)
    if paired or getattr(config, "is_encoder_decoder", False):
        return tuple(_part(name, config) for name in ("encoder", "decoder"))
    return (_part("", config),)


def reads(model: Model) -> Reads:
    """The kinds of input the model takes."""
    config = model.network.config
    if model.door == "own":
        image = isinstance(config, ViTConfig)
        pair = isinstance(config, EncoderConfig) and config.segments > 1
        paired = Seq2SeqConfig | TranslatorConfig | AttentionLayerConfig
        target = isinstance(config, paired)
        text = not image and not isinstance(config, VectorEncoderConfig)
        return Reads(text, image, target=target, pair=pair)
    from models.inputs.named import forward_arguments
    from models.inputs.prepare import IMAGE
    from models.inputs.prompt import is_asked
    from models.inputs.targets import SOUND, TEXT

    takes = forward_arguments(model.network)
    text = TEXT in takes
    kinds = getattr(config, "type_vocab_size", 0) or 0
    return Reads(
        text=text,
        image=IMAGE in takes,
        sound=any(name in takes for name in SOUND),
        target=bool(config.is_encoder_decoder) and "decoder_input_ids" in takes,
        pair="token_type_ids" in takes and kinds > 1,
        asked=text and IMAGE in takes and is_asked(model),
    )


def weights_bytes(model: Model) -> int:
    """Bytes of the weights in memory; shared storage counts once."""
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in (*model.network.parameters(), *model.network.buffers())
    }
    return sum(storages.values())


def licence(folder: Folder) -> str | None:
    """The licence in the front matter of a folder's README; None if it has none."""
    try:
        file = folder.file("README.md")
        if file is None:
            return None
        with file.open(encoding="utf-8", errors="replace") as opened:
            match = LICENCE.match(opened.read(HEADER))
    except (CheckpointError, OSError):
        return None
    return None if match is None else match[1]


# --- inside ---------------------------------------------------------------------------------------


def _part(name: str, config: Any) -> Part:
    """Sizes of a config, or of the encoder or decoder where it holds both."""
    depths = getattr(config, "depths", None)  # of stages
    stages = sum(depths) if isinstance(depths, list | tuple) else None
    deep = ("decoder_depth", "num_decoder_layers") if name == "decoder" else ()
    half = _whole(config, f"{name}_attention_heads")
    heads = half or _whole(config, "num_attention_heads", "num_heads", "heads")
    ratio, dim = getattr(config, "mlp_ratio", None), _whole(config, *WIDTHS)
    wide = _whole(config, f"{name}_ffn_dim", "intermediate_size", "ffn_dim", "d_ff", "mlp")
    most = "max_target_positions" if name == "decoder" else "max_source_positions"
    return Part(
        name,
        stages or _whole(config, f"{name}_layers", *deep, *DEPTHS),
        heads,
        half or _whole(config, "num_key_value_heads", "kv_heads") or heads,
        dim,
        int(ratio * dim) if isinstance(ratio, int | float) and dim else wide,
        _positions(config),
        _whole(config, most, "max_position_embeddings", "max_tokens", "tokens"),
    )


def _whole(config: Any, *names: str) -> int | None:
    """The first of these settings that is an integer."""
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int)), None)


def _positions(config: Any) -> str:
    """The kind of position encoding, as the config states it."""
    if isinstance(config, Config):
        unstated = "sinusoidal" if isinstance(config, TranslatorConfig) else "none"
        return str(getattr(config, "positions", unstated))
    if getattr(config, "relative_attention_num_buckets", None):
        return "relative, in buckets"
    if getattr(config, "rope_parameters", None) or getattr(config, "rope_theta", None):
        return "rotary"
    stated = getattr(config, "position_embedding_type", None)
    if isinstance(stated, str) and stated != "absolute":
        return stated
    most = ("max_position_embeddings", "max_target_positions", "n_positions", "image_size")
    return "absolute" if _whole(config, *most) else "not stated"
