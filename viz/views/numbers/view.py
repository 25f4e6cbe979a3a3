"""Every number of every head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.pool import check, report
from viz.colours import scale_of
from viz.selection import Form
from viz.views.answer import Answer, Table, every_head
from viz.views.request import Request, site_name

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.measures import Measure
    from viz.paper import Page

VIEW = Form(
    "numbers",
    "Numbers of every head",
    "A matrix of layers and heads for each number",
    place=12,
    covers="every",
    chooses=(("lab", "numbers"),),
)


@dataclass(frozen=True, eq=False)
class NumbersAnswer:
    """Every number of every head, what each means, and a sentence for each head.

    Attributes:
        measures: what the numbers are.
        values: by key of the measure; NaN where it is not defined, and beyond a site's heads.
        reasons: why a measure is not defined for some heads.
        sentences: by site and head.
    """

    measures: "Sequence[Measure]"
    values: "Mapping[str, Float[Tensor, 'site head']]"
    reasons: Mapping[str, str]
    sentences: Sequence[Sequence[str | None]]


@endpoint("numbers", slow=True, explains=False)
def numbers(entry: TraceEntry) -> NumbersAnswer:
    """Every number of every head on one text; of a picture those of its papers' figures."""
    from analysis.descriptions import descriptions
    from analysis.heads import heads
    from analysis.measures import MEASURES

    def compute() -> NumbersAnswer:
        if entry.patches:
            return _of_picture(entry)
        table = heads(entry.view, check=check, progress=report)
        return NumbersAnswer(MEASURES, table, table.reasons, descriptions(entry.view, table))

    return entry.answers.once("numbers", compute)


def _of_picture(entry: TraceEntry) -> NumbersAnswer:
    """How far and how evenly each head looks; nowhere how far where patches differ in size."""
    from torch.nn.utils.rnn import pad_sequence

    from analysis.measures import PICTURE_MEASURES
    from analysis.vision import attention_distance, attention_entropy

    trace, (distance, entropy) = entry.trace, (each.key for each in PICTURE_MEASURES)
    values: dict[str, list[Float[Tensor, "head"]]] = {distance: [], entropy: []}
    reasons: dict[str, str] = {}
    for done, site in enumerate(trace.sites):
        report(done, len(trace.sites))
        values[entropy].append(attention_entropy(trace, site))
        try:
            values[distance].append(attention_distance(trace, site))
        except ValueError as error:
            reasons[distance] = str(error)
            values[distance].append(values[entropy][-1] * np.nan)
    padded = {key: pad_sequence(rows, True, np.nan) for key, rows in values.items()}
    return NumbersAnswer(PICTURE_MEASURES, padded, reasons, [])


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers(Answer):
    """Every number of every head.

    Attributes:
        layers_named: a name for each layer.
        measures: of each number its title, its name, its values "layer head" and why it is not
            defined.
    """

    layers_named: Sequence[str]
    measures: Sequence[tuple[str, str, np.ndarray, str]]


def answer(request: Request) -> Numbers:
    """The numbers, and each of them as a matrix of layers and heads."""
    result, sites = numbers(request.entry), request.view.sites
    columns = {key: numbers.numpy(force=True) for key, numbers in result.values.items()}
    measures = []
    for measure in result.measures:
        title = f"{measure.title}: {measure.formula}"
        reason = result.reasons.get(measure.key) or "Not defined for any head."
        measures.append((title, measure.title, columns[measure.key], reason))
    names, places = every_head(request)
    labels = {"head": names, "number": [*columns]}
    wide = np.arange(max(site.heads for site in sites))
    is_head = wide < np.array([[site.heads] for site in sites])
    values = np.stack([numbers[is_head] for numbers in columns.values()], 1)
    return Numbers(
        description="Every number of every head on this text: a row for each layer, a column for"
        " each head.",
        tables=[Table("heads", ("head", "number"), values, labels, places)],
        doubt="What a head does on one text need not be what it does on others.",
        layers_named=[site_name(site, sites) for site in sites],
        measures=measures,
    )


def figure(answer: Numbers, page: "Page") -> None:
    """A matrix of layers and heads for each number."""
    from viz.parts import matrix

    count = answer.measures[0][2].shape[1]
    numbered = [str(head) for head in range(count)]
    for title, words, values, reason in page.columns(answer.measures, 2 if count > 16 else 3):
        page.heading(title)
        if np.isfinite(values).any():
            scale = scale_of(values, words)
            matrix(page, [("", values)], answer.layers_named, numbered, scale, largest=9.0)
        else:
            page.lines(reason)
        page.y += 6


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """All of them."""
    return [path_of("numbers")]
