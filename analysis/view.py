"""`View`: a trace as it is shown, with the interface of `Trace`.

By whole words, and of an encoder–decoder with the joint map of each layer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.overview import blocks_from_rows
from analysis.words import Group, joined, joined_tokens, words_of
from models.attention import Block, Pattern
from models.attention.pattern import positions
from models.trace import Output, Rows, Site, Tokens, Trace, Where, choose, short, where_of

JOINT = "joint"  # kind of the sites that put three together


@dataclass(frozen=True, eq=False)
class Read:
    """A text grouped by a view: the tokens of each group, and the groups as tokens."""

    groups: tuple[Group, ...]
    tokens: Tokens


class JointParts(NamedTuple):
    """The sites that a joint map is put together from: self-attention of the source, attention from
    the target to the source, causal attention of the target."""

    encoder: Site
    cross: Site
    decoder: Site


@dataclass(frozen=True, eq=False)
class View:
    """A trace of the first item of the batch, with its tokens grouped.

    An encoder–decoder also has a site of kind "joint" in each layer in which encoder and decoder
    have equally many heads: head h of the encoder's self-attention, of the cross-attention and of
    the decoder's causal attention in one matrix. Rows and columns are the source's tokens, then the
    target's; source → target is zero. Rows of the source sum to 1, those of the target to 2: they
    hold two softmaxes. Source: the "All" view of tensor2tensor's visualisation.

    Attributes:
        trace: the underlying trace.
        words: whether to join the tokens of each word: keys are summed, queries averaged.
    """

    trace: Trace
    words: bool = True

    @property
    def model(self) -> str:
        return self.trace.model

    @property
    def trained(self) -> bool:
        return self.trace.trained

    @property
    def note(self) -> str:
        """How the weights of a head were grouped, for captions."""
        return "whole words" if self.words else ""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns over single tokens, of the sites of the trace."""
        return self.trace.patterns

    @property
    def output(self) -> Output:
        return self.trace.output

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The sites of the trace, then the joint ones."""
        return tuple(
            replace(site, queries=len(rows.groups), keys=len(columns.groups))
            for site, rows, columns in self._sides.values()
        )

    @property
    def labels(self) -> list[str]:
        return list(self._read(self.trace.tokens[0]).tokens.labels)

    def queries(self, site: Site) -> tuple[Tokens, ...]:
        """Labels of the rows of a site's weights."""
        return (self._side(site)[1].tokens,)

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        """Labels of the columns of a site's weights."""
        return (self._side(site)[2].tokens,)

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.queries(site)[_first(item)].labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.keys(site)[_first(item)].labels)

    def weights(
        self,
        layer: int | Site | Where,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        part: int | None = None,
        rows: Rows = None,
        item: int = 0,
        module: str | None = None,
    ) -> Float[Tensor, "*head query key"]:
        """As `Trace.weights`, between words; `rows` are words as well."""
        _first(item)
        site = self.site(layer, kind, tower, part=part, module=module)
        if site.kind == JOINT:
            return self._joint_weights(site, head, rows)
        chosen = _chosen(self.origins(site, "out"), rows)
        weights = self.trace.weights(site, head, rows=_places(chosen))
        return joined(weights, _in_order(chosen), self.origins(site, "in"))

    def sink_weights(self, site: Site, item: int = 0) -> Float[Tensor, "head query"] | None:
        """As `Trace.sink_weights`, of the rows shown here; None for joint ones."""
        _first(item)
        whole_site, rows, _ = self._side(site)
        sink = None if site.kind == JOINT else self.trace.sink_weights(whole_site)
        return None if sink is None else joined(sink[..., None], rows.groups, [(0,)])[..., 0]

    def grouped(
        self, weights: Float[Tensor, "*head query key"], site: Site
    ) -> Float[Tensor, "*head word other"]:
        """Numbers between the tokens of a site, grouped as its weights are."""
        return joined(weights, self.origins(site, "out"), self.origins(site, "in"))

    def blocks(
        self,
        site: Site,
        *,
        head: int | None = None,
        rows: range | None = None,
        item: int = 0,
    ) -> Iterator[Block]:
        """As `Trace.blocks`, of the weights shown here."""
        _first(item)
        if not self.words and site.kind != JOINT:
            yield from self.trace.blocks(self._side(site)[0], head=head, rows=rows)
        else:
            yield from blocks_from_rows(self, site, head, rows)

    def visible(
        self, site: Site, rows: Int[Tensor, " row"], *, item: int = 0
    ) -> Bool[Tensor, "#head row key"]:
        """As `Trace.visible`: a row sees a column if any of its tokens sees any of that one's."""
        _first(item)
        trace_site, queries, keys = self._side(site)
        chosen = _chosen(queries.groups, rows)
        seen = self.trace.visible(trace_site, torch.tensor(_places(chosen), dtype=torch.long))
        return joined(seen.float(), _in_order(chosen), keys.groups) > 0

    def site(
        self,
        layer: int | Site | Where,
        kind: str | None = None,
        tower: str | None = None,
        *,
        part: int | None = None,
        module: str | None = None,
    ) -> Site:
        """As `Trace.site`; a joint site is chosen by its kind."""
        where = where_of(layer, kind, tower, module, part)
        return self.sites[choose([*self._sides], where)]

    def address(self, site: Site) -> Where:
        """As `Trace.address`."""
        return short(self._sides, site.where)

    def joint_parts(self, site: Site) -> JointParts:
        """What a joint site is put together from."""
        return self._joint_parts[site.layer]

    def origins(self, site: Site, direction: str) -> tuple[Group, ...]:
        """The tokens of each of a site's rows ("out") or columns ("in")."""
        _, rows, columns = self._side(site)
        return (rows if direction == "out" else columns).groups

    def _joint_weights(
        self, site: Site, head: int | None, rows: Rows
    ) -> Float[Tensor, "*head query key"]:
        parts = self.joint_parts(site)
        split = len(self.queries(parts.encoder)[0])
        chosen = positions(rows, len(self.queries(site)[0]))
        of_source = chosen < split
        heads = () if head is not None else (site.heads,)
        weights = torch.zeros(*heads, len(chosen), len(self.keys(site)[0]))
        source, target = (of_source, chosen[of_source]), (~of_source, chosen[~of_source] - split)
        keys = slice(split), slice(split), slice(split, None)
        for part, columns, (at, mine) in zip(parts, keys, (source, target, target), strict=True):
            if len(mine):
                weights[..., at, columns] = self.weights(part, head, rows=mine).to(weights.device)
        return weights

    def _side(self, site: Site) -> tuple[Site, Read, Read]:
        return self._sides[site.where]

    @cached_property
    def _joint_parts(self) -> dict[int, JointParts]:
        return joint_layers(self.trace)

    @cached_property
    def _sides(self) -> dict[Where, tuple[Site, Read, Read]]:
        """Each site with its grouped rows and columns; each text is grouped once."""
        trace = self.trace
        both = [(site, trace.queries(site)[0], trace.keys(site)[0]) for site in trace.sites]
        read = {id(text): self._read(text) for _, *texts in both for text in texts}
        sides = {
            site.where: (site, read[id(rows)], read[id(columns)]) for site, rows, columns in both
        }
        both_texts = None
        for layer, parts in self._joint_parts.items():
            source, target = sides[parts.encoder.where][1], sides[parts.decoder.where][1]
            count = len(trace.queries(parts.encoder)[0])
            both_texts = both_texts or _followed_by(source, target, count)
            whole = count + len(trace.queries(parts.decoder)[0])
            site = Site(layer, JOINT, parts.encoder.heads, whole, whole)
            sides[site.where] = site, both_texts, both_texts
        return sides

    def _read(self, tokens: Tokens) -> Read:
        alone = tuple((place,) for place in range(len(tokens)))
        groups = words_of(tokens) if self.words else alone
        return Read(groups, joined_tokens(tokens, groups))


