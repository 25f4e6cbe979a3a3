"""What is known of the model of a trace: its card, its code, and whether its weights are right."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.percent import percent
from models import catalogue
from models.card import Card, card
from viz.api import tracing
from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry
from viz.api.rerun import opened

if TYPE_CHECKING:
    from models.loading.summary import Part
    from models.model import Model
    from models.request import Source
    from models.verdict import Verdict

ROOT = Path(__file__).parents[2]
KINDS = {"Encoder": "encoder", "Decoder": "decoder", "Seq2Seq": "encoder–decoder", "ViT": "ViT"}
OURS = "headscope-"  # model types of checkpoints trained here
UNLIMITED = 10**6  # tokens, of a model whose config states no limit
LONG = 512  # tokens for which memory is stated
LISTED = 20  # weights that are not used
ROUNDING = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # of a whole network's output


@dataclass(frozen=True)
class About:
    """What is known of a model.

    Attributes:
        sentences: what it is for, and how it is run.
        facts: its sizes, its origin and what it takes, by name.
        file: where its network is written here; "" where it is not.
        code: that file.
    """

    sentences: Sequence[str]
    facts: Mapping[str, str]
    file: str
    code: str


@dataclass(frozen=True)
class Checked:
    """Whether the weights on the screen are those that the model used, in sentences."""

    verdict: str


@endpoint("about")
def about(entry: TraceEntry) -> About:
    """The card of the model, and the file of its network."""
    source = None if entry.request is None else entry.request.model
    model = entry.model_and_input()[0] if source is None else tracing.opened(source)
    network = _network(model, source)
    file = Path(inspect.getsourcefile(network) or "") if network else None
    return About(
        [*_sentences(model, source)],
        facts(model, source),
        file.relative_to(ROOT).as_posix() if file else "",
        file.read_text(encoding="utf-8") if file else "",
    )


@endpoint("check", slow=True)
def check(entry: TraceEntry) -> Checked:
    """Runs the model again by the weights on the screen, without edits."""
    from models.verify import verify

    with opened(entry) as (model, given, target):
        verdict = verify(model, given, target)
    return Checked(worded(verdict, next(model.network.parameters()).dtype))


# ---- the card


def said_of(card: Card) -> str:
    """The task of a model that was trained here, and how well it does."""
    measured = "; ".join(
        f"{each.name} {percent(each.share, '.4g')} (95 % interval {percent(each.low, '.4g')} to"
        f" {percent(each.high, '.4g')})"
        for each in card.measures
    )
    return f"{card.task} {card.hint} On {card.measures[0].of:,} unseen inputs: {measured}."


def _sentences(model: "Model", source: "Source | None") -> Iterator[str]:
    if source is not None and source.catalogue:
        known = catalogue.entry(source.catalogue)
        ours = card(known)
        yield said_of(ours) if ours else known.summary
    if model.door_reason:
        yield f"{model.door_reason}."


def facts(model: "Model", source: "Source | None") -> dict[str, str]:
    """Everything on the card, by name."""
    from models.loading import summary

    parts, network = summary.parts(model), model.network
    weights, name = next(network.parameters()), type(network).__name__
    grouped = any(part.kv_heads != part.heads for part in parts)
    limit = f"{model.limit:,} tokens" if model.limit < UNLIMITED else "no limit stated"
    of_parts = len({part.max_tokens for part in parts}) > 1
    words = getattr(model.tokenizer, "words", None)
    tokenizer = "words" if words is None else f"{len(words):,} pieces"
    none = "none" if model.preprocessing is not None else "none: the model takes ids"
    by_us = f"Headscope’s {KINDS.get(name, name)}"
    return {
        "Architecture": _architecture(name, source),
        "Run by": by_us if model.door == "own" else f"transformers ({name})",
        "Parameters": f"{sum(each.numel() for each in network.parameters()):,}",
        "Layers": _each(parts, "layers"),
        "Heads": _each(parts, "heads")
        + (f" of queries, {_each(parts, 'kv_heads')} of keys and values" if grouped else ""),
        "Width": _each(parts, "dim"),
        "Feed-forward": _each(parts, "mlp"),
        "Positions": _each(parts, "positions"),
        "Longest input": f"{_each(parts, 'max_tokens')} tokens" if of_parts else limit,
        "Tokenizer": none if model.tokenizer is None else tokenizer,
        **_origin(source),
        **_own_weights(model),
        "Precision": f"{str(weights.dtype).removeprefix('torch.')} on {model.device.type}",
        "Weights not used": ", ".join(model.left_out[:LISTED]) or "none",
    }


def _own_weights(model: "Model") -> dict[str, str]:
    """Of a network whose layers compute their weights: what can be done with them, and what they
    take."""
    if model.door == "own":
        return {}
    from models.pretrained.attention_modules import AttentionModules
    from models.pretrained.own_weights import MIB, bytes_of

    tokens = min(model.limit, LONG)
    size = bytes_of(AttentionModules.find_in(model.network), model.network.config, tokens)
    look = "computed by the model itself: they can be looked at, not changed"
    return {"Weights": f"{look}; {size / MIB:,.1f} MiB at {tokens} tokens"} if size else {}


def _architecture(name: str, source: "Source | None") -> str:
    """What its owner would call it: by the type in its config.json."""
    stated = ""
    if source is not None and source.place != "built":
        with suppress(ValueError):  # deleted since
            stated = str(catalogue.read_config(tracing.folder(source).path).get("model_type", ""))
    return KINDS.get(name, name) if not stated or stated.startswith(OURS) else stated


def _each(parts: "Sequence[Part]", name: str) -> str:
    """A size of every part; without names if there is only one part, or all are equal."""
    values = [getattr(part, name) for part in parts]
    texts = ["not stated" if value is None else str(value) for value in values]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{part.name} {text}" for part, text in zip(parts, texts, strict=True))


def _origin(source: "Source | None") -> dict[str, str]:
    """The licence, and of a model that was fetched where it comes from and what was checked."""
    from models.loading import summary

    if source is None:
        return {}
    if source.place == "built":
        return {"Licence": "none: random weights, made here"}
    if source.place != "catalogue":
        with suppress(ValueError):
            return {"Licence": summary.licence(tracing.folder(source)) or "not stated"}
        return {"Licence": "unknown: its files were deleted"}
    known = catalogue.entry(source.name)
    package = known.wheel and f"{known.wheel.source}, SHA-256 {known.wheel.sha256}"
    origin = {"Provenance": known.provenance, "Package": package or "", "Checked": known.check}
    return {"Licence": known.licence} | {name: each for name, each in origin.items() if each}


def _network(model: "Model", source: "Source | None") -> Callable[..., Any] | None:
    """Our network that has the architecture of a model; None where there is none."""
    from models.loading.folders import network_of

    if model.door == "own":
        return type(model.network)
    with suppress(ValueError):  # deleted since
        return None if source is None else network_of(tracing.folder(source))
    return None


# ---- the check


def worded(verdict: "Verdict", dtype: object) -> str:
    """The result of the comparison as sentences."""
    from models.model import grouped

    kind = str(dtype).removeprefix("torch.")
    rounding = ROUNDING.get(kind, ROUNDING["float32"])
    problems = verdict.problems(rounding)
    wrong = f"No: they differ: {'; '.join(problems)}" if problems else ""
    sentences = [wrong or f"Yes, up to the rounding of {kind}"]
    if verdict.ambiguous(rounding):
        sentences += [
            f"The traced output differs from the original model’s by at most {verdict.traced:.1e},"
            f" and in that pass the values of each of the {verdict.sites} attention layers differ"
            " from those computed from these weights by at most"
            f" {verdict.values or 0.0:.1e} of the largest",
            "Passes with other kernels are no reference here: their outputs differ by up to"
            f" {max(verdict.difference, verdict.eager or 0.0):.1e}, as rounding decides a choice"
            " between nearly equal scores, or the library’s kernels hide different keys",
        ]
    elif verdict.by_layers:
        sentences.append(
            f"Its {verdict.sites} attention layers compute their weights themselves, and returned"
            f" these; the output differs from the original model’s by at most {verdict.traced:.1e}"
        )
    else:
        sentences.append(
            f"With the values of all {verdict.sites} attention layers computed from these weights"
            f" ({verdict.rows:,} rows), the output differs from the original model’s by at most"
            f" {verdict.difference:.1e}; its largest number is {verdict.largest:.3g}"
        )
    if verdict.compared and not verdict.ambiguous(rounding):
        sentences.append(
            f"All {verdict.compared} heads that the library’s own eager attention gives a map"
            f" for differ from it by at most {verdict.maps:.1e}"
        )
    if verdict.left_out:
        sentences.append(f"Of the checkpoint, it does not use {grouped(verdict.left_out)}")
    return ". ".join(sentences) + "."
