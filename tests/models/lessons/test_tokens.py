"""Tokens and embeddings: rows and one-hot products, and neighbours by scikit-learn's cosine."""

import torch
from sklearn.metrics.pairwise import cosine_similarity

from models.lessons.tokens import nearest, rows, selected, utf8, words

TABLE = torch.randn(23, 7, generator=torch.Generator().manual_seed(0))


def test_a_row_is_a_one_hot_vector_times_the_table() -> None:
    ids = torch.tensor([5, 0, 22, 5])
    expected = torch.stack([TABLE[int(id)] for id in ids])
    assert torch.equal(rows(TABLE, ids), expected)
    torch.testing.assert_close(selected(TABLE, ids), expected)


def test_the_nearest_rows() -> None:
    similar = torch.tensor(cosine_similarity(TABLE.numpy())[4])
    similar[4] = -2
    values, ids = nearest(TABLE, 4, 5)
    assert ids.tolist() == similar.argsort(descending=True)[:5].tolist()
    torch.testing.assert_close(values, similar[ids])


def test_words_and_bytes() -> None:
    assert words("It's 3 o'clock, über.") == (
        *("It", "'", "s", "3", "o", "'", "clock", ",", "über", "."),
    )
    assert utf8("aé🙂") == (97, 0xC3, 0xA9, 0xF0, 0x9F, 0x99, 0x82)
    assert bytes(utf8("Straße")).decode("utf-8") == "Straße"
