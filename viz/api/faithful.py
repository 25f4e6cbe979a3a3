"""Responses about whether a relevance is faithful: the output as tokens or patches are removed."""

from typing import TYPE_CHECKING, NamedTuple

from analysis.methods import BY_NAME, Fusion
from viz.api.entries import TraceEntry
from viz.api.model import Answer, explanation_of, number, numbers, opened, or_why, read_row
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.faithfulness import Removal, Study
    from analysis.perturbation import Kind, Perturbation
    from analysis.target import Target

REMOVALS = ("grey", "drop")  # of patches, for which there are curves with and without them
PERTURBATIONS = ("deletion", "insertion")


class Asked(NamedTuple):
    """A method, how it fuses heads, and the share of weights that it leaves out."""

    method: str
    fusion: Fusion
    discard: float


@or_why
def faithfulness(
    entry: TraceEntry,
    id: str,
    site: int,
    method: str,
    order: int,
    output: str = "",
    proof: str = "",
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Answer:
    """The curves of a relevance (order 0), or of one random order.

    Args:
        entry: the trace.
        id: of the trace.
        site: of a method that is about one layer; else any.
        method: of the relevances in `analysis.methods`; of a picture, of all methods.
        order: of removal.
        output: what is explained.
        proof: of a picture, one of `REMOVALS`; "" as is usual.
        fusion: how the heads of a layer are fused.
        discard: the share of a layer's smallest weights that is left out.
    """
    asked = Asked(method, fusion, discard)
    study = _study(entry, site, asked, output, proof)
    if order >= study.orders:
        raise QuestionError(f"expected order 0 to {study.orders - 1}")

    def compute() -> "tuple[Tensor, Tensor]":
        with opened(entry):
            return study.curve(order)

    without, alone = entry.answers.once(("curve", site, *asked, output, proof, order), compute)
    return {
        "orders": study.orders,
        "counts": study.counts,
        "tokens": study.removable,
        "value": number(study.value),
        "removal": study.removal,
        "read": study.decoder_reads,
        "comprehensiveness": numbers(without),
        "sufficiency": numbers(alone),
    }


@or_why
def perturbation(
    entry: TraceEntry,
    id: str,
    site: int,
    method: str,
    proof: str,
    output: str = "",
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Answer:
    """The probability of a class as patches are taken away or put back, by relevance and at random.

    Args:
        entry: the trace of a picture.
        id: of the trace.
        site: of a method that is about one layer; else any.
        method: of `analysis.methods`.
        proof: one of `PERTURBATIONS`.
        output: the class.
        fusion: how the heads of a layer are fused.
        discard: the share of a layer's smallest weights that is left out.
    """
    from analysis.perturbation import PERTURB, perturbation

    asked = Asked(method, fusion, discard)

    def compute() -> "Perturbation":
        tokens, chosen = _relevant(entry, site, asked, output)
        kinds: dict[str, Kind] = {each: each for each in PERTURB}
        with opened(entry) as (model, given, _):
            return perturbation(model, given, tokens, kinds[proof], target=chosen)

    curves = entry.answers.once(("perturbation", site, *asked, output, proof), compute)
    return {
        "counts": curves.counts.tolist(),
        "value": number(curves.value),
        "most": numbers(curves.curve),
        "least": numbers(curves.reverse),
        "random": [numbers(order) for order in curves.random],
        "score": number(curves.score),
    }


def _study(entry: TraceEntry, site: int, asked: Asked, output: str, proof: str) -> "Study":
    from analysis.faithfulness import Study

    tokens, chosen = _relevant(entry, site, asked, output)
    removal: Removal | None = "grey" if proof == "grey" else "drop" if proof == "drop" else None

    def compute() -> "Study":
        with opened(entry) as (model, given, written):
            return Study.of(model, given, tokens, chosen=chosen, removal=removal, written=written)

    return entry.answers.once(("study", site, *asked, output, proof), compute)


def _relevant(entry: TraceEntry, site: int, asked: Asked, output: str) -> "tuple[Tensor, Target]":
    """The relevance of every token, and the output whose probability tests it."""
    from analysis.target import target_in

    if BY_NAME[asked.method].kind == "relevance":
        explanation = explanation_of(entry, asked.method, output)
        return explanation.tokens, explanation.chosen
    tokens, _ = read_row(entry, site, "mean", asked.method, None, asked.fusion, asked.discard)
    with opened(entry) as (model, _, _):
        return tokens, target_in(model, entry.trace, output or None)
