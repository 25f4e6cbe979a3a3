"""A small trained encoder–decoder that reads a date and writes it as year-month-day."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, board, curve, panel, table
from viz.course.both import real
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.trained import encoded, traced, trained

if TYPE_CHECKING:
    from models.lessons.block_steps import BlockStep
    from models.trace import Trace

MODEL = "dates"
MOST = 24  # characters that the picture has room for
ROWS = 11  # of the decoder: the begin symbol and ten characters
UNKNOWN = "[UNK]"
BEST = 3  # candidates for the next character
ENCODER = ("attention", "feed-forward")  # layers of the encoder's block
DECODER = ("attention", "cross-attention", "feed-forward")  # of the decoder's
BASE_DIM, BASE_HIDDEN = 512, 2048  # of the base model of Vaswani et al. 2017


def numbers(
    date: str, written: int, head: int, at: int, length: int, width: int, off: list[float]
) -> dict[str, Any]:
    """Weights of a head while a character is written, both blocks, and what one layer costs.

    Args:
        date: as people write it.
        written: number of characters that are already there.
        head: of every layer.
        at: the character read whose self-attention is shown; at most the last one.
        length: tokens of a text, for the cost.
        width: of its tokens.
        off: for each layer of the decoder's block, 1 if its output is replaced by zeros.

    Raises:
        InputError: for a date that is too long, or has characters the model does not know.
    """
    trace = _read(date)
    site = next(site for site in trace.sites if site.kind == "cross")
    source, target = trace.key_labels(site), trace.query_labels(site)[:ROWS]
    reading, causal, cross = (
        trace.weights(layer=0, head=head, kind=kind) for kind in ("self", "causal", "cross")
    )
    cross, shares = cross[:ROWS], trace.output.values[0, :ROWS].softmax(-1)
    names = trained(MODEL)[1].target_tokens
    chosen = [_visible(names[id]) for id in shares.argmax(-1).tolist()]
    row, at = min(written, len(chosen) - 1), min(at, len(source) - 1)
    best = shares[row].topk(BEST)
    most = int(cross[row].argmax())
    return {
        "source": [_visible(label) for label in source],
        "target": [_visible(label) for label in target],
        "chosen": chosen,
        "written": row,
        "at": at,
        "self": reading[at].tolist(),
        "causal": causal[row, : row + 1].tolist(),
        "cross": cross.tolist(),
        "most": {"token": _visible(source[most]), "at": most, "weight": cross[row, most].item()},
        "best": [
            {"token": _visible(names[id]), "share": share}
            for id, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ],
        "iso": "".join(target[1:]),
        "now": chosen[row],
        "stacks": _stacks(date, row, most, tuple(bool(each) for each in off)),
        "cost": _cost(length, width),
        "six": _block_sizes(BASE_DIM, BASE_HIDDEN),
    }


def _block_sizes(dim: int, hidden: int) -> dict[str, int]:
    """Parameters of an encoder and a decoder block: weights and biases, and of a norm γ and β."""
    attention, norm = 4 * (dim * dim + dim), 2 * dim
    feed_forward = 2 * dim * hidden + hidden + dim
    encoder = attention + feed_forward + 2 * norm
    return {"encoder": encoder, "decoder": encoder + attention + norm}


@lru_cache(maxsize=256)
def _stacks(date: str, row: int, at: int, off: tuple[bool, ...]) -> dict[str, Any]:
    """What every layer of both blocks adds, and what is written where some of them are off.

    Args:
        date: that is read.
        row: of the decoder: the position that predicts.
        at: position of the character whose vector is followed through the encoder.
        off: for each layer of the decoder's block, whether its output is replaced by zeros.
    """
    import torch

    from models.blocks import PreNormBlock, PreNormDecoderBlock
    from models.lessons.block_steps import block_steps, decoder_steps
    from models.seq2seq import Seq2Seq

    network, seen = trained(MODEL)[0].network, _read(date)
    if not isinstance(network, Seq2Seq):
        raise TypeError(f"expected an encoder–decoder, received {type(network).__name__}")
    first, second = network.encoder.blocks[0], network.blocks[0]
    if not isinstance(first, PreNormBlock) or not isinstance(second, PreNormDecoderBlock):
        raise TypeError("expected pre-norm blocks")
    site = next(site for site in seen.sites if site.kind == "cross")
    source = encoded(MODEL, date).ids
    names = trained(MODEL)[1].target_tokens
    target = seen.queries(site)[0].ids[:ROWS]
    with torch.no_grad():
        read = network.encoder.embed(torch.tensor([list(source)]))
        reading = block_steps(first, read)
        context = network.encoder.norm(reading[-1].out)
        without = [name for name, gone in zip(DECODER, off, strict=True) if gone]
        writing = decoder_steps(
            second, network.embedding(torch.tensor([list(target)])), context, without=without
        )
        shares = network.output(network.norm(writing[-1].out), None)[0].softmax(-1)
    best = shares[row].topk(BEST)
    guesses = [_visible(names[id]) for id in shares.argmax(-1).tolist()]
    wanted = [_visible(names[id]) for id in target[1:]]
    return {
        "encoder": _layers(reading, at, ENCODER),
        "memory": context[0, at].norm().item(),
        "decoder": _layers(writing, row, DECODER),
        "off": list(off),
        "best": [
            {"token": _visible(names[id]), "share": share}
            for id, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ],
        "guesses": guesses[: len(wanted)],
        "right": [a == b for a, b in zip(guesses, wanted, strict=False)],
        "correct": sum(a == b for a, b in zip(guesses, wanted, strict=False)),
        "count": len(wanted),
    }


def _layers(steps: "list[BlockStep]", token: int, layers: tuple[str, ...]) -> dict[str, Any]:
    """Norms of one token's vector in the stream, and of what each layer adds to it."""
    added = [step.out for step in steps if step.name in layers]
    stream = [step.out for step in steps if step.name in ("x", "+")]
    return {
        "stream": [x[0, token].norm().item() for x in stream],
        "adds": [x[0, token].norm().item() for x in added],
    }


