"""An encoder–decoder that reads a date and writes it as year-month-day; a translator; Whisper."""

from functools import cache, lru_cache
from typing import Any

import torch

from analysis import alignment
from models.edits import Cut
from models.positional import sinusoidal
from models.request import Source, TraceRequest, built
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.trace import Trace
from viz.course import real
from viz.course.boards import Board, bars, board, network, panel, table
from viz.course.inputs import InputError

MODEL = "dates"
MOST = 24  # characters that the picture has room for
ROWS = 11  # of the decoder: the begin symbol and ten characters
UNKNOWN = "[UNK]"
BEST = 3  # candidates for the next character


def numbers(date: str, written: int, head: int, at: int) -> dict[str, Any]:
    """Weights of a head while a character is written, and those of the character read at `at`."""
    trace = _read(date)
    site = _crossing(trace)
    source, target = trace.key_labels(site), trace.query_labels(site)[:ROWS]
    reading, causal, cross = (
        trace.weights(layer=0, head=head, kind=kind) for kind in ("self", "causal", "cross")
    )
    shares = trace.output.values[0, :ROWS].softmax(-1)
    chosen = [_character(id) for id in shares.argmax(-1).tolist()]
    row, at = min(written, len(chosen) - 1), min(at, len(source) - 1)
    most = int(cross[row].argmax())
    return {
        "source": [*map(_visible, source)],
        "target": [*map(_visible, target)],
        "chosen": chosen,
        "written": row,
        "at": at,
        "self": reading[at],
        "causal": causal[row, : row + 1],
        "cross": cross[:ROWS],
        "most": {"token": _visible(source[most]), "at": most, "weight": cross[row, most]},
        "best": real.likeliest(shares[row], BEST, _character),
        "iso": "".join(target[1:]),
        "now": chosen[row],
    }


@lru_cache(maxsize=256)
def _read(date: str) -> Trace:
    labels = real.encoded(MODEL, date, most=MOST).labels
    unknown = [label for label in labels if UNKNOWN in label]
    if unknown:
        received = unknown[0].replace(UNKNOWN, "").strip()
        raise InputError(f"expected letters a to z, digits and , . - / ', received {received!r}")
    return real.traced(MODEL, date)


def _crossing(trace: Trace, layer: int = 0) -> Any:
    """The site of cross-attention of a layer."""
    return next(each for each in trace.sites if (each.kind, each.layer) == ("cross", layer))


def _visible(label: str) -> str:
    """A token as a label: spaces and special tokens can be seen."""
    return {" ": "␣", "<begin>": "begin", "[BEGIN]": "begin", "[END]": "end"}.get(label, label)


def _character(id: int) -> str:
    return _visible(real.card_of(MODEL).target_tokens[id])


def whole(date: str) -> Board:
    """The network that reads and writes dates."""
    return network(TraceRequest(Source("catalogue", MODEL), date), "", "m:blocks.0")


def six() -> Board:
    """An untrained network of six blocks on each side."""
    sizes = {"dim": NARROW, "depth": 6, "heads": 4, "mlp": 4 * NARROW}
    request = TraceRequest(built("seq2seq", sizes), *SENTENCES)
    dim, hidden = 512, 2048  # of the base model of Vaswani et al. 2017
    attention, norm = 4 * (dim * dim + dim), 2 * dim
    encoder = attention + 2 * dim * hidden + hidden + dim + 2 * norm
    decoder = encoder + attention + norm
    return network(request, "", "m:blocks.0", encoder=encoder, decoder=decoder)


# ---- shared matrices

VOCAB, NARROW, TOKENS = 200, 64, 12  # of the untrained networks, and of their source and target
SHARING: dict[str, tuple[bool, Any]] = {
    "shared, emb": (True, "emb"),
    "shared, prj": (True, "prj"),
    "shared, none": (True, "none"),
    "three matrices": (False, "emb"),
}


