"""The embedding is the linear layer over one-hot rows."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

import canfield_env  # noqa: F401  (registers the ids)
from agents.features import CardFeatures, CodeEmbedding
from canfield_env.kernel.observe import OBSERVATION_NVEC
from canfield_env.wrappers import one_hot


def random_codes(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, OBSERVATION_NVEC, (count, len(OBSERVATION_NVEC))).astype(np.uint8)


def test_embedding_equals_a_linear_layer_over_one_hot_rows() -> None:
    codes = random_codes(64)
    embedding = CodeEmbedding(OBSERVATION_NVEC.tolist(), 16)
    linear = torch.nn.Linear(int(OBSERVATION_NVEC.sum()), 16)
    with torch.no_grad():
        linear.weight.copy_(embedding.table.weight.T)
        embedding.bias.copy_(linear.bias)
    rows = torch.as_tensor(one_hot(codes, np.float32))
    expected = linear(rows)
    for dtype in (torch.uint8, torch.float32, torch.int64):
        torch.testing.assert_close(embedding(torch.as_tensor(codes).to(dtype)), expected, rtol=1e-5, atol=1e-5)

    embedding(torch.as_tensor(codes)).square().sum().backward()
    expected.square().sum().backward()
    assert embedding.table.weight.grad is not None and linear.weight.grad is not None
    torch.testing.assert_close(embedding.table.weight.grad, linear.weight.grad.T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(embedding.bias.grad, linear.bias.grad, rtol=1e-4, atol=1e-4)


def test_outputs_start_at_a_size_that_trains() -> None:
    outputs = CodeEmbedding(OBSERVATION_NVEC.tolist(), 64)(torch.as_tensor(random_codes(256)))
    assert 1 < float(outputs.detach().std()) < 2


def test_features_have_the_last_width() -> None:
    space = gym.spaces.Box(0, 255, (82,), np.uint8)
    features = CardFeatures(space, OBSERVATION_NVEC.tolist(), widths=(32, 24))
    assert features.features_dim == 24
    assert features(torch.as_tensor(random_codes(5)).float()).shape == (5, 24)


def test_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(81,\), but nvec 82 entries"):
        CardFeatures(gym.spaces.Box(0, 255, (81,), np.uint8), OBSERVATION_NVEC.tolist())
