"""Linear maps of transformers layers: found by what modules return, compared with named weights."""

import math
from typing import Any

import pytest
from einops import rearrange
from torch import Tensor

from models.projections import Projections
from models.run import trace
from tests.models.architectures import ARCHITECTURES, GROUPED, SEQ2SEQ, TEXT
from tests.models.pretrained.tiny import BY_NAME, build, ids

REFUSED = ("DeepSeek-V3", "Qwen3-Next", "Swin")


def of(network: Any, layer: int = 1) -> Projections:
    return trace(network, {"input_ids": ids(1, 11)}).projections(layer)


def named(name: str) -> Any:
    return BY_NAME[name].build()


def rows(weight: Tensor, heads: int) -> Tensor:
    """Of `nn.Linear`."""
    return rearrange(weight, "(head dim) input -> head input dim", head=heads)


@pytest.mark.parametrize("name", ["Llama", "Mistral", "Gemma 2"])
def test_grouped_heads(name: str) -> None:
    network = named(name)
    found, layer = of(network), network.model.layers[1]
    own = layer.self_attn
    assert found.query.equal(rows(own.q_proj.weight, 6))
    assert found.key.equal(rows(own.k_proj.weight, 2))
    assert found.value.equal(rows(own.v_proj.weight, 2))
    assert found.output.flatten(0, 1).equal(own.o_proj.weight.T)
    assert found.rotated
    assert found.norm is not None
    assert found.norm.kind == "rms"
    assert [found.kv_head(head) for head in range(6)] == [0, 0, 0, 1, 1, 1]
    weight = layer.input_layernorm.weight + (name == "Gemma 2")
    assert found.norm.weight is not None
    assert found.norm.weight.equal(weight)
    assert found.embedding is network.model.embed_tokens.weight
    assert found.unembedding is network.lm_head.weight


def test_gpt2_s_transposed_weights_of_all_three() -> None:
    network = named("GPT-2")
    found, own = of(network), network.transformer.h[1].attn
    for made, part in zip(
        (found.query, found.key, found.value), own.c_attn.weight.chunk(3, dim=1), strict=True
    ):
        assert made.equal(rows(part.T, 3))
    assert found.output.flatten(0, 1).equal(own.c_proj.weight)
    assert found.output_bias is own.c_proj.bias


def test_neox_s_heads_lie_one_after_another() -> None:
    network = named("GPT-NeoX")
    found, own = of(network), network.gpt_neox.layers[1].attention
    parts = rearrange(own.query_key_value.weight, "(h three d) i -> three h i d", h=3, three=3)
    assert found.query.equal(parts[0])
    assert found.key.equal(parts[1])
    assert found.value.equal(parts[2])


def test_phi_s_matrix_of_grouped_heads() -> None:
    network = build("Phi3ForCausalLM", "Phi3Config", GROUPED)
    weight = network.model.layers[1].self_attn.qkv_proj.weight
    found = of(network)
    assert found.query.equal(rows(weight[:48], 6))
    assert found.key.equal(rows(weight[48:64], 2))
    assert found.value.equal(rows(weight[64:], 2))


def test_a_constant_factor_of_queries_is_part_of_their_matrix() -> None:
    sizes = {name: size for name, size in TEXT.items() if name != "intermediate_size"}
    network = build(
        "OPTForCausalLM", "OPTConfig", {**sizes, "ffn_dim": 37, "word_embed_proj_dim": 30}
    )
    own = network.model.decoder.layers[1].self_attn
    assert of(network).query.allclose(rows(own.q_proj.weight, 3) * 10**-0.5)


def test_yarn_s_factor_is_part_of_the_matrices() -> None:
    """0.1 ln(32) + 1 (Peng et al. 2023, eq. 22), on queries and on keys."""
    network = named("GPT-OSS")
    own, factor = network.model.layers[1].self_attn, 0.1 * math.log(32) + 1
    found = of(network)
    assert found.query.allclose(rows(own.q_proj.weight, 6) * factor, atol=1e-5)
    assert found.key.allclose(rows(own.k_proj.weight, 2) * factor, atol=1e-5)


@pytest.mark.parametrize(("family", "size"), [("Qwen3", 8), ("Olmo2", 48)])
def test_norms_of_queries(family: str, size: int) -> None:
    network = build(f"{family}ForCausalLM", f"{family}Config", {**GROUPED, "head_dim": 8})
    found = of(network)
    assert found.query_norm is not None
    assert found.query_norm.weight is not None
    assert found.query_norm.weight is network.model.layers[1].self_attn.q_norm.weight
    assert found.query_norm.weight.shape == (size,)
    assert found.key_norm is not None


def test_values_that_pass_a_gate_are_refused() -> None:
    done = trace(named("Qwen3-Next"), {"input_ids": ids(1, 7)})
    with pytest.raises(ValueError, match="makes of its values, without a gate"):
        done.projections(done.sites[0])


@pytest.mark.parametrize("each", ARCHITECTURES, ids=lambda each: each.name)
def test_every_architecture_is_found_or_refused_by_name(each: Any) -> None:
    done = trace(each.build(), each.inputs())
    for site in done.sites:
        if each.name in REFUSED:
            with pytest.raises(ValueError, match=str(site.module)):
                done.projections(site)
        else:
            assert done.projections(site).heads == site.heads


@pytest.mark.parametrize("each", SEQ2SEQ, ids=lambda each: each.name)
def test_cross_attention(each: Any) -> None:
    network = each.build()
    done = trace(network, each.inputs())
    site = done.site(1, "cross")
    own = network.get_submodule(str(site.module))
    value = own.v if each.name == "T5" else own.v_proj
    assert done.projections(site).value.equal(rows(value.weight, site.heads))


@pytest.mark.parametrize("each", [BY_NAME["T5"], BY_NAME["BART"]], ids=lambda each: each.name)
def test_only_a_decoder_s_sites_end_in_logits(each: Any) -> None:
    """The encoder reads the same table of vectors, and predicts nothing."""
    network = each.build()
    done = trace(network, each.inputs())
    own, encoding = (done.projections(done.site(0, kind)) for kind in ("causal", "self"))
    assert own.unembedding is network.lm_head.weight
    assert encoding.embedding is not None
    assert encoding.unembedding is None


def test_shared_blocks() -> None:
    network = named("ALBERT")
    done = trace(network, {"input_ids": ids(1, 11)})
    assert done.projections(0).value.equal(done.projections(1).value)
