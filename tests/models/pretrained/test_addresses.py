"""Every site of models with several in a layer has an address that chooses it alone."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import transformers
from torch import Tensor

from models.attention import Pattern
from models.run import Trace, trace
from models.where import Where, short
from tests.models.architectures import BY_NAME, TEXT, drawn, ids


class Twice(transformers.BertModel):
    """Reads its own output once more: every layer runs in two parts."""

    def forward(self, input_ids: Any = None, *others: Any, **named: Any) -> Any:
        first: Any = super().forward(input_ids=input_ids)
        return super().forward(inputs_embeds=first.last_hidden_state)


SEVERAL = ("SAM", "Idefics3", "Swin", "BART", "twice")  # whose layers attend in several ways


def several(name: str) -> tuple[Any, dict[str, Tensor]]:
    """A model, and an input."""
    if name == "twice":
        return drawn(Twice, transformers.BertConfig(**TEXT)), {"input_ids": ids(1, 7)}
    return BY_NAME[name].build(), BY_NAME[name].inputs()


@dataclass(frozen=True, eq=False)
class Probe:
    """Notes the calls that an edit at an address reaches, and changes nothing."""

    where: Where
    reached: list[Pattern] = field(default_factory=list)

    def edit_values(self, values: Tensor, pattern: Pattern) -> Tensor:
        self.reached.append(pattern)
        return values


@pytest.fixture(scope="module", params=SEVERAL)
def traced(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Tensor], Trace]:
    model, given = several(request.param)
    return model, given, trace(model, given)


def test_a_trace_finds_each_site(traced: tuple[Any, Any, Trace]) -> None:
    _, _, t = traced
    every = [site.where for site in t.sites]
    assert len({*every}) == len(every)
    for site, pattern in zip(t.sites, t.patterns, strict=True):
        for where in (site.where, short(every, site.where)):
            assert t.site(where) is site
            assert t.pattern(where) is pattern
            assert t.weights(where, 0).equal(t.weights(site, 0))
        place = site.where
        asked: dict[str, Any] = {"kind": place.kind, "tower": place.tower, "module": place.module}
        assert t.weights(site.layer, 0, part=site.part, **asked).equal(t.weights(site, 0))


def test_an_edit_reaches_one_call(traced: tuple[Any, Any, Trace]) -> None:
    model, given, t = traced
    probes = [Probe(site.where) for site in t.sites]
    again = trace(model, given, edits=probes)
    for probe, pattern in zip(probes, again.patterns, strict=True):
        assert len(probe.reached) == 1
        assert all(each.q.equal(pattern.q) for each in probe.reached)
