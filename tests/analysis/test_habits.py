"""Habits of heads: the names of their largest numbers."""

from analysis.descriptions import EVEN, HABITS, MOST, NUMBERS, habits
from analysis.heads import heads
from models.run import load, trace

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_the_largest_number_names_a_head() -> None:
    done = trace(load("minilm"), SENTENCE)
    found, numbers = habits(done), heads(done)
    for score, key in zip(found.scores, NUMBERS.values(), strict=True):
        assert score.equal(numbers[key])
    best, which = found.scores.max(0)
    for layer in range(6):
        for head in range(12):
            name = HABITS[int(which[layer, head])]
            if best[layer, head] < MOST:
                name = "broad" if numbers["broad"][layer, head] >= EVEN else "mixed"
            assert found.names[layer][head] == name
    assert {name for row in found.names for name in row} >= {"previous", "first", "broad", "mixed"}
