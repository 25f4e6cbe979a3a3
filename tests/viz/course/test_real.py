"""What lessons take from pretrained models: stored for each state, and as the weights give it."""

import json
import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from models.catalogue import entry, folder
from models.edits.text import parse_edits
from models.request import Source, TraceRequest
from tests.fetched import fetched
from viz import course, store, stored
from viz.api import figures
from viz.api.endpoint import QuestionError
from viz.course import real

CHAIR = "The cat sat on the black chair because it was tired."
REAL = [each.name for each in course.STORIES if each.real]


def library(name: str, kind: Any) -> Any:
    """The library's own network of a fetched model."""
    fetched(name)
    return kind.from_pretrained(folder(entry(name)), attn_implementation="eager").eval()


class SmolLM2:
    """The library's own network, and what its parts read and write in a pass."""

    def __init__(self) -> None:
        self.network = library("smollm2", transformers.AutoModelForCausalLM)
        self.reader = transformers.AutoTokenizer.from_pretrained(self.network.name_or_path)

    def ids(self, text: str) -> torch.Tensor:
        return self.reader(text, return_tensors="pt", add_special_tokens=False).input_ids

    @torch.no_grad()
    def passed(self, text: str, part: Any = None) -> Any:
        """A pass over a text.

        Args:
            text: that is read.
            part: a sub-layer and "part", whose output becomes 0, or "path", without the stream
                around it.
        """
        kept = SimpleNamespace(read=[], added=[])

        def write(at: int, stream: torch.Tensor, out: Any) -> Any:
            whole = out[0] if isinstance(out, tuple) else out
            if part is not None and part[0] == at:
                whole = torch.zeros_like(whole) if part[1] == "part" else whole - stream
            kept.added.append(whole[0])
            return (whole, *out[1:]) if isinstance(out, tuple) else whole

        streams: list[torch.Tensor] = []
        hooks = []
        for layer, block in enumerate(self.network.model.layers):
            norms = block.input_layernorm, block.post_attention_layernorm
            parts = block.self_attn, block.mlp
            for side, (norm, module) in enumerate(zip(norms, parts, strict=True)):
                hooks += [
                    norm.register_forward_pre_hook(lambda _, given: streams.append(given[0])),
                    norm.register_forward_hook(lambda _, given, out: kept.read.append(out[0])),
                    module.register_forward_hook(
                        lambda _, given, out, at=2 * layer + side: write(at, streams[-1], out)
                    ),
                ]
        kept.out = self.network(self.ids(text), output_attentions=True, output_hidden_states=True)
        for hook in hooks:
            hook.remove()
        kept.shares = kept.out.logits[0].softmax(-1)
        return kept


def answers(lesson: str, function: str) -> list[tuple[list[Any], dict[str, Any]]]:
    """The stored answers of a function, with its arguments."""
    stored_ = real.stored(lesson)["answers"].items()
    return [
        (json.loads(call.removeprefix(function)), answer)
        for call, answer in stored_
        if call.startswith(f"{function}[")
    ]


@pytest.mark.parametrize("name", REAL)
def test_every_step_and_button_has_numbers_without_the_model(name: str) -> None:
    """Stored from the published weights, with no answer that none asks for, and links that open."""
    asked: set[str] = set()
    queries: list[dict[str, str]] = []
    with pytest.MonkeyPatch.context() as patch:
        call_of = real.call_of
        patch.setattr(real, "call_of", lambda *call: asked.add(call_of(*call)) or call_of(*call))
        for state in store.states(course.lesson(name)):
            found = figures.numbers(name, state)()
            json.dumps(found, allow_nan=False)
            both = found, found.get("board", {})
            queries += [each["explore"]["query"] for each in both if "explore" in each]
    file = real.stored(name)
    assert file["models"] == {each: real.digest(entry(each)) for each in course.lesson(name).real}
    assert asked == set(file["answers"])
    assert queries
    for query in queries:
        assert {"model", "layer", "head"} <= query.keys()
        parse_edits(query.get("edits", ""), {"second": TraceRequest(Source("built", ""), "")})


