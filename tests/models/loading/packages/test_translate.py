"""A small translator through a file of Marian, compared with a plain pass in NumPy."""

import json
import struct
from pathlib import Path

import numpy as np
import torch

from models.files.folder import Folder
from models.loading.folders import from_folder
from models.loading.packages import translate
from models.loading.packages.translate import read_marian
from models.run import Model, trace
from models.ssru import Translator
from tests.models.marian_pass import logits_and_weights

DIM, MLP, HEADS, DEPTH, DECODER_DEPTH = 10, 7, 5, 3, 2
PIECES = ["</s>", "<unk>", "▁", "▁a", "b", "c", "▁cat", "s", "▁black", "!", "?"]
SETTINGS = """transformer-heads: 5
transformer-decoder-autoreg: rnn
dec-cell: ssru
transformer-ffn-activation: relu
transformer-postprocess: dan
tied-embeddings-all: true
"""
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "post_processor": None,
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {
        "type": "Unigram",
        "unk_id": 1,
        "vocab": [[p, -float(i)] for i, p in enumerate(PIECES)],
    },
}


def tensors() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(9)

    def drawn(*shape: int) -> np.ndarray:
        return dice.normal(0, 0.5, shape).astype(np.float32)

    found = {"Wemb": drawn(len(PIECES), DIM), "decoder_ff_logit_out_b": drawn(1, len(PIECES))}

    def add_norm(name: str) -> None:
        found[f"{name}_scale"], found[f"{name}_bias"] = 1 + drawn(1, DIM), drawn(1, DIM)

    def add_attention(name: str) -> None:
        for part in "qkvo":
            found[f"{name}_W{part}"], found[f"{name}_b{part}"] = drawn(DIM, DIM), drawn(1, DIM)
        add_norm(f"{name}_Wo_ln")

    def add_feed_forward(name: str) -> None:
        found[f"{name}_ffn_W1"], found[f"{name}_ffn_b1"] = drawn(DIM, MLP), drawn(1, MLP)
        found[f"{name}_ffn_W2"], found[f"{name}_ffn_b2"] = drawn(MLP, DIM), drawn(1, DIM)
        add_norm(f"{name}_ffn_ffn_ln")

    for layer in range(1, DEPTH + 1):
        add_attention(f"encoder_l{layer}_self")
        add_feed_forward(f"encoder_l{layer}")
    for layer in range(1, DECODER_DEPTH + 1):
        name = f"decoder_l{layer}"
        found[f"{name}_rnn_W"], found[f"{name}_rnn_Wf"] = drawn(DIM, DIM), drawn(DIM, DIM)
        found[f"{name}_rnn_bf"] = drawn(1, DIM)
        add_norm(f"{name}_rnn_ffn_ln")
        add_attention(f"{name}_context")
        add_feed_forward(name)
    return found


def marian_bytes(tensors: dict[str, np.ndarray], rounded: set[str], settings: str) -> bytes:
    """A binary model of Marian; matrices that are `rounded` have 8 bits a weight."""
    items: list[tuple[str, int, tuple[int, ...], bytes]] = []
    for name, array in tensors.items():
        if name not in rounded:
            items.append((name, 0x404, array.shape, array.astype("<f4").tobytes()))
            continue
        factor = np.float32(127 / np.abs(array).max())
        whole = np.clip(np.rint(array * factor), -127, 127).astype(np.int8)
        stored = whole if name == "Wemb" else whole.T
        data = stored.tobytes() + struct.pack("<f", factor)
        items.append((name, 0x4101, array.shape, data))
        items.append((f"{name}_QuantMultA", 0x404, (1, 1), struct.pack("<f", 1.0)))
    text = settings.encode() + b"\0"
    items.append(("special:model.yml", 0x101, (len(text),), text))
    filled = [(n, k, s, d + bytes(-len(d) % 256)) for n, k, s, d in items[:-1]] + items[-1:]
    out = struct.pack("<QQ", 1, len(filled))
    for name, kind, shape, data in filled:
        out += struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
    out += b"".join(name.encode() + b"\0" for name, *_ in filled)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in filled)
    padding = -(len(out) + 8) % 256
    out += struct.pack("<Q", padding) + bytes(padding)
    return out + b"".join(data for *_, data in filled)


def written(path: Path, arrays: dict[str, np.ndarray], settings: str = SETTINGS) -> Model:
    rounded = {name for name, each in arrays.items() if len(each) > 1}
    (path / "small.bin").write_bytes(marian_bytes(arrays, rounded, settings))
    (path / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    folder = path / "made"
    folder.mkdir(exist_ok=True)
    translate.write({name: path / name for name in ("small.bin", "tokenizer.json")}, folder)
    return from_folder(Folder.at(folder), "small")


@torch.no_grad()
def test_it_is_marian_s_network(tmp_path: Path) -> None:
    model = written(tmp_path, tensors())
    assert isinstance(model.network, Translator)
    source, target = [6, 3, 4, 0], [5, 8, 2, 0]
    found = trace(model, torch.tensor([source]), torch.tensor([target]))
    stored, _ = read_marian(tmp_path / "small.bin")
    arrays = {name: tensor.numpy() for name, tensor in stored.items()}
    for name, array in tensors().items():  # of 8 bits, rounded to half a step of 127
        assert np.abs(arrays[name] - array).max() <= (len(array) > 1) * np.abs(array).max() / 253
    logits, weights = logits_and_weights(arrays, source, [None, *target[:-1]], HEADS)
    assert np.abs(found.output.values[0].numpy() - logits).max() < 1e-5
    assert len(found.sites) == DEPTH + DECODER_DEPTH
    for (tower, layer), expected in weights.items():
        assert np.abs(found.weights(layer, tower=tower).numpy() - expected).max() < 1e-6


def test_text_in_and_text_out(tmp_path: Path) -> None:
    model = written(tmp_path, tensors())
    found = trace(model, "a cat", "black cats")
    assert found.labels == ["a", " cat", "</s>"]
    assert found.query_labels(found.sites[-1]) == ["<begin>", "black", " cat", "s"]
    assert model.network.config.end == 0
