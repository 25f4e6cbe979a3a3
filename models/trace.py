"""`Trace`: the read-only record of one forward pass, from which every view is made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.attention.blocks import Block, read_blocks
from models.attention.edit_protocols import Edit
from models.attention.pattern import Pattern, Rows, index_slice, positions
from models.picture_grid import WHOLE, Box, PictureGrid, row_by_row
from models.projections import Norm as Norm
from models.projections import Projections, Readout
from models.shown import one_line, shown_trace
from models.stream import Stream
from models.text import Tokens
from models.where import Where as Where
from models.where import choose as choose
from models.where import short as short

if TYPE_CHECKING:
    from models.own_origin import OwnOrigin
    from models.preprocessing import Preprocessing
    from models.pretrained.origin import PretrainedOrigin


class PatchGrid(NamedTuple):
    """Where the patches of an image or video lie among the tokens of an axis.

    Attributes:
        rows: of patches.
        cols: of patches.
        prefix: number of tokens (class, registers) before the patches.
        frames: of a video, or tubes of frames, whose patches follow each other; 1 for an image.
        box: the area of the picture that the patches cover.
    """

    rows: int
    cols: int
    prefix: int = 0
    frames: int = 1
    box: Box = WHOLE


def grids_of(grid: PatchGrid) -> tuple[PictureGrid, ...]:
    """The grids of a picture, or of each frame of a video, whose patches lie row by row."""
    size = grid.rows * grid.cols
    return tuple(
        PictureGrid(0, row_by_row(grid.rows, grid.cols, grid.prefix + frame * size), grid.box)
        for frame in range(grid.frames)
    )


@dataclass(frozen=True, eq=False)
class TokenAxis:
    """The tokens along one axis of attention weights, where they are not the model's input.

    Attributes:
        tokens: one entry per item.
        positions: of each item's tokens on the axis; None means the first ones.
        grid: of patches; None for tokens that are none.
        pictures: grids of each item's tokens over pictures, where there are several, or beside
            other tokens.
    """

    tokens: tuple[Tokens, ...]
    positions: tuple[Int[Tensor, "_"], ...] | None = None
    grid: PatchGrid | None = None
    pictures: tuple[tuple[PictureGrid, ...], ...] = ()

    def positions_of(self, item: int) -> Int[Tensor, " token"]:
        """Positions of an item's tokens on the axis."""
        return (
            torch.arange(len(self.tokens[item])) if self.positions is None else self.positions[item]
        )

    def leads(self, item: int) -> bool:
        """Whether an item's tokens are the first ones on the axis."""
        positions = self.positions_of(item)
        return self.positions is None or positions.tolist() == [*range(len(positions))]

    def grids(self, item: int) -> tuple[PictureGrid, ...]:
        """Where an item's tokens lie on pictures."""
        if self.pictures:
            return self.pictures[item]
        return () if self.grid is None else grids_of(self.grid)

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
        gradients: of the target with respect to each state, then to `final`, if requested; None
            where it is not known.
    """

    states: tuple[Float[Tensor, "batch _ _"], ...]
    axes: tuple[TokenAxis, ...]
    final: Float[Tensor, "batch _ _"] | None = None
    gradients: tuple[Float[Tensor, "batch _ _"] | None, ...] = ()

    @property
    def ended(self) -> tuple[Tensor | None, ...]:
        """The states, then the one after the final norm."""
        return (*self.states, self.final)

    def detached(self, gradients: Mapping[int, Tensor] | None) -> "HiddenStates":
        """The states without their graph, and the gradients, which are given by the ids of the
        states; None for none."""
        states = tuple(state.detach() for state in self.states)
        final = None if self.final is None else self.final.detach()
        known = () if gradients is None else tuple(gradients.get(id(x)) for x in self.ended)
        return HiddenStates(states, self.axes, final, known)

    def read(self, layer: int | None, item: int) -> Float[Tensor, "token dim"]:
        """Hidden states of one item's tokens; None is the last layer's after the final norm.

        Raises:
            ValueError: if there is no such layer, or the network does not give its states.
        """
        if layer is not None and not 0 <= layer < len(self.states):
            raise ValueError(f"layer: expected 0 to {len(self.states) - 1}, received {layer}")
        state = self.final if layer is None else self.states[layer]
        if state is None:
            raise ValueError("the network gives no state after its last layer")
        return self._rows(state, layer, item)

    def read_gradient(self, layer: int | None, item: int) -> Float[Tensor, "token dim"] | None:
        """The gradient with respect to what `read` gives; None if it is not known."""
        gradient = self.gradients[-1 if layer is None else layer] if self.gradients else None
        return None if gradient is None else self._rows(gradient, layer, item)

    def _rows(self, state: Tensor, layer: int | None, item: int) -> Tensor:
        """The rows of an item's own tokens."""
        axis = self.axes[-1 if layer is None else layer]
        return state[item][axis.positions_of(item).to(state.device)]


