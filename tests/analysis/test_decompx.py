"""DecompX against the authors' formulas by plain loops, all vectors from token to token held."""

from functools import cache
from typing import Any

import pytest
import torch

from analysis.decompx import decompx, parts
from models.decoder import DecoderConfig
from models.decompx import carried
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig
from tests.models.pretrained.tiny import BY_NAME

pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # half of the time: so many small steps
IDS = torch.randint(3, 31, (1, 7), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 2, "mlp": 13, "seed": 1}
OURS = {
    "post": EncoderConfig(**SIZES, vocab=31, value_dim=3, activation="gelu"),
    "pre": DecoderConfig(**SIZES, vocab=31, norm="pre", activation="silu"),
    "image": ViTConfig(image=12, patch=4, dim=20, heads=2, depth=2, mlp=13),
}


@cache
def traced(name: str) -> Any:
    if name not in OURS:
        inputs = {key: value[:1] for key, value in BY_NAME[name].inputs().items()}
        return trace(load(BY_NAME[name].build()), inputs, hidden=True)
    model = load(OURS[name])
    with torch.no_grad():
        for number, (path, parameter) in enumerate(model.network.named_parameters()):
            if path.endswith("bias"):
                parameter.normal_(0, 0.5, generator=torch.Generator().manual_seed(number))
    pixels = torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(4))
    return trace(model, pixels if name == "image" else IDS, hidden=True)


def normed(module, part, whole):
    """LN of each part, divided by the deviation of the whole (section 3.2)."""
    centred = part - part.mean(-1, keepdim=True)
    deviation = (whole.var(-1, correction=0, keepdim=True) + module.eps).sqrt()
    return centred / deviation[:, None] * module.weight


def attended(t, site, part):
    """Σ_h Σ_j α_ij x_j⇐k W_V W_O, the biases left out."""
    maps, weights = t.projections(site), t.weights(site)
    found = torch.zeros_like(part)
    for head in range(site.heads):
        matrix = maps.value[maps.kv_head(head)] @ maps.output[head]
        for i in range(len(part)):
            for j in range(len(part)):
                found[i] += weights[head, i, j] * (part[j] @ matrix)
    return found


def secant(activation, up, part, whole):
    """The slope g(s) / s of each hidden unit times its part (section 3.3)."""
    s = up(whole)
    return (part @ up.weight.T) * (activation(s) / s)[:, None]


def start(t, tower=None):
    return torch.diag_embed(t.hidden(0, tower=tower).T).permute(1, 2, 0)


def ours(t, name):
    part, network = start(t), t.origin.network
    for site, block in zip(t.sites, network.blocks, strict=True):
        x, feed = t.hidden(site.layer), block.feed_forward
        if name == "post":
            read = []
            hook = feed.register_forward_pre_hook(lambda _, args, read=read: read.append(args[0]))
            network(**t.origin.arguments)
            hook.remove()
            maps = t.projections(site)
            out = t.weights(site) @ t.pattern(site).v[0] @ maps.output
            sums = x + out.sum(0) + maps.output_bias
            part = normed(block.after_attention.norm, part + attended(t, site, part), sums)
            whole = read[0][0]
            fed = secant(feed.activation, feed.up, part, whole) @ feed.down.weight.T
            last = whole + feed(whole[None])[0]
            part = normed(block.after_feed_forward.norm, part + fed, last)
        else:
            part = part + attended(t, site, normed(block.before_attention, part, x))
            maps = t.projections(site)
            bias = 0 if maps.output_bias is None else maps.output_bias
            whole = x + (t.weights(site) @ t.pattern(site).v[0] @ maps.output).sum(0) + bias
            before = block.before_feed_forward
            inner = normed(before, part, whole)
            part = part + secant(feed.activation, feed.up, inner, before(whole)) @ (
                feed.down.weight.T
            )
    return part


