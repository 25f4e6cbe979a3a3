"""Which edits apply where: to an attention layer, a feed-forward network, a hidden state.

What an edit acts on is its `acts_on`; without one it acts on attention. An edit that has to know
its site (another trace holds what it puts there, or it draws at random) is bound to it first.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from models.attention import Edit
from models.attention.edit_protocols import MlpEdit, PixelsEdit, Sited, StateEdit
from models.edits.fields import assign
from models.edits.tokens import Padding
from models.where import Where, matching

ATTENTION, MLP, STATES, INPUT = "attention", "mlp", "states", "input"
BLOCK_EDITS = (ATTENTION, MLP, STATES)  # what a network of ours, built of blocks, can edit
REFUSED = {
    MLP: "this network has no feed-forward network",
    STATES: "this network has no states between blocks",
    INPUT: "it changes the input, before the network runs: give it to trace",
}


def reads_all_tokens(edits: Iterable[Any]) -> bool:
    """Whether what some edits do to a token depends on all tokens of an item, later ones too.

    One that does not say so is taken to.
    """
    return any(getattr(edit, "reads_all_tokens", True) for edit in edits)


def acts_on(edit: Any) -> str:
    """What an edit changes."""
    return getattr(edit, "acts_on", ATTENTION)


def as_edits(edits: Any) -> list[Edit]:
    """A list of one edit, or of several in order.

    Raises:
        ValueError: for an object that is not an edit.
    """
    several = [*edits] if isinstance(edits, Sequence) else [edits]
    for each in several:
        if isinstance(each, type) or not isinstance(each, Edit):
            raise ValueError(f"edits: expected edits such as Ablate(1, 2), received {each!r}")
    return several


def of_input(edits: Iterable[Edit]) -> list[PixelsEdit]:
    """The edits that are made before the network runs."""
    return [edit for edit in edits if isinstance(edit, PixelsEdit)]


def of_network(edits: Iterable[Edit]) -> list[Edit]:
    """The edits that the network makes."""
    return [edit for edit in edits if not isinstance(edit, PixelsEdit)]


def at(edits: Iterable[Edit], where: Where) -> tuple[Edit, ...]:
    """The edits of attention and MLP that apply to one attention layer, given its full address."""
    mine = (edit for edit in edits if acts_on(edit) in (ATTENTION, MLP))
    return tuple(_bound(edit, where) for edit in mine if address_of(edit).includes(where))


def check(edits: Iterable[Edit], sites: Sequence[Where], can: Sequence[str] = (ATTENTION,)) -> None:
    """Raises ValueError for an edit that applies nowhere.

    Args:
        edits: of a pass.
        sites: the attention layers of the network.
        can: what the network can edit.
    """
    for edit in edits:
        if acts_on(edit) not in can:
            raise ValueError(f"{edit}: {REFUSED[acts_on(edit)]}")
        try:
            matching(_places(edit, sites), address_of(edit))
        except ValueError as error:
            raise ValueError(f"{edit}: {error}") from error


def in_tower(edits: Iterable[Edit], sites: Sequence[Where]) -> list[Edit]:
    """The edits that apply to a tower, for the network that the tower is.

    Args:
        edits: of the whole network.
        sites: the tower's attention layers, by their addresses in the whole network.
    """
    return [
        moved(_bound(edit, place), Where(place.layer))
        for edit in edits
        for place in _places(edit, sites)
        if address_of(edit).includes(place)
    ]


def edited_mlp(
    added: Float[Tensor, "batch token dim"], edits: Iterable[Edit], padding: Padding = None
) -> Float[Tensor, "batch token dim"]:
    """What a feed-forward network adds, edited; True in `padding` at tokens that are none."""
    for edit in edits:
        if isinstance(edit, MlpEdit):
            added = edit.edit_mlp(added, padding)
    return added


def edited_state(
    state: Float[Tensor, "batch token dim"],
    edits: Iterable[Edit],
    where: Where,
    padding: Padding = None,
) -> Float[Tensor, "batch token dim"]:
    """The hidden states of one layer and tower, edited; layer 0 is the embedding."""
    mine = (edit for edit in edits if acts_on(edit) == STATES and address_of(edit).includes(where))
    for edit in mine:
        bound = _bound(edit, where)
        if isinstance(bound, StateEdit):
            state = bound.edit_state(state, padding)
    return state


def address_of(edit: Edit) -> Where:
    """Where an edit applies; one without an address acts on all layers."""
    return getattr(edit, "where", Where())


def moved(edit: Edit, where: Where) -> Edit:
    """The same edit at another address."""
    copied = copy(edit)
    assign(copied, where=where)
    return copied


def _bound(edit: Edit, site: Where) -> Edit:
    return edit.bound(site) if isinstance(edit, Sited) else edit


def _places(edit: Edit, sites: Sequence[Where]) -> Sequence[Where]:
    """Where an edit can apply: attention layers, or their towers, blocks or hidden states."""
    kind = acts_on(edit)
    if kind == ATTENTION:
        return sites
    blocks = dict.fromkeys(Where(site.layer, tower=site.tower) for site in sites)
    if kind != STATES:
        return [*blocks]
    last = {place.tower: place for place in blocks}
    ends = [replace(place, layer=(place.layer or 0) + 1) for place in last.values()]
    return [*blocks, *ends]