@cache
def sharing() -> Board:
    """Sizes of the numbers in untrained networks: matrices shared or not, three scalings."""
    rows, parameters = {}, {}
    for name, (share, scaling) in SHARING.items():
        sizes, parameters[name] = deviations(share, scaling)
        rows[name] = [*(f"{size:.4f}" for size in sizes), f"{parameters[name]:,}"]
    cols = ["matrix", "embedding", "positions", "logits", "parameters"]
    saved = parameters["three matrices"] - parameters["shared, emb"]
    return board([table("Standard deviations, width 64", rows, cols)], saved=saved)


def deviations(share: bool, scaling: Any) -> tuple[list[float], int]:
    """Standard deviations in an untrained network, and its number of parameters.

    One matrix serves as target embedding and as output projection. Embeddings should have numbers
    near 1, or the positions added to them dominate; a projection of width d should have numbers
    near 1/√d, so that logits are near 1. Multiplying embeddings by √d, or logits by 1/√d,
    reconciles the two (Vaswani et al. 2017, section 3.4).

    Returns:
        The deviations of the target embedding matrix, the embedded tokens after scaling, the
        positions added to them, and the logits.
    """
    sizes = {"source_vocab": VOCAB, "target_vocab": VOCAB, "dim": NARROW, "depth": 1, "mlp": 128}
    heads = {"heads": 4, "d_k": 16, "d_v": 16, "dropout": 0.0, "embed_norm": False}
    shared = {"share_target": share, "share_source": share, "scaling": scaling}
    config = Seq2SeqConfig(**sizes, **heads, **shared)
    network = Seq2Seq(config).eval()
    dice = torch.Generator().manual_seed(0)
    low = max(config.padding, config.begin, config.end) + 1
    source, target = (torch.randint(low, VOCAB, (2, TOKENS), generator=dice) for _ in range(2))
    with torch.no_grad():
        logits = network(source, target).logits
    matrix = network.embedding.tokens.weight.detach()[low:]
    embedded = matrix * (NARROW**0.5 if config.embed_scale else 1)
    read = (matrix, embedded, sinusoidal(TOKENS, NARROW), logits)
    return [float(each.std()) for each in read], sum(p.numel() for p in network.parameters())


# ---- a part of the date is hidden

MONTH = "March the third, '98"
HIDDEN = {  # positions of its characters
    "nothing hidden": (),
    "“March” hidden": (0, 1, 2, 3, 4),
    "“third” hidden": (10, 11, 12, 13, 14),
    "“98” hidden": (18, 19),
    "all hidden": tuple(range(20)),
}


@cache
def cut() -> Board:
    """The probability of each right character where the decoder cannot read a part of the date."""
    whole = _read(MONTH)
    site = _crossing(whole)
    ids, iso = whole.queries(site)[0].ids[1:], "".join(whole.query_labels(site)[1:])
    rows = []
    for keys in HIDDEN.values():
        edits = [Cut(None, None, None, keys, kind="cross")] if keys else []
        shares = real.traced(MODEL, MONTH, *edits).output.values[0].softmax(-1)
        rows.append(shares[range(len(ids)), ids])
    edits = f"Cut(None, None, None, {HIDDEN['“March” hidden']}, kind='cross')"
    title = f"probability of each character of {iso}"
    return board(
        [panel(title, rows, rows=[*HIDDEN], cols=[*iso], kind="weights")],
        month=rows[1][6],
        year=rows[1][2],
        hyphen=min(rows[-1][4], rows[-1][7]),
        digit=min(rows[-1]),
        **real.about(MODEL, input=MONTH, attention="cross", head=0, edits=edits),
    )


# ---- a translator aligns words to words

SENTENCE = "The cat sat on the black chair because it was tired."
SENTENCES = ("The animal was tired", "O animal estava cansado")  # read, and written
ALIGNING = {"layer": 1, "head": 0}  # trained to align words


def crossing() -> Board:
    """The translator's alignment as a map."""
    read = aligned(SENTENCE)
    names, weights = read["written"], read["weights"]
    chair, black = names.index("cadeira"), names.index("preta")
    title = "written words attend to read words"
    return board(
        [panel(title, weights, rows=names, cols=read["source"], kind="weights", digits=1)],
        chair=max(weights[chair]),
        black=max(weights[black]),
        **real.about("translate", input=SENTENCE, attention="cross", **ALIGNING, token=chair),
    )


