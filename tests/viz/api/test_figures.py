"""The numbers of the course's figures over HTTP, against plain ways to compute them."""

import base64
import io
import math
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.metrics.pairwise import cosine_similarity
from starlette.testclient import TestClient
from transformers import AutoTokenizer

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.catalogue import CHECKPOINTS, entry, folder
from models.image import to_pixels
from models.run import load
from models.seeding import seeded
from models.vit import ViT
from viz.course.heads import numbers as heads_figure


def test_the_dictionary_in_closed_form(client: TestClient) -> None:
    """Edit distances of Anna to Ann, Mike, Michelle and Andrew are 1, 4, 8 and 4."""
    found = client.get("/api/figure/dictionary?query=Anna&temperature=0.2").json()
    similar = [math.exp(-d) for d in (1, 4, 8, 4)]
    exps = [math.exp(s / 0.2) for s in similar]
    weights = [each / sum(exps) for each in exps]
    assert found["distances"] == [1, 4, 8, 4]
    assert found["similarities"] == pytest.approx(similar, rel=1e-5)
    assert found["weights"] == pytest.approx(weights, rel=1e-5)
    answer = sum(w * v for w, v in zip(weights, (167, 186, 170, 176), strict=True))
    assert found["answer"] == pytest.approx(answer, rel=1e-5)


HEADS = {"heads": "3", "token": "2", "head": "1", "trained": "no", "sentence": "a", "layer": "0"}


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_the_heads_are_those_of_a_layer(client: TestClient, heads: int) -> None:
    """A layer is compared with torch's in `tests/models`."""
    found = client.get("/api/figure/heads", params={**HEADS, "heads": str(heads)}).json()
    with seeded(heads_figure.SEED):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=12, heads=heads)).eval()
    with seeded(heads_figure.SEED), torch.no_grad():
        x = heads_figure.LOUD * torch.randn(1, 4, 12)
        out, pattern = layer(x)
    weights = pattern.weights(item=0)
    assert found["x"] == pytest.approx(x[0, 2].tolist(), rel=1e-5)
    assert torch.allclose(torch.tensor(found["weights"]), weights, atol=1e-5)
    assert found["out"] == pytest.approx(out[0, 2].tolist(), abs=1e-5)
    assert torch.tensor(found["scores"]).softmax(-1).allclose(weights, atol=1e-5)
    joined = torch.nn.functional.linear(torch.tensor(found["joined"]), *layer.out.parameters())
    assert torch.allclose(joined, out[0, 2], atol=1e-5)
    asked = {"heads": str(heads), "board": "cost"}
    cost = client.get("/api/figure/heads", params=asked).json()["board"]
    assert cost["parameters"] == sum(each.numel() for each in layer.parameters())
    assert (cost["projections"], cost["products"]) == (4 * 4 * 12**2, 2 * 4**2 * 12)
    assert cost["exponentials"] == weights.numel()
    (marked,) = [each for each in cost["rows"][0][0]["rows"] if each.startswith("→")]
    assert marked.split()[1] == str(heads)


def test_a_score_of_minilm_is_a_sum_of_products(client: TestClient) -> None:
    """As the picture of the network shows it; traces are compared with the library elsewhere."""
    sentence = "The animal didn't cross the street because it was too tired."
    for layer, head, query, key in ((3, 1, 10, 2), (0, 7, 4, 19)):
        given = {"layer": f"{layer}", "head": f"{head}", "query": f"{query}", "key": f"{key}"}
        asked = {**HEADS, **given, "sentence": sentence, "board": "cell"}
        found = client.get("/api/figure/heads", params=asked).json()["board"]
        last = min(key, 15)
        assert found["network"]["card"] == f"h:{layer}:{head}"
        assert found["network"]["open"] == f"n:scores:{query}:{last}"
        place = f"cell?at=h:{layer}:{head}&matrix=scores&row={query}&col={last}"
        opened = client.get(f"/api/trace/{found['network']['trace']}/{place}").json()
        q, k, products = (each["values"] for each in opened["strips"])
        assert products == pytest.approx([a * b for a, b in zip(q, k, strict=True)], abs=1e-4)
        assert found["sum"] == pytest.approx(sum(products), abs=1e-3)
        assert found["score"] == pytest.approx(sum(products) / math.sqrt(32), abs=1e-4)
        assert opened["value"] == pytest.approx(found["score"], abs=1e-4)
        assert found["of_map"] == 32 * 16**2
        assert found["explore"]["query"]["form"] == "head"