@dataclass(frozen=True)
class Site:
    """One attention layer of a network.

    Attributes:
        layer: the network's own number of the block; blocks without attention count.
        kind: "self", "causal" or "cross".
        heads: number of heads.
        queries: number of queries, padding included.
        keys: number of keys, padding included.
        tower: "encoder" or "decoder" of a model that has both; else None.
        module: path of the attention module; None where the network does not tell.
        part: which run of its tower, where one pass runs it several times.
    """

    layer: int
    kind: str
    heads: int
    queries: int
    keys: int
    tower: str | None = None
    module: str | None = None
    part: int = 0

    @staticmethod
    def of(where: Where, pattern: Pattern) -> "Site":
        """The site at a full address, of the sizes of its pattern."""
        if where.layer is None or where.kind is None:
            raise ValueError(f"expected a full address, received {where}")
        sizes = pattern.heads, pattern.queries, pattern.keys
        rest = where.tower, where.module, where.part or 0
        return Site(where.layer, where.kind, *sizes, *rest)

    @cached_property
    def where(self) -> Where:
        """Its full address: what tells it from the others, whatever its rows and columns are."""
        return Where(self.layer, self.kind, self.tower, self.module, self.part)


@dataclass(frozen=True, eq=False)
class Output:
    """The output of a network.

    Attributes:
        name: what it is: "hidden states", "logits", "embedding".
        values: the numbers.
        first: position of the first token they are of, where those of the last tokens were kept.
        positions: of each item's own tokens, where there is padding between or around them; None
            without padding, and for numbers that are not of tokens.
    """

    name: str
    values: Tensor
    first: int = 0
    positions: tuple[Int[Tensor, "_"], ...] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def of_item(self, item: int = 0) -> Tensor:
        """The numbers of one item; those of padding are left out."""
        if self.positions is None:
            return self.values[item]
        kept = self.positions[item] - self.first
        return self.values[item][kept[kept >= 0].to(self.values.device)]

    def missing(self, item: int = 0) -> int:
        """How many of an item's own tokens, from its first one on, have no numbers."""
        if self.positions is None:
            return self.first
        return int((self.positions[item] < self.first).sum())

    def row(self, place: int, item: int = 0) -> Tensor:
        """The numbers of one token.

        Args:
            place: among the item's own tokens; negative values count from its last one.
            item: index in the batch.

        Raises:
            ValueError: for a token that is not there, or whose numbers were not kept.
        """
        values, missing = self.of_item(item), self.missing(item)
        count = missing + len(values)
        if not -count <= place < count:
            raise ValueError(f"expected a position 0 to {count - 1}, received {place}")
        if place % count < missing:
            raise ValueError(f"logits were kept from token {missing} on, received {place % count}")
        return values[place % count - missing]

    def logits_of(self, place: int = -1, item: int = 0) -> Float[Tensor, " vocab"]:
        """The logits of the token at a position, or of an item's classes, in float32, with their
        graph.

        Raises:
            ValueError: for a network without logits, and a position out of range.
        """
        if self.name != "logits" or self.values.ndim not in (2, 3):
            raise ValueError(f"expected logits, received {self.name}")
        row = self.values[item] if self.values.ndim == 2 else self.row(place, item)
        return row.float()


class Sound(NamedTuple):
    """The recordings that a model heard.

    Attributes:
        seconds: their length, padding included.
        heard: by item, the seconds without padding.
        stride: seconds from one frame to the next, if the model states it.
    """

    seconds: float
    heard: tuple[float, ...] = ()
    stride: float | None = None

    def labels(self, frames: int) -> list[str]:
        """When each frame begins, such as "0.02 s"."""
        step = self.seconds / frames
        if self.stride is not None and round(self.seconds / self.stride) - frames in (0, 1, 2):
            step = self.stride  # convolutions without padding leave out the last frames
        digits = 2 if step >= 0.01 else 3
        return [f"{index * step:.{digits}f} s" for index in range(frames)]

    def frames_heard(self, frames: int, item: int = 0) -> int:
        """How many whole frames, of those that fill `seconds`, an item has without padding; all
        where that is not known."""
        heard = min(self.heard[item], self.seconds) if self.heard else self.seconds
        return int(round(frames * heard / self.seconds, 6))  # floats may fall just short of it