def grows(sentence: str) -> Board:
    """A translation, token by token: how sure each one is, and the word that it reads."""
    read = aligned(sentence)
    tokens = zip(read["written"], read["shares"], read["weights"], strict=True)
    rows = {}
    for at, (token, share, weights) in enumerate(tokens, 1):
        most = max(range(len(weights)), key=weights.__getitem__)
        rows[f"{at}  {token}"] = [share, read["source"][most], weights[most]]
    least = min(range(len(read["shares"])), key=read["shares"].__getitem__)
    title, cols = f"Written from “{sentence}”", ["probability", "reads most", "weight"]
    return board(
        [table(title, rows, cols, kind="weights", digits=3)],
        count=len(rows),
        least=read["written"][least],
        share=read["shares"][least],
        **real.about("translate", input=sentence, attention="cross", **ALIGNING),
    )


@real.of("translate")
def aligned(sentence: str) -> dict[str, Any]:
    """The weights of the aligning head, and the probability of each token that is written."""
    trace = real.traced("translate", sentence)
    layer, head = ALIGNING.values()
    site = _crossing(trace, layer)
    source, written = trace.key_labels(site), [*trace.query_labels(site)[1:], "end"]
    real.check(max(len(source), len(written)), 1, MOST)
    return {
        "source": [*map(real.word, source[:-1]), "end"],
        "written": [*map(real.word, written)],
        "weights": trace.weights(layer, head, kind="cross"),
        "shares": trace.output.values[0].softmax(-1).amax(-1),
    }


# ---- Whisper aligns words to seconds


def spoken(word: int) -> Board:
    """When each word of a recording is said, read off Whisper's cross-attention."""
    read = timed()
    words, frame, curves = read["words"], read["frame"], read["curves"]
    spans = [*zip(read["starts"], read["ends"], strict=True)]
    rows = {
        f"{number}  {each}": [start, end, f"{round(start / frame)}"]
        for number, (each, (start, end)) in enumerate(zip(words, spans, strict=True), start=1)
    }
    tops = [frame * each.index(max(each)) for each in curves]
    inside = [start <= top <= end for top, (start, end) in zip(tops, spans, strict=True)]
    at = min(word, len(words) - 1)
    title = f"while “{words[at]}” is written: mean weight, 0 to {max(curves[at]):.3f}"
    seconds = [f"{frame * place:.2f} s" for place in range(len(curves[at]))]
    begins, ends = (round(time / frame) for time in spans[at])
    return board(
        [table("Words of a recording", rows, ["begins, s", "ends, s", "frame"], digits=2)],
        [bars(title, curves[at], seconds, (begins, ends), digits=-1)],
        words=len(words),
        word=words[at],
        top=tops[at],
        share=sum(curves[at]),
        inside=sum(inside),
        heads=len(read["heads"]),
        frame=1000 * frame,
        heard=read["heard"],
        **real.about("whisper"),
    )


@real.of("whisper")
def timed() -> dict[str, Any]:
    """The words of a recorded sentence, with the seconds at which each begins and ends.

    The curve of a word is the mean weight of the aligning heads on each frame that was heard,
    while its tokens are written.
    """
    trace = real.traced("whisper", str(real.RECORDING))
    words, sound = alignment.align(trace), trace.sound
    if sound is None:
        raise ValueError("expected the trace of a recording")
    tokens, first = alignment.transcript(trace)
    heads = [trace.weights(layer, head, kind="cross") for layer, head in trace.aligning]
    # a row attends while it writes the token after it
    written = torch.stack(heads).mean(0)[first - 1 :]
    written = written[:, : sound.frames_heard(written.shape[1])]
    return {
        "words": [word.text.strip() for word in words],
        "starts": [word.start for word in words],
        "ends": [word.end for word in words],
        "curves": [written[at].mean(0) for _, at in alignment.spoken(tokens)],
        "frame": alignment.seconds_per_frame(trace),
        "heard": sound.heard[0],
        "heads": trace.aligning,
    }


BOARDS = {
    "whole": whole,
    "six": six,
    "grows": grows,
    "spoken": spoken,
    "cut": cut,
    "crossing": crossing,
    "sharing": sharing,
}
