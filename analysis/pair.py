"""One weight step by step: from a query and a key to the number in the matrix.

    score  = cap(scale · q·k) + bias, divided by the temperature; −∞ where the key is masked
    weight = e^score / Σ e^score, summed over the keys of the row and its sink

Every step is computed in float64 from the recipe of the weights (`Pattern`).
"""

import math
from contextlib import suppress
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Additive, Bilinear, Dot, Pattern
from models.attention.relative import AlibiBias, RelativeBias
from models.trace import Site, Trace


@dataclass(frozen=True, eq=False)
class Strip:
    """A vector of the pair, element by element."""

    name: str
    values: Float[Tensor, " dim"]


@dataclass(frozen=True)
class Step:
    """A number on the way to the weight, and how it comes from the one before."""

    name: str
    value: float
    how: str


@dataclass(frozen=True, eq=False)
class Pair:
    """A query and a key.

    Attributes:
        strips: what is compared; the elements of the last one sum to the first step.
        steps: from that sum to the weight.
        applied: in words, what else this layer does to queries, keys or the softmax.
    """

    strips: tuple[Strip, ...]
    steps: tuple[Step, ...]
    applied: tuple[str, ...]

    @property
    def weight(self) -> float:
        """The last step."""
        return self.steps[-1].value


def pair(trace: Trace, site: Site, head: int, query: int, key: int, *, item: int = 0) -> Pair:
    """The steps from one query and one key to their weight."""
    pattern = trace.pattern(site)
    rows, keys = trace.positions(site, item)
    row, column = int(rows[query]), int(keys[key])
    strips, steps = _product(pattern, head, row, column, item)
    steps += _changes(pattern, head, row, column, item, steps[-1].value)
    steps += _softmax(pattern, head, row, column, item, steps[-1].value)
    weight = float(trace.weights(site, head, rows=[query], item=item)[0, key])
    if pattern.weights_edits:
        steps.append(Step("edited weight", weight, "the edits of this trace change the weight"))
    else:
        steps[-1] = Step(steps[-1].name, weight, steps[-1].how)
    return Pair(tuple(strips), tuple(steps), _applied(trace, site, pattern, head))


def _product(
    pattern: Pattern, head: int, row: int, column: int, item: int
) -> tuple[list[Strip], list[Step]]:
    """The vectors that are compared, and the first steps: their product, its scale and cap."""
    q = pattern.q[item, head, row].detach().double()
    kv_head = head // (pattern.heads // pattern.key_heads)
    k = pattern.k[item, kv_head, column].detach().double()
    score = pattern.score
    if isinstance(score, Additive):
        of_q, of_k = (each.detach() for each in score.hidden(q, k))
        hidden = torch.tanh(of_q + of_k)
        terms = score.vector_of(head).detach().double() * hidden
        names = "q" if score.query is None else "W_q q", "k" if score.key is None else "W_k k"
        named = dict(zip(names, (of_q, of_k), strict=True))
        named |= {"tanh of the sum": hidden, "× w": terms}
        formula = f"wᵀ tanh({' + '.join(names)})"
        steps = [Step(formula, float(terms.sum()), "the sum of the last strip")]
    elif isinstance(score, Bilinear):
        matrix = (score.matrix if score.matrix.ndim == 2 else score.matrix[head]).detach().double()
        named = {"q": q, "k": k, "M k": matrix @ k, "q × M k": q * (matrix @ k)}
        steps = [Step("qᵀ M k", float(q @ matrix @ k), "the sum of the products")]
    else:
        named = {"q": q, "k": k, "q × k": q * k}
        steps = [Step("q · k", float(q @ k), "the sum of the products"), *_scaled(score, q, k)]
    return [Strip(name, values.cpu()) for name, values in named.items()], steps


