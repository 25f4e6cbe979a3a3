"""Marian's tiny translator as plain NumPy, from Marian's own names: one item, token by token."""

from collections.abc import Mapping, Sequence

import numpy as np

Arrays = Mapping[str, np.ndarray]


def logits_and_weights(
    tensors: Arrays, source: Sequence[int], target: Sequence[int | None], heads: int
) -> tuple[np.ndarray, dict[tuple[str, int], np.ndarray]]:
    """Logits after each token of the target, and weights by tower and layer: head query key.

    Args:
        tensors: float32, as Marian names them, matrices to be multiplied from the right.
        source: ids.
        target: ids that the decoder reads; None is the start.
        heads: of each attention.
    """
    p = {name: array.astype(np.float64) for name, array in tensors.items()}
    dim, weights = p["Wemb"].shape[1], {}
    x = np.stack([p["Wemb"][token] * dim**0.5 for token in source]) + positions(len(source), dim)
    layer = 1
    while f"encoder_l{layer}_self_Wq" in p:
        name = f"encoder_l{layer}"
        out, weights["encoder", layer - 1] = attention(p, f"{name}_self", x, x, heads)
        x = norm(p, f"{name}_self_Wo_ln", x + out)
        x = norm(p, f"{name}_ffn_ffn_ln", x + feed_forward(p, name, x))
        layer += 1
    rows = [np.zeros(dim) if token is None else p["Wemb"][token] * dim**0.5 for token in target]
    y = np.stack(rows) + positions(len(target), dim)
    layer = 1
    while f"decoder_l{layer}_rnn_W" in p:
        name, cell, outs = f"decoder_l{layer}", np.zeros(dim), []
        for row in y:
            forget = 1 / (1 + np.exp(-(row @ p[f"{name}_rnn_Wf"] + p[f"{name}_rnn_bf"][0])))
            cell = forget * cell + (1 - forget) * (row @ p[f"{name}_rnn_W"])
            outs.append(np.maximum(cell, 0))
        y = norm(p, f"{name}_rnn_ffn_ln", y + np.stack(outs))
        out, weights["decoder", layer - 1] = attention(p, f"{name}_context", y, x, heads)
        y = norm(p, f"{name}_context_Wo_ln", y + out)
        y = norm(p, f"{name}_ffn_ffn_ln", y + feed_forward(p, name, y))
        layer += 1
    return y @ p["Wemb"].T + p["decoder_ff_logit_out_b"], weights


def positions(count: int, dim: int) -> np.ndarray:
    half, table = dim // 2, np.zeros((count, dim))
    for place in range(count):
        for i in range(half):
            angle = place * 10_000 ** (-i / (half - 1))
            table[place, i], table[place, half + i] = np.sin(angle), np.cos(angle)
    return table


def norm(p: Arrays, name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-9)
    return scaled * p[f"{name}_scale"] + p[f"{name}_bias"]


def feed_forward(p: Arrays, name: str, x: np.ndarray) -> np.ndarray:
    hidden = np.maximum(x @ p[f"{name}_ffn_W1"] + p[f"{name}_ffn_b1"], 0)
    return hidden @ p[f"{name}_ffn_W2"] + p[f"{name}_ffn_b2"]


def attention(
    p: Arrays, name: str, x: np.ndarray, context: np.ndarray, heads: int
) -> tuple[np.ndarray, np.ndarray]:
    q = x @ p[f"{name}_Wq"] + p[f"{name}_bq"]
    k, v = (context @ p[f"{name}_W{part}"] + p[f"{name}_b{part}"] for part in "kv")
    width, outs, maps = x.shape[1] // heads, [], []
    for head in range(heads):
        own = slice(head * width, (head + 1) * width)
        scores = q[:, own] @ k[:, own].T / width**0.5
        shares = np.exp(scores - scores.max(1, keepdims=True))
        maps.append(shares / shares.sum(1, keepdims=True))
        outs.append(maps[-1] @ v[:, own])
    return np.concatenate(outs, 1) @ p[f"{name}_Wo"] + p[f"{name}_bo"], np.stack(maps)