def joint_layers(trace: Trace) -> dict[int, JointParts]:
    """The layers of which a view has a joint map."""
    layers = {}
    towers = (("encoder", "self"), ("decoder", "cross"), ("decoder", "causal"))
    for layer in sorted({site.layer for site in trace.sites}):
        sites = [site for site in trace.sites if site.layer == layer]
        parts = [s for asked in towers for s in sites if (s.tower, s.kind) == asked]
        if [(s.tower, s.kind) for s in parts] != [*towers] or len({s.heads for s in parts}) > 1:
            continue
        encoder, cross, decoder = parts
        source, target = trace.queries(encoder)[0], trace.queries(decoder)[0]
        if trace.keys(cross)[0] == source and trace.queries(cross)[0] == target:
            layers[layer] = JointParts(encoder, cross, decoder)
    return layers


def _followed_by(source: Read, target: Read, count: int) -> Read:
    """The groups of a source of `count` tokens, then its target's, as one text of two segments."""
    groups = tuple(tuple(place + count for place in group) for group in target.groups)
    segments = (0,) * len(source.tokens) + (1,) * len(target.tokens)
    both = replace(source.tokens + target.tokens, segments=segments)
    return Read(source.groups + groups, both)


def _first(item: int) -> int:
    if item:
        raise ValueError(f"item: a view is of the first item, received {item}")
    return item


def _chosen(groups: Sequence[Group], rows: Rows) -> Sequence[Group]:
    if rows is None:
        return groups
    if isinstance(rows, slice):
        return groups[rows]
    return [groups[int(row)] for row in rows]


def _places(groups: Sequence[Group]) -> list[int]:
    return [place for group in groups for place in group]


def _in_order(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups as consecutive positions among their own tokens."""
    numbers = iter(range(sum(map(len, groups))))
    return tuple(tuple(next(numbers) for _ in group) for group in groups)
