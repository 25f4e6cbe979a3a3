"""The pass over a text and what a model wrote behind it, joined from the passes that wrote it.

The first of them reads the prompt, or the start token and the source of an encoder–decoder, and is
recorded like any other. Each later one reads the token that was written last: its query, key and
value are kept for each attention layer, while the layer attends as it does outside of a trace.
Where tokens attend to earlier ones alone both have the same rows, so that one pass over the whole
text is not needed any more.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from models.attention import Mask, Pattern
from models.inputs.sequences import ModelInputs
from models.pretrained.masks import HIDDEN, infer_mask
from models.pretrained.recording import Call, Recording

BESIDE = ("position_bias", "cu_seq_lens_q")  # more than a mask tells


class NotJoinedError(ValueError):
    """The passes do not say what one pass over the whole text would; the message says why."""


@dataclass(frozen=True, eq=False)
class Step:
    """What one attention layer was given for one written token.

    Attributes:
        q: its query.
        k: its key.
        v: its value.
        mask: which keys it attends to, as the library passes it; None for all.
        keys: how many keys there were: its own is the last.
    """

    q: Float[Tensor, "batch head 1 dim"]
    k: Float[Tensor, "batch kv_head 1 dim"]
    v: Float[Tensor, "batch kv_head 1 value_dim"]
    mask: Tensor | None
    keys: int


@dataclass(eq=False)
class Writing:
    """The state of passes that write.

    Attributes:
        prompt: the recording of the first pass.
        logits: of the tokens of each pass.
        steps: of each attention layer by its id, in the order of the written tokens.
        joins: whether the passes can still be joined.
    """

    prompt: Recording
    logits: list[Float[Tensor, "batch token vocab"]] = field(default_factory=list)
    steps: dict[int, list[Step]] = field(default_factory=dict)
    joins: bool = True

    def keep(
        self,
        module: nn.Module,
        qkv: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        beside: Mapping[str, Any],
    ) -> None:
        """Keeps what an attention layer is given for a written token.

        Args:
            module: the layer.
            qkv: its query, and the keys and values so far.
            mask: which keys it attends to.
            beside: its other arguments.
        """
        q, k, v = qkv
        self.joins &= q.shape[2] == 1 and not any(name in beside for name in BESIDE)
        if self.joins:
            last = k[:, :, -1:].clone(), v[:, :, -1:].clone()  # not the cache that they are part of
            self.steps.setdefault(id(module), []).append(Step(q, *last, mask, k.shape[2]))

    def joined(self, inputs: ModelInputs) -> Recording:
        """The recording of the whole text.

        Args:
            inputs: the prompt with its answer, or the source with its target.

        Raises:
            NotJoinedError: where a pass over the whole text has to tell.
        """
        record, answer = self.prompt, len(self.logits) - 1
        length = inputs.sequences[self._sequence].length
        if not self.joins or answer < 0 or sum(each.shape[1] for each in self.logits) > length:
            raise NotJoinedError("its passes do not follow each other token by token")
        layers = Counter(id(call.entry.module) for call in record.calls)
        if self.steps.keys() - layers.keys():
            raise NotJoinedError("a layer attends to written tokens alone")
        record.sequences, record.arguments = inputs.sequences, inputs.arguments
        record.forget_axes()
        record.calls = [
            self._joined(call, answer, layers[id(call.entry.module)] == 1) for call in record.calls
        ]
        return record

    @property
    def _sequence(self) -> str:
        """Name of the sequence that is written."""
        return "target" if "target" in self.prompt.sequences else "text"

    def _joined(self, call: Call, answer: int, once: bool) -> Call:
        """A call of the prompt's pass, with the rows of the written tokens."""
        steps = self.steps.get(id(call.entry.module), [])
        if not steps and call.entry.source != self._sequence:
            return call  # of a picture, a sound or a source, which is read once
        if len(steps) != answer or not once or call.blocks or call.packing:
            raise NotJoinedError(f"{call.entry.path} is not called once for each token")
        if call.pattern.bias is not None:
            raise NotJoinedError(f"{call.entry.path} adds more to its scores than a mask")
        whole = with_steps(call.pattern, steps, fixed_keys=call.entry.cross)
        axes = self.prompt.axes(call.entry, whole, None)
        return replace(call, pattern=self.prompt.with_padding(whole, axes), axes=axes)


def with_steps(pattern: Pattern, steps: Sequence[Step], *, fixed_keys: bool) -> Pattern:
    """A recipe with the queries of further tokens, and with their keys and values.

    Args:
        pattern: of the tokens before them.
        steps: of each further token.
        fixed_keys: whether the keys are those of another sequence, which stay as they are.

    Raises:
        NotJoinedError: where the masks of the further tokens are no masks alone.
    """
    keys = pattern.keys + (0 if fixed_keys else len(steps))
    mask = _with_rows(pattern.mask, pattern, _seen(steps, pattern, keys, fixed_keys))
    q = torch.cat([pattern.q, *(step.q for step in steps)], 2)
    if fixed_keys:
        return replace(pattern, q=q, mask=mask)
    k = torch.cat([pattern.k, *(step.k for step in steps)], 2)
    v = torch.cat([pattern.v, *(step.v for step in steps)], 2)
    return replace(pattern, q=q, k=k, v=v, mask=mask)


def _seen(
    steps: Sequence[Step], pattern: Pattern, keys: int, fixed_keys: bool
) -> Bool[Tensor, "step key"]:
    """Which keys each further token attends to."""
    seen = torch.zeros(len(steps), keys, dtype=torch.bool, device=pattern.q.device)
    for number, step in enumerate(steps):
        stop = keys if fixed_keys else pattern.keys + number + 1
        start = stop - step.keys  # a sliding cache holds the last ones alone
        mask = step.mask
        shape = (1, 1, 1, step.keys)
        if start < 0 or (mask is not None and tuple(mask.shape) != shape):
            raise NotJoinedError("a mask is not of the keys so far")
        if mask is not None and mask.dtype != torch.bool:
            if bool((mask[mask > HIDDEN] != 0).any()):
                raise NotJoinedError("a mask adds to the scores of what it shows")
            mask = mask > HIDDEN
        seen[number, start:stop] = True if mask is None else mask[0, 0, 0]
    return seen


def _with_rows(mask: Mask, pattern: Pattern, seen: Bool[Tensor, "step key"]) -> Mask:
    """The mask of a recipe with the rows of further tokens: its own rule where they follow it."""
    if mask.differs_by_head or mask.offset or pattern.batch != 1:
        raise NotJoinedError("a mask of its own for each head or text")
    queries, keys, (steps, whole) = pattern.queries, pattern.keys, seen.shape
    mask = replace(mask, query_padding=None, key_padding=None)
    if not steps:
        return mask
    rows = torch.arange(queries + steps, device=seen.device)
    if mask.dense is None and mask.segments is None:
        padding = mask.padding
        if padding is not None:
            padding = torch.cat([padding, padding.new_zeros(1, whole - keys)], 1)
        rule = replace(mask, padding=padding)
        same = rule.visible(rows[queries:], whole, range(1))
        if bool((seen if same is None else same[0, 0] == seen).all()):
            return rule
    before = mask.visible(rows[:queries], keys, range(1))
    dense = torch.zeros(queries + steps, whole, dtype=torch.bool, device=seen.device)
    dense[:queries, :keys] = True if before is None else before[0, 0]
    dense[queries:] = seen
    return infer_mask(dense[None, None], 1)
