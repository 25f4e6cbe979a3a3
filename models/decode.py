"""Greedy decoding: each step appends the most likely id to the input.

Causal attention makes every step repeat the steps before it: their keys and values are the same
again. They already lie in the patterns that the last step of a decoder returned, so a step that is
given those works out one row where the plain way works out all. An encoder–decoder is given what
its encoder returned.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import Decoder
from models.output import softmax
from models.seq2seq import Seq2Seq
from models.ssru import Translator
from models.structure import evaluating


@dataclass(frozen=True, eq=False)
class Step:
    """One decoding step.

    Attributes:
        ids: what was chosen, one id per item.
        logits: what it was chosen by.
    """

    ids: Int[Tensor, " batch"]
    logits: Float[Tensor, "batch vocab"]

    @property
    def probabilities(self) -> Float[Tensor, "batch vocab"]:
        """Probability of each id."""
        return softmax(self.logits.float())


def greedy(
    network: Decoder | Seq2Seq | Translator,
    ids: Int[Tensor, "batch token"],
    *,
    end: int | None = None,
    limit: int | None = None,
    cached: bool = True,
) -> Iterator[Step]:
    """Writes until every item has ended, or there is no more room.

    An item that has ended goes on with ids that do not matter until the others have ended too.
    The weights act as in use, without dropout, also if the network is being trained.

    Args:
        network: what writes.
        ids: for a decoder what it goes on from, every item equally long; for an encoder–decoder
            the source.
        end: the id an item ends on; None means the one of the config, and no end for a decoder.
        limit: at most this many steps; None means as many as the model has room for.
        cached: whether a decoder uses keys and values of earlier steps again.

    Raises:
        ValueError: for more steps than there is room for.
    """
    if not ids.shape[1]:
        raise ValueError("ids: expected at least one token")
    network = evaluating(network)
    config: Any = network.config
    run, start, never, kept = network, ids, list[int](), "past" if cached else ""
    if not isinstance(network, Decoder):
        run, start = partial(network, ids), torch.full_like(ids[:, :1], config.begin)
        end = config.end if end is None else end
        never = [config.padding] if isinstance(network, Seq2Seq) else []  # a translator cannot
        kept = "encoder"
    room = config.max_tokens - start.shape[1] + 1
    if room < 1:
        raise ValueError(
            f"ids: expected at most {config.max_tokens} tokens, received {ids.shape[1]}"
        )
    if limit is not None and not 1 <= limit <= room:
        raise ValueError(f"limit: expected 1 to {room}, received {limit}")
    return _steps(run, start, limit or room, end, never, kept)


def _steps(
    run: Callable, tokens: Tensor, limit: int, end: int | None, never: list[int], kept: str
) -> Iterator[Step]:
    """Steps from start tokens on; ids of `never` are not written.

    `kept` is the argument that is given what the last step returned, "" for none.
    """
    more, ended = {}, torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    barred = torch.tensor(never, dtype=torch.long, device=tokens.device)
    for _ in range(limit):
        with torch.no_grad():
            out = run(tokens, **more)
        logits = out.logits[:, -1]
        chosen = logits.index_fill(1, barred, -torch.inf).argmax(-1)
        yield Step(chosen, logits)
        ended = ended if end is None else ended | (chosen == end)
        if bool(ended.all()):
            return
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        more = {kept: out.encoder if kept == "encoder" else out} if kept else {}