POSITION = {
    "position": "8",
    "other": "4",
    "added": "no",
    "mask": "none",
    "far": "401",
    "first": "5",
    "embeddings": ";".join(str(n / 10) for n in range(-6, 6)),
}


def test_positions_in_closed_form(client: TestClient) -> None:
    found = client.get("/api/figure/position", params=POSITION).json()
    rates = [10_000 ** (-2 * j / 16) for j in range(8)]

    def row(p: int) -> list[float]:
        return [turn(p * rate) for rate in rates for turn in (math.sin, math.cos)]

    assert found["row"] == pytest.approx(row(8), abs=1e-5)
    assert found["far_row"] == pytest.approx(row(401), abs=1e-5)
    assert found["table"][19] == pytest.approx(row(19), abs=1e-5)
    dots = [sum(math.cos(rate * d) for rate in rates) for d in range(20)]
    assert found["dots"] == pytest.approx(dots, abs=1e-5)
    assert (found["dot"], found["moved_dot"]) == pytest.approx((dots[4], dots[4]), abs=1e-5)


@pytest.mark.parametrize(
    ("path", "status", "line"),
    [
        ("nothing", 404, "no such figure"),
        ("dictionary?board=nothing", 400, "expected one of ways, words"),
        ("block?x=1;2", 400, "expected 8 numbers"),
        ("tokens?text=" + "a " * 20, 400, "expected 1 to 12 tokens"),
        ("heads_do?sentence=the+zebra&board=hide", 400, "received 'zebra'"),
        ("both?date=3+M%C3%A4rz", 400, "received 'ä'"),
        ("dictionary?query=Anna&temperature=0", 400, "expected a number from 0.05 to 5"),
        ("dictionary?query=Anna&temperature=nan", 400, "expected a number"),
        ("dictionary?query=&temperature=1", 400, "expected 1 to 40 characters"),
        ("dictionary?query=a&temperature=1&temperature=2", 400, "expected temperature once"),
        ("dictionary?query=a&temperature=1&other=2", 400, "expected the parameters"),
    ],
)
def test_bad_input_gets_one_line(client: TestClient, path: str, status: int, line: str) -> None:
    found = client.get(f"/api/figure/{path}")
    assert (found.status_code, line in found.text) == (status, True), found.text


TOKENS = {"text": "Our bank rewilded the river bank", "token": "7"}


def test_the_tokens_are_the_librarys_and_the_rows_those_of_the_file(client: TestClient) -> None:
    found = client.get("/api/figure/tokens", params=TOKENS).json()
    reader = AutoTokenizer.from_pretrained(folder(entry("minilm")))
    ids = reader(TOKENS["text"])["input_ids"]
    assert found["ids"] == ids
    assert found["pieces"] == reader.convert_ids_to_tokens(ids)
    assert found["twins"] == [7]
    assert bytes(found["bytes"]).decode() == TOKENS["text"]
    table = load("minilm").network.get_parameter("tokens.weight").detach().numpy()
    assert found["x"] == pytest.approx(table[ids, :12], rel=1e-5)
    assert [each["row"] for each in found["around"]] == pytest.approx(
        table[ids[7] - 3 : ids[7] + 4, :12], rel=1e-5
    )
    similar = cosine_similarity(table[ids[7]][None], table)[0]
    best = similar.argsort()[::-1][1:7]
    assert [each["id"] for each in found["nearest"]] == best.tolist()
    assert [each["similarity"] for each in found["nearest"]] == pytest.approx(
        similar[best], rel=1e-5
    )


SEQUENCES = {"tokens": "11", "kernel": "5", "width": "7", "gain": "0.8", "activation": "none"}


