"""A soft dictionary of four people's heights, asked for a name."""

from functools import lru_cache
from typing import Any

from viz.course.boards import Board, board, panel, table
from viz.course.trained import network

KEYS = ["Ann", "Mike", "Michelle", "Andrew"]
VALUES = [167.0, 186.0, 170.0, 176.0]  # cm


def numbers(query: str, temperature: float) -> dict[str, Any]:
    """Every number from the comparison with the keys to the answer."""
    import torch

    from models.lessons import dictionary

    values = torch.tensor(VALUES)
    similarities = dictionary.edits(query, KEYS)
    exponentials, shift = dictionary.exponentials(similarities, temperature)
    weights = dictionary.normalised(similarities, "softmax", temperature=temperature)
    contributions = dictionary.contributions(weights, values[:, None])[:, 0]
    return {
        "query": query,
        "keys": KEYS,
        "values": VALUES,
        "distances": [dictionary.edit_distance(query, key) for key in KEYS],
        "similarities": similarities.tolist(),
        "exponentials": exponentials.tolist(),
        "shift": shift,
        "total": exponentials.sum().item(),
        "weights": weights.tolist(),
        "contributions": contributions.tolist(),
        "answer": dictionary.pooled(weights, values[:, None]).item(),
        "mean": values.mean().item(),
        "best": KEYS[int(weights.argmax())],
        "largest": weights.max().item(),
    }


GIVEN = (0.98, 0.05, 0.05, 0.1)  # similarities of “Anna” with the keys, as typed by hand
WAYS = {"none": "as they are", "sum": "sum to 1", "softmax": "softmax, T = 1"} | {
    "top-k": "the 2 best",
    "one-hot": "the best",
    "average": "all alike",
}


def ways() -> Board:
    """The answer to “Anna” where given similarities are normalised in every way."""
    import torch

    from models.lessons import dictionary

    values, similarities = torch.tensor(VALUES)[:, None], torch.tensor(GIVEN)
    rows: dict[str, list[float | str | None]] = {}
    for how, name in WAYS.items():
        weights = dictionary.normalised(similarities, how)
        answer = dictionary.pooled(weights, values).item()
        formatted = [f"{each:.3f}" for each in (*weights.tolist(), weights.sum().item())]
        rows[name] = [*formatted, f"{answer:.2f}", dictionary.case(weights)]
    cols = [*KEYS, "sum", "answer", "case"]
    return board([table("Weights for “Anna”, in six ways", rows, cols)])


FRUIT = {
    "apple": "green",
    "banana": "yellow",
    "orange": "orange",
    "pickles": "green",
    "pineapple": "brown",
    "raspberry": "crimson",
}
PI = (0.05, 0.075, 0.075, 0.3, 0.4, 0.1)  # similarities of “pi” with the fruit
SHARP = 0.1  # temperature of the query by meaning


@lru_cache(maxsize=1)
def _fruit() -> Board:
    import torch

    from models.lessons import dictionary

    keys = [*FRUIT]
    rest = [key for key in keys if key != "pickles"]
    model = network("minilm")
    vectors = {each: dictionary.meaning(model, each) for each in (*keys, "citrus")}

    def by_meaning(query: str, among: list[str]) -> "torch.Tensor":
        return dictionary.embedded(vectors[query], torch.stack([vectors[key] for key in among]))

    pi = torch.tensor(PI)
    exact = dictionary.exact("pickles", keys)
    meaning = dictionary.normalised(by_meaning("pickles", rest), "one-hot")
    letters = dictionary.normalised(dictionary.edits("pickles", rest), "one-hot")
    citrus = dictionary.normalised(by_meaning("citrus", keys), "softmax", temperature=SHARP)

    def spread(weights: "torch.Tensor", among: list[str]) -> list[float | None]:
        weight_of = dict(zip(among, weights.tolist(), strict=True))
        return [weight_of.get(key) for key in keys]

    columns = [pi.tolist(), exact.tolist(), spread(meaning, rest), spread(letters, rest)]
    columns.append(citrus.tolist())
    rows = {
        f"{key}: {FRUIT[key]}": list(row)
        for key, row in zip(keys, zip(*columns, strict=True), strict=True)
    }
    cols = ["pi", "pickles", "by meaning", "by letters", "citrus"]
    shares = dictionary.shares(pi, [*FRUIT.values()])
    winner = max(shares, key=shares.__getitem__)
    return board(
        [table("Weights of the keys", rows, cols, kind="weights", digits=3)],
        [panel("What each colour gets for “pi”", [[*shares.values()]], cols=[*shares], digits=3)],
        winner=winner,
        meaning=rest[int(meaning.argmax())],
        letters=rest[int(letters.argmax())],
        apart=dictionary.edit_distance("pickles", rest[int(letters.argmax())]),
        citrus=citrus.max().item(),
    )


BOARDS = {"ways": lambda _: ways(), "words": lambda _: _fruit()}