def bert(t):
    part, network = start(t), t.origin.model.network
    for site, block in zip(t.sites, network.base_model.encoder.layer, strict=True):
        x, maps = t.hidden(site.layer), t.projections(site)
        out = (t.weights(site) @ t.pattern(site).v[0] @ maps.output).sum(0) + maps.output_bias
        norm = block.attention.output.LayerNorm
        part = normed(norm, part + attended(t, site, part), x + out)
        whole = norm(x + out)
        up, down = block.intermediate, block.output
        fed = secant(up.intermediate_act_fn, up.dense, part, whole) @ down.dense.weight.T
        last = whole + down.dense(up(whole))
        part = normed(down.LayerNorm, part + fed, last)
    return part


def llama(t):
    """Gated feed-forward networks: half of the part of each factor."""

    def rms(module, part, whole):
        scale = (whole.square().mean(-1, keepdim=True) + module.variance_epsilon).rsqrt()
        return part * scale[:, None] * module.weight

    part, network = start(t), t.origin.model.network
    for site, block in zip(t.sites, network.base_model.layers, strict=True):
        x, maps = t.hidden(site.layer), t.projections(site)
        part = part + attended(t, site, rms(block.input_layernorm, part, x))
        values = t.pattern(site).v[0].repeat_interleave(site.heads // len(maps.value), 0)
        whole = x + (t.weights(site) @ values @ maps.output).sum(0)
        norm, mlp = block.post_attention_layernorm, block.mlp
        inner, read = rms(norm, part, whole), norm(whole)
        gate = secant(mlp.act_fn, mlp.gate_proj, inner, read) * mlp.up_proj(read)[:, None]
        up = (inner @ mlp.up_proj.weight.T) * mlp.act_fn(mlp.gate_proj(read))[:, None]
        part = part + (gate + up) / 2 @ mlp.down_proj.weight.T
    return part


@pytest.mark.parametrize("name", ["post", "pre", "BERT", "Llama"])
@torch.no_grad()
def test_parts_are_those_of_the_formulas(name):
    t = traced(name)
    expected = {"BERT": bert, "Llama": llama}.get(name, lambda t: ours(t, name))(t)
    tokens = len(t.labels)
    found = torch.stack(list(parts(t, range(tokens))), 1)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)
    one = decompx(t, 2)
    torch.testing.assert_close(one.vectors, found[2])
    torch.testing.assert_close(one.norms, expected[2].norm(dim=-1), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["image", "Llama", "T5"])
def test_parts_and_what_biases_add_sum_to_the_hidden_state(name):
    t = traced(name)
    tower = "encoder" if name == "T5" else None
    calls = []
    found = decompx(t, 1, tower=tower, progress=lambda *done: calls.append(done))
    tokens = len(found.vectors)
    assert calls == [(n + 1, tokens) for n in range(tokens)]
    torch.testing.assert_close(found.vectors.sum(0) + found.rest, found.state, rtol=0, atol=1e-4)
    if name in ("Llama", "T5"):  # they have no biases
        assert float(found.rest.norm()) < 1e-4 * float(found.state.norm())


def test_where_it_does_not_hold_one_sentence_says_why():
    plain = trace(load(OURS["post"]), IDS)
    with pytest.raises(ValueError, match="hidden=True"):
        decompx(plain, 0)
    with pytest.raises(ValueError, match="query: expected 0 to 6, received 7"):
        decompx(traced("post"), 7)
    pair = Seq2SeqConfig(source_vocab=31, target_vocab=31, dim=10, heads=2, d_k=5, d_v=3, depth=2)
    crossed = trace(load(pair), IDS, IDS[:, :3], hidden=True)
    with pytest.raises(ValueError, match="follows one tower"):
        decompx(crossed, 0, tower="decoder")
    assert decompx(crossed, 0, tower="encoder").vectors.shape == (7, 10)


def test_a_kernel_without_forward_derivative_is_named() -> None:
    """The flash kernel has a backward derivative only."""
    x = torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(1))

    def run() -> None:
        begun = x * 1
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(begun, begun, begun)

    with pytest.raises(ValueError, match="PyTorch does not have for _scaled_dot_product_flash"):
        carried(run, x, torch.ones_like(x), x + 1)
