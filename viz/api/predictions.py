"""What a network predicts: the next token, the masked one, or a class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from models.text import Decoding

if TYPE_CHECKING:
    from analysis.predictions import Vocabulary
    from models.model import Model
    from models.output import Sampling
    from models.trace import Trace

NAMED = 4  # of the likeliest, in a line
SOFTMAX = "The softmax of the logits at this position; it sums to 1 over the vocabulary."
DRAWN = "What a token is drawn by: temperature, then top-k, then top-p of the logits."
MEANS = {  # what the probabilities at a token predict
    "encoder": "what the model answers at",
    "decoder": "what comes after",
    "seq2seq": "what is written after",
}
WRITES = "The model writes, greedily"
GIVEN = "Given that target, the likeliest tokens are"


@dataclass(frozen=True)
class Tokens:
    """The tokens that a pass predicts, as the API answers them.

    Attributes:
        model: of the pass.
        trace: of it.
        known: the names of its tokens.
        before: the same pass without its edits; None where there are none.
        given: whether the decoder's target was given; else the model wrote it.
    """

    model: "Model"
    trace: "Trace"
    known: "Vocabulary"
    before: "Callable[[], Trace] | None" = None
    given: bool = False

    def at(
        self, site: int, direction: str, token: int | None, sampling: "Sampling | None" = None
    ) -> dict[str, Any]:
        """The predictions at a token; at the last where it is of a text that is not predicted.

        Args:
            site: of the view.
            direction: whether the token attends, or is attended to.
            token: its place; None where none is chosen.
            sampling: how a token is drawn; None for the softmax as it is.
        """
        from analysis.outputs import likeliest
        from analysis.target import Target, text_of
        from models.output import Sampling

        known, trace = self.known, self.trace
        place = _place(trace, site, direction, token)
        place = self._usual() if place is None else place
        top = likeliest(trace, place, sampling=sampling or Sampling())
        label = _targets(trace)[0].labels[place]
        bare = label.strip() or label
        targets = [Target(id, place) for id in top.ids]
        return {
            "title": f"{trace.model} · {MEANS[known.kind]} “{bare}” (position {place})",
            "lead": [MEANS[known.kind].capitalize(), label],
            "labels": [known.name(number) for number in top.ids],
            "values": [text_of(self.model, trace, each) for each in targets],
            "ids": list(top.ids),
            "position": place,
            "probabilities": list(top.probabilities),
            "note": SOFTMAX if sampling is None else DRAWN,
            "change": self._change(place),
            **self._mask(place),
            **self._written,
        }

    @cached_property
    def _written(self) -> dict[str, Any]:
        """What an encoder–decoder wrote, or would write at each token of a target; else {}."""
        from analysis.outputs import top_ids

        reader, target = (
            self.model.target_tokenizer or self.model.tokenizer,
            self.trace.target_tokens,
        )
        if self.known.kind != "seq2seq" or target is None or not isinstance(reader, Decoding):
            return {}
        ids = top_ids(self.trace) if self.given else target[0].ids[1:]
        tokens = reader.spelled(ids)
        pairs = zip(tokens.labels, tokens.special, strict=True)
        letters = [label for label, special in pairs if not special]
        text = "".join(letters) if all(len(each) == 1 for each in letters) else reader.text(ids)
        return {"written": [GIVEN if self.given else WRITES, text.strip()]}

    def _mask(self, place: int) -> dict[str, Any]:
        """Where an encoder's masks stand, and which of them a place is; {} without several."""
        from analysis.target import mask_id

        mask = mask_id(self.model) if self.known.kind == "encoder" else None
        masks = [at for at, id in enumerate(self.trace.tokens[0].ids) if id == mask]
        if len(masks) < 2:
            return {}
        return {"mask": masks.index(place) if place in masks else None, "masks": masks}

    def _usual(self) -> int:
        """The place where none is chosen; of texts written by two passes, before they part."""
        if self.before is None or self.trace.target_tokens is None:
            return self._last_word()
        pairs = zip(_targets(self.before())[0].ids, _targets(self.trace)[0].ids, strict=False)
        parted = (place - 1 for place, (first, second) in enumerate(pairs) if first != second)
        return next(parted, self._last_word())

    def _last_word(self) -> int:
        """The last place; of a text that the model wrote itself, that before its last word."""
        if self.known.kind != "seq2seq" or self.given:
            return self.known.place
        labels = _targets(self.trace)[0].labels
        words = [place for place, label in enumerate(labels) if any(map(str.isalnum, label))]
        return max(words[-1] - 1, 0) if words else self.known.place

    def _change(self, place: int) -> dict[str, Any] | None:
        """What the edits did to the prediction; None where the two passes read other tokens."""
        if self.before is None:
            return None
        before = self.before()
        first, second = (_targets(each)[0].ids[: place + 1] for each in (before, self.trace))
        return None if first != second else change(before, self.trace, place, self.known.name)


def change(
    before: "Trace", after: "Trace", place: int, name: "Callable[[int], str]"
) -> dict[str, Any]:
    """The likeliest tokens or classes of two passes, with the probabilities in both, and the KL."""
    from analysis import outputs

    difference = outputs.change(before, after, place, count=NAMED - 1)
    order = sorted(
        range(len(difference.ids)), key=lambda i: -max(difference.before[i], difference.after[i])
    )
    return {
        "labels": [name(difference.ids[i]) for i in order],
        "before": [difference.before[i] for i in order],
        "after": [difference.after[i] for i in order],
        "kl": difference.kl,
    }


def classes(
    model: "Model",
    trace: "Trace",
    names: Sequence[str],
    before: "Callable[[], Trace] | None" = None,
) -> dict[str, Any]:
    """The likeliest classes of a classifier as an API response; {} for other networks.

    Args:
        model: that answers.
        trace: of its answer.
        names: of its classes; others are numbered.
        before: the same pass without its edits; None where there are none.
    """
    from analysis.outputs import likeliest

    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2 or logits.shape[1] < 2:
        return {}
    count = logits.shape[1]
    several = model.multi_label
    named = len(names) == count
    top = likeliest(trace, independent=several)
    how = (
        "The sigmoid of each logit: the input may belong to several classes."
        if several
        else f"The softmax of the logits; it sums to 1 over the {count:,} classes."
    )

    def name(id: int) -> str:
        return names[id] if named else f"class {id}"

    return {
        "title": f"{trace.model} · the likeliest of {count:,} classes",
        "lead": ["Class", ""],
        "labels": [name(id) for id in top.ids],
        "values": [name(id) if named else str(id) for id in top.ids],
        "ids": list(top.ids),
        "probabilities": list(top.probabilities),
        "note": how if named else f"{how} The model's config states no names.",
        "change": None if before is None or several else change(before(), trace, -1, name),
    }


def _targets(trace: "Trace") -> Any:
    return trace.tokens if trace.target_tokens is None else trace.target_tokens


def _place(trace: "Trace", site: int, direction: str, token: int | None) -> int | None:
    """The selected token if it belongs to the predicted text, else None."""
    where = trace.sites[site]
    if trace.target_tokens is not None:
        written = where.tower == "decoder" and (direction == "out" or where.kind != "cross")
        return token if written else None
    texts = trace.queries(where) if direction == "out" else trace.keys(where)
    return token if texts is trace.tokens else None
