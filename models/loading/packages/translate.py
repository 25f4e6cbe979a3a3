"""The translators from English to Portuguese and back: a binary model of Marian and its tokenizer.

Marian's names of layer l: encoder_ll_self_W{q,k,v,o}, encoder_ll_ffn_W{1,2}, decoder_ll_rnn_W{f},
decoder_ll_context_W{q,k,v,o}, decoder_ll_ffn_W{1,2}; b for biases, ln_scale and ln_bias for norms.
Its matrices are multiplied from the right, x W, so that ours are transposed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.files.errors import CheckpointError
from models.files.marian import EMBEDDING, read_marian
from models.loading.convert.own import settings_of
from models.loading.packages.writing import write_json, write_weights
from models.ssru import RESERVED, TranslatorConfig

HEADS = re.compile(r"^transformer-heads: *(\d+)", re.MULTILINE)
LAST_BIAS = "decoder_ff_logit_out_b"
ATTENTION = {"q": "query", "k": "key", "v": "value", "o": "out"}
END, UNKNOWN = "</s>", "<unk>"
EXPECTED = {  # settings that another architecture would have
    "transformer-decoder-autoreg": "rnn",
    "dec-cell": "ssru",
    "transformer-ffn-activation": "relu",
    "transformer-postprocess": "dan",
    "tied-embeddings-all": "true",
}


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    named = {file.suffix: file for file in files.values()}
    tensors, given = read_marian(named[".bin"])
    _check_settings(given)
    config = config_of(tensors, given)
    write_json(folder, "config.json", settings_of(config))
    write_weights(folder, weights(tensors, config))
    tokenizer = with_end(json.loads(named[".json"].read_text(encoding="utf-8")))
    for name in ("tokenizer.json", "target_tokenizer.json"):
        write_json(folder, name, tokenizer)


def config_of(tensors: Mapping[str, Tensor], settings: str) -> TranslatorConfig:
    """Our config, from the sizes of the tensors and the number of heads."""
    heads = HEADS.search(settings)
    if heads is None or EMBEDDING not in tensors or "encoder_l1_ffn_b1" not in tensors:
        raise CheckpointError("the model of Marian is no transformer with a recurrent decoder")
    vocab, dim = tensors[EMBEDDING].shape
    return TranslatorConfig(
        vocab=vocab,
        dim=dim,
        depth=_layers(tensors, "encoder"),
        decoder_depth=_layers(tensors, "decoder"),
        heads=int(heads[1]),
        mlp=tensors["encoder_l1_ffn_b1"].numel(),
    )


def weights(tensors: Mapping[str, Tensor], config: TranslatorConfig) -> dict[str, Tensor]:
    """The weights under our names.

    Raises:
        CheckpointError: for a tensor that is missing, or has no place in the network.
    """
    left = dict(tensors)
    try:
        embedding = left.pop(EMBEDDING)
        reserved = torch.zeros(RESERVED, config.dim)
        state = {"encoder.tokens.weight": torch.cat([embedding, reserved])}
        state["bias"] = left.pop(LAST_BIAS).flatten()
        for theirs, ours in _names(config):
            tensor = left.pop(theirs)
            state[ours] = tensor.flatten() if len(tensor) == 1 else tensor.T
    except KeyError as error:
        raise CheckpointError(f"the model of Marian lacks {error.args[0]}") from error
    if left:
        raise CheckpointError(f"the model of Marian has no place for {', '.join([*left][:3])}")
    return state


def with_end(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer, which appends the end token and marks special ones."""
    ids = {piece: number for number, (piece, _) in enumerate(tokenizer["model"]["vocab"])}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": ids[name], "content": name, **flags, "special": True} for name in (END, UNKNOWN)
    ]
    end, (first, second) = _special(END), (_sequence("A"), _sequence("B"))
    template = {
        "type": "TemplateProcessing",
        "single": [first, end],
        "pair": [first, second, end],
        "special_tokens": {END: {"id": END, "ids": [ids[END]], "tokens": [END]}},
    }
    return {**tokenizer, "added_tokens": added, "post_processor": template}


# --- inside ---------------------------------------------------------------------------------------


def _check_settings(given: str) -> None:
    for name, expected in EXPECTED.items():
        match = re.search(rf"^{name}: *(\S+)", given, re.MULTILINE)
        if match is None or match[1].strip("\"'") != expected:
            received = "nothing" if match is None else repr(match[1])
            raise CheckpointError(f"{name}: expected {expected!r}, received {received}")


def _names(config: TranslatorConfig) -> Iterator[tuple[str, str]]:
    """Marian's names of the tensors of the blocks, and ours."""
    for layer in range(config.depth):
        theirs, ours = f"encoder_l{layer + 1}", f"encoder.blocks.{layer}"
        yield from _attention(f"{theirs}_self", f"{ours}.attention")
        yield from _norm(f"{theirs}_self_Wo_ln", f"{ours}.after_attention")
        yield from _feed_forward(theirs, ours)
    for layer in range(config.decoder_depth):
        theirs, ours = f"decoder_l{layer + 1}", f"blocks.{layer}"
        yield f"{theirs}_rnn_W", f"{ours}.recurrent.input.weight"
        yield f"{theirs}_rnn_Wf", f"{ours}.recurrent.forget.weight"
        yield f"{theirs}_rnn_bf", f"{ours}.recurrent.forget.bias"
        yield from _norm(f"{theirs}_rnn_ffn_ln", f"{ours}.after_recurrent")
        yield from _attention(f"{theirs}_context", f"{ours}.cross")
        yield from _norm(f"{theirs}_context_Wo_ln", f"{ours}.after_cross")
        yield from _feed_forward(theirs, ours)


def _attention(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for short, name in ATTENTION.items():
        yield f"{theirs}_W{short}", f"{ours}.{name}.weight"
        yield f"{theirs}_b{short}", f"{ours}.{name}.bias"


def _norm(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    yield f"{theirs}_scale", f"{ours}.norm.weight"
    yield f"{theirs}_bias", f"{ours}.norm.bias"


def _feed_forward(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(("up", "down"), start=1):
        yield f"{theirs}_ffn_W{number}", f"{ours}.feed_forward.{name}.weight"
        yield f"{theirs}_ffn_b{number}", f"{ours}.feed_forward.{name}.bias"
    yield from _norm(f"{theirs}_ffn_ffn_ln", f"{ours}.after_feed_forward")


def _layers(tensors: Mapping[str, Tensor], side: str) -> int:
    matches = (re.match(rf"{side}_l(\d+)_", name) for name in tensors)
    return max((int(each[1]) for each in matches if each), default=0)


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _sequence(name: str) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": 0}}
