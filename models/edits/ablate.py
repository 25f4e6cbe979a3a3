"""`Ablate`: heads whose values are replaced before the output projection; `AblateMLP`: what a
feed-forward network adds to the residual stream, replaced.

Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?" (zero); Wang et al. 2022,
"Interpretability in the Wild", section 2 (the mean over a reference set).
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, Literal
from zlib import crc32

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Pattern
from models.attention.functional import edited_values
from models.edits.fields import (
    LEAVES,
    Layered,
    Numbers,
    assign,
    checked,
    choice,
    edit,
    heads_of,
    numbers,
    place,
    whole,
)
from models.edits.routing import MLP
from models.edits.tokens import Padding, own_queries, own_tokens, shuffled
from models.trace import Trace
from models.where import Where, choose

How = Literal["zero", "mean", "shuffled", "noise"]
HOWS = ("zero", "mean", "shuffled", "noise")


@dataclass(frozen=True, eq=False)
class Reference:
    """The mean values of every head over a set of inputs.

    Attributes:
        name: of the set.
        tokens: how many tokens the means are over, where a head attends from most.
        means: by site, by full address.
    """

    name: str
    tokens: int
    means: Mapping[Where, Float[Tensor, "head value_dim"]] = field(repr=False)

    @staticmethod
    def of(name: str, traces: Trace | Sequence[Trace]) -> "Reference":
        """The means over every token of some traces of one model.

        Args:
            name: what sentences and links call the set.
            traces: of the set.

        Raises:
            ValueError: without a name, a trace, or a site that all traces have.
        """
        every = [traces] if isinstance(traces, Trace) else [*traces]
        if not name or not every:
            raise ValueError(f"expected a name and at least one trace, received {name!r}, {every}")
        rows = {site.where: [] for site in every[0].sites}
        for trace in every:
            for site, pattern in zip(trace.sites, trace.patterns, strict=True):
                values = edited_values(pattern).detach().float()
                for item, value in enumerate(values):
                    at, _ = trace.positions(site, item)
                    rows.setdefault(site.where, []).append(value[:, at.to(value.device)])
        means = {where: torch.cat(each, 1).mean(1) for where, each in rows.items()}
        most = max(sum(value.shape[1] for value in each) for each in rows.values())
        return Reference(name, most, means)

    def mean(self, site: Where) -> Float[Tensor, "head value_dim"]:
        """The mean values of the heads of a site.

        Raises:
            ValueError: for a site that the set does not have.
        """
        every = [*self.means]
        return self.means[every[choose(every, site)]]


@edit
class Ablate(Layered):
    """Ablates heads: their values are replaced before the output projection, whose bias stays.

    Attributes:
        head: which head or heads; None for all, which ablates the layer.
        how: "zero"; "mean", the head's mean over the tokens of each item, or over a reference set;
            "shuffled", its own values dealt to other tokens; "noise", normally distributed around
            its mean with its deviation, each feature by itself.
        seed: of what is drawn at random.
        over: the reference set of "mean"; None means the item's own tokens.
        site: the full address, once it is known; noise differs from site to site.
    """

    layer: int | None
    head: Numbers
    how: How = "zero"
    seed: int = 0
    over: Reference | None = None
    site: Where | None = field(init=False, default=None, compare=False)

    def __post_init__(self) -> None:
        if self.over is not None and (self.how != "mean" or not isinstance(self.over, Reference)):
            raise ValueError(f"over: expected a Reference, with how='mean', received {self.over!r}")
        choice("how", self.how, HOWS)
        checked(self, numbers, "head")
        checked(self, whole, "seed")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        here = place(self.where, self.head)
        over = "the item's tokens" if self.over is None else f"“{self.over.name}”"
        become = {
            "zero": f"values become zero, {LEAVES}",
            "mean": f"values become their mean over {over}",
            "shuffled": "values are dealt to other tokens at random",
            "noise": "values become noise with their own mean and deviation",
        }
        return f"{here}: {become[self.how]}."

    @property
    def reads_all_tokens(self) -> bool:
        """Whether it depends on all tokens of an item."""
        return self.over is None and self.how in ("mean", "shuffled", "noise")

    def bound(self, site: Where) -> "Ablate":
        """The ablation at one site; one of a tower stays that of the whole network."""
        if self.site is not None:
            return self
        bound = copy(self)
        assign(bound, site=site)
        return bound

    def edit_values(
        self, values: Float[Tensor, "batch head query dim"], pattern: Pattern
    ) -> Float[Tensor, "batch head query dim"]:
        every = range(pattern.heads)
        edited = [self._edited(each, every, pattern, item) for item, each in enumerate(values)]
        return torch.stack(edited)

    def edit_rows(
        self,
        rows: Float[Tensor, "head query dim"],
        heads: Sequence[int],
        pattern: Pattern,
        item: int,
    ) -> Float[Tensor, "head query dim"]:
        """Replaces the rows of the ablated heads, those of padding aside.

        Raises:
            ValueError: for an ablated head whose new values are no sum of its own.
        """
        drawn = self.how == "noise" or self.over is not None
        if drawn and {*heads} & {*heads_of(self.head, pattern.heads)}:
            raise ValueError(f"{self} changes values: they are no sum of those of other tokens")
        return self._edited(rows, heads, pattern, item)

    def _edited(
        self,
        rows: Float[Tensor, "head query dim"],
        heads: Sequence[int],
        pattern: Pattern,
        item: int,
    ) -> Float[Tensor, "head query dim"]:
        """The rows of some heads, those of the ablated ones replaced."""
        ablated = heads_of(self.head, pattern.heads)
        at = [place for place, head in enumerate(heads) if head in ablated]
        if not at:
            return rows
        places = torch.tensor(at, dtype=torch.long, device=rows.device)
        cells, edited = (places[:, None], own_queries(pattern, item)), rows.clone()
        instead = self._instead(rows[cells], [heads[place] for place in at], item)
        edited[cells] = instead.to(rows.dtype)
        return edited

    def _instead(self, mine: Tensor, heads: Sequence[int], item: int) -> Tensor:
        if self.how == "zero":
            return torch.zeros_like(mine)
        if self.how == "noise":
            return self._noise(mine, heads, item)
        if self.how == "shuffled":
            return shuffled(mine, self.seed + item)
        if self.over is None:
            return mine.mean(1, keepdim=True).expand_as(mine)
        means = self.over.mean(self.site or self.where)[[*heads]].to(mine.device)
        return means[:, None].expand_as(mine)

    def _noise(self, mine: Tensor, heads: Sequence[int], item: int) -> Tensor:
        """Noise of each head and token by itself, whatever else is drawn."""
        drawn = torch.empty(mine.shape, dtype=torch.float32)
        for index, head in enumerate(heads):
            for row in range(mine.shape[1]):
                seed = crc32(f"{self.seed} {self.site} {item} {head} {row}".encode())
                dice = torch.Generator().manual_seed(seed)
                drawn[index, row] = torch.randn(mine.shape[2], generator=dice)
        deviation, mean = torch.std_mean(mine, 1, correction=0, keepdim=True)
        return mean + deviation * drawn.to(mine)


@edit
class AblateMLP(Layered):
    """Ablates feed-forward networks: what they add to the stream is replaced, biases included.

    Its `module` is the path of a block, or of the feed-forward network itself.

    Attributes:
        how: "zero"; "mean", over the tokens of each item; "shuffled", dealt to other tokens.
        seed: of the shuffle.
    """

    acts_on: ClassVar[str] = MLP
    layer: int | None
    how: Literal["zero", "mean", "shuffled"] = "zero"
    seed: int = 0

    def __post_init__(self) -> None:
        choice("how", self.how, ("zero", "mean", "shuffled"))
        checked(self, whole, "seed")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        become = {
            "zero": f"the MLP adds nothing, {LEAVES}",
            "mean": "the MLP adds its mean over the item's tokens",
            "shuffled": "what the MLP adds is dealt to other tokens at random",
        }
        return f"{place(self.where, heads='')}: {become[self.how]}."

    @property
    def reads_all_tokens(self) -> bool:
        """Whether it depends on all tokens of an item."""
        return self.how != "zero"

    def edit_mlp(
        self, added: Float[Tensor, "batch token dim"], padding: Padding
    ) -> Float[Tensor, "batch token dim"]:
        if self.how == "zero":
            return torch.zeros_like(added)
        edited = added.clone()
        for item, rows in enumerate(added):
            tokens = own_tokens(padding, item, len(rows), rows.device)
            mine = rows[tokens]
            dealt = self.how == "shuffled"
            edited[item, tokens] = shuffled(mine, self.seed + item) if dealt else mine.mean(0)
        return edited
