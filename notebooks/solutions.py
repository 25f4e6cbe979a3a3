"""Model solutions of the exercises: `python -m notebooks.check --solutions` prints them."""

import math

import torch
from torch.nn import functional as F


def softmax(scores):
    exps = torch.exp(scores - scores.max(-1, keepdim=True).values)
    return exps / exps.sum(-1, keepdim=True)


def attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding_mask(lengths, tokens):
    return (torch.arange(tokens) < lengths[:, None])[:, None]


def masked_attention(q, k, v, visible):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    return torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1) @ v


def multi_head_self_attention(x, w_query, w_key, w_value, w_out, heads):
    tokens, dim = x.shape
    q, k, v = ((x @ w.T).view(tokens, heads, -1).transpose(0, 1) for w in (w_query, w_key, w_value))
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(dim // heads), dim=-1)
    return (weights @ v).transpose(0, 1).reshape(tokens, dim) @ w_out.T


def sin_cos_positions(positions, dim):
    rates = 10000 ** (-torch.arange(0, dim, 2) / dim)
    angles = torch.arange(positions)[:, None] * rates
    table = torch.zeros(positions, dim)
    table[:, 0::2], table[:, 1::2] = torch.sin(angles), torch.cos(angles)
    return table


def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def post_norm(x, layer, norm):
    return norm(x + layer(x))


def pre_norm(x, layer, norm):
    return x + layer(norm(x))


def cross_entropy(logits, targets, smoothing):
    logits = logits - logits.max(-1, keepdim=True).values
    log = logits - logits.exp().sum(-1, keepdim=True).log()
    right = log[torch.arange(len(targets)), targets]
    return -((1 - smoothing) * right + smoothing * log.mean(-1)).mean()


def top_k_accuracy(logits, targets, ks):
    order = logits.argsort(-1, descending=True)
    hits = order == targets[:, None]
    return torch.stack([hits[:, :k].any(-1).float().mean() for k in ks])


def next_output(x, keys, values, w_query, w_key, w_value):
    keys = torch.cat([keys, (x @ w_key.T)[None]])
    values = torch.cat([values, (x @ w_value.T)[None]])
    query = x @ w_query.T
    weights = torch.softmax(keys @ query / math.sqrt(len(query)), dim=0)
    return weights @ values, keys, values


def greedy(step, first, end, limit):
    token, cache, written = first, None, []
    while token != end and len(written) < limit:
        logits, cache = step(token, cache)
        token = int(logits.argmax())
        written.append(token)
    return torch.tensor(written)


def patches(images, size):
    count, channels, height, width = images.shape
    grid = images.reshape(count, channels, height // size, size, width // size, size)
    return grid.permute(0, 2, 4, 3, 5, 1).reshape(count, -1, size * size * channels)


def with_class_token(tokens, token):
    return torch.cat([token.expand(len(tokens), 1, -1), tokens], dim=1)


def add_positions(x, table):
    return x + table[: x.shape[1]]


def resample(table, side):
    old = math.isqrt(len(table) - 1)
    grid = table[1:].reshape(1, old, old, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(side, side), mode="bilinear", align_corners=False)
    return torch.cat([table[:1], grid[0].permute(1, 2, 0).reshape(side * side, -1)])


def encoder_block(x, block, heads):
    normed = layer_norm(x, block["norm1.weight"], block["norm1.bias"], 1e-6)
    x = x + multi_head_self_attention(
        normed, block["query"], block["key"], block["value"], block["out"], heads
    )
    normed = layer_norm(x, block["norm2.weight"], block["norm2.bias"], 1e-6)
    hidden = F.gelu(normed @ block["up.weight"].T + block["up.bias"])
    return x + hidden @ block["down.weight"].T + block["down.bias"]


def vit(images, weights, patch, heads):
    x = patches(images, patch) @ weights["embed.weight"].T + weights["embed.bias"]
    x = with_class_token(x, weights["class"]) + weights["positions"]
    for block in weights["blocks"]:
        x = torch.stack([encoder_block(each, block, heads) for each in x])
    x = layer_norm(x, weights["norm.weight"], weights["norm.bias"], 1e-6)
    return x[:, 0] @ weights["head.weight"].T + weights["head.bias"]
