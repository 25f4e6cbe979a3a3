"""What lessons take from pretrained models: stored for each state, and as the weights give it."""

import base64
import io
import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from scipy.io import wavfile

from models.catalogue import entry, folder
from models.edits.text import parse_edits
from models.request import Source, TraceRequest
from tests.fetched import fetched
from viz import course, store, stored
from viz.api import figures
from viz.course import real

CHAIR = "The cat sat on the black chair because it was tired."
REAL = [each.name for each in course.STORIES if each.real]


def library(name: str, kind: Any) -> Any:
    """The library's own network of a fetched model."""
    fetched(name)
    return kind.from_pretrained(folder(entry(name)), attn_implementation="eager").eval()


def reader_of(network: Any) -> Any:
    return transformers.AutoTokenizer.from_pretrained(network.name_or_path)


def heard() -> torch.Tensor:
    """What Whisper's extractor makes of the recording."""
    rate, samples = wavfile.read(real.RECORDING)
    extractor = transformers.WhisperFeatureExtractor()
    return extractor(samples / 32768, sampling_rate=rate, return_tensors="pt").input_features


def painted(href: str) -> np.ndarray:
    """The colours "row column 3" of a data: URL."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(href.split(",")[1]))).convert("RGB"))


@pytest.mark.parametrize("name", REAL)
def test_every_step_and_button_has_numbers_without_the_model(name: str) -> None:
    for query in store.states(course.lesson(name)):
        json.dumps(figures.numbers(name, query)(), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "query", "differences"),
    [
        ("decoder", {"text": "A frog jumped"}, {"text": "The sun rises in the"}),
        ("block", {"view": "lens", "text": "A frog"}, {"text": "The capital of France is"}),
        ("head_layer", {"text": "A frog"}, {"text": "The capital of France is"}),
        ("sampling", {"start": "A frog"}, {"start": "The capital of France is"}),
        ("vision", {"board": "frames", "sound_layer": "3", "sound_head": "1"}, {"sound_head": 4}),
        ("vision", {"board": "frames", "heard": "60"}, {"heard": 68}),
        ("both", {"board": "grows", "sentence": "A cat."}, {"sentence": CHAIR}),
    ],
)
def test_without_the_model_the_nearest_stored_state_is_shown(
    name: str, query: dict[str, str], differences: dict[str, Any]
) -> None:
    answer = figures.numbers(name, [*query.items()])()
    assert answer["nearest"] == differences
    there = query | {each: str(value) for each, value in answer["nearest"].items()}
    stored = figures.numbers(name, [*there.items()])()
    assert "nearest" not in stored
    board = "board" in query
    pictured, expected = (each["board"] if board else each for each in (answer, stored))
    assert pictured["computed"].startswith("The nearest stored state is shown")
    assert pictured["explore"]["label"].startswith("Get them (")
    drop = {"computed", "nearest"}
    left, right = (
        {each: value for each, value in one.items() if each not in drop}
        for one in (pictured, expected)
    )
    assert left == right


@pytest.mark.parametrize("name", REAL)
def test_stored_numbers_are_called_stored(name: str) -> None:
    for each in course.lesson(name).real:
        assert real.COMMAND in real.about(each)["computed"]
    answers = [figures.numbers(name, query)() for query in store.states(course.lesson(name))]
    told = [{**each, **each.get("board", {})} for each in answers]
    of_real = [
        each["computed"]
        for each in told
        if "explore" in each and each["explore"]["query"]["model"] in course.lesson(name).real
    ]
    assert of_real
    assert all(real.COMMAND in each for each in of_real)


@pytest.mark.parametrize("name", REAL)
def test_the_file_is_of_the_published_weights_and_holds_nothing_else(name: str) -> None:
    """No answer is left that no step or button asks for."""
    file = real.stored(name)
    assert file["models"] == {each: real.digest(entry(each)) for each in course.lesson(name).real}
    asked: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        call_of = real.call_of
        patch.setattr(real, "call_of", lambda *call: asked.add(call_of(*call)) or call_of(*call))
        for query in store.states(course.lesson(name)):
            figures.numbers(name, query)()
    assert asked == set(file["answers"])


@pytest.mark.parametrize("name", [*stored.read(real.FIRST)["answers"]])
def test_a_lesson_opens_with_its_own_numbers(name: str) -> None:
    numbers = json.loads(json.dumps(store.first_numbers(course.lesson(name))))
    assert near(numbers, json.loads(json.dumps(real.first(name))))


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


@pytest.mark.long
def test_the_decoder_shows_what_transformers_computes() -> None:
    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    answers = real.stored("decoder")["answers"]
    for call, shown in answers.items():
        function, given = call.split("[", 1)
        if function != "read":
            continue
        ids, window, ahead, layer, head, _ = json.loads(f"[{given}")
        if window < len(ids) or ahead:
            continue
        with torch.no_grad():
            out = theirs(torch.tensor([ids]), output_attentions=True)
        weights = torch.tensor(shown["weights"])
        assert torch.allclose(out.attentions[layer][0, head], weights, atol=1e-4)
        best = out.logits[0].softmax(-1).max(-1).values
        assert torch.allclose(
            best, torch.tensor([row[0]["share"] for row in shown["best"]]), atol=1e-4
        )


def test_the_translator_crosses_noun_and_adjective() -> None:
    """Measured with the reader of the published weights: 0.97 and 0.93."""

    read = real.stored("both")["answers"][real.call_of("aligned", (CHAIR,))]
    rows = dict(zip(read["written"], read["weights"], strict=True))
    for word, source, weight in (("cadeira", "chair", 0.97), ("preta", "black", 0.93)):
        assert rows[word][read["source"].index(source)] == pytest.approx(weight, abs=0.005)


def test_without_its_month_a_date_loses_the_month_alone() -> None:
    ((rows,),) = figures.numbers("both", [("board", "cut")])()["board"]["rows"]
    whole, month, day, year = rows["values"]
    assert min(whole) > 0.99
    assert (month[6] < 0.5, min(month[:4]) > 0.99, min(month[8:]) > 0.99) == (True, True, True)
    assert (min(day[5:7]) > 0.9, min(year[5:7]) > 0.9) == (True, True)


def test_the_heads_on_a_repeat_and_without_one_are_those_of_the_library() -> None:
    """Maps, roles and predictions of four heads, one of them ablated in the output projection."""
    from viz.course.heads_do import numbers as figure

    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    approx = partial(pytest.approx, rel=5e-3, abs=2e-3)
    without = set()
    for call, answer in real.stored("heads_do")["answers"].items():
        if not call.startswith("repeat["):
            continue
        text, ablated = json.loads(call.removeprefix("repeat"))
        ids = reader(text, return_tensors="pt", add_special_tokens=False).input_ids
        kept = None
        if ablated != "none":
            layer, head = figure.DEEP[int(ablated)]
            out = theirs.model.layers[layer].self_attn.o_proj.weight.data
            columns = out[:, 64 * head : 64 * head + 64]
            kept = columns.clone(), columns
            columns.zero_()
        with torch.no_grad():
            read = theirs(ids, output_attentions=True)
        if kept is not None:
            kept[1].copy_(kept[0])
        without.add(ablated)
        assert answer["tokens"] == [reader.decode(id).strip() for id in ids[0]]
        shares, best = read.logits[0].softmax(-1).max(-1)
        assert [each["share"] for each in answer["best"]] == approx(shares.tolist())
        likeliest = [real.word(reader.decode(id)) for id in best]
        assert [each["token"] for each in answer["best"]] == likeliest
        for n, (layer, head) in enumerate(figure.DEEP):
            weights = read.attentions[layer][0, head]
            assert torch.tensor(answer["weights"][n]).allclose(weights, atol=2e-3)
            roles = {name: values[n] for name, values in answer["roles"].items()}
            assert roles["previous"] == approx(weights.diagonal(-1).mean().item())
            assert roles["first"] == approx(weights[1:, 0].mean().item())
            after = [
                weights[i, j + 1].item()
                for i in range(ids.shape[1])
                for j in range(i - 1)
                if ids[0, i] == ids[0, j]
            ]
            assert roles["induction"] == approx(sum(after) / len(after))
    assert without == {"none", "0", "1", "2"}


@pytest.mark.long
def test_a_head_without_its_columns_of_the_output_loses_as_much() -> None:
    from viz.course.heads_do import numbers as figure

    length = figure.DEEP_LENGTH
    ids = figure.repeats(length, figure.DEEP_LOW, figure.DEEP_HIGH)
    tests = real.stored("heads_do")["answers"]["losses[]"]["tests"]
    network = library("smollm2", transformers.AutoModelForCausalLM)
    for place, expected in zip([None, *figure.DEEP], tests, strict=True):
        columns = None
        if place is not None:
            out = network.model.layers[place[0]].self_attn.o_proj.weight.data
            columns = out[:, 64 * place[1] : 64 * place[1] + 64]
        kept = None if columns is None else columns.clone()
        if columns is not None:
            columns.zero_()
        with torch.no_grad():
            logits = network(ids).logits[0, length:-1]
        loss = torch.nn.functional.cross_entropy(logits, ids[0, length + 1 :])
        assert loss.item() == pytest.approx(expected["loss"], abs=2e-3)
        right = (logits.argmax(-1) == ids[0, length + 1 :]).float().mean().item()
        assert right == pytest.approx(expected["accuracy"], abs=2e-2)
        if columns is not None and kept is not None:
            columns.copy_(kept)


@pytest.mark.long
def test_heads_help_or_hold_back_the_name_as_the_lesson_says() -> None:
    """By the library: their outputs zeroed, or at their mean over the text."""
    from viz.course.heads_do import numbers as figure

    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    answers = real.stored("heads_do")["answers"]

    def likely(text: str, words: str, *off: Any) -> Any:
        """Of the next token, without heads (layer, head, how)."""

        def changed(layer: int, head: int, how: str) -> Any:
            part = slice(64 * head, 64 * head + 64)

            def replace(_: Any, given: Any) -> Any:
                values = given[0].clone()
                values[..., part] = 0 if how == "zero" else values[..., part].mean(1, keepdim=True)
                return (values,)

            projection = theirs.model.layers[layer].self_attn.o_proj
            return projection.register_forward_pre_hook(replace)

        hooks = [changed(*each) for each in off]
        with torch.no_grad():
            out = theirs(reader(text, return_tensors="pt").input_ids, output_attentions=True)
        for hook in hooks:
            hook.remove()
        ids = [reader(word, add_special_tokens=False).input_ids[0] for word in words.split("|")]
        return [*out.logits[0, -1].softmax(-1)[ids].tolist(), out.attentions]

    read: dict[Any, torch.Tensor] = {}  # at the last token: what is normed, and mixed values
    norm = theirs.model.norm
    norm.register_forward_pre_hook(lambda _, given: read.update(norm=given[0][0, -1]))
    for layer, block in enumerate(theirs.model.layers):
        block.self_attn.o_proj.register_forward_pre_hook(
            lambda _, given, layer=layer: read.update({layer: given[0][0, -1]})
        )
    told = answers["switched_off[]"]
    given, weights = likely(figure.GIVEN, " Mary")
    mary = reader(" Mary", add_special_tokens=False).input_ids[0]
    scale = norm.weight / (read["norm"].pow(2).mean() + norm.variance_epsilon).sqrt()
    row, mixed = theirs.lm_head.weight[mary] * scale, {**read}
    assert told["given"] == pytest.approx(given, abs=1e-3)
    for place, head in zip(figure.READERS, told["heads"], strict=True):
        off = [likely(figure.GIVEN, " Mary", (*place, how))[0] for how in ("zero", "mean")]
        assert head["without"] == pytest.approx(off, abs=1e-3)
        assert head["look"] == pytest.approx(
            weights[place[0]][0, place[1], -1, figure.MARY].item(), abs=1e-3
        )
        assert all((each > given) == (place == (24, 4)) for each in off), place
        part = slice(64 * place[1], 64 * place[1] + 64)
        written = (
            theirs.model.layers[place[0]].self_attn.o_proj.weight[:, part] @ mixed[place[0]][part]
        )
        assert head["part"] == pytest.approx((row @ written).item(), abs=1e-3)
    assert told["heads"][0]["part"] < -1
    text = "magnet violet cobalt planet magnet violet cobalt"
    (planet, _), *off = (
        likely(text, " planet", *each) for each in ((), [(18, 6, "zero")], [(18, 6, "mean")])
    )
    assert all(each < planet for each, _ in off)  # the induction head helps


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
def test_vision_shows_what_transformers_computes() -> None:
    from viz.course.vision.numbers import PHOTO, PHOTOS, middle, rows_of, shuffled

    theirs = library("dinov2", transformers.Dinov2Model)
    processor = transformers.AutoImageProcessor.from_pretrained(theirs.name_or_path, use_fast=False)
    photo = Image.open(PHOTOS / f"{PHOTO}.jpg").convert("RGB")
    pixels = processor(photo, return_tensors="pt")["pixel_values"]
    cut = pixels.unfold(2, 14, 14).unfold(3, 14, 14).flatten(2, 3)
    rows = [painted(each) for each in rows_of(middle(PHOTO), 14, 1, [*range(256)])]
    shown = np.concatenate(rows).transpose(2, 0, 1) / 255
    levels = zip(shown, processor.image_mean, processor.image_std, strict=True)
    scaled = [(x - mean) / deviation for x, mean, deviation in levels]
    assert np.abs(np.stack(scaled) - pixels[0].numpy()).max() < 0.03  # half a level of 255
    dealt = cut[:, :, shuffled(256)].unflatten(2, (16, 16)).transpose(3, 4).reshape(1, 3, 224, 224)
    with torch.no_grad():
        out = theirs(pixels, output_attentions=True, output_hidden_states=True)
        other = theirs(dealt).last_hidden_state[0, 0]
        table = theirs.embeddings.interpolate_pos_encoding(torch.zeros(1, 257, 384), 224, 224)[
            0, 1:
        ]
    answers = real.stored("vision")["answers"]
    for layer, head in ((11, 2), (10, 1), (0, 2)):
        weights = torch.tensor(answers[f'attends["{PHOTO}", "none", {layer}, {head}]']["at"])
        assert torch.allclose(out.attentions[layer][0, head, 0, 1:], weights, atol=1e-4)
    for layer in (0, 6, 11):
        norms = torch.tensor(answers[f'norms["{PHOTO}", "none", {layer}]']["norms"])
        for step, state in ((0, out.hidden_states[layer]), (6, out.hidden_states[layer + 1])):
            assert torch.allclose(state[0].norm(dim=-1), norms[step], rtol=1e-3)
    alike = torch.tensor(answers["alike[119]"]["similar"])
    assert torch.allclose(torch.cosine_similarity(table[119][None], table), alike, atol=1e-3)
    cosine = torch.cosine_similarity(out.last_hidden_state[0, 0], other, dim=0).item()
    assert answers[f'moved["{PHOTO}", "patches"]']["cosine"] == pytest.approx(cosine, abs=1e-3)


@pytest.mark.parametrize("name", REAL)
def test_the_edits_of_a_link_can_be_read(name: str) -> None:
    """By the page that it leads to."""
    answers = [figures.numbers(name, query)() for query in store.states(course.lesson(name))]
    figured = [each for one in answers for each in (one, one.get("board", {}))]
    queries = [each["explore"]["query"] for each in figured if "explore" in each]
    assert queries
    for query in queries:
        assert {"model", "layer", "head"} <= query.keys()
        parse_edits(query.get("edits", ""), {"second": TraceRequest(Source("built", ""), "")})


def test_the_times_of_spoken_words_follow_each_other_within_the_recording() -> None:
    read = real.stored("both")["answers"]["timed[]"]
    spoken = "The animal didn't cross the street because it was too tired."
    assert read["words"] == spoken.split()
    times = [time for span in zip(read["starts"], read["ends"], strict=True) for time in span]
    assert times == sorted(times)
    assert read["heard"] * 0.8 < times[-1] <= read["heard"]


def test_the_curve_of_a_word_is_drawn_over_the_seconds_of_the_recording() -> None:
    read = real.stored("both")["answers"]["timed[]"]
    for word in (1, 3):
        board = figures.numbers("both", [("board", "spoken"), ("word", f"{word}")])()["board"]
        ((times,), (curve,)) = board["rows"]
        heights = [value for (value,) in curve["values"]]
        assert heights == read["curves"][word]
        assert len(heights) * read["frame"] == pytest.approx(read["heard"], abs=read["frame"])
        assert curve["axis"]["high"] == pytest.approx(read["heard"], abs=read["frame"])
        assert curve["span"]["name"] == read["words"][word] == board["word"]
        assert [curve["span"]["low"], curve["span"]["high"]] == times["values"][word][:2]
        assert board["share"] == pytest.approx(math.fsum(heights))
        assert 0.5 < board["share"] < 1
        assert heights[round(board["top"] / read["frame"])] == max(heights)
    assert board["inside"] == 9


@pytest.mark.long
def test_the_curves_of_words_are_the_cross_attention_that_transformers_computes() -> None:
    theirs = library("whisper", transformers.WhisperForConditionalGeneration)
    reader = reader_of(theirs)
    features = heard()
    text = " The animal didn't cross the street because it was too tired."
    pieces = reader(text, add_special_tokens=False).input_ids
    with torch.no_grad():
        ids = torch.tensor([[50257, 50362, *pieces]])
        out = theirs(features, decoder_input_ids=ids, output_attentions=True)
    heads = [(1, 0), (2, 0), (2, 5), *((3, head) for head in range(5))]  # of the checkpoint's card
    mean = torch.stack([out.cross_attentions[layer][0, head] for layer, head in heads]).mean(0)
    curves = torch.tensor(real.stored("both")["answers"]["timed[]"]["curves"])
    written = [[0], [1], [2, 3], *([at] for at in range(4, 12))]  # tokens of each word
    for curve, tokens in zip(curves, written, strict=True):
        rows = mean[[1 + token for token in tokens], : len(curve)]
        assert torch.allclose(rows.mean(0), curve, atol=2e-4)


def test_the_spectrogram_is_the_log_mel_of_the_recording() -> None:
    """By the formula: a Fourier transform of every window, in triangles on Slaney's mel scale."""
    from viz.course.vision.numbers import spectrogram

    rate, samples = wavfile.read(real.RECORDING)
    assert rate == 16_000
    padded = np.zeros(30 * rate)
    padded[: len(samples)] = samples / 32768
    mirrored = np.pad(padded, 200, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    starts = 160 * np.arange(3000)
    power = np.abs(np.fft.rfft(mirrored[starts[:, None] + np.arange(400)] * window)) ** 2
    mels = np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), 82)  # of 0 and 8,000 Hz
    edges = np.where(mels < 15, 200 * mels / 3, 1000 * np.exp(np.log(6.4) / 27 * (mels - 15)))
    at = np.arange(201) * 40.0
    rising = (at - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - at) / np.diff(edges)[1:, None]
    filters = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    logs = np.log10(np.maximum(filters @ power.T, 1e-10))
    expected = (np.maximum(logs, logs.max() - 8) + 4) / 4
    levels, step = spectrogram()
    assert levels.shape == (80, int(len(samples) / 160))
    assert step == 0.01
    assert np.allclose(levels, expected[:, : levels.shape[1]], atol=1e-3)


