"""Parts and costs of text networks (see models/cost/parts.py)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from models.attention.relative import Alibi, Relative, Rotary
from models.cost.blocks import attention, block, decoder_block
from models.cost.parts import Part, Shape, add_norm, group, linear, norm
from models.decoder import Decoder, DecoderConfig
from models.embedding import Embedding
from models.encoder import Encoder, EncoderConfig
from models.layer import AttentionLayer, AttentionLayerConfig
from models.output import Projection
from models.positional import Learned, Sinusoidal
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.smallest import Smallest, SmallestConfig, unscaled

BUCKETS = 32  # of T5's relative positions
RELATED: dict[str, tuple[str, str, Any]] = {
    "rotary": ("Rotary", "R, which rotates q and k by position in every block", Rotary.forward),
    "alibi": ("ALiBi", "−slope · |distance|, added to the scores in every block", Alibi.forward),
    "relative": ("Relative", "bias[bucket(distance)], added in every block", Relative.forward),
}


def encoder_parts(config: EncoderConfig, tokens: int) -> list[Part]:
    """The parts of an encoder."""
    shape, runs = _shape(tokens, config.dim), Encoder.embed
    scale = "√dim · " if config.embed_scale else ""
    stem = [_table("tokens", "Token embedding", config.vocab, shape, runs, f"{scale}E[id]")]
    if config.segments:
        stem.append(_table("segments", "Segments", config.segments, shape, runs, "x + S[segment]"))
    parts = _stem(stem, config.positions, config.max_tokens, shape)
    if config.embed_norm:
        parts.append(norm("embed_norm", "Norm", shape, runs, config.norm_kind))
    parts += _relation(config.positions, config.heads, shape)
    parts.append(block(config, tokens, order=config.positions, mask_fill=config.mask_fill))
    if config.ends_on_norm:
        parts.append(norm("norm", "Final norm", shape, Encoder.forward, config.norm_kind))
    if config.classes:
        gives = (shape[0], ("classes", config.classes))
        parts.append(_logits(shape, gives, "Classes of each token"))
    return parts


def decoder_parts(config: DecoderConfig, tokens: int) -> list[Part]:
    """The parts of a decoder."""
    shape = _shape(tokens, config.dim)
    parts = _embedded(config.vocab, config.embed_scale, config.positions, config.max_tokens, shape)
    parts += _relation(config.positions, config.heads, shape)
    like = {"order": config.positions, "causal": True, "gated": config.gated}
    parts.append(block(config, tokens, mask_fill=config.mask_fill, **like))
    if config.norm == "pre":
        parts.append(norm("norm", "Final norm", shape, Decoder.forward, config.norm_kind))
    gives = (shape[0], ("vocab", config.vocab))
    parts.append(_logits(shape, gives, tied=config.tied))
    return parts


def seq2seq_parts(config: Seq2SeqConfig, source: int, target: int) -> list[Part]:
    """The two towers of an encoder–decoder; a shared matrix counts once, where it is first used.

    With a shared source embedding, that is in the encoder.
    """
    shape, encoder = _shape(target, config.dim), encoder_parts(config.encoder, source)
    vocab, order = config.target_vocab, config.positions
    parts = _embedded(vocab, config.embed_scale, order, config.max_tokens, shape)
    if config.share_source:
        parts[1] = replace(parts[1], parameters=0, formula=f"{parts[1].formula}, E of the encoder")
    if config.embed_norm:
        parts.append(norm("embed_norm", "Norm", shape, Embedding.forward, config.norm_kind))
    parts += _relation(order, config.heads, shape)
    parts.append(decoder_block(config, target, source, order=order, mask_fill=config.mask_fill))
    if config.ends_on_norm:
        parts.append(norm("norm", "Final norm", shape, Seq2Seq.forward, config.norm_kind))
    gives, scaled = (shape[0], ("vocab", vocab)), config.logit_scale != 1
    parts.append(_logits(shape, gives, tied=config.share_target, scaled=scaled))
    return [
        group("encoder", "Encoder", "tower", encoder, source=Encoder.forward),
        group("decoder", "Decoder", "tower", parts, source=Seq2Seq.forward),
    ]


def _embedded(vocab: int, scale: bool, order: str, max_tokens: int, shape: Shape) -> list[Part]:
    formula = "√dim · E[id]" if scale else "E[id]"
    table = _table("tokens", "Token embedding", vocab, shape, Embedding.forward, formula)
    return _stem([table], order, max_tokens, shape)


def _stem(tables: Sequence[Part], order: str, max_tokens: int, shape: Shape) -> list[Part]:
    """Token ids, embeddings and positions."""
    tokens, parts = shape[0], list(tables)
    if order == "sinusoidal":
        parts.append(_positions("Sinusoidal positions", "x + P[position]", shape, Sinusoidal, 0))
    if order == "learned":
        numbers = max_tokens * shape[-1][1]
        parts.append(_positions("Learned positions", "x + T[position]", shape, Learned, numbers))
    ids = Part("input", "Token ids", "input", "ids", (tokens,), (tokens,), tables[0].source)
    return [ids, *parts]


def _positions(title: str, formula: str, shape: Shape, layer: Any, numbers: int) -> Part:
    runs = layer.forward
    return Part("positions", title, "positions", formula, shape, shape, runs, parameters=numbers)


def _relation(order: str, heads: int, shape: Shape) -> list[Part]:
    """Positions that act inside attention, shared by all blocks."""
    if order not in RELATED:
        return []
    title, formula, runs = RELATED[order]
    numbers = BUCKETS * heads if order == "relative" else 0
    name, kind = "relation", "positions"
    return [Part(name, f"{title} positions", kind, formula, shape, shape, runs, numbers)]


def _table(name: str, title: str, rows: int, shape: Shape, source: Any, formula: str) -> Part:
    takes = shape[:1] if name == "tokens" else shape
    numbers = rows * shape[-1][1]
    return Part(name, title, "embedding", formula, takes, shape, source, parameters=numbers)


def _logits(
    shape: Shape, gives: Shape, title: str = "Logits", *, tied: bool = False, scaled: bool = False
) -> Part:
    """The output projection to logits."""
    formula = f"x · {'Eᵀ' if tied else 'W'}{' / √dim' if scaled else ''}"
    part = linear("output", title, shape, gives, Projection.forward, bias=False, formula=formula)
    return replace(part, parameters=0) if tied else part


def _shape(tokens: int, dim: int) -> Shape:
    return ("tokens", tokens), ("dim", dim)


def smallest_parts(config: SmallestConfig, words: int) -> list[Part]:
    """The parts of the smallest transformer, whose word vectors are random and not trained."""
    shape: Shape = (("tokens", words), ("dim", config.dim))
    runs, out = Smallest.forward, (shape[0], ("number", 1))
    layer = attention(unscaled(config.dim), words)
    formula = "E[id], random and not trained"
    return [
        Part("input", "Word ids", "input", "ids", shape[:1], shape[:1], runs),
        Part("words", "Word vectors", "embedding", formula, shape[:1], shape, runs),
        layer,
        add_norm("norm", layer.name, shape, runs, "layer"),
        linear("out", "One number per word", shape, out, runs),
    ]


def layer_parts(config: AttentionLayerConfig, source: int, target: int) -> list[Part]:
    """The parts of one attention layer and of the vectors that it reads, which are not trained."""
    runs = AttentionLayer.forward
    ids: Shape = (("source", source),)
    towers, vectors = [], []
    for name, width in (("key", config.key_input_dim), ("value", config.value_input_dim)):
        gives: Shape = (ids[0], ("dim", width))
        title = f"{name.capitalize()} vectors"
        formula = f"{name.upper()[0]}[id], random and not trained"
        vectors.append(Part(f"{name}_vectors", title, "projection", formula, ids, gives, runs))
    width = config.key_input_dim + config.value_input_dim
    both: Shape = (ids[0], ("key and value", width))
    words = Part("input", "Ids of the source", "input", "ids", ids, ids, runs)
    side = Part("both", "A key and a value each", "pool", "[key | value]", both, both, runs)
    towers.append(group("source", "Source", "tower", [words, *vectors, side], source=runs))
    asks: Shape = (("tokens", target), ("dim", config.query_input_dim))
    words = Part("input", "Ids of the target", "input", "ids", asks[:1], asks[:1], runs)
    formula = "Q[id], random and not trained"
    row = "query_vectors", "Query vectors", "embedding", formula, asks[:1], asks, runs
    layer = attention(config.attention, target, keys=source, title="Cross-attention")
    parts = [words, Part(*row), layer]
    towers.append(group("target", "Target", "tower", parts, source=runs))
    return towers
