"""Attention modules of torch.nn in memory: PyTorch itself and slow loops are the oracle."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analysis.relevance import relevance
from models.edits import Ablate, SetWeights
from models.encoder import Encoder, EncoderConfig
from models.run import load, trace
from tests.models.architectures import BY_NAME
from tests.models.tensors import noise

DIM, HEADS, MLP, TOKENS, BATCH, DEPTH = 15, 3, 11, 7, 2, 2
ROUNDING = 1e-6  # of a weight: sums over 15 features in float32, twice two blocks
OUTPUT, RELATIVE = 5e-6, 2e-6  # of vectors, through the same sums


def shaken(module: nn.Module) -> Any:
    """Numbers that no default gives, so that no bias is 0 and no norm has factor 1."""
    dice = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            drawn = torch.randn(parameter.shape, generator=dice, dtype=torch.float64)
            parameter.add_((0.2 * drawn).to(parameter.dtype))
    return module.eval()


def attention(**options: Any) -> nn.MultiheadAttention:
    return shaken(nn.MultiheadAttention(DIM, HEADS, **{"batch_first": True} | options))


def layer(**options: Any) -> nn.TransformerEncoderLayer:
    given = {"batch_first": True, "dropout": 0.2} | options
    return shaken(nn.TransformerEncoderLayer(DIM, HEADS, MLP, **given))


def encoder(norm: nn.Module | None = None, **options: Any) -> nn.TransformerEncoder:
    stack = nn.TransformerEncoder(layer(**options), DEPTH, norm, enable_nested_tensor=False)
    return shaken(stack)


def weights_of(each: nn.MultiheadAttention, x: Tensor, **masks: Any) -> Tensor:
    """The module's own weights, `batch head query key`, of vectors `batch token dim`."""
    x = x if each.batch_first else x.transpose(0, 1)
    return each(x, x, x, need_weights=True, average_attn_weights=False, **masks)[1]


def layer_by_layer(stack: nn.TransformerEncoder, x: Tensor, mask: Tensor | None = None) -> Any:
    """Weights of each layer, and what leaves the last one."""
    weights = []
    for each in stack.layers:
        assert isinstance(each, nn.TransformerEncoderLayer)
        read = each.norm1(x) if each.norm_first else x
        weights.append(weights_of(each.self_attn, read, attn_mask=mask))
        first = each.self_attn.batch_first
        x = each(x, mask) if first else each(x.transpose(0, 1), mask).transpose(0, 1)
    return weights, x if stack.norm is None else stack.norm(x)


@torch.no_grad()
@pytest.mark.parametrize("options", [{}, {"bias": False}, {"batch_first": False}, {"dropout": 0.4}])
def test_weights_of_attention_are_those_that_the_module_returns(options: dict[str, Any]) -> None:
    module, x = attention(**options), noise(BATCH, TOKENS, DIM)
    t = trace(module, x)
    (site,) = t.sites
    assert (site.kind, site.heads, site.queries, site.keys) == ("self", HEADS, TOKENS, TOKENS)
    for item, expected in enumerate(weights_of(module, x)):
        torch.testing.assert_close(t.weights(0, item=item), expected, atol=ROUNDING, rtol=0)
    given = x if module.batch_first else x.transpose(0, 1)
    output = module(given, given, given)[0]
    output = output if module.batch_first else output.transpose(0, 1)
    torch.testing.assert_close(t.output.values, output, atol=OUTPUT, rtol=RELATIVE)


@torch.no_grad()
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm_first": True},
        {"activation": "gelu", "batch_first": False},
        {"activation": nn.GELU(approximate="tanh"), "bias": False, "norm_first": True},
        {"activation": F.silu, "layer_norm_eps": 1e-3, "bias": False},
        {"norm": nn.LayerNorm(DIM, eps=1e-2)},
        {"norm": nn.LayerNorm(DIM, bias=False), "norm_first": True, "bias": False},
        {"norm": nn.LayerNorm(DIM, elementwise_affine=False)},
    ],
    ids=["post", "pre", "gelu", "tanh gelu", "silu", "a last norm", "without bias", "fixed"],
)
def test_weights_of_every_layer_are_those_of_its_attention(options: dict[str, Any]) -> None:
    module, x = encoder(**options), noise(BATCH, TOKENS, DIM)
    t = trace(module, x, hidden=True)
    weights, output = layer_by_layer(module, x)
    assert len(t.sites) == DEPTH
    for site, expected in zip(t.sites, weights, strict=True):
        for item in range(BATCH):
            ours = t.weights(site, item=item)
            torch.testing.assert_close(ours, expected[item], atol=ROUNDING, rtol=0)
    torch.testing.assert_close(t.output.values, output, atol=OUTPUT, rtol=RELATIVE)
    assert t.hidden(0).equal(x[0])


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # of torch.compile itself
def test_a_compiled_module_opens_as_the_original() -> None:
    module, x = attention(), noise(TOKENS, DIM)
    compiled: Any = torch.compile(module)
    assert trace(compiled, x).weights(0).equal(trace(module, x).weights(0))
    assert load(compiled).name == "MultiheadAttention"


@torch.no_grad()
def test_a_causal_mask_and_padding_are_the_modules_own() -> None:
    module, x = encoder(), noise(BATCH, TOKENS, DIM)
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    t = trace(module, {"src": x, "mask": hidden, "is_causal": True})
    assert {site.kind for site in t.sites} == {"causal"}
    for site, expected in zip(t.sites, layer_by_layer(module, x, hidden)[0], strict=True):
        torch.testing.assert_close(t.weights(site), expected[0], atol=ROUNDING, rtol=0)

    one, padding = attention(), torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[1, 4:] = True
    t = trace(one, {"query": x, "key": x, "value": x, "key_padding_mask": padding})
    expected = weights_of(one, x, key_padding_mask=padding)[1, :, :4, :4]
    torch.testing.assert_close(t.weights(0, item=1), expected, atol=ROUNDING, rtol=0)
    assert [len(item) for item in t.tokens] == [TOKENS, 4]