def test_the_frames_of_a_spectrogram_are_columns_of_it_two_by_two() -> None:
    from viz.course.vision.numbers import spectrogram

    levels, _ = spectrogram()
    for token, begins in ((30, 24), (68, 62)):
        state = {"sound_layer": "0", "heard": f"{token}", "board": "frames"}
        rows = figures.numbers("vision", [*state.items()])()["board"]["rows"]
        (whole,), cuts = rows[0][0]["hrefs"], rows[1][0]["hrefs"]
        assert rows[0][0]["span"]["low"] == pytest.approx(0.02 * begins)
        assert len(cuts) == 12
        image, *parts = map(painted, (whole, *cuts))
        assert image.shape == (160, 2 * levels.shape[1], 3)
        for at, part in enumerate(parts):
            columns = image[::2, 4 * (begins + at) : 4 * (begins + at + 1) : 2]
            assert (part[::8, ::8] == columns).all()  # the same colours, the lowest band below
    loud = np.unravel_index(levels.argmax(), levels.shape)
    dark = np.unravel_index(levels.argmin(), levels.shape)
    row = 2 * (levels.shape[0] - 1 - np.array([loud[0], dark[0]]))
    brightest, darkest = image[row, 2 * np.array([loud[1], dark[1]])].sum(-1)
    assert (brightest, darkest) == (image.sum(-1).max(), image.sum(-1).min())


