"""What can be chosen in an attention view: its options, each declared once, and what a form is.

Links, the API, the shell, exports and the browser (`viz.declared`) read these lists. Without torch:
pages read them before anything is computed.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from analysis.methods import NAMES
from viz.values import AREA, FLAG, KEYS, SPAN, TEXT, Kind, whole, wholes, words

# ---- forms


@dataclass(frozen=True)
class Form:
    """One form of a view.

    Attributes:
        name: in links, requests, files and the shell.
        label: of its button or entry in a menu.
        title: what it shows, in one sentence without a full stop.
        place: among the others, in menus.
        options: names of the options that act on it.
        of_weights: whether its numbers are weights of heads, "head query key".
        grouped: whether its numbers are grouped as the weights of the view are.
        covers: whether it shows "heads" of a layer, all "layers" together, or "every" head.
        runs: whether its numbers need further passes of the model.
        chooses: what a view chooses to show it, where that is not its form.
        module: the folder of viz/views whose component of the same name, in camel case, draws it;
            or a module of viz/web/text/ whose function makes the panel; "" for what is drawn
            elsewhere.
        texts: whether it is of texts.
        pictured: whether it is of the patches of pictures.
        answers: whether it is of pictures beside a text.
        heard: whether it is of recordings.
    """

    name: str
    label: str
    title: str
    place: int
    options: tuple[str, ...] = ()
    of_weights: bool = False
    grouped: bool = True
    covers: Literal["heads", "layers", "every"] = "heads"
    runs: bool = False
    chooses: tuple[tuple[str, str], ...] | None = None
    module: str = ""
    texts: bool = True
    pictured: bool = False
    answers: bool = False
    heard: bool = False

    @property
    def opens(self) -> dict[str, str]:
        """What a view chooses to show it."""
        return {"form": self.name} if self.chooses is None else dict(self.chooses)


PLACE = ("scale", "token", "direction")
CUT = ("sinks", "rows", "columns")
RELEVANCE = ("method", "output")
OF_ANSWERS = ("rival", "relevant", "area", "moment", "captions", "caption")


# ---- options


def option(
    default: Any,
    kind: Kind,
    about: str,
    *,
    of: Literal["both", "view", "file"] = "both",
) -> Any:
    """An option of the selection.

    Args:
        default: its value until it is chosen.
        kind: of its values.
        about: what it says, in words for whoever types it.
        of: the view and its link alone, files alone, or both.
    """
    return field(default=default, metadata={"kind": kind, "about": about, "of": of})


@dataclass(frozen=True)
class Selection:
    """What is chosen in a view, beside layer and head, or asked for in a file.

    The text beside each option says what it does.
    """

    scale: str = option(
        "fixed",
        words("fixed", "own", "layer"),
        "colours from 0 to 1, up to the largest weight shown, or of a picture up to the"
        " largest weight of a patch in any head of the layer",
    )
    token: int | None = option(None, whole(0, 99_999), "whose weights are drawn")
    direction: str = option(
        "out", words("out", "in"), "what the token attends to, or what attends to it"
    )
    shown: tuple[int, ...] = option(
        (),
        wholes(999),
        "several heads beside each other, instead of the one that is chosen",
        of="view",
    )
    form: str = option("matrix", TEXT, "how one head is drawn", of="view")
    values: str = option(
        "weights",
        words("weights", "scores", "difference"),
        "weights, scores before the softmax, or in a file what edits changed in the weights",
    )
    sinks: str = option(
        "shown",
        words("shown", "hidden"),
        "the first token, special ones and those that take over half of a head's weight, of a"
        " picture the class token and registers: shown or hidden",
    )
    outliers: bool = option(False, FLAG, "of a picture: patches that act as sinks too")
    partner: int | None = option(None, whole(0, 99_999), "the other token of a pair", of="view")
    query: int | None = option(None, whole(0, 99_999), "of head and model, the row", of="file")
    key: int | None = option(None, whole(0, 99_999), "of head, the column", of="file")
    find: str = option("", TEXT, "what is searched for in the tokens", of="view")
    rows: range | None = option(None, SPAN, "queries such as 0-12, the end excluded", of="file")
    columns: range | None = option(None, SPAN, "keys such as 0-12, the end excluded", of="file")
    block: str = option(
        "all",
        words("all", "aa", "ab", "ba", "bb"),
        "from which text of a pair to which; a is the first, or the source of a joint map",
        of="view",
    )
    method: str = option("rollout", words(*NAMES), "of all layers together")
    output: str = option(
        "",
        TEXT,
        "what a relevance, lens, parts and blame explain: the name of a class or token, as mat or"
        " mat@3 (at a position), or of a model without them a second sentence; else the likeliest"
        " output",
    )
    versus: str = option(
        "", TEXT, "of parts: a second output, such as hat, whose logit is subtracted"
    )
    lens: str = option(
        "logit",
        words("logit", "jacobian"),
        "whether a state is read as it is, or carried to the last layer by a mean Jacobian",
    )
    tested: bool = option(
        False,
        FLAG,
        "of model: with the faithfulness of a relevance; of a page of parts: with blame",
    )
    matter: str = option(
        "no",
        words("no", "zero", "mean"),
        "of parts and of a picture: every head switched off in turn, its values zero or their mean",
        of="view",
    )
    patched: str = option(
        "", TEXT, "of parts: a second text, whose states are patched in one at a time", of="view"
    )
    states: bool = option(
        False, FLAG, "of two pictures: which states of the second one matter", of="view"
    )
    proof: str = option(
        "deletion",
        words("deletion", "insertion"),
        "of a picture, what tests a relevance: the probability as patches are greyed out, or put"
        " back into a blurred picture",
    )
    followed: str = option(
        "answer",
        words("answer", "token"),
        "of a picture, where a method without an output begins: what the answer is read from, or"
        " the chosen token",
    )
    there: str = option(
        "",
        TEXT,
        "layer and head of the model beside the first, such as 3,5, and then kind, tower, module"
        " and part where these differ; those of the first without it",
        of="view",
    )
    lab: str = option(
        "",
        words("", "experiment", "compare", "sweeps", "numbers", "save", "about"),
        "which tab of the Lab is open",
        of="view",
    )
    plot: tuple[str, ...] = option(
        (), KEYS, "keys of the two numbers by which heads are placed as dots", of="view"
    )
    rank: str = option(
        "", TEXT, "the number by which heads are ranked, with - for the least first", of="view"
    )
    timing: str = option(
        "",
        words("", "named", "found"),
        "of a recording, what the times of its words are made from: the heads that the checkpoint"
        " names, or those that follow time best",
    )
    captions: str = option(
        "",
        TEXT,
        "of a model that compares pictures with texts, its captions to compare, split by |",
    )
    caption: str = option("", TEXT, "the caption among them that is chosen")
    rival: str = option("", TEXT, "of an answer, a word that the chosen one is compared with")
    relevant: bool = option(
        False, FLAG, "of an answer, the relevance for its word in place of weights"
    )
    area: str = option("", AREA, "of an answer, an area of a picture that a word may need")
    moment: int = option(
        0, whole(0, 999), "of a video, which of the groups of frames that share tokens"
    )

    @property
    def inward(self) -> bool:
        """Whether the token is the one attended to."""
        return self.direction == "in"


@dataclass(frozen=True)
class Option:
    """One field of `Selection`, as its declaration describes it."""

    name: str
    default: Any
    kind: Kind
    about: str
    of: Literal["both", "view", "file"]
    start: Any
    """The default as the browser holds it."""

    @classmethod
    def of_field(cls, declared: "Field[Any]") -> "Option":
        about, default = declared.metadata, declared.default
        kind = about["kind"]
        return cls(declared.name, default, kind, about["about"], about["of"], kind.held(default))

    def held(self, value: Any) -> Any:
        """A value as the browser and its link hold it."""
        return self.kind.held(value)


OPTIONS = tuple(map(Option.of_field, fields(Selection)))
OF_FILES: Mapping[str, Option] = MappingProxyType(
    {each.name: each for each in OPTIONS if each.of != "view"}
)
OF_VIEWS: Mapping[str, Option] = MappingProxyType(
    {each.name: each for each in OPTIONS if each.of != "file"}
)