def test_the_way_through_a_sequence_in_closed_form(client: TestClient) -> None:
    found = client.get("/api/figure/sequences", params=SEQUENCES).json()
    assert found["count"] == {"attention": 1, "recurrence": 10, "convolution": 5}
    assert found["hops"]["convolution"] == [0, 2, 4, 6, 8, 10]
    assert found["seen"] == [[10 - i <= 2 * (5 - layer) for i in range(11)] for layer in range(5)]

    def board(step: str, **changes: str) -> dict[str, Any]:
        params = {**SEQUENCES, **changes, "board": step}
        return client.get("/api/figure/sequences", params=params).json()["board"]

    costs = board("cost")
    assert (costs["attention"], costs["convolution"]) == (11**2 * 7, 5 * 11 * 7**2)
    assert costs["projections"] == 4 * 11 * 7**2
    influence = board("influence")
    sizes = [size for (size,) in influence["rows"][0][0]["values"]]
    assert sizes == pytest.approx([sizes[-1] * 0.8 ** (10 - i) for i in range(11)], rel=1e-4)
    assert influence["recurrence"] == pytest.approx(0.8**10, rel=1e-4)
    assert board("influence", tokens="20")["attention"] > 0.2


QKV = {
    "word": 1,
    "x": [1, 0, 1, 0, 2, 1, 0, 0, 2],
    "wq": [-0.5, -0.2, 0.8, 0.4, -0.9, 0.4],
    "wk": [1.7, 1.1, -1.3, -0.6, 0.1, 0.8],
    "wv": [0.8, -0.9, 0.1, 1.0, 1.4, -1.0],
    "dq": [0.5, -0.25],
    "dk": [0, 0, 0.5, 0.75, 0, 0],
}