@pytest.mark.long
def test_the_frames_attend_as_transformers_computes_and_see_five_columns() -> None:
    theirs = library("whisper", transformers.WhisperModel)
    features = heard()
    answers = real.stored("vision")["answers"]
    rows = {call[7:]: each["at"] for call, each in answers.items() if call.startswith("listens")}
    assert len(rows) == 3
    with torch.no_grad():
        weights = theirs.encoder(features, output_attentions=True).attentions
    for call, stated in rows.items():
        layer, head, token = json.loads(call)
        row = weights[layer][0, head, token, : len(stated)]
        assert torch.allclose(row, torch.tensor(stated), atol=2e-4)
    built = answers["shapes[]"]
    features.requires_grad_()
    encoder = theirs.encoder
    once = torch.nn.functional.gelu(encoder.conv1(features))
    twice = torch.nn.functional.gelu(encoder.conv2(once))
    assert built["shapes"] == [[*each.shape[1:]] for each in (features, once, twice)]
    twice[0, :, 68].sum().backward()
    assert features.grad is not None
    seen = features.grad[0].abs().sum(0).nonzero().flatten().tolist()
    assert seen == [134, 135, 136, 137, 138]
    assert built["sees"] == len(seen)


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
@pytest.mark.parametrize(("target", "rate", "temperature"), [(1, 1.0, 2.0), (0, 4.0, 0.3)])
def test_all_tokens_are_in_the_head_layers_numbers(
    target: int, rate: float, temperature: float
) -> None:
    """Softmax, loss and gradient by torch, over the logits of 49,152 tokens."""
    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    text = "The opposite of hot is"
    with torch.no_grad():
        ids = reader(text, return_tensors="pt", add_special_tokens=False).input_ids
        out = theirs(ids, output_hidden_states=True)
    logits = out.logits[0, -1].double().requires_grad_()
    best = logits.topk(6).indices
    loss = torch.nn.functional.cross_entropy(logits[None], best[None, target])
    (gradient,) = torch.autograd.grad(loss, logits)
    moved = (logits - rate * gradient).log_softmax(0)
    query = [("text", text), ("target", str(target)), ("rate", str(rate))]
    answer = figures.numbers("head_layer", [*query, ("temperature", str(temperature))])()
    approx = partial(pytest.approx, rel=1e-3, abs=1e-6)

    def with_others(shares: torch.Tensor) -> list[float]:
        return [*shares[best].tolist(), 1 - shares[best].sum().item()]

    assert answer["h"] == pytest.approx(out.hidden_states[-1][0, -1].tolist(), abs=2e-3)
    assert answer["logits"] == approx(logits[best].tolist())
    assert answer["probabilities"] == approx(with_others(logits.softmax(0)))
    assert answer["sampled"] == approx(with_others((logits / temperature).softmax(0)))
    assert answer["loss"] == approx(loss.item())
    assert answer["gradient"][:-1] == approx(gradient[best].tolist())
    assert sum(answer["gradient"]) == pytest.approx(0, abs=1e-6)
    assert answer["moved"]["probabilities"] == approx(with_others(moved.exp()))
    assert answer["moved"]["loss"] == approx(-moved[best[target]].item())


