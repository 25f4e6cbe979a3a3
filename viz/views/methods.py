"""All layers together: maps and rows of methods, the relevance of tokens, and what it can explain.

Numbers are between the tokens or words of the view. Weights and norms of heads are joined to words
before heads are put together, so that they are those of the view; what multiplies layers is joined
last. Of norms, vectors are added up over a word's keys before their length is taken.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from analysis.methods import BY_NAME, function_of, names_of
from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import TraceEntry, tokens_of
from viz.api.pool import report
from viz.api.rerun import check_pass, name_in, opened, reading_shares, reading_words, with_hidden
from viz.api.text import of_head, own_site
from viz.values import Head, words

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.relevance import Relevance
    from analysis.target import Target
    from analysis.view import View
    from models.model import Model
    from models.trace import Site, Trace

CELLS = 160  # maximum cells per side of a map; larger ones are max-pooled
MOST_CLASSES = 1000  # in a menu


@dataclass(frozen=True, eq=False)
class ModelMap:
    """A map over all layers (or of one, for norms), max-pooled to at most `CELLS` per side.

    The note says how its numbers were grouped; "" for those of single tokens.
    """

    shape: tuple[int, int]
    max: float
    cells: "Float[Tensor, 'cell']"
    note: str


@dataclass(frozen=True, eq=False)
class ModelRow:
    """One query's exact numbers; with the sum, that of a whole map's row.

    `reads` says which tokens a picture's answer is read from, where it is their row.
    """

    values: "Float[Tensor, 'key']"
    note: str
    sum: float | None = None
    reads: str | None = None


@dataclass(frozen=True, eq=False)
class RelevanceAnswer:
    """The relevance of every token of the input for one output, and of those a decoder read.

    Attributes:
        values: of the input.
        read: of what a decoder read.
        sites: indexes of sites whose rows these are.
        total: sum over all tokens.
        note: how numbers were grouped.
        value: of the output.
        unassigned: what no token gets.
        position: where the output is.
        id: of the token or class.
        name: "" where the model does not tell.
        similarity: whether the output is one to another text, which is the name.
    """

    values: "Float[Tensor, 'token']"
    read: "Float[Tensor, 'token'] | None"
    sites: tuple[int, int | None]
    total: float
    note: str
    value: float
    unassigned: float | None
    position: int | None
    id: int | None
    name: str
    similarity: bool

    @property
    def explains(self) -> str:
        """What it explains, in words."""
        if self.similarity:
            return f"the similarity to “{self.name}”"
        name = f"“{self.name}”" if self.name else f"output {self.id}"
        place = "" if self.position is None else f" at position {self.position}"
        return f"the logit of {name}{place}"


@dataclass(frozen=True)
class Option:
    """An output that can be explained, and its text."""

    value: str
    label: str
    position: int | None
    probability: float


@dataclass(frozen=True)
class Outputs:
    """What a relevance can explain; `chosen` is None, with a reason, where it means nothing."""

    kind: Literal["tokens", "classes", "similarity", "nothing"]
    options: list[Option]
    chosen: str | None
    rejected: str | None = None


@dataclass(frozen=True)
class Asked:
    """A method at a site; of methods that are about one head, of that."""

    entry: TraceEntry
    site: int
    head: Head
    method: str

    @property
    def where(self) -> "Site":
        """The site of the trace itself."""
        return own_site(self.entry, self.site)

    def map(self) -> "Tensor":
        """A map, not pooled: `query key`."""
        import torch

        from analysis.norms import value_norms
        from analysis.stack import combined
        from analysis.view import View

        entry, where = self.entry, self.where
        if self.method == "norms":
            words = tokens_of(entry.view, self.site, "in")
            heads = value_norms(entry.trace, where, words=words)
            rows = [heads[:, [*row]].mean(1) for row in tokens_of(entry.view, self.site, "out")]
            return of_head(torch.stack(rows, 1), self.head)
        kind = "cross" if where.kind == "cross" else None
        if self.method in ("mean", "max"):
            how: dict[str, Any] = {"how": self.method, "tower": where.tower, "kind": kind}
            key = ("map", self.method, where.tower, kind)
            return entry.answers.once(
                key, lambda: combined(entry.trace, rows_from=entry.view, **how)
            )
        tokens = self._of_tower()
        return entry.view.grouped(tokens, where) if isinstance(entry.view, View) else tokens

    def row(self, index: int) -> "Tensor":
        """One query's numbers."""
        return self._flows(index) if self.method == "flow" else self.map()[index]

    def read(self) -> "tuple[Tensor, str]":
        """The mean of the rows that a picture's answer is read from, and which these are.

        Raises:
            QuestionError: for a text.
            ValueError: where it is read from patches that the layer does not have, and for a
                method of single rows where there are several.
        """
        shares, info = reading_shares(self.entry), BY_NAME[self.method]
        if self.where.queries != len(shares):
            raise ValueError(
                "the answer is read in the last layer, whose patches are not those here"
            )
        rows = shares.nonzero().flatten().tolist()
        said = reading_words(self.entry.trace, shares)
        if len(rows) == 1:
            return self.row(rows[0]), said
        if info.kind == "row":
            raise ValueError(
                f"{info.title} is of one token, and the answer is read from {len(rows)}: follow it"
                " from a chosen one"
            )
        whole = self.map()
        return shares.to(whole) @ whole, said

    def _tower(self) -> str | None:
        """That of the site, which the method follows."""
        if self.where.kind == "cross":
            title = BY_NAME[self.method].title
            raise ValueError(
                f"{title} follows one tower: choose the encoder’s or the decoder’s own"
            )
        return self.where.tower

    def _of_tower(self) -> "Tensor":
        """A map over the tokens of a tower: `query key`."""
        info, tower = BY_NAME[self.method], self._tower()
        if info.most is not None and self.where.queries > info.most:
            raise ValueError(f"{info.title} takes too long for more than {info.most:,} tokens")

        def compute() -> "Tensor":
            trace = with_hidden(self.entry) if info.hidden else self.entry.trace
            return function_of(info)(trace, tower=tower, progress=report)

        return self.entry.answers.once(("map", self.method, tower), compute)

    def _flows(self, index: int) -> "Tensor":
        """Flows from a row of the view; to a word, the largest of its tokens."""
        import torch

        from analysis.flow import maximum_flows
        from analysis.stack import layer_map, self_attention

        entry, tower = self.entry, self._tower()

        def compute() -> "list[Tensor]":
            return [layer_map(entry.trace, each) for each in self_attention(entry.trace, tower)]

        layers = entry.answers.once(("layers", tower), compute)
        query = tokens_of(entry.view, self.site, "out")[index][-1]
        words = tokens_of(entry.view, self.site, "in")
        keys = [token for word in words for token in word]
        flows = iter(maximum_flows(layers, query, keys, report).tolist())
        return torch.tensor([max(next(flows) for _ in word) for word in words])