def _cost(length: int, width: int) -> dict[str, Any]:
    from models.lessons import reach

    products = reach.multiplications(length, width)
    return {
        "length": length,
        "width": width,
        "scores": products.scores,
        "sums": products.sums,
        "projections": products.projections,
        "total": products.total,
        "equal": 2 * width,
        "steps": {kind: reach.cost(kind, length, width).steps for kind in reach.KINDS},
        "paths": {kind: reach.cost(kind, length, width).path for kind in reach.KINDS},
    }


@lru_cache(maxsize=256)
def _read(date: str) -> "Trace":
    tokens = encoded(MODEL, date)
    if len(tokens.labels) > MOST:
        raise InputError(f"expected at most {MOST} characters, received {len(tokens.labels)}")
    unknown = [label for label in tokens.labels if UNKNOWN in label]
    if unknown:
        received = unknown[0].replace(UNKNOWN, "").strip()
        raise InputError(f"expected letters a to z, digits and , . - / ', received {received!r}")
    return traced(MODEL, date)


def _visible(label: str) -> str:
    """A token as a label: spaces and special tokens can be seen."""
    return {" ": "␣", "<begin>": "begin", "[BEGIN]": "begin", "[END]": "end"}.get(label, label)


VOCAB, NARROW = 200, 64  # of the untrained networks that are measured


@lru_cache(maxsize=1)
def _sharing() -> Board:
    """Sizes of the numbers in untrained networks: matrices shared or not, three scalings."""
    from models.lessons.sharing import shared
    from models.seq2seq import Seq2SeqConfig

    rows: dict[str, list[float | str | None]] = {}
    parameters: dict[str, int] = {}
    for name, share, scaling in (
        ("shared, emb", True, "emb"),
        ("shared, prj", True, "prj"),
        ("shared, none", True, "none"),
        ("three matrices", False, "emb"),
    ):
        config = Seq2SeqConfig(
            source_vocab=VOCAB,
            target_vocab=VOCAB,
            dim=NARROW,
            depth=1,
            heads=4,
            d_k=16,
            d_v=16,
            mlp=128,
            dropout=0.0,
            share_target=share,
            share_source=share,
            scaling=scaling,
            embed_norm=False,
        )
        shares = shared(config)
        parameters[name] = shares.parameters
        sizes = (shares.weights, shares.embeddings, shares.positions, shares.logits)
        rows[name] = [*(f"{size:.4f}" for size in sizes), f"{shares.parameters:,}"]
    cols = ["matrix", "embedding", "positions", "logits", "parameters"]
    saved = parameters["three matrices"] - parameters["shared, emb"]
    return board([table("Standard deviations, width 64", rows, cols)], saved=saved)