def test_without_the_model_a_state_that_is_not_stored_is_refused_in_a_line() -> None:
    with pytest.raises(QuestionError, match=r"SmolLM2.* is not on this machine.*get it in Explore"):
        figures.numbers("sampling", [("start", "A frog")])()
    found = figures.numbers("sampling", [])()
    assert found["computed"].startswith("Stored numbers, computed from these weights")
    assert found["explore"]["label"].startswith("Get them (")


@pytest.mark.parametrize(("name", "kept"), stored.read(real.FIRST)["answers"].items())
def test_a_lesson_opens_with_its_own_numbers(name: str, kept: dict[str, Any]) -> None:
    assert near(json.loads(json.dumps(store.first_numbers(course.lesson(name)))), kept)


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_stored_numbers_are_what_the_weights_give(name: str) -> None:
    for each in course.lesson(name).real:
        fetched(each)
    with real.recording() as kept:
        for query in store.states(course.lesson(name)):
            figures.numbers(name, query)()
    answers = real.stored(name)["answers"]
    for call, answer in kept[name].items():
        assert near(json.loads(json.dumps(answer)), answers[call]), call


def near(a: Any, b: Any) -> bool:
    """Equal up to rounding, in float32 and in the file."""
    if isinstance(a, float):
        return abs(a - b) <= 1e-3 + 1e-3 * abs(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b


def test_the_translator_crosses_noun_and_adjective() -> None:
    """Measured with the reader of the published weights: 0.97 and 0.93."""

    read = real.stored("both")["answers"][real.call_of("aligned", (CHAIR,))]
    rows = dict(zip(read["written"], read["weights"], strict=True))
    for word, source, weight in (("cadeira", "chair", 0.97), ("preta", "black", 0.93)):
        assert rows[word][read["source"].index(source)] == pytest.approx(weight, abs=0.005)


def test_without_its_month_a_date_loses_the_month_alone() -> None:
    ((rows,),) = figures.numbers("both", [("board", "cut")])()["board"]["rows"]
    whole, month, day, year, nothing = rows["values"]
    assert min(whole) > 0.99
    assert (month[6] < 0.5, min(month[:4]) > 0.99, min(month[8:]) > 0.99) == (True, True, True)
    assert (min(day[5:7]) > 0.9, min(year[5:7]) > 0.9) == (True, True)
    assert min(nothing[4], nothing[7]) > 0.99 > 0.1 > nothing[0]  # hyphens know their place


@pytest.mark.long
def test_heads_are_switched_off_as_by_the_library() -> None:
    """Their mixed values zeroed, or at their mean over the text, before the output projection."""
    from viz.course.heads_do import numbers as figure

    theirs = SmolLM2()
    ((_, told),) = answers("heads_do", "switched_off")
    for (layer, head), stored_ in zip(figure.READERS, told["heads"], strict=True):
        output = theirs.network.model.layers[layer].self_attn.o_proj
        for is_mean, share in enumerate(stored_["without"]):

            def mix(_: Any, given: Any, head: int = head, is_mean: int = is_mean) -> Any:
                mixed = given[0].clone()
                columns = mixed[..., 64 * head : 64 * head + 64]
                columns[:] = columns.mean(1, keepdim=True) if is_mean else 0
                return (mixed,)

            with output.register_forward_pre_hook(mix):
                shares = theirs.passed(figure.GIVEN).shares[-1]
            assert shares[theirs.ids(" Mary")[0, 0]].item() == pytest.approx(share, abs=1e-3)


def test_heads_help_or_hold_back_the_name_as_the_lesson_says() -> None:
    ((_, told),) = answers("heads_do", "switched_off")
    against, *helpers = told["heads"]
    assert against["part"] < -1
    assert against["look"] == max(each["look"] for each in told["heads"])
    assert min(against["without"]) > told["given"]
    assert all(max(each["without"]) < told["given"] for each in helpers)


def test_a_shuffle_of_tokens_with_positions_moves_nothing_and_one_of_patches_does() -> None:
    answers = real.stored("vision")["answers"]
    tokens, patches = (answers[f'moved["flower", "{how}"]'] for how in ("tokens", "patches"))
    assert (tokens["changed"] < 1e-4, tokens["cosine"] > 1 - 1e-6) == (True, True)
    assert patches["cosine"] < 0.9
    assert figures.numbers("vision", [("shuffle", "patches")])()["cosine"] == patches["cosine"]


def test_learned_positions_are_like_their_neighbours_in_the_picture() -> None:
    similar = torch.tensor(real.stored("vision")["answers"]["alike[119]"]["similar"])
    row, col = 119 // 16, 119 % 16
    near_it = [at for at in range(256) if max(abs(at // 16 - row), abs(at % 16 - col)) <= 2]
    assert set(similar.topk(6).indices.tolist()) <= set(near_it)
    assert {103, 118, 120, 135} <= set(similar.topk(10).indices.tolist())


@pytest.mark.long
def test_a_photo_is_cut_out_as_the_checkpoints_processor_does() -> None:
    from viz.course.vision.numbers import PHOTO, PHOTOS, middle

    fetched("dinov2")
    place = folder(entry("dinov2"))
    processor = transformers.AutoImageProcessor.from_pretrained(place, use_fast=False)
    photo = Image.open(PHOTOS / f"{PHOTO}.jpg").convert("RGB")
    pixels = processor(photo, return_tensors="np")["pixel_values"][0].transpose(1, 2, 0)
    levels = pixels * processor.image_std + processor.image_mean
    assert np.abs(levels - np.asarray(middle(PHOTO)) / 255).max() < 0.01


def test_the_times_of_spoken_words_follow_each_other_within_the_recording() -> None:
    read = real.stored("both")["answers"]["timed[]"]
    spoken = "The animal didn't cross the street because it was too tired."
    assert read["words"] == spoken.split()
    times = [time for span in zip(read["starts"], read["ends"], strict=True) for time in span]
    assert times == sorted(times)
    assert read["heard"] * 0.8 < times[-1] <= read["heard"]
    for start, end, curve in zip(read["starts"], read["ends"], read["curves"], strict=True):
        assert start - 0.1 <= curve.index(max(curve)) * read["frame"] <= end + 0.1


def test_a_rotary_pair_turns_at_the_speed_of_the_formula() -> None:
    for call, read in real.stored("position")["answers"].items():
        rates = [100_000 ** (-2 * pair / 64) for pair in range(32)]
        assert read["rates"] == pytest.approx(rates, rel=1e-4), call
        assert [sum(row) for row in read["shares"]] == pytest.approx([1, 1, 1], abs=1e-4)


def test_a_tied_logit_is_the_product_of_both_norms_and_the_cosine() -> None:
    for call, read in real.stored("head_layer")["answers"].items():
        rows = zip(read["rows"], read["cosines"], strict=True)
        logits = [read["norm"] * row * cosine for row, cosine in rows]
        assert read["logits"] == pytest.approx(logits, rel=1e-3), call
        assert math.hypot(*read["h"]) == pytest.approx(read["norm"], rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(("target", "rate"), [(1, 1.0), (0, 4.0)])
def test_all_tokens_are_in_the_head_layers_numbers(target: int, rate: float) -> None:
    """Softmax, loss and gradient by torch, over the logits of 49,152 tokens."""
    text = "The opposite of hot is"
    out = SmolLM2().passed(text).out
    logits = out.logits[0, -1].double().requires_grad_()
    best = logits.topk(6).indices
    loss = torch.nn.functional.cross_entropy(logits[None], best[None, target])
    (gradient,) = torch.autograd.grad(loss, logits)
    moved = (logits - rate * gradient).log_softmax(0)
    query = [("text", text), ("target", str(target)), ("rate", str(rate))]
    answer = figures.numbers("head_layer", query)()
    approx = partial(pytest.approx, rel=1e-3, abs=1e-6)

    def with_others(shares: torch.Tensor) -> list[float]:
        return [*shares[best].tolist(), 1 - shares[best].sum().item()]

    assert answer["h"] == pytest.approx(out.hidden_states[-1][0, -1].tolist(), abs=2e-3)
    assert answer["logits"] == approx(logits[best].tolist())
    assert answer["probabilities"] == approx(with_others(logits.softmax(0)))
    assert answer["loss"] == approx(loss.item())
    assert answer["gradient"][:-1] == approx(gradient[best].tolist())
    assert sum(answer["gradient"]) == pytest.approx(0, abs=1e-6)
    assert answer["moved"]["probabilities"] == approx(with_others(moved.exp()))
    assert answer["moved"]["loss"] == approx(-moved[best[target]].item())


@pytest.mark.long
def test_the_steps_on_the_language_model_show_what_transformers_computes() -> None:
    """What parts add to logits, and scores, from the library's own pass."""
    from viz.course.heads_do.numbers import HEADS

    theirs = SmolLM2()
    approx = partial(pytest.approx, rel=2e-3, abs=1e-4)
    for (text,), answer in answers("block", "attributed"):
        best = theirs.passed(text).out.logits[0, -1].topk(2).values.tolist()
        assert best == approx(answer["logits"])
        assert [sum(each) for each in zip(*answer["parts"], strict=True)][:2] == approx(best)
    for (text, ablated), answer in answers("heads_do", "repeat"):
        if ablated != "none":
            continue
        read = theirs.passed(text)
        for (layer, head), weights in zip(HEADS, answer["weights"], strict=True):
            assert np.array(weights) == approx(read.out.attentions[layer][0, head].numpy())
        best = [each["share"] for each in answer["best"]]
        assert best == approx(read.shares.max(-1).values.tolist())
    for (text,), answer in answers("scale", "spreads"):
        read = theirs.passed(text)
        for row in answer["rows"]:
            weights = read.out.attentions[row["layer"]][0, row["head"]]
            assert weights[1:].max(-1).values.mean().item() == approx(row["largest"])
            sharp = weights**8  # scores times √64
            unscaled = (sharp / sharp.sum(-1, keepdim=True))[1:].max(-1).values.mean().item()
            assert unscaled == approx(row["unscaled"])


@pytest.mark.long
def test_the_streams_are_those_of_the_library() -> None:
    """States, what is read and added, their shares of the end, and what states read as."""
    from viz.course.block.numbers import AFTER

    theirs = SmolLM2()

    def passed(text: str) -> tuple[Any, torch.Tensor]:
        """A pass, and the states before and after each part "state token dim"."""
        read = theirs.passed(text)
        parts = torch.stack([read.out.hidden_states[0][0], *read.added])
        return read, parts.cumsum(0)

    for (text,), answer in answers("block", "lens"):
        read, states = passed(text)
        best = int(read.shares[-1].argmax())
        for after, words, goal in zip(AFTER, answer["shares"], answer["goals"], strict=True):
            with torch.no_grad():
                seen = theirs.network.lm_head(theirs.network.model.norm(states[2 * after]))
            shares = seen.softmax(-1)
            assert shares.max(-1).values[-len(words) :].tolist() == pytest.approx(words, rel=5e-3)
            assert shares[-1, best].item() == pytest.approx(goal, rel=5e-3, abs=1e-6)
    for (text,), answer in answers("block", "stream"):
        read, states = passed(text)
        for name, found in (("norms", states), ("reads", read.read), ("adds", read.added)):
            norms = torch.stack([*found]).norm(dim=-1).T
            assert torch.allclose(torch.tensor(answer[name]), norms, rtol=2e-3)
        parts = torch.cat([states[:1], torch.stack(read.added)])
        shares = ((parts * states[-1]).sum(-1) / states[-1].pow(2).sum(-1)).T
        assert torch.allclose(torch.tensor(answer["shares"]), shares, atol=1e-3)
        assert torch.allclose(shares.sum(-1), torch.ones(len(shares)), atol=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("way", ["part", "path"])
def test_a_prediction_without_a_part_is_that_of_the_library_without_it(way: str) -> None:
    theirs = SmolLM2()
    for (text,), answer in answers("block", "without"):
        whole = theirs.passed(text).shares[-1]
        goal = int(whole.argmax())
        assert whole[goal].item() == pytest.approx(answer["share"], rel=2e-3)
        for sublayer in (0, 1, 2, 17, 45, 46, 59):
            shares = theirs.passed(text, part=(sublayer, way)).shares[-1]
            assert shares[goal].item() == pytest.approx(answer[way]["shares"][sublayer], abs=2e-3)
            assert shares.max().item() == pytest.approx(answer[way]["best"][sublayer], abs=2e-3)
