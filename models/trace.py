"""Everything one forward pass left behind, read-only: every view and number is made from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention.pattern import Pattern, Rows, positions
from models.text import Tokens


@dataclass(frozen=True, eq=False)
class TokenAxis:
    """What one axis of a site's weights stands for, where it is not the model's own tokens.

    Attributes:
        tokens: one entry per item.
        positions: where on the axis each item's tokens stand; None means at its beginning.
    """

    tokens: tuple[Tokens, ...]
    positions: tuple[Int[Tensor, "_"], ...] | None = None

    def positions_of(self, item: int) -> Int[Tensor, " token"]:
        """Where on the axis the tokens of an item stand."""
        return (
            torch.arange(len(self.tokens[item])) if self.positions is None else self.positions[item]
        )

    def padding(self, length: int) -> Bool[Tensor, "batch token"] | None:
        """True where the axis is filled up; None if it nowhere is."""
        filled = torch.ones(len(self.tokens), length, dtype=torch.bool)
        for item in range(len(self.tokens)):
            filled[item, self.positions_of(item)] = False
        return filled if filled.any() else None


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """Hidden states of one tower.

    Attributes:
        states: what leaves each layer; the first is the embedding.
        axes: whose they are, one entry per state.
    """

    states: tuple[Float[Tensor, "batch _ _"], ...]
    axes: tuple[TokenAxis, ...]

    @staticmethod
    def of(states: Sequence[Tensor], tokens: tuple[Tokens, ...]) -> "HiddenStates":
        """States of a network whose every layer holds the same tokens."""
        return HiddenStates(
            tuple(state.detach() for state in states), (TokenAxis(tokens),) * len(states)
        )

    def read(self, layer: int, item: int) -> Float[Tensor, "token dim"]:
        """One item's own tokens.

        Raises:
            ValueError: if there is no such layer.
        """
        if not 0 <= layer < len(self.states):
            raise ValueError(f"layer: expected 0 to {len(self.states) - 1}, received {layer}")
        state = self.states[layer][item]
        return state[self.axes[layer].positions_of(item).to(state.device)]


def padding_of(tokens: Sequence[Tokens]) -> Bool[Tensor, "batch token"] | None:
    """True where a batch of unequal items is filled up; None if nothing is."""
    longest = max(len(item) for item in tokens)
    if all(len(item) == longest for item in tokens):
        return None
    position = torch.arange(longest)
    return torch.stack([position >= len(item) for item in tokens])


@dataclass(frozen=True)
class Site:
    """One place where a network attends.

    Attributes:
        layer: which layer, by the order of calls, from 0.
        kind: "self", "causal" or "cross".
        heads: number of heads.
        queries: number of queries, padding included.
        keys: number of keys, padding included.
        tower: "encoder" or "decoder" of a model that has both; else None.
    """

    layer: int
    kind: str
    heads: int
    queries: int
    keys: int
    tower: str | None = None


@dataclass(frozen=True, eq=False)
class Output:
    """What the network gave back, and what it is: "hidden states", "logits", "embedding"."""

    name: str
    values: Tensor


MAX_ANSWER = 2**28  # bytes; one answer larger than this is refused


SiteAxes = Mapping[Site, tuple[TokenAxis, TokenAxis]]


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass.

    Attributes:
        model: the model's name.
        trained: whether its weights were ever trained; if not, views have to say so.
        tokens: one entry per item of the batch.
        sites: the places where the network attended, in order.
        output: what the network gave back.
        grid: rows and columns of patches; None for text.
        prefix: how many tokens (class, registers) stand in front of the patches.
        notes: what was done to the input on the way, and to positions that did not fit it.
        target_tokens: what the decoder of an encoder–decoder read, one entry per item.
        axes: rows and columns of sites that are not simply the tokens above.
        hidden_states: hidden states by tower (None where there is only one); empty if not asked for.
    """

    model: str
    trained: bool
    tokens: tuple[Tokens, ...]
    sites: tuple[Site, ...]
    output: Output
    patterns: tuple[Pattern, ...] = field(repr=False)
    grid: tuple[int, int] | None = None
    prefix: int = 0
    notes: tuple[str, ...] = ()
    target_tokens: tuple[Tokens, ...] | None = None
    axes: SiteAxes = field(repr=False, default_factory=dict)
    hidden_states: Mapping[str | None, HiddenStates] = field(repr=False, default_factory=dict)

    @property
    def labels(self) -> list[str]:
        """The tokens of the first item, as text; of an encoder–decoder those of the source."""
        return list(self.tokens[0].labels)

    def queries(self, site: Site) -> tuple[Tokens, ...]:
        """Whose tokens the rows of a site's weights are, one entry per item."""
        if site in self.axes:
            return self.axes[site][0].tokens
        theirs = self.target_tokens if site.tower == "decoder" else None
        return self.tokens if theirs is None else theirs

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        """Whose tokens the columns of a site's weights are, one entry per item."""
        if site in self.axes:
            return self.axes[site][1].tokens
        return self.tokens if site.kind == "cross" else self.queries(site)

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        """What the rows of a site's weights stand for."""
        return list(self.queries(site)[self._checked(item)].labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        """What the columns of a site's weights stand for."""
        return list(self.keys(site)[self._checked(item)].labels)

    def site(self, layer: int, kind: str | None = None, tower: str | None = None) -> Site:
        """The site of a layer.

        Raises:
            ValueError: if there is none, or more than one and no kind or tower to choose by.
        """
        return self.sites[self._index(layer, kind, tower)]

    def pattern(self, layer: int, *, kind: str | None = None, tower: str | None = None) -> Pattern:
        """The recipe of a layer's weights, for the whole batch, padding included."""
        return self.patterns[self._index(layer, kind, tower)]

    def weights(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """Attention weights of one item, padding removed.

        Args:
            layer: which layer.
            head: one head, whose axis is dropped; None for all.
            kind: "self", "causal" or "cross"; None if the layer has only one.
            tower: which part of a model with several; None if that much is clear.
            rows: which queries (slice or positions); None for all.
            item: which item of the batch.

        Returns:
            `head query key` or `query key`, float32. Rows sum to 1.

        Raises:
            ValueError: for a layer, head, row or item that is not there, and for an answer of
                more than 256 MiB.
        """
        pattern, rows, real = self._question((layer, kind, tower), head, rows, item)
        return pattern.weights(head, rows, item=item).detach()[..., real]

    def scores(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """What went into the softmax; −∞ where the mask hides a key. As `weights` otherwise."""
        pattern, rows, real = self._question((layer, kind, tower), head, rows, item)
        return pattern.scores(head, rows, item=item).detach()[..., real]

    def gradient(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """Gradient by the weights of the number chosen with `trace(..., gradient=...)`."""
        pattern, rows, real = self._question((layer, kind, tower), head, rows, item)
        return pattern.gradient(head, rows, item=item).detach()[..., real]

    def hidden(
        self, layer: int, item: int = 0, *, tower: str | None = None
    ) -> Float[Tensor, "token dim"]:
        """The hidden states that leave a layer; 0 is the embedding.

        Args:
            layer: which layer.
            item: which item of the batch.
            tower: which part of a model with several; None if it has only one.

        Raises:
            ValueError: if they were not asked for, or there is no such layer, item or tower.
        """
        if not self.hidden_states:
            raise ValueError("no hidden states here: ask for them with trace(..., hidden=True)")
        if tower not in self.hidden_states:
            raise ValueError(
                f"tower: expected one of {list(self.hidden_states)}, received {tower!r}"
            )
        return self.hidden_states[tower].read(layer, self._checked(item))

    def empty_rows(self) -> int:
        """How many rows of real tokens, over all sites and heads, have no key to attend to."""
        pairs = zip(self.sites, self.patterns, strict=True)
        return sum(pattern.empty_rows(self._padding(site)) for site, pattern in pairs)

    def _padding(self, site: Site) -> Bool[Tensor, "batch query"] | None:
        if site in self.axes:
            return self.axes[site][0].padding(site.queries)
        return padding_of(self.queries(site))

    def _question(
        self, where: tuple[int, str | None, str | None], head: int | None, rows: Rows, item: int
    ) -> tuple[Pattern, Tensor, Tensor | slice]:
        """The pattern, the rows as positions, and the item's own keys; refuses what is too big."""
        index = self._index(*where)
        site, pattern = self.sites[index], self.patterns[index]
        own = len(self.keys(site)[self._checked(item)])
        picked = positions(rows, len(self.queries(site)[item]))
        heads = pattern.heads if head is None else 1
        size = 4 * heads * len(picked) * pattern.keys
        if size > MAX_ANSWER:
            raise ValueError(
                f"the answer would take {size / 2**20:.0f} MiB (at most {MAX_ANSWER / 2**20:.0f}):"
                " choose a head, or fewer rows with rows="
            )
        if site not in self.axes:
            return pattern, picked, slice(0, own)
        rows_of, keys_of = self.axes[site]
        return (
            pattern,
            rows_of.positions_of(item)[picked],
            keys_of.positions_of(item).to(pattern.q.device),
        )

    def _index(self, layer: int, kind: str | None, tower: str | None = None) -> int:
        found = [i for i, site in enumerate(self.sites) if site.layer == layer]
        if not found:
            layers = sorted({site.layer for site in self.sites})
            raise ValueError(f"layer: expected one of {layers}, received {layer}")
        kinds = [self.sites[i].kind for i in found]
        towers = [self.sites[i].tower for i in found]
        chosen = [i for i in found if kind in (None, self.sites[i].kind)]
        exact = [i for i in chosen if tower in (None, self.sites[i].tower)]
        if len(exact) == 1:
            return exact[0]
        if len(chosen) > 1 and len({self.sites[i].kind for i in chosen}) < len(chosen):
            raise ValueError(f"tower: layer {layer} is in {towers}, received {tower!r}")
        raise ValueError(f"kind: layer {layer} has {kinds}, received {kind!r}")

    def _checked(self, item: int) -> int:
        if not 0 <= item < len(self.tokens):
            raise ValueError(f"item: expected 0 to {len(self.tokens) - 1}, received {item}")
        return item