def _scaled(score: Dot, q: Tensor, k: Tensor) -> list[Step]:
    root = len(q) ** -0.5
    scale = root if score.scale is None else score.scale
    what = f"the scale is 1/√{len(q)}" if math.isclose(scale, root) else "the layer’s own scale"
    value = float(q @ k) * scale
    steps = [Step(f"× {scale:.4g}", value, what)]
    if score.softcap is not None:
        capped = score.softcap * math.tanh(value / score.softcap)
        how = (
            f"{score.softcap:g} · tanh(score / {score.softcap:g}): never beyond ±{score.softcap:g}"
        )
        steps.append(Step("cap", capped, how))
    return steps


def _changes(
    pattern: Pattern, head: int, row: int, column: int, item: int, value: float
) -> list[Step]:
    """Bias, temperature and mask, where there are any."""
    steps = []
    at = torch.tensor([row], device=pattern.device)
    bias = pattern.bias_rows(at, [head], slice(item, item + 1))
    if bias is not None:
        added = float(bias.detach().flatten()[column if bias.shape[-1] > 1 else 0])
        value += added
        steps.append(Step(f"+ bias {added:.4g}".replace("-", "−"), value, _bias_words(pattern)))
    if pattern.temperature is not None and float(pattern.temperature[head]) != 1:
        temperature = float(pattern.temperature[head])
        value /= temperature
        steps.append(Step(f"÷ {temperature:g}", value, "the temperature set by an edit"))
    seen = pattern.mask.visible(at, pattern.keys, [head])
    if seen is not None:
        cells = seen[item if seen.shape[0] > 1 else 0].flatten()
        if bool(cells[column if len(cells) > 1 else 0]):
            steps.append(Step("mask", value, "this key is visible to this query"))
        else:
            steps.append(Step("mask", pattern.mask.hidden, _mask_words(pattern, row, column)))
    return steps


def _softmax(
    pattern: Pattern, head: int, row: int, column: int, item: int, value: float
) -> list[Step]:
    """The exponential of the score, and its share of the row's sum."""
    scores = pattern.scores(head, [row], item=item)[0].detach().double()
    sink = pattern.sink(head)
    every = scores if sink is None else torch.cat([scores, scores.new_tensor([sink])])
    largest = float(every.max())
    if largest == -math.inf:
        return [Step("weight", 0.0, "every key of this row is hidden")]
    total = float((every - largest).exp().sum())
    power = math.exp(value - largest) if value > -math.inf else 0.0
    seen = int((scores > -math.inf).sum())
    among = f"{seen} keys" if sink is None else f"{seen} keys and the sink"
    return [
        Step("e^(score − largest)", power, f"the largest score of the row is {largest:.3f}"),
        Step("weight", power / total, f"divided by the sum over {among}, {total:.4g}"),
    ]


def _applied(trace: Trace, site: Site, pattern: Pattern, head: int) -> tuple[str, ...]:
    words = []
    shared = pattern.heads // pattern.key_heads
    if shared > 1:
        group = head // shared
        words += [f"Grouped queries: {shared} heads share keys; head {head} reads group {group}."]
    with suppress(ValueError):
        projections = trace.projections(site)
        if projections.query_norm or projections.key_norm:
            words += ["Queries and keys are normalised after their projection."]
        if projections.rotated:
            words += ["Rotary positions: q and k are shown as they are compared, rotated."]
    sink = pattern.sink(head)
    if sink is not None:
        words += [f"A learned sink of score {sink:.3f} takes part in the softmax; it has no value."]
    return tuple(words)


def _bias_words(pattern: Pattern) -> str:
    if isinstance(pattern.bias, AlibiBias):
        return "ALiBi: the head’s slope times the distance, negative"
    if isinstance(pattern.bias, RelativeBias):
        return "learned for each range of distances (relative positions)"
    return "what the model adds for this pair of positions"


def _mask_words(pattern: Pattern, row: int, column: int) -> str:
    mask = pattern.mask
    distance = row + mask.offset - column
    if mask.causal and distance < 0:
        return "hidden: a query attends to no later key"
    if mask.window is not None and abs(distance) >= mask.window:
        return f"hidden: the key is {mask.window} or more positions away"
    return "hidden from this query"
