"""The sites of our networks: where each is in the network, and its linear maps."""

from torch import Tensor, nn

from models.attention import MultiHeadAttention
from models.decoder import Decoder
from models.encoder import Encoder
from models.model import Network
from models.projections import Norm, Projections, Residual, identity, split_columns, split_rows
from models.readout import Readout
from models.seq2seq import Seq2Seq
from models.smallest import Smallest
from models.ssru import Translator
from models.trace import Site
from models.vector_encoder import AttentionBlock


def projections_at(network: Network, site: Site) -> Projections:
    """The linear maps of a site.

    Raises:
        ValueError: for an attention layer that adds its values to its output beside them.
    """
    attention = attention_at(network, site)
    config = attention.config
    if config.value_shortcut:
        raise ValueError(
            f"layer {site.layer}: expected an output made by the output projection alone;"
            " this layer adds the values themselves (value_shortcut)"
        )
    embedding, unembedding = _vocabulary(network, site.tower)
    output = attention.out
    linear = isinstance(output, nn.Linear)
    factor = config.factor
    return Projections(
        query=_scaled(split_rows(attention.query.weight, config.heads), factor),
        key=_scaled(split_rows(attention.key.weight, config.key_heads), factor),
        value=split_rows(attention.value.weight, config.key_heads),
        output=split_columns(output.weight, config.heads)
        if linear
        else identity(config.heads, config.value_width, attention.value.weight),
        query_bias=_bias(attention.query, config.heads, factor),
        key_bias=_bias(attention.key, config.key_heads, factor),
        value_bias=_bias(attention.value, config.key_heads),
        output_bias=output.bias if linear else None,
        norm=_input_norm(network, site),
        residual=_residual(network, site),
        dot=config.scoring == "dot",
        rotated=getattr(network.config, "positions", None) == "rotary" and site.kind != "cross",
        embedding=embedding,
        unembedding=unembedding,
        final_norm=None if unembedding is None else _final_norm(network),
    )


def readout_of(network: Network) -> Readout:
    """What turns hidden states into logits of tokens.

    Raises:
        ValueError: for a network without such logits.
    """
    norm = _final_norm(network)
    if (
        isinstance(network, Encoder)
        and network.head is not None
        and network.head.weight is not None
    ):
        return Readout(network.head.weight, norm, scale=network.head.scale)
    if isinstance(network, Translator):
        return Readout(network.embedding.weight[: network.config.vocab], norm, network.bias)
    if isinstance(network, Decoder | Seq2Seq):
        untied, shared = network.output.weight, network.embedding.tokens.weight
        return Readout(shared if untied is None else untied, norm, scale=network.output.scale)
    raise ValueError(f"{type(network).__name__} has no linear map to logits of tokens")


def block_at(network: Network, site: Site) -> nn.Module:
    """The block that a site belongs to; of a single layer the network."""
    block, _, _ = (site.module or "").rpartition(".")
    return network.get_submodule(block)


def attention_at(network: Network, site: Site) -> MultiHeadAttention:
    """The attention layer of a site."""
    module = network.get_submodule(site.module or "")
    if not isinstance(module, MultiHeadAttention):
        raise ValueError(f"layer {site.layer}: expected our attention, received {type(module)}")
    return module


def _input_norm(network: Network, site: Site) -> Norm | None:
    name = "before_cross" if site.kind == "cross" else "before_attention"
    norm = getattr(block_at(network, site), name, None)
    return None if norm is None else Norm.of(norm)


def _residual(network: Network, site: Site) -> Residual | None:
    name = "after_cross" if site.kind == "cross" else "after_attention"
    block = block_at(network, site)
    if isinstance(block, AttentionBlock):
        return None
    after = block if isinstance(block, Smallest) else getattr(block, name, None)
    return Residual(None if after is None else Norm.of(after.norm))


def _final_norm(network: Network) -> Norm | None:
    norm = getattr(network, "norm", None)
    return Norm.of(norm) if isinstance(norm, nn.LayerNorm | nn.RMSNorm) else None


def _vocabulary(network: Network, tower: str | None) -> tuple[Tensor | None, Tensor | None]:
    """Vectors of the tokens a tower reads, and of those whose logits it gives."""
    if isinstance(network, Encoder):
        return network.tokens.weight, None
    if isinstance(network, Seq2Seq) and tower == "encoder":
        return network.encoder.tokens.weight, None
    if isinstance(network, Translator):
        whole = network.embedding.weight
        return whole, None if tower == "encoder" else whole[: network.config.vocab]
    if isinstance(network, Decoder | Seq2Seq):
        embedding = network.embedding.tokens.weight
        untied = network.output.weight
        return embedding, embedding if untied is None else untied
    return None, None


def _bias(linear: nn.Linear, heads: int, factor: float = 1.0) -> Tensor | None:
    bias: Tensor | None = linear.bias
    return None if bias is None else _scaled(bias.unflatten(0, (heads, -1)), factor)


def _scaled(weights: Tensor, factor: float) -> Tensor:
    return weights if factor == 1 else weights * factor
