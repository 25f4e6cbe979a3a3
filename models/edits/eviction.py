"""`Evict`: a key–value cache that holds only some keys, as it would while a text is written.

    window            the latest keys                              (Beltagy et al. 2020)
    sinks + window    the first keys and the latest                (Xiao et al. 2024, StreamingLLM)
    heavy hitters     besides, the keys with most weight so far    (Zhang et al. 2023, H2O)

A query attends to the keys that the policy has kept when it comes; a key that has gone does not
come back. With rotary positions, keys that are left may be rotated anew by their place in the
cache, as StreamingLLM does: then the gap that evicted keys leave is closed.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention import Dot, Pattern
from models.attention.pattern import expand_heads
from models.attention.scores import softmax
from models.edits.fields import address, assign, call_of, whole
from models.edits.words import place
from models.where import Where


@dataclass(frozen=True, init=False, repr=False)
class Evict:
    """Hides the keys that a cache of limited size no longer holds.

    Attributes:
        where: which layers; those of causal attention.
        window: how many of the latest keys are kept, the query's own included.
        sinks: how many of the first.
        heavy: how many of the others: those with the largest sum of weights from earlier queries.
        start: the first query that finds keys evicted; earlier ones, of a prompt, read all.
        rotate: the base of the network's rotary positions, to rotate kept keys by their place in
            the cache; None leaves them as they are.
        width: how many features of a head are rotated, the first ones; None means all.
    """

    where: Where
    window: int
    sinks: int
    heavy: int
    start: int
    rotate: float | None
    width: int | None

    def __init__(
        self,
        window: int,
        sinks: int = 0,
        heavy: int = 0,
        layer: int | None = None,
        start: int = 0,
        rotate: float | None = None,
        width: int | None = None,
        kind: str | None = "causal",
        tower: str | None = None,
        module: str | None = None,
        part: int | None = None,
    ) -> None:
        least = {
            "window": (window, 1),
            "sinks": (sinks, 0),
            "heavy": (heavy, 0),
            "start": (start, 0),
        }
        for name, (value, lowest) in least.items():
            if whole(name, value) < lowest:
                raise ValueError(f"{name}: expected {lowest} or more, received {value}")
        if rotate is not None and not rotate > 1:
            raise ValueError(f"rotate: expected a base above 1, received {rotate}")
        if width is not None and (whole("width", width) < 2 or width % 2):
            raise ValueError(f"width: expected an even number of features, received {width}")
        if kind != "causal":
            raise ValueError(f"kind: expected causal, received {kind!r}: only those layers cache")
        assign(self, where=address(layer, kind, tower, module, part), window=window, sinks=sinks)
        assign(self, heavy=heavy, start=start, rotate=rotate, width=width)

    def __repr__(self) -> str:
        return call_of(self)

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        kept = [f"the latest {self.window}"]
        kept += [f"the first {self.sinks}"] if self.sinks else []
        kept += [f"the {self.heavy} others with most weight so far"] if self.heavy else []
        again = "" if self.rotate is None else ", rotated anew by their place in the cache"
        since = f" from query {self.start} on" if self.start else ""
        here = place(self.where, heads="")
        return (
            f"{here}: queries{since} find only these keys in the cache: {', '.join(kept)}{again}."
        )

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        kept, moved = self._by_weight(pattern) if self.heavy else self._by_place(pattern)
        dense = kept if pattern.mask.dense is None else pattern.mask.dense & kept
        bias = pattern.bias
        if moved is not None:
            given = pattern.bias_rows(slice(None), range(pattern.heads))
            bias = moved if given is None else given + moved
        return replace(pattern, mask=replace(pattern.mask, dense=dense), bias=bias)

    def _by_place(self, pattern: Pattern) -> tuple[Tensor, Tensor | None]:
        """The kept keys, and what rotating them anew adds to the scores."""
        rows = torch.arange(pattern.queries, device=pattern.q.device)
        seen = _seen(pattern, rows)[:, :1]
        kept = self._always(seen)
        if self.rotate is None:
            return kept, None
        gone = _later(seen) - _later(kept)  # evicted keys between each key and the query
        return kept, self._added(pattern, rows, kept, gone)

    def _by_weight(self, pattern: Pattern) -> tuple[Tensor, Tensor | None]:
        """The same, where it depends on the weights so far: query by query."""
        sizes = pattern.batch, pattern.heads, pattern.keys
        received = torch.zeros(sizes, device=pattern.q.device)
        held = torch.ones(sizes, dtype=torch.bool, device=pattern.q.device)
        kept, added = [], []
        for row in torch.arange(pattern.queries, device=pattern.q.device).split(1):
            seen = _seen(pattern, row)
            always = self._always(seen).expand(-1, pattern.heads, -1, -1)[:, :, 0]
            begun = seen.sum(-1)[:, :, 0] > self.start
            held = torch.where(
                begun[..., None], self._held(held, always, seen[:, :, 0], received), held
            )
            now = (held & seen[:, :, 0])[:, :, None]
            scores = pattern.scores(rows=row)
            if self.rotate is not None:
                more = self._added(pattern, row, now, _later(seen) - _later(now))
                added.append(more)
                scores = scores + more
            received = received + softmax(scores.masked_fill(~now, -torch.inf))[:, :, 0]
            kept.append(now)
        return torch.cat(kept, 2), torch.cat(added, 2) if added else None

    def _held(self, held: Tensor, always: Tensor, seen: Tensor, received: Tensor) -> Tensor:
        """The cache when a query comes: of the keys that may go, the heaviest stay."""
        may_go = held & seen & ~always
        ranked = received.masked_fill(~may_go, -1.0)
        best = ranked.topk(min(self.heavy, ranked.shape[-1]), -1).indices
        heavy = torch.zeros_like(held).scatter(-1, best, True) & may_go
        return always | heavy | ~seen

    def _always(
        self, seen: Bool[Tensor, "batch head row key"]
    ) -> Bool[Tensor, "batch head row key"]:
        """The keys that are kept whatever weight they got: sinks, window, those of a prompt."""
        place = seen.cumsum(-1)
        count = place[..., -1:]
        kept = (place <= self.sinks) | (count - place < self.window) | (count <= self.start)
        return kept & seen

    def _added(
        self,
        pattern: Pattern,
        rows: Int[Tensor, " row"],
        kept: Bool[Tensor, "#batch #head row key"],
        gone: Int[Tensor, "#batch #head row key"],
    ) -> Float[Tensor, "batch head row key"]:
        """What closing the gaps of evicted keys adds to the scores.

        With features as complex numbers, a pair that was rotated by θ for each position scores
        Re(q̄ k); with n keys less in between, Re(q̄ k e^{iθn}).
        """
        score = pattern.score
        if not isinstance(score, Dot) or score.softcap is not None:
            raise ValueError(f"{self}: expected dot products without a cap, to rotate keys anew")
        dim = pattern.q.shape[-1]
        width = dim if self.width is None else self.width
        gaps = torch.where(kept, gone, 0)
        some = gaps.flatten(0, 2).any(0).nonzero().flatten()
        pairs = torch.arange(0, width, 2, device=gaps.device, dtype=torch.float64)
        angles = float(self.rotate or 1) ** (-pairs / width)
        turned = gaps[..., some, None] * angles
        turns = torch.polar(torch.ones_like(turned), turned) - 1
        q = _complex(pattern.q[:, :, rows], width)[..., None, :]
        k = _complex(expand_heads(pattern.k[:, :, some], pattern.heads, slice(None)), width)
        change = (q.conj() * k[:, :, None] * turns).real.sum(-1)
        scale = dim**-0.5 if score.scale is None else score.scale
        added = torch.zeros(pattern.batch, pattern.heads, len(rows), pattern.keys, device=q.device)
        added[..., some] = (change * scale).float()
        return added


def _seen(pattern: Pattern, rows: Int[Tensor, " row"]) -> Bool[Tensor, "batch #head row key"]:
    """The keys that some queries may attend to without a limit of the cache."""
    seen = pattern.mask.visible(rows, pattern.keys, range(pattern.heads))
    if seen is None:
        seen = torch.ones(1, 1, 1, pattern.keys, dtype=torch.bool, device=rows.device)
    return seen.expand(pattern.batch, -1, len(rows), -1)


def _later(keys: Bool[Tensor, "*batch key"]) -> Int[Tensor, "*batch key"]:
    """How many keys come after each one."""
    return keys.sum(-1, keepdim=True) - keys.cumsum(-1)


def _complex(x: Float[Tensor, "*head dim"], width: int) -> Tensor:
    first, second = x[..., :width].double().chunk(2, dim=-1)
    return torch.complex(first, second)
