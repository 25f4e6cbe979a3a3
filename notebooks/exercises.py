# %% [markdown]
# # Exercises
#
# Three parts of a transformer to write yourself, in plain PyTorch. Replace each
# `raise NotImplementedError` by your lines, then run, from the project's folder:
#
#     .venv/bin/python -m notebooks.check      (Windows: .venv\Scripts\python)
#
# It says for each exercise whether it is right, and if not, what is wrong and where.
# Nothing outside your own machine sees what you write.

# %%
import torch  # noqa: F401
from torch import Tensor

# %% [markdown]
# ## 1. Multi-head self-attention
#
# - x has a row per token: `tokens × dim`. All four matrices are `dim × dim`, and are used as
#   `x @ w.T`, like the weight of `torch.nn.Linear`. There are no biases.
# - Query, key and value of a token are cut into `heads` pieces, side by side: the first
#   `dim / heads` numbers belong to head 0, the next to head 1, and so on.
# - Each head: scores = q · k, divided by the root of the *head's* width; softmax over the keys;
#   weighted sum of the values.
# - The heads' results are put side by side again, in the same order, and go through `w_out`.


# %%
def multi_head_self_attention(
    x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, w_out: Tensor, heads: int
) -> Tensor:
    """Returns `tokens × dim`."""
    raise NotImplementedError


# %% [markdown]
# ## 2. Sine and cosine positions
#
# Row p is the code of position p, counted from 0. For each pair of dimensions 2j and 2j + 1:
#
#     dimension 2j:     sin(p / 10000^(2j / dim))
#     dimension 2j + 1: cos(p / 10000^(2j / dim))


# %%
def sin_cos_positions(positions: int, dim: int) -> Tensor:
    """Returns `positions × dim`; dim is even."""
    raise NotImplementedError


# %% [markdown]
# ## 3. Layer normalisation
#
# Each row of x by itself: subtract the mean of its features, divide by √(σ² + ε), where σ² is the
# mean of the squared differences; then times `weight`, plus `bias`, feature by feature.


# %%
def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Returns the shape of x: `tokens × dim`."""
    raise NotImplementedError
