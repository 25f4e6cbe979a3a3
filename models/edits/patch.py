"""`Patch`: activations of another pass put in the place of this one's.

Source: Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation
Analysis"; Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Edit, Pattern
from models.attention.functional import edited_values
from models.edits.fields import (
    Layered,
    Numbers,
    checked,
    choice,
    chosen,
    edit,
    heads_of,
    numbers,
    place,
    some,
)
from models.edits.routing import ATTENTION, STATES
from models.edits.tokens import Padding, own_keys, own_queries, own_tokens
from models.request import TraceRequest
from models.trace import Site, Trace
from models.where import Where, choose

What = Literal["hidden", "q", "k", "v", "head"]
WHATS = ("hidden", "q", "k", "v", "head")
NAMES = {"q": "queries", "k": "keys", "v": "values", "head": "values after attention"}
Rows = Int[Tensor, " _"]


@edit
class Patch(Layered):
    """Puts activations of another pass of the same network in the place of this one's.

    Attributes:
        layer: which layer. Of "hidden" it counts as `Trace.hidden`: 0 is the embedding, and the
            state that leaves the last layer is the one before any final norm.
        what: "hidden", the residual stream; "q", "k" or "v", as attention reads them: rotated by
            the position of their own token; "head", the values of heads before the output
            projection.
        source: the other pass; for "hidden" it holds hidden states. In a `TraceRequest` it may be
            another request, which `models.tracing.run` traces first.
        token: which tokens; None for all, of which the other pass has as many.
        source_token: whose activations they get; None means the same, and one may serve several.
        head: which heads, for "k" and "v" of those that keys and values have; None for all.
    """

    layer: int | None
    what: What
    source: Trace | TraceRequest
    token: Numbers = None
    source_token: Numbers = None
    head: Numbers = None

    def __post_init__(self) -> None:
        choice("what", self.what, WHATS)
        checked(self, numbers, "token", "source_token", "head")
        if self.what == "hidden":
            self._check_state()
        if self.source_token is not None and self.token is None:
            raise ValueError("source_token: expected one with a token alone")
        several = [len(each) for each in (self.token, self.source_token) if isinstance(each, tuple)]
        if len(several) == 2 and several[0] != several[1]:
            raise ValueError(f"source_token: expected {several[0]} tokens, received {several[1]}")

    def _check_state(self) -> None:
        where = self.where
        if where.layer is None or (where.kind, where.module, where.part) != (None, None, None):
            raise ValueError("hidden: expected a layer, and a tower at most")
        if self.head is not None:
            raise ValueError("head: a hidden state has none")
        if isinstance(self.source, TraceRequest):
            return
        try:
            self.source.hidden(where.layer, tower=where.tower)
        except ValueError as error:
            raise ValueError(f"source: {error}") from error

    @property
    def other(self) -> Trace:
        """The other pass.

        Raises:
            ValueError: if it has not been traced.
        """
        if isinstance(self.source, TraceRequest):
            raise ValueError("source: expected a trace, received a request of one")
        return self.source

    @property
    def reads_all_tokens(self) -> bool:
        """Whether it depends on all tokens of an item."""
        return self.token is None

    @property
    def acts_on(self) -> str:
        """Whether attention is changed, or a state between blocks."""
        return STATES if self.what == "hidden" else ATTENTION

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        theirs = self.token if self.source_token is None else self.source_token
        who, whose = some(self.token, "token"), some(theirs, "token")
        if self.what == "hidden":
            tower = f" ({self.where.tower})" if self.where.tower else ""
            here = f"Hidden state {self.where.layer}{tower}"
            return f"{here}: {who} gets that of {whose} of another input."
        noun = "key head" if self.what in ("k", "v") else "head"
        here, name = place(self.where, self.head, heads=noun), NAMES[self.what]
        return f"{here}: {name} of {who} become those of {whose} of another input."

    def bound(self, site: Where) -> Edit:
        """The patch of one site."""
        kinds = {"hidden": PatchedState, "head": PatchedValues}
        return kinds.get(self.what, PatchedRecipe)(self, site, self.where)

    def source_site(self, site: Where) -> Site:
        """The site of the other pass that stands for one of this.

        Raises:
            ValueError: if there is none.
        """
        every = [each.where for each in self.other.sites]
        alike = [
            index for index, each in enumerate(every) if replace(each, module=site.module) == site
        ]
        try:
            return self.other.sites[alike[0] if len(alike) == 1 else choose(every, site)]
        except ValueError as error:
            raise ValueError(f"{self}: source: {error}") from error

    def put(
        self,
        mine: Float[Tensor, "batch *head token dim"],
        positions: Callable[[int], Rows],
        theirs: Callable[[int], Float[Tensor, "*head other dim"]],
    ) -> Float[Tensor, "batch *head token dim"]:
        """This pass's rows, those of some tokens and heads replaced by the other's.

        Args:
            mine: of this pass, padding included.
            positions: of an item's own tokens.
            theirs: of the other pass, for an item of this: its own tokens.
        """
        edited = mine.clone()
        for item in range(len(edited)):
            x, rows, at = edited[item], theirs(item), positions(item)
            if (*x.shape[:-2], x.shape[-1]) != (*rows.shape[:-2], rows.shape[-1]):
                raise ValueError(
                    f"{self}: expected a source of the same network, received"
                    f" {tuple(rows.shape)} for {tuple(x.shape)}"
                )
            if self.token is None and len(at) != rows.shape[-2]:
                raise ValueError(
                    f"{self}: expected a source of {len(at)} tokens, received"
                    f" {rows.shape[-2]}: choose a token, and the source's"
                )
            whose = self.token if self.source_token is None else self.source_token
            at = at[_chosen(self.token, len(at), "token", at)]
            rows = rows[..., _chosen(whose, rows.shape[-2], "source_token", rows), :].to(x)
            if x.ndim == 2:
                x[at] = rows
            else:
                heads = _chosen(self.head, len(x), "head", x)
                x[heads[:, None], at] = rows[heads.to(rows.device)]
        return edited

    def item_of(self, item: int, items: int) -> int:
        """The item of the other pass for one of this: the only one, or that of the same number."""
        if items > 1 and item >= items:
            raise ValueError(f"{self}: expected a source of {item + 1} items, received {items}")
        return item if items > 1 else 0

    def theirs(
        self, site: Where, read: Callable[[Pattern], Tensor], axis: int
    ) -> Callable[[int], Float[Tensor, "head other dim"]]:
        """What the other pass has at a site, for an item of this: of its queries, or its keys."""
        other = self.source_site(site)
        every = read(self.other.pattern(other)).detach()

        def of(item: int) -> Tensor:
            number = self.item_of(item, len(every))
            return every[number][:, self.other.positions(other, number)[axis].to(every.device)]

        return of


def _chosen(wanted: Numbers, count: int, name: str, like: Tensor) -> Int[Tensor, " _"]:
    indices = chosen(wanted, count, name)
    return torch.tensor([*range(count)] if indices is None else indices, device=like.device).long()


@dataclass(frozen=True, eq=False, repr=False)
class _Bound:
    """A patch at one site."""

    patch: Patch
    site: Where
    where: Where

    def __repr__(self) -> str:
        return repr(self.patch)


@dataclass(frozen=True, eq=False, repr=False)
class PatchedState(_Bound):
    """A patch of hidden states."""

    acts_on = STATES

    def bound(self, site: Where) -> "PatchedState":
        """Itself: the place in the whole network is known."""
        return self

    def edit_state(
        self, state: Float[Tensor, "batch token dim"], padding: Padding
    ) -> Float[Tensor, "batch token dim"]:
        source, where = self.patch.other, self.patch.where
        items = len(source.hidden_states[where.tower].axes[where.layer or 0].tokens)

        def theirs(item: int) -> Tensor:
            number = self.patch.item_of(item, items)
            return source.hidden(where.layer or 0, number, tower=where.tower)

        def positions(item: int) -> Rows:
            return own_tokens(padding, item, state.shape[1], state.device)

        return self.patch.put(state, positions, theirs)


@dataclass(frozen=True, eq=False, repr=False)
class PatchedRecipe(_Bound):
    """A patch of queries, keys or values."""

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        name = self.patch.what
        rows, axis = (own_queries, 0) if name == "q" else (own_keys, 1)
        theirs = self.patch.theirs(self.site, attrgetter(name), axis)
        edited = self.patch.put(getattr(pattern, name), partial(rows, pattern), theirs)
        return replace(pattern, **{name: edited})


@dataclass(frozen=True, eq=False, repr=False)
class PatchedValues(_Bound):
    """A patch of what leaves the attention of heads."""

    def edit_values(
        self, values: Float[Tensor, "batch head query dim"], pattern: Pattern
    ) -> Float[Tensor, "batch head query dim"]:
        theirs = self.patch.theirs(self.site, edited_values, 0)
        return self.patch.put(values, partial(own_queries, pattern), theirs)

    def edit_rows(
        self,
        rows: Float[Tensor, "head query dim"],
        heads: Sequence[int],
        pattern: Pattern,
        item: int,
    ) -> Float[Tensor, "head query dim"]:
        """The rows of heads that are not patched.

        Raises:
            ValueError: for a patched head, whose values are no sum of this pass's.
        """
        if {*heads} & {*heads_of(self.patch.head, pattern.heads)}:
            raise ValueError(f"{self} changes values: they are those of another input")
        return rows