@endpoint("model", "text", method=words(*names_of("map")))
def map_of(entry: TraceEntry, site: int, head: Head, method: str) -> ModelMap:
    """A map over all layers, pooled."""
    import torch.nn.functional as F

    whole = Asked(entry, site, head, method).map()
    rows, cols = (min(CELLS, size) for size in whole.shape)
    cells = F.adaptive_max_pool2d(whole[None], (rows, cols))[0]
    return ModelMap((rows, cols), float(whole.max()), cells.flatten(), note_of(entry.view, method))


@endpoint("model_row", method=words(*names_of("map", "row")))
def row_of(
    entry: TraceEntry, site: int, head: Head, method: str, index: int | None = None
) -> ModelRow:
    """One query's exact numbers; without an index those that a picture's answer is read from."""
    note, asked = note_of(entry.view, method), Asked(entry, site, head, method)
    if index is None:
        values, rows = asked.read()
        return ModelRow(values, note, reads=rows)
    if index >= (count := entry.view.sites[site].queries):
        raise QuestionError(f"expected index 0 to {count - 1}")
    row = asked.row(index)
    return ModelRow(row, note, None if BY_NAME[method].kind == "row" else float(row.sum()))


@endpoint("relevance", method=words(*names_of("relevance")))
def relevance(entry: TraceEntry, method: str, output: str = "") -> RelevanceAnswer:
    """The relevance of every token for one output; that of "" is the likeliest."""
    from analysis.relevance import towers_of
    from analysis.target import name_of

    result = explanation_of(entry, method, output)
    trace, target = entry.trace, result.chosen
    own_sites = [(n, each.tower) for n, each in enumerate(trace.sites) if each.kind != "cross"]
    places = {tower: n for n, tower in reversed(own_sites)}  # the first of each tower
    source, written = towers_of(trace)
    first, second = places[source], None if written is None else places[written]
    every, summed = [result.tokens], [_summed(entry.view, first, result.tokens)]
    if second is not None and result.target_tokens is not None:
        every.append(result.target_tokens)
        summed.append(_summed(entry.view, second, result.target_tokens))
    name = output if target.other is not None else ""
    if entry.opened is not None and target.id is not None:
        name = name_of(entry.opened()[0], trace.output, target.id)
    return RelevanceAnswer(
        summed[0],
        summed[1] if len(summed) > 1 else None,
        (first, second),
        sum(float(each.sum()) for each in every),
        note_of(entry.view, method),
        result.value,
        result.unassigned,
        target.position,
        target.id,
        name,
        target.other is not None,
    )


