"""Models of the Hugging Face Hub that people begin with.

Sizes are those of the repositories' model.safetensors, in MB; before a download the page asks the
hub for the exact one.
"""

from typing import NamedTuple


class Suggestion(NamedTuple):
    """A model of the hub.

    Attributes:
        id: on the hub.
        about: family, layers and heads, what it was trained for.
        parameters: in millions.
        megabytes: of its weights.
    """

    id: str
    about: str
    parameters: int
    megabytes: int


SUGGESTIONS = (
    Suggestion("bert-base-uncased", "BERT, 12 layers × 12 heads; masked words", 110, 440),
    Suggestion("distilbert-base-uncased", "DistilBERT, 6 layers × 12 heads; masked words", 67, 268),
    Suggestion("roberta-base", "RoBERTa, 12 layers × 12 heads; masked words", 125, 499),
    Suggestion("gpt2", "GPT-2, 12 layers × 12 heads; next token", 124, 548),
    Suggestion("distilgpt2", "GPT-2, 6 layers × 12 heads; next token", 82, 353),
    Suggestion(
        "HuggingFaceTB/SmolLM2-135M",
        "Llama, 30 layers × 9 heads over 3 of keys; next token; half precision",
        135,
        269,
    ),
    Suggestion("t5-small", "T5, 6 + 6 layers × 8 heads; text to text", 61, 242),
    Suggestion("google/vit-base-patch16-224", "ViT, 12 layers × 12 heads; 1,000 classes", 87, 346),
)