@torch.no_grad()
def test_edits() -> None:
    """Without its heads, attention gives its last bias; a row that is set is seen."""
    module, x = attention(), noise(TOKENS, DIM)
    t = trace(module, x, edits=[Ablate(0, None)])
    assert t.output.values[0].equal(module.out_proj.bias.expand(TOKENS, DIM))
    row = tuple(number / 21 for number in range(TOKENS))
    t = trace(module, x, edits=[SetWeights(0, 2, 4, None, row)])
    torch.testing.assert_close(t.weights(0, 2)[4], torch.tensor(row), atol=ROUNDING, rtol=0)


def test_gradients_reach_the_input() -> None:
    module, x, other = encoder(), noise(TOKENS, DIM), noise(2, 5, DIM)[1]
    t = trace(module, x, hidden=True, gradient=lambda output: output.values[0, 3, 2])
    theirs = x[None].clone().requires_grad_()
    module(theirs)[0, 3, 2].backward()
    assert theirs.grad is not None
    torch.testing.assert_close(t.hidden_gradient(0), theirs.grad[0], atol=1e-5, rtol=0)
    assert not x.requires_grad
    assert relevance(module, x, target=other, method="attnlrp").shape == (TOKENS,)


@torch.no_grad()
def test_the_module_stays_as_it_was() -> None:
    module = encoder().train()
    module.layers[1].eval()
    before = {name: each.clone() for name, each in module.state_dict().items()}
    modes = [part.training for part in module.modules()]
    model = load(module)
    for parameter in model.network.parameters():
        parameter.zero_()
    assert [part.training for part in module.modules()] == modes
    assert all(each.equal(before[name]) for name, each in module.state_dict().items())
    assert (model.name, model.tokenizer, model.trained) == ("TransformerEncoder", None, True)


@torch.no_grad()
@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_the_dtype_is_kept(kind: torch.dtype) -> None:
    module, x = shaken(encoder().to(kind)), noise(TOKENS, DIM)  # of more digits than float32
    t = trace(module, x)
    assert t.output.values.dtype == kind
    expected = layer_by_layer(module.double(), x.to(kind).double()[None])[1]
    allowed = 1e-12 if kind == torch.float64 else 0.1  # eight bits, through two blocks
    torch.testing.assert_close(t.output.values.double(), expected, atol=allowed, rtol=0)


class Own(nn.MultiheadAttention):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        out, weights = super().forward(*args, **kwargs)
        return 2 * out, weights


class OwnBlock(nn.TransformerEncoderLayer):
    def _ff_block(self, x: Tensor) -> Tensor:
        return 2 * super()._ff_block(x)


def own_block() -> nn.TransformerEncoder:
    return nn.TransformerEncoder(OwnBlock(DIM, HEADS, MLP), DEPTH, enable_nested_tensor=False)


def hooked() -> nn.TransformerEncoder:
    module = encoder()
    module.layers[1].register_forward_hook(lambda *given: given[-1] + 1)
    return module


def unlike() -> nn.TransformerEncoder:
    module = encoder()
    module.layers[1] = layer(norm_first=True)
    return module


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: attention(add_bias_kv=True), r"do not fit our VectorEncoder: .*bias_k"),
        (lambda: attention(add_zero_attn=True), "it computes something else than our Vector"),
        (lambda: attention(kdim=13, vdim=17), r"do not fit our VectorEncoder: .*weight"),
        (lambda: Own(DIM, HEADS), "it computes something else than our VectorEncoder"),
        (own_block, "it computes something else than our VectorEncoder"),
        (hooked, "it computes something else than our VectorEncoder"),
        (unlike, "expected layers of the same sizes"),
        (lambda: encoder(nn.RMSNorm(DIM)), r"do not fit our VectorEncoder: .*norm\.weight"),
        (lambda: layer(activation=lambda x: x.square()), "activation: expected one of relu,"),
        (
            lambda: nn.TransformerEncoder(layer(), 0, enable_nested_tensor=False),
            "expected layers of the same sizes",
        ),
    ],
)
def test_what_is_not_the_same_is_refused_in_one_line(
    build: Callable[[], nn.Module], reason: str
) -> None:
    module = build()
    with pytest.raises(ValueError, match=f"of PyTorch: .*{reason}") as refused:
        load(module)
    assert "\n" not in str(refused.value)


def test_a_module_around_one_says_which_part_can_be_opened() -> None:
    around = nn.ModuleDict({"embed": nn.Embedding(13, DIM), "body": encoder()})
    with pytest.raises(ValueError, match="received ModuleDict; its body can be loaded alone"):
        load(around)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # of torch.compile itself
@pytest.mark.parametrize("name", ["BERT", "own"])
def test_a_compiled_model_is_traced_as_the_original(name: str) -> None:
    own = EncoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, seed=5)
    inside: Any = Encoder(own).eval() if name == "own" else BY_NAME[name].build()
    compiled: Any = torch.compile(inside)
    ids = torch.tensor([[3, 4, 5, 6]])
    assert load(compiled).network is inside
    assert trace(compiled, ids).weights(1).equal(trace(inside, ids).weights(1))


def test_a_network_of_timm_says_what_to_load_instead() -> None:
    network = type("Net", (nn.Module,), {"__module__": "timm.models.vision_transformer"})()
    with pytest.raises(ValueError, match="received Net of timm; load a ViT of transformers, such"):
        load(network)