@endpoint("outputs")
def outputs(
    entry: TraceEntry, site: int, direction: str, token: int | None = None, output: str = ""
) -> Outputs:
    """What can be explained: the likeliest tokens at a token, or the classes, and what is chosen.

    Without a token, and at one of another text than the output's, where the model answers by
    default.
    """
    from analysis.target import Target, kind_of, target_in, text_of

    trace, kind = entry.trace, kind_of(entry.trace.output)
    if kind == "nothing":
        raise ValueError(f"{trace.model} gives {trace.output.name}: nothing that can be explained")
    if kind == "similarity":
        return Outputs(kind, [], output)
    model = entry.model_and_input()[0]
    place = None if kind == "classes" else _row_of_output(entry, site, direction, token)
    likeliest = _likeliest(model, trace, target_in(model, trace, Target(position=place)))
    options = [_option(entry, model, each) for each in likeliest]
    if not output:
        return Outputs(kind, options, output)
    try:
        target = target_in(model, trace, output)
    except ValueError as error:
        why = " ".join(str(error).removeprefix("target: ").split())
        return Outputs(kind, options, None, why)
    chosen = text_of(model, trace, target)
    if chosen not in [option.value for option in options]:
        options.insert(0, _option(entry, model, target))
    return Outputs(kind, options, chosen)


def explanation_of(entry: TraceEntry, method: str, output: str) -> "Relevance":
    """The relevance of each token of the trace itself."""
    from analysis.relevance import explain
    from analysis.target import target_in

    def compute() -> "Relevance":
        with opened(entry) as (model, given, written):
            target = target_in(model, entry.trace, output or None)
            how: dict[str, Any] = {"target": target, "method": method, "written": written}
            result = explain(model, given, **how, progress=report)
        check_pass(entry.trace, result.trace)
        return replace(result, trace=entry.trace)  # the pass itself is not kept

    return entry.answers.once(("relevance", method, output), compute)


def note_of(view: "Trace | View", method: str) -> str:
    """How the numbers of a method were grouped by a view; "" for those of single tokens."""
    from analysis.view import View

    if not isinstance(view, View):
        return ""
    return f"{view.note}: {BY_NAME[method].joined}" if view.note else ""


def _row_of_output(entry: TraceEntry, site: int, direction: str, token: int | None) -> int | None:
    """The position of a token of the view in the output; None if it is of another text."""
    from analysis.view import JOINT

    if token is None or entry.view.sites[site].kind == JOINT:
        return None
    trace, where = entry.trace, own_site(entry, site)
    mine = trace.queries(where) if direction == "out" else trace.keys(where)
    if mine is not (trace.tokens if trace.target_tokens is None else trace.target_tokens):
        return None
    words = tokens_of(entry.view, site, direction)
    if token >= len(words):
        raise QuestionError(f"expected token 0 to {len(words) - 1}")
    return words[token][-1]


def _likeliest(model: "Model", trace: "Trace", place: "Target") -> "list[Target]":
    """The likeliest tokens, or the classes question by question."""
    from analysis.outputs import likeliest
    from analysis.target import kind_of

    if kind_of(trace.output) == "classes":
        ids = likeliest(trace, count=MOST_CLASSES, independent=model.multi_label).ids
        classes = [replace(place, id=id, among=model.question_of(id)) for id in ids]
        return sorted(classes, key=lambda each: 0 if each.among is None else each.among.start)
    ids = likeliest(trace, -1 if place.position is None else place.position).ids
    return [replace(place, id=id) for id in ids]


def _option(entry: TraceEntry, model: "Model", target: "Target") -> Option:
    from analysis.target import text_of

    text, share = text_of(model, entry.trace, target), target.probability(entry.trace.output)
    return Option(text, name_in(entry, target.id or 0), target.position, float(share))


def _summed(view: "Trace | View", site: int, values: "Tensor") -> "Tensor":
    """Numbers of tokens by the words of the view."""
    import torch

    return torch.stack([values[[*word]].sum() for word in tokens_of(view, site, "out")])