@pytest.mark.long
def test_the_steps_on_the_language_model_show_what_transformers_computes() -> None:
    """Streams, what blocks add, logits, scores and verbs, from the library's own pass."""
    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    added: dict[str, torch.Tensor] = {}
    for number, block in enumerate(theirs.model.layers, start=1):
        for name, part in (("attention", block.self_attn), ("mlp", block.mlp)):
            key = f"{name} {number}"
            part.register_forward_hook(
                lambda _, given, out, key=key: added.update(
                    {key: (out[0] if isinstance(out, tuple) else out)[0, -1]}
                )
            )

    mixed: dict[int, torch.Tensor] = {}
    for layer, block in enumerate(theirs.model.layers):
        block.self_attn.o_proj.register_forward_pre_hook(
            lambda _, given, layer=layer: mixed.update({layer: given[0][0, -1]})
        )

    def head_output(name: str) -> torch.Tensor:
        """What a head, such as "layer 3, head 5", adds to the last token's stream."""
        layer, head = (int(each.split()[1]) for each in name.split(", "))
        part = slice(64 * head, 64 * head + 64)
        weight = theirs.model.layers[layer].self_attn.o_proj.weight
        return weight[:, part] @ mixed[layer][part]

    def passed(text: str) -> Any:
        ids = reader(text, return_tensors="pt", add_special_tokens=False).input_ids
        with torch.no_grad():
            return theirs(ids, output_attentions=True, output_hidden_states=True)

    def answers(lesson: str) -> list[tuple[str, dict[str, Any]]]:
        calls = real.stored(lesson)["answers"].items()
        return [(json.loads(call[call.index("[") :])[0], answer) for call, answer in calls]

    approx = partial(pytest.approx, rel=2e-3, abs=1e-4)
    for text, answer in answers("block"):
        if "parts" in answer:
            out = passed(text)
            best = out.logits[0, -1].topk(2)
            rows = theirs.lm_head.weight[best.indices] * theirs.model.norm.weight
            last = out.hidden_states[-2][0, -1] + added["attention 30"] + added["mlp 30"]
            scaled = rows / (last.pow(2).mean() + 1e-5).sqrt()
            heads = [name for name in answer["names"] if "head" in name]
            inputs = {name: head_output(name) for name in heads if not name.startswith("other")}
            mlps = [name for name in answer["names"] if "MLP" in name and "other" not in name]
            inputs |= {name: added[f"mlp {int(name.split()[1].rstrip(',')) + 1}"] for name in mlps}
            inputs["token embedding"] = out.hidden_states[0][0, -1]
            for name, part in zip(answer["names"], answer["parts"], strict=True):
                if name in inputs:
                    assert (scaled @ inputs[name]).tolist() == approx(part[:2])
            for n, logit in enumerate(best.values.tolist()):
                assert sum(part[n] for part in answer["parts"]) == approx(logit)
            assert best.values.tolist() == approx(answer["logits"])
    for text, answer in answers("sequences"):
        out = passed(text)
        shares = out.logits[0, -1].softmax(-1)
        verbs = [reader(verb, add_special_tokens=False).input_ids[0] for verb in (" are", " is")]
        assert shares[verbs].tolist() == approx(answer["verbs"])
        weights = torch.stack(out.attentions)[:, 0, :, -1, 1]
        assert weights.max().item() == approx(answer["weight"])
        assert int(weights.argmax()) == 9 * answer["layer"] + answer["head"]
    for text, answer in answers("scale"):
        out = passed(text)
        for row in answer["rows"]:
            weights = out.attentions[row["layer"]][0, row["head"]]
            largest = weights[1:].max(-1).values.mean().item()
            assert largest == approx(row["largest"])
            sharp = weights**8  # scores times √64
            unscaled = (sharp / sharp.sum(-1, keepdim=True))[1:].max(-1).values.mean().item()
            assert unscaled == approx(row["unscaled"])
    for text, answer in answers("heads"):
        weights = torch.stack(passed(text).attentions)[:, 0, :, 1:]
        first = weights[..., 0].mean(-1)
        (row,) = (row for row in answer["rows"] if row["name"] == "first")
        assert first.max().item() == approx(row["score"])
    for text, answer in answers("tokens"):
        assert reader(text, add_special_tokens=False).input_ids == answer["ids"]