MAX_ANSWER = 2**28  # bytes; one answer larger than this is refused


SiteAxes = Mapping[Site, tuple[TokenAxis, TokenAxis]]


def where_of(
    layer: int | Site | Where | None,
    kind: str | None = None,
    tower: str | None = None,
    module: str | None = None,
    part: int | None = None,
) -> Where:
    """The address that a call gives: a number and fields, or an address and fields besides."""
    where = layer.where if isinstance(layer, Site) else layer
    if not (where is None or isinstance(where, Where) or hasattr(where, "__index__")):
        raise ValueError(f"layer: expected a number, a site or an address, received {layer!r}")
    where = where if isinstance(where, Where) else Where(where)
    given = {"kind": kind, "tower": tower, "module": module, "part": part}
    return replace(where, **{name: each for name, each in given.items() if each is not None})


@dataclass(frozen=True, eq=False, repr=False)
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
        box: the area of the picture that the patches cover: what the network reads of the pixels
            that it is given.
        notes: how input and positions were changed, for display.
        target_tokens: input of the decoder of an encoder–decoder, one entry per item.
        axes: rows and columns of sites that differ from the tokens above.
        hidden_states: by tower (None for a single one); empty unless requested.
        origin: the network and the input; it answers what is computed on request.
        answer: of a decoder that was given a prompt, the place of the first token that it wrote
            or was to write; None otherwise.
        image_tokens: by item, the tokens of the text that stand for pictures but have no places on
            them; () without any.
        sound: the recordings; None for other inputs.
        edits: of the pass.
        preprocessing: of the model's pictures; None for a model that reads none.
        aligning: layer and head of each cross-attention head that, as the checkpoint says, aligns
            what is written with the source, or with time.
    """

    model: str
    trained: bool
    tokens: tuple[Tokens, ...]
    sites: tuple[Site, ...]
    output: Output
    patterns: tuple[Pattern, ...]
    grid: tuple[int, int] | None = None
    prefix: int = 0
    box: Box = WHOLE
    notes: tuple[str, ...] = ()
    target_tokens: tuple[Tokens, ...] | None = None
    axes: SiteAxes = field(default_factory=dict)
    hidden_states: Mapping[str | None, HiddenStates] = field(default_factory=dict)
    origin: "OwnOrigin | PretrainedOrigin | None" = None
    answer: int | None = None
    image_tokens: tuple[tuple[int, ...], ...] = ()
    sound: Sound | None = None
    edits: tuple[Edit, ...] = ()
    preprocessing: "Preprocessing | None" = None
    aligning: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        items = "" if len(self.tokens) == 1 else f", {len(self.tokens)} items"
        shape = " × ".join(map(str, self.output.values.shape)) if len(self.output.values) else ""
        return (
            f"Trace({self.model!r}: {len(self.tokens[0])} tokens{items}, {len(self.sites)} sites,"
            f" {' '.join(filter(None, (self.output.name, shape)))})"
        )

    def _repr_html_(self) -> str:
        return shown_trace(self)

    @property
    def labels(self) -> list[str]:
        """The tokens of the first item, as text; of an encoder–decoder those of the source."""
        return list(self.tokens[0].labels)

    @property
    def logits(self) -> Tensor:
        """The logits: `batch token vocab`, or `batch class`.

        Raises:
            ValueError: for a network without logits; `output` has what it gives.
        """
        if self.output.name != "logits":
            raise ValueError(f"{self.model} gives no logits: its output is {self.output.name}")
        return self.output.values

    def site_axes(self, site: Site) -> tuple[TokenAxis, TokenAxis]:
        """The tokens along the rows and the columns of a site's weights."""
        if site in self.axes:
            return self.axes[site]
        grid = None if self.grid is None else PatchGrid(*self.grid, self.prefix, box=self.box)
        main = TokenAxis(self.tokens, grid=grid)
        if site.tower != "decoder" or self.target_tokens is None:
            return main, main
        target = TokenAxis(self.target_tokens)
        return target, main if site.kind == "cross" else target

    def queries(self, site: Site) -> tuple[Tokens, ...]:
        """Tokens along the rows of a site's weights, one entry per item."""
        return self.site_axes(site)[0].tokens

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        """Tokens along the columns of a site's weights, one entry per item."""
        return self.site_axes(site)[1].tokens

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        """Labels of the rows of a site's weights."""
        return list(self.queries(site)[self._checked(item, site)].labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        """Labels of the columns of a site's weights."""
        return list(self.keys(site)[self._checked(item, site)].labels)

    def query_grid(self, site: Site) -> PatchGrid | None:
        """Where the patches lie among the rows of a site's weights; None if they are none."""
        return self.site_axes(site)[0].grid

    def key_grid(self, site: Site) -> PatchGrid | None:
        """Where the patches lie among the columns of a site's weights; None if they are none."""
        return self.site_axes(site)[1].grid

    def query_pictures(self, site: Site, item: int = 0) -> tuple[PictureGrid, ...]:
        """Where the rows of a site's weights lie on pictures; () where none do."""
        return self.site_axes(site)[0].grids(item)

    def key_pictures(self, site: Site, item: int = 0) -> tuple[PictureGrid, ...]:
        """Where the columns of a site's weights lie on pictures; () where none do."""
        return self.site_axes(site)[1].grids(item)

    def positions(
        self, site: Site, item: int = 0
    ) -> tuple[Int[Tensor, " query"], Int[Tensor, " key"]]:
        """Where an item's queries and keys lie in a site's pattern, which includes padding."""
        rows, keys = self.site_axes(site)
        return rows.positions_of(self._checked(item, site)), keys.positions_of(item)

    def site(
        self,
        layer: int | Site | Where,
        kind: str | None = None,
        tower: str | None = None,
        *,
        part: int | None = None,
        module: str | None = None,
    ) -> Site:
        """The site of a layer; −1 is the last.

        Raises:
            ValueError: if there is none, or more than one and nothing else to choose by.
        """
        return self.sites[self._index(where_of(layer, kind, tower, module, part))]

    def pattern(self, layer: int | Site | Where) -> Pattern:
        """The recipe of a layer's weights, for its whole batch, padding included."""
        return self.patterns[self._index(where_of(layer))]

    def weights(
        self,
        layer: int | Site | Where,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        part: int | None = None,
        rows: int | Rows = None,
        item: int = 0,
        module: str | None = None,
    ) -> Float[Tensor, "*head query key"]:
        """Attention weights of one item, padding removed.

        Args:
            layer: which layer, −1 is the last; one of `sites`; or a `Where`.
            head: one head, whose axis is dropped; None for all; −1 is the last.
            kind: "self", "causal" or "cross"; None if the layer has only one.
            tower: which part of a model with several; None if that much is clear.
            part: which run of a tower that runs several times in one pass; None: the only one.
            rows: which queries (one position, counted from the end if negative, a slice or
                positions); None for all.
            item: which item of the layer's own batch.
            module: path of the attention module, as `Site.module`; None if that much is clear.

        Returns:
            `head query key` or `query key`, float32. Rows sum to 1.

        Raises:
            ValueError: for a layer, head, row or item that is not there, and for an answer of
                more than 256 MiB.
        """
        where = where_of(layer, kind, tower, module, part)
        return self._read("weights", where, head, rows, item)

    def effective_weights(
        self, site: Site, head: int | None = None, *, rows: int | Rows = None, item: int = 0
    ) -> Float[Tensor, "*head query key"]:
        """The weights by which the values of this pass were summed: see `Pattern`.

        They differ from `weights` where an edit changed the values; a row need not sum to 1.
        Arguments as for `weights`.
        """
        return self._read("effective_weights", site.where, head, rows, item)

    def blocks(
        self,
        site: Site,
        *,
        head: int | None = None,
        rows: range | None = None,
        item: int = 0,
    ) -> Iterator[Block]:
        """Every weight of a site once, in blocks that stay in the processor's cache.

        Args:
            site: one of `sites`.
            head: one head; None for all.
            rows: consecutive queries; None for all.
            item: which item of the layer's own batch; its padding is removed.
        """
        pattern = self.pattern(site)
        rows = range(len(self.queries(site)[self._checked(item, site)])) if rows is None else rows
        keys = len(self.keys(site)[item])
        if all(axis.leads(item) for axis in self.site_axes(site)):
            yield from pattern.blocks(head=head, rows=rows, keys=keys, item=item)
            return

        def read(heads: slice, some: slice) -> Block:
            chosen = range(heads.start, heads.stop)
            weights = [self.weights(site, each, rows=some, item=item) for each in chosen]
            return Block(heads, some, slice(0, keys), torch.stack(weights))

        heads = range(pattern.heads)[index_slice(head, pattern.heads, "head")]
        yield from read_blocks(read, heads, rows, keys)

    def sink_weights(self, site: Site, item: int = 0) -> Float[Tensor, "head query"] | None:
        """The weight of each query on the sink of its softmax, without which its row does not sum
        to 1; None without a sink."""
        sink = self.pattern(site).sink_weights(item)
        return None if sink is None else sink[:, self.positions(site, item)[0].to(sink.device)]

    def visible(
        self, site: Site, rows: Int[Tensor, " row"], *, item: int = 0
    ) -> Bool[Tensor, "#head row key"]:
        """Which of an item's keys some of its queries may attend to, by the mask of the pass.

        One row for all heads where the mask is the same for them; padding is removed.
        """
        pattern = self.pattern(site)
        places, columns = self.positions(site, item)
        picked, device = places[rows], pattern.device
        seen = pattern.mask.visible(picked.to(device), pattern.keys, range(pattern.heads))
        if seen is None:
            return torch.ones(1, len(picked), len(columns), dtype=torch.bool, device=device)
        allowed = seen[item if len(seen) > 1 else 0].expand(-1, len(picked), pattern.keys)
        return allowed[..., columns.to(device)]

    def scores(
        self,
        layer: int | Site | Where,
        head: int | None = None,
        *,
        kind: str | None = None,
        rows: int | Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """Scores before the softmax, −∞ at masked keys; a `Where` chooses one of several towers."""
        return self._read("scores", where_of(layer, kind), head, rows, item)

    def gradient(
        self,
        layer: int | Site | Where,
        head: int | None = None,
        *,
        kind: str | None = None,
        rows: int | Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """Gradient of the scalar of `trace(..., gradient=...)` with respect to the weights."""
        return self._read("gradient", where_of(layer, kind), head, rows, item)

    def hidden(
        self, layer: int | None, item: int = 0, *, tower: str | None = None
    ) -> Float[Tensor, "token dim"]:
        """The hidden states that leave a layer, before any final norm; 0 is the embedding.

        Args:
            layer: which layer; None reads what leaves the last one after the final norm, if any.
            item: which item of the batch.
            tower: which part of a model with several; None if it has only one.

        Raises:
            ValueError: if they were not asked for, the network does not give them, or there is no
                such layer, item or tower.
        """
        return self._hidden_states(tower).read(layer, self._checked(item))

    def final(self, item: int = 0, *, tower: str | None = None) -> Float[Tensor, "token dim"]:
        """The last hidden states after the final norm; see `hidden`."""
        return self.hidden(None, item, tower=tower)

    def hidden_gradient(
        self, layer: int | None, item: int = 0, *, tower: str | None = None
    ) -> Float[Tensor, "token dim"]:
        """Gradient of the scalar of `trace(..., hidden=True, gradient=...)` with respect to what
        `hidden` gives, with its arguments."""
        states = self._hidden_states(tower)
        gradient = states.read_gradient(layer, self._checked(item))
        if gradient is None:
            raise ValueError(
                "no gradient of this layer recorded: request it with"
                " trace(..., hidden=True, gradient=...)"
            )
        return gradient.to(states.read(layer, item).dtype)

    def _hidden_states(self, tower: str | None) -> HiddenStates:
        if not self.hidden_states:
            raise ValueError("no hidden states recorded: request them with trace(..., hidden=True)")
        if tower not in self.hidden_states:
            raise ValueError(
                f"tower: expected one of {list(self.hidden_states)}, received {tower!r}"
            )
        return self.hidden_states[tower]

    def projections(self, layer: int | Site | Where) -> Projections:
        """The linear maps of a layer: what its queries, keys, values and output are made with.

        Args:
            layer: which layer, −1 is the last; one of `sites`; or a `Where`.

        Raises:
            ValueError: if there is no such layer, or its queries, keys, values or output are no
                linear map: the message names the module.
        """
        return self._origin().projections(self.site(layer))

    def stream(
        self, layer: int | Site | Where | None, tokens: Sequence[int], *, item: int = 0
    ) -> Stream:
        """The residual stream of some tokens where a layer reads it, component by component.

        It takes another pass of the network.

        Args:
            layer: which layer, −1 is the last; one of `sites`; a `Where`; or None: as the stream
                leaves the last block, of tokens of the output.
            tokens: which of the item's own tokens.
            item: index in the batch.

        Raises:
            ValueError: for a layer or token that is not there, for cross-attention, and where the
                components of the stream cannot be told.
        """
        to_end = layer is None
        site = self.sites[-1] if layer is None else self.site(layer)
        if site.kind == "cross" and not to_end:
            raise ValueError(f"layer {site.layer}: its queries and keys are of different streams")
        places = self._written(site, site.layer + to_end, tokens, item)
        return self._origin().stream(site, item, places, to_end=to_end)

    def _written(
        self, site: Site, layer: int, tokens: Sequence[int], item: int
    ) -> Int[Tensor, " token"]:
        """Where some tokens lie on a site's rows, if this pass wrote all of their streams."""
        rows, _ = self.positions(site, item)
        chosen = positions(tokens, len(rows))
        for edit in (each for each in self.edits if getattr(each, "acts_on", "") == "states"):
            where, token = getattr(edit, "where", Where()), getattr(edit, "token", None)
            patched = chosen if token is None else torch.as_tensor(token)
            behind = where.layer is None or 0 < where.layer <= layer  # 0 is the embedding
            if behind and where.tower in (None, site.tower) and torch.isin(chosen, patched).any():
                raise ValueError(f"{edit} replaces a state: it is no sum of what this pass wrote")
        return rows[chosen]

    def readout(self) -> Readout:
        """What turns hidden states into logits: one norm at most, and a linear map.

        Raises:
            ValueError: for a network without logits of tokens, and one with more than that between
                them and its last block: the message names the module.
        """
        return self._origin().readout()

    def differentiable_states(self) -> tuple[Float[Tensor, "batch token dim"], ...]:
        """The hidden states of the output's tower, padding included, with their graph.

        It takes another pass of the network, of which the graph keeps every activation.

        Raises:
            ValueError: for a network that gives none.
        """
        return self._origin().differentiable_states(self.sites[-1].tower)

    def _origin(self) -> "OwnOrigin | PretrainedOrigin":
        if self.origin is None:
            raise ValueError("this trace was made without its network, which has to be asked")
        return self.origin

    def empty_rows(self) -> int:
        """Number of rows of real tokens, over all sites and heads, whose keys are all masked."""
        return sum(
            pattern.empty_rows(self.site_axes(site)[0].padding(site.queries))
            for site, pattern in zip(self.sites, self.patterns, strict=True)
        )

    def _read(
        self, what: str, where: Where, head: int | None, rows: int | Rows, item: int
    ) -> Float[Tensor, "*head query key"]:
        """What a pattern gives between an item's own tokens; checks the size of the answer."""
        index = self._index(where)
        site, pattern = self.sites[index], self.patterns[index]
        own_rows, own_keys = self.positions(site, item)
        if isinstance(rows, int):
            rows = [rows + len(own_rows) if -len(own_rows) <= rows < 0 else rows]
        picked = positions(rows, len(own_rows))
        heads = pattern.heads
        if head is not None and not -heads <= head < heads:
            raise ValueError(f"head: expected 0 to {heads - 1}, received {head}")
        size = 4 * (heads if head is None else 1) * len(picked) * pattern.keys
        if size > MAX_ANSWER:
            raise ValueError(
                f"the answer would take {size / 2**20:.0f} MiB (at most {MAX_ANSWER / 2**20:.0f}):"
                " choose a head, or fewer rows with rows="
            )
        head = None if head is None else head % heads
        read = getattr(pattern, what)(head, own_rows[picked], item=item).detach()
        keys = self.site_axes(site)[1]
        whole = keys.leads(item)
        return read[..., : len(own_keys)] if whole else read[..., own_keys.to(read.device)]

    def address(self, site: Site) -> Where:
        """The least that chooses a site: its layer, and what tells it from others there."""
        return short(self._addresses, site.where)

    def _index(self, where: Where) -> int:
        return choose(self._addresses, where)

    @cached_property
    def _addresses(self) -> tuple[Where, ...]:
        return tuple(site.where for site in self.sites)

    def _checked(self, item: int, site: Site | None = None) -> int:
        count = len(self.tokens if site is None else self.queries(site))
        if not 0 <= item < count:
            raise ValueError(f"item: expected 0 to {count - 1}, received {item}")
        return item


def grid_fields(grid: PatchGrid | None) -> dict[str, Any]:
    """The fields of a trace that say where its patches lie."""
    return {} if grid is None else {"grid": grid[:2], "prefix": grid.prefix, "box": grid.box}
