"""`Trace`: the read-only record of one forward pass, from which every view is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention.pattern import Pattern, Rows, positions
from models.text import Tokens


@dataclass(frozen=True, eq=False)
class TokenAxis:
    """The tokens along one axis of attention weights, where they are not the model's input.

    Attributes:
        tokens: one entry per item.
        positions: of each item's tokens on the axis; None means the first ones.
    """

    tokens: tuple[Tokens, ...]
    positions: tuple[Int[Tensor, "_"], ...] | None = None

    def positions_of(self, item: int) -> Int[Tensor, " token"]:
        """Positions of an item's tokens on the axis."""
        return (
            torch.arange(len(self.tokens[item])) if self.positions is None else self.positions[item]
        )

    def padding(self, length: int) -> Bool[Tensor, "batch token"] | None:
        """True at padding; None if there is none."""
        filled = torch.ones(len(self.tokens), length, dtype=torch.bool)
        for item in range(len(self.tokens)):
            filled[item, self.positions_of(item)] = False
        return filled if filled.any() else None


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """Hidden states of one tower.

    Attributes:
        states: what leaves each layer, before any final norm; the first is the embedding.
        axes: their tokens, one entry per state.
        final: the last state after the final norm, where there is one; None if it is not known.
    """

    states: tuple[Float[Tensor, "batch _ _"], ...]
    axes: tuple[TokenAxis, ...]
    final: Float[Tensor, "batch _ _"] | None = None

    @staticmethod
    def of(states: Sequence[Tensor], tokens: tuple[Tokens, ...], final: Tensor) -> "HiddenStates":
        """Hidden states of a network whose layers all hold the same tokens."""
        axes = (TokenAxis(tokens),) * len(states)
        return HiddenStates(tuple(state.detach() for state in states), axes, final.detach())

    def read(self, layer: int, item: int) -> Float[Tensor, "token dim"]:
        """Hidden states of one item's tokens.

        Raises:
            ValueError: if there is no such layer.
        """
        if not 0 <= layer < len(self.states):
            raise ValueError(f"layer: expected 0 to {len(self.states) - 1}, received {layer}")
        return self._own(self.states[layer], layer, item)

    def read_final(self, item: int) -> Float[Tensor, "token dim"]:
        """The last state of one item's tokens, after the final norm.

        Raises:
            ValueError: if the network does not give it.
        """
        if self.final is None:
            raise ValueError("the network gives no state after its last layer")
        return self._own(self.final, -1, item)

    def _own(self, state: Tensor, layer: int, item: int) -> Tensor:
        """The rows of an item's own tokens."""
        return state[item][self.axes[layer].positions_of(item).to(state.device)]


def padding_of(tokens: Sequence[Tokens]) -> Bool[Tensor, "batch token"] | None:
    """True at padding in a batch of unequal items; None if there is none."""
    longest = max(len(item) for item in tokens)
    if all(len(item) == longest for item in tokens):
        return None
    position = torch.arange(longest)
    return torch.stack([position >= len(item) for item in tokens])


@dataclass(frozen=True)
class Site:
    """One attention layer of a network.

    Attributes:
        layer: index in the order of calls.
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
    """The output of a network, and its name: "hidden states", "logits", "embedding"."""

    name: str
    values: Tensor


MAX_ANSWER = 2**28  # bytes; one answer larger than this is refused


SiteAxes = Mapping[Site, tuple[TokenAxis, TokenAxis]]


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass.

    Attributes:
        model: the model's name.
        trained: False for random weights, which views must state.
        tokens: one entry per item of the batch.
        sites: attention layers in order of their calls.
        output: of the network.
        grid: rows and columns of patches; None for text.
        prefix: number of tokens (class, registers) before the patches.
        notes: how input and positions were changed, for display.
        target_tokens: input of the decoder of an encoder–decoder, one entry per item.
        axes: rows and columns of sites that differ from the tokens above.
        hidden_states: by tower (None for a single one); empty unless requested.
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
        """Tokens along the rows of a site's weights, one entry per item."""
        if site in self.axes:
            return self.axes[site][0].tokens
        theirs = self.target_tokens if site.tower == "decoder" else None
        return self.tokens if theirs is None else theirs

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        """Tokens along the columns of a site's weights, one entry per item."""
        if site in self.axes:
            return self.axes[site][1].tokens
        return self.tokens if site.kind == "cross" else self.queries(site)

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        """Labels of the rows of a site's weights."""
        return list(self.queries(site)[self._checked(item)].labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        """Labels of the columns of a site's weights."""
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
        """Scores before the softmax, −∞ at masked keys; arguments as for `weights`."""
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
        """Gradient of the scalar of `trace(..., gradient=...)` with respect to the weights."""
        pattern, rows, real = self._question((layer, kind, tower), head, rows, item)
        return pattern.gradient(head, rows, item=item).detach()[..., real]

    def hidden(
        self, layer: int, item: int = 0, *, tower: str | None = None
    ) -> Float[Tensor, "token dim"]:
        """The hidden states that leave a layer, before any final norm; 0 is the embedding.

        Args:
            layer: which layer.
            item: which item of the batch.
            tower: which part of a model with several; None if it has only one.

        Raises:
            ValueError: if they were not asked for, or there is no such layer, item or tower.
        """
        return self._hidden_states(tower).read(layer, self._checked(item))

    def final(self, item: int = 0, *, tower: str | None = None) -> Float[Tensor, "token dim"]:
        """The last hidden states after the final norm; without one, what leaves the last layer.

        Args:
            item: which item of the batch.
            tower: which part of a model with several; None if it has only one.

        Raises:
            ValueError: if they were not asked for or the network does not give them, or there is
                no such item or tower.
        """
        return self._hidden_states(tower).read_final(self._checked(item))

    def _hidden_states(self, tower: str | None) -> HiddenStates:
        if not self.hidden_states:
            raise ValueError("no hidden states recorded: request them with trace(..., hidden=True)")
        if tower not in self.hidden_states:
            raise ValueError(
                f"tower: expected one of {list(self.hidden_states)}, received {tower!r}"
            )
        return self.hidden_states[tower]

    def empty_rows(self) -> int:
        """Number of rows of real tokens, over all sites and heads, whose keys are all masked."""
        pairs = zip(self.sites, self.patterns, strict=True)
        return sum(pattern.empty_rows(self._padding(site)) for site, pattern in pairs)

    def _padding(self, site: Site) -> Bool[Tensor, "batch query"] | None:
        if site in self.axes:
            return self.axes[site][0].padding(site.queries)
        return padding_of(self.queries(site))

    def _question(
        self, where: tuple[int, str | None, str | None], head: int | None, rows: Rows, item: int
    ) -> tuple[Pattern, Tensor, Tensor | slice]:
        """The pattern, the rows as positions, and the item's keys; checks the answer's size."""
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
