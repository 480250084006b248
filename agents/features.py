"""The networks' first layers, made for an observation of small codes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import gymnasium as gym
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class CodeEmbedding(nn.Module):
    """The linear layer over one-hot rows, without making the rows: a sum of one table row per code.

    Entry ``k`` with code ``c`` picks row ``nvec[0] + … + nvec[k-1] + c`` of a table of ``sum(nvec)`` rows.

    Args:
        nvec: How many codes each entry of the observation can take.
        width: Length of the output.
    """

    offsets: torch.Tensor

    def __init__(self, nvec: Sequence[int], width: int) -> None:
        super().__init__()
        sizes = torch.as_tensor(list(nvec), dtype=torch.int64)
        self.register_buffer("offsets", torch.cumsum(sizes, 0) - sizes, persistent=False)
        self.table = nn.EmbeddingBag(int(sizes.sum()), width, mode="sum")
        # As He's initialisation sees it, each output has len(nvec) inputs: the codes that are there.
        nn.init.normal_(self.table.weight, std=(2 / len(sizes)) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Codes of any number type, shape (batch, entries), to float32, shape (batch, width)."""
        rows: torch.Tensor = self.table(codes.long() + self.offsets)
        return rows + self.bias


class CardFeatures(BaseFeaturesExtractor):
    """Stable-Baselines3 feature extractor: ``CodeEmbedding``, then fully connected layers, ReLU after each.

    Args:
        observation_space: The bridge's ``Box``, uint8, shape (entries,).
        nvec: How many codes each entry can take; the ``Box`` cannot say it.
        widths: Output widths of the embedding and of the layers after it.
    """

    def __init__(self, observation_space: gym.Space, nvec: Sequence[int], widths: Sequence[int] = (256,)) -> None:
        super().__init__(observation_space, features_dim=widths[-1])
        if observation_space.shape != (len(nvec),):
            raise ValueError(f"the observation has shape {observation_space.shape}, but nvec {len(nvec)} entries")
        layers: list[nn.Module] = [CodeEmbedding(nvec, widths[0]), nn.ReLU()]
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.layers(observations)
        return features