@pytest.mark.long
def test_the_streams_are_those_of_the_library() -> None:
    """States, what is read and added, their shares of the end, and what states read as."""
    from viz.course.block.numbers import AFTER

    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    read: list[torch.Tensor] = []
    added: list[torch.Tensor] = []
    for block in theirs.model.layers:
        for norm in (block.input_layernorm, block.post_attention_layernorm):
            norm.register_forward_hook(lambda _, given, out: read.append(out[0]))
        for part in (block.self_attn, block.mlp):
            part.register_forward_hook(
                lambda _, given, out: added.append((out[0] if isinstance(out, tuple) else out)[0])
            )
    for call, answer in real.stored("block")["answers"].items():
        function, (text,) = call[: call.index("[")], json.loads(call[call.index("[") :])
        if function not in ("stream", "lens"):
            continue
        read.clear()
        added.clear()
        with torch.no_grad():
            ids = reader(text, return_tensors="pt", add_special_tokens=False).input_ids
            out = theirs(ids, output_hidden_states=True)
        states = [out.hidden_states[0][0]]
        for each in added:
            states.append(states[-1] + each)
        if function == "lens":
            for after, words, goal in zip(AFTER, answer["shares"], answer["goals"], strict=True):
                seen = theirs.lm_head(theirs.model.norm(states[2 * after])).softmax(-1)
                assert seen.max(-1).values[-len(words) :].tolist() == pytest.approx(words, rel=5e-3)
                best = int(out.logits[0, -1].argmax())
                assert seen[-1, best].item() == pytest.approx(goal, rel=5e-3, abs=1e-6)
            continue
        for token, norms in enumerate(answer["norms"]):
            lengths = [state[token].norm().item() for state in states]
            assert norms == pytest.approx(lengths, rel=2e-3)
            assert answer["reads"][token] == pytest.approx(
                [each[token].norm().item() for each in read], rel=2e-3
            )
            assert answer["adds"][token] == pytest.approx(
                [each[token].norm().item() for each in added], rel=2e-3
            )
            end = states[-1][token]
            parts = [states[0][token], *(each[token] for each in added)]
            shares = [(part @ end / (end @ end)).item() for part in parts]
            assert answer["shares"][token] == pytest.approx(shares, abs=1e-3)
            assert sum(answer["shares"][token]) == pytest.approx(1, abs=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("way", ["part", "path"])
def test_a_prediction_without_a_part_is_that_of_the_library_without_it(way: str) -> None:
    theirs = library("smollm2", transformers.AutoModelForCausalLM)
    reader = reader_of(theirs)
    text = "The capital of France is"
    answer = real.stored("block")["answers"][real.call_of("without", (text,))]
    ids = reader(text, return_tensors="pt", add_special_tokens=False).input_ids

    def last() -> torch.Tensor:
        with torch.no_grad():
            return theirs(ids).logits[0, -1].softmax(-1)

    goal = int(last().argmax())
    assert last()[goal].item() == pytest.approx(answer["share"], rel=2e-3)
    for sublayer in (0, 1, 2, 17, 45, 46, 59):
        block = theirs.model.layers[sublayer // 2]
        norm = (block.input_layernorm, block.post_attention_layernorm)[sublayer % 2]
        part = (block.self_attn, block.mlp)[sublayer % 2]
        before: list[torch.Tensor] = []

        def changed(_: Any, given: Any, out: Any, before: list[torch.Tensor] = before) -> Any:
            whole = out[0] if isinstance(out, tuple) else out
            new = torch.zeros_like(whole) if way == "part" else whole - before[-1]
            return (new, *out[1:]) if isinstance(out, tuple) else new

        hooks = [
            norm.register_forward_pre_hook(lambda _, given, kept=before: kept.append(given[0])),
            part.register_forward_hook(changed),
        ]
        shares = last()
        for hook in hooks:
            hook.remove()
        assert shares[goal].item() == pytest.approx(answer[way]["shares"][sublayer], abs=2e-3)
        assert shares.max().item() == pytest.approx(answer[way]["best"][sublayer], abs=2e-3)
