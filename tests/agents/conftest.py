"""What all tests of agents share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import yaml

from canfield_env.deals import number_code

TINY = {
    "n_timesteps": 256,
    "n_envs": 4,
    "env_kwargs": {"max_episode_steps": 30},
    "policy_kwargs": {"features": [16], "net_arch": {"pi": [16], "vf": [16]}},
    "n_steps": 16,
    "batch_size": 32,
    "n_epochs": 2,
    "learning_rate": "lin_1e-3",
    "eval_freq": 128,
    "eval_deals": 3,
    "save_freq": 64,
}
"""A run of four rollouts of 64 steps and two evaluations."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads of PyTorch beside a busy core are slower than one, by far."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of four draw-3 codes."""
    path = tmp_path_factory.mktemp("suites") / "four.yaml"
    path.write_text(yaml.safe_dump({"name": "four", "codes": [number_code(k, 3) for k in range(1, 5)]}))
    return path


@pytest.fixture(scope="module")
def tiny(suite: Path) -> str:
    """The tiny run's config, as YAML."""
    return yaml.safe_dump({"Canfield-v0": {**TINY, "eval_suite": str(suite)}})


@pytest.fixture
def config(tmp_path: Path, tiny: str) -> Path:
    """The tiny run's config file, ``tiny.yaml``."""
    path = tmp_path / "tiny.yaml"
    path.write_text(tiny)
    return path