MONTH = "March the third, '98"
HIDDEN = {  # positions of its characters
    "nothing hidden": (),
    "“March” hidden": (0, 1, 2, 3, 4),
    "“third” hidden": (10, 11, 12, 13, 14),
    "“98” hidden": (18, 19),
}


@lru_cache(maxsize=1)
def _cut() -> Board:
    """The probability of each right character where the decoder cannot read a part of the date."""
    from models.edits import Cut

    rows, iso = [], ""
    for keys in HIDDEN.values():
        edits = (Cut(None, None, None, keys, "cross"),) if keys else ()
        trace = traced(MODEL, MONTH, edits)
        site = next(each for each in trace.sites if each.kind == "cross")
        ids = list(trace.queries(site)[0].ids[1:])
        shares = trace.output.values[0].softmax(-1)
        rows.append([shares[at, id].item() for at, id in enumerate(ids)])
        iso = "".join(trace.query_labels(site)[1:])
    hidden = HIDDEN["“March” hidden"]
    edits = f"Cut(None, None, None, {hidden}, kind='cross')"
    return board(
        [
            panel(
                f"probability of each character of {iso}",
                rows,
                rows=[*HIDDEN],
                cols=[*iso],
                kind="weights",
            )
        ],
        month=rows[1][6],
        year=rows[1][2],
        **about(MODEL, input=MONTH, attention="cross", head=0, edits=edits),
    )


def _crossing() -> Board:
    """The translator's alignment as a map."""
    read = real.alignment(real.SENTENCE)
    names = read["written"]
    chair, black = names.index("cadeira"), names.index("preta")
    weights = read["weights"]
    return board(
        [
            panel(
                "written words attend to read words",
                weights,
                rows=names,
                cols=read["source"],
                kind="weights",
                digits=1,
            )
        ],
        chair=max(weights[chair]),
        black=max(weights[black]),
        **about(
            real.MODEL,
            input=real.SENTENCE,
            attention="cross",
            layer=real.LAYER,
            head=real.HEAD,
            token=chair,
        ),
    )


def grows(values: Mapping[str, Any]) -> Board:
    """A translation, token by token: how sure each one is, and the word that it reads."""
    read = real.alignment(values["sentence"])
    rows: dict[str, list[float | str | None]] = {}
    for at, token in enumerate(read["written"]):
        weights = read["weights"][at]
        most = max(range(len(weights)), key=weights.__getitem__)
        rows[f"{at + 1}  {token}"] = [read["shares"][at], read["source"][most], weights[most]]
    least = min(range(len(read["shares"])), key=read["shares"].__getitem__)
    cols = ["probability", "reads most", "weight"]
    return board(
        [table(f"Written from “{values['sentence']}”", rows, cols, kind="weights", digits=3)],
        count=len(rows),
        least=read["written"][least],
        share=read["shares"][least],
        **about(
            real.MODEL,
            input=values["sentence"],
            attention="cross",
            layer=real.LAYER,
            head=real.HEAD,
        ),
    )


def spoken(values: Mapping[str, Any]) -> Board:
    """When each word of a recording is said, read off Whisper's cross-attention."""
    read = real.spoken()
    words, frame, curves = read["words"], read["frame"], read["curves"]
    spans = [*zip(read["starts"], read["ends"], strict=True)]
    rows: dict[str, list[float | str | None]] = {
        f"{number}  {word}": [start, end, f"{round(start / frame)}"]
        for number, (word, (start, end)) in enumerate(zip(words, spans, strict=True), start=1)
    }
    tops = [frame * each.index(max(each)) for each in curves]
    inside = [start <= top <= end for top, (start, end) in zip(tops, spans, strict=True)]
    at = min(values["word"], len(words) - 1)
    heights = curves[at]
    times = table("Words of a recording", rows, ["begins, s", "ends, s", "frame"], digits=2)
    title = f"while “{words[at]}” is written: mean weight, 0 to {max(heights):.3f}"
    return board(
        [times],
        [curve(title, heights, step=frame, span=(*spans[at], words[at]))],
        words=len(words),
        word=words[at],
        top=tops[at],
        share=sum(heights),
        inside=sum(inside),
        heads=len(read["heads"]),
        frame=1000 * frame,
        heard=read["heard"],
        **about(real.SPEECH),
    )


BOARDS = {
    "grows": grows,
    "spoken": spoken,
    "cut": lambda _: _cut(),
    "crossing": lambda _: _crossing(),
    "sharing": lambda _: _sharing(),
}