def ask(client: TestClient, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a figure over HTTP, asked for as the browser asks: to six decimals."""
    lists = {key: each if isinstance(each, list) else [each] for key, each in inputs.items()}
    texts = {
        key: ";".join(n if isinstance(n, str) else str(round(n, 6)) for n in each)
        for key, each in lists.items()
    }
    found = client.get(f"/api/figure/{name}", params=texts)
    assert found.status_code == 200, found.text
    return found.json()


def test_query_key_value_against_plain_loops(client: TestClient) -> None:
    found = ask(client, "query_key_value", QKV)
    x = [QKV["x"][3 * i : 3 * i + 3] for i in range(3)]

    def projected(matrix: list[float]) -> list[list[float]]:
        return [[sum(matrix[3 * f + i] * row[i] for i in range(3)) for f in (0, 1)] for row in x]

    q, k, v = (projected(QKV[name]) for name in ("wq", "wk", "wv"))
    keys = [[k[i][f] + QKV["dk"][2 * i + f] for f in (0, 1)] for i in range(3)]
    query = [q[1][f] + QKV["dq"][f] for f in (0, 1)]
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(2) for key in keys]
    exps = [math.exp(score) for score in scores]
    weights = [each / sum(exps) for each in exps]
    output = [sum(w * value[f] for w, value in zip(weights, v, strict=True)) for f in (0, 1)]
    for name, wanted in (("query", query), ("scores", scores), ("weights", weights)):
        assert found[name] == pytest.approx(wanted, rel=1e-5)
    assert found["output"] == pytest.approx(output, rel=1e-5)
    assert sum(map(sum, found["contributions"])) == pytest.approx(sum(output), rel=1e-5)
    whole = torch.softmax(torch.tensor(q) @ torch.tensor(k).T / math.sqrt(2), -1)
    assert found["all_weights"] == [pytest.approx(row, rel=1e-5) for row in whole.tolist()]
    wanted = (whole @ torch.tensor(v)).tolist()
    assert found["all_outputs"] == [pytest.approx(row, rel=1e-4, abs=1e-6) for row in wanted]


SCALE = {"width": 64, "temperature": 0.5, "seed": 2}


def test_the_scale_against_numpy_and_closed_forms(client: TestClient) -> None:
    found = ask(client, "scale", SCALE)
    scores = np.array(found["scores"])
    for name, divided in (("weights", 1), ("scaled_weights", 8), ("tempered_weights", 4)):
        exps = np.exp(scores / divided - (scores / divided).max())
        assert found[name] == pytest.approx((exps / exps.sum()).tolist(), rel=1e-4, abs=1e-7)
        slopes = [w * (1 - w) for w in found[name]]
        steep = found[name.replace("weights", "slopes")]
        assert steep == pytest.approx(slopes, rel=1e-4, abs=1e-7)
    spread = ask(client, "scale", {**SCALE, "board": "grow"})["board"]
    assert spread["variance"] == pytest.approx(64, rel=0.12)  # 4,000 pairs, 8 of them to a query
    assert found["scaled_variance"] == pytest.approx(spread["variance"] / 64, rel=1e-5)
    assert spread["deviation"] == pytest.approx(math.sqrt(spread["variance"]), rel=1e-5)


@pytest.mark.parametrize(("size", "product"), [(4, 1024), (32, None)])
def test_half_precision_overflows_at_float16s_largest_number(
    client: TestClient, size: int, product: float | None
) -> None:
    found = ask(client, "scale", {"board": "half", "width": 64, "size": size})["board"]
    exact, late = 64 * size**2 / 8, None if product is None else product / 8
    assert (found["product"], found["late"], found["exact"]) == (product, late, exact)
    assert found["early"] == pytest.approx(exact, rel=0.01)  # float16
    assert found["rows"][0][0]["values"][-1] == [f"{np.finfo(np.float16).max:,.0f}"]


@pytest.mark.parametrize("key_width", [1, 2, 3])
@pytest.mark.parametrize("scoring", ["dot", "bilinear", "additive"])
def test_three_widths_by_matrix_products(client: TestClient, key_width: int, scoring: str) -> None:
    chosen = {"q": [0.7, -1.3], "key_width": key_width, "scoring": scoring}
    found = ask(client, "scale", {"board": "widths", **chosen})["board"]
    shown = {each["title"]: np.array(each["values"]) for row in found["rows"] for each in row}
    if scoring == "dot" and key_width != 2:
        assert not {"scores", "weights", "output"} & shown.keys()
        return
    q, keys, values = shown["q"][0], shown["keys"], shown["values"]
    assert (keys.shape, values.shape) == ((10, key_width), (10, 4))
    scores = {
        "dot": lambda: keys @ q,
        "bilinear": lambda: keys @ (q @ shown["M"]),
        "additive": lambda: np.tanh(shown["W"] @ q + keys @ shown["U"].T) @ shown["v"][:, 0],
    }[scoring]()
    weights = np.exp(scores) / np.exp(scores).sum()
    wanted = {"scores": scores[:, None], "weights": weights[:, None], "output": [weights @ values]}
    for name, each in wanted.items():
        assert shown[name] == pytest.approx(np.array(each), rel=1e-4, abs=1e-6), name  # float32
    assert found["shape"] == "(2, 1, 4)"


def seen(client: TestClient, **changes: str | int) -> dict:
    of = {"network": "objects", "picture": "a-heart", "shuffle": "none"}
    query = {**of, "small_layer": 2, "small_head": 3}
    return client.get("/api/figure/vision", params={**query, **changes}).json()


def test_patches_are_the_pictures_pixels(client: TestClient) -> None:
    picture = Image.open(CHECKPOINTS / "objects/a-heart.png").convert("RGB")
    for how, kind in (("none", "rows"), ("tokens", "lines"), ("patches", "rows")):
        found = seen(client, shuffle=how)
        assert (found["count"], found["flat"], found["tokens"]) == (64, 8 * 8 * 3, 65)
        rows = [base64.b64decode(url.partition(",")[2]) for url in found[kind]]
        strips = [Image.open(io.BytesIO(each)) for each in rows]
        dealt = how == "patches" or kind == "lines"
        for place in range(64):
            row, col = divmod(place, 8)
            above, left = divmod(found["order"][place] if dealt else place, 8)
            for x, y in ((0, 0), (7, 0), (3, 5)):
                expected = picture.getpixel((left * 8 + x, above * 8 + y))
                assert strips[row].getpixel((4 * (col * 8 + x), 4 * y)) == expected


def test_the_class_tokens_weights_and_answers_are_a_plain_passs(client: TestClient) -> None:
    found, picture = seen(client), Image.open(CHECKPOINTS / "objects/a-heart.png")
    network = load("objects").network
    assert isinstance(network, ViT)
    with torch.no_grad():
        out = network.eval()(to_pixels(picture))
    weights = out.patterns[2].weights(3, [0], item=0)[0]
    assert found["weights"] == pytest.approx(weights[1:].tolist(), abs=1e-6)
    assert found["own"] == pytest.approx(weights[0].item(), abs=1e-6)
    assert out.logits is not None
    shares = out.logits[0, :12].softmax(-1)
    assert found["answer"]["share"] == pytest.approx(shares.max().item(), abs=1e-6)
