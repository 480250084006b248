"""Checkpoints: a Stable-Baselines3 zip with two entries more, written whole or not at all.

``canfield.json`` says what the policy was made for and how its network is built, and how far the training was;
``canfield_state.npz``, in checkpoints to resume from, holds the environments and the random generators as plain
arrays. Reading a checkpoint here unpickles nothing, so that one from elsewhere can run no code.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

import canfield_env
from canfield_env.env import observation_space
from canfield_env.kernel import actions
from canfield_env.kernel.observe import COUNT_FIELDS
from canfield_env.kernel.state import ACTIONS
from canfield_env.rules import Rules

from .features import CardFeatures

ABOUT = "canfield.json"
STATE = "canfield_state.npz"


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or was made for something else."""


def layout() -> str:
    """The observation's layout: a digest of every entry's number of codes and of the fields' names."""
    nvec = observation_space().nvec
    names = [(name, entries) for name, entries, _, _ in COUNT_FIELDS]
    digest = hashlib.sha256(repr(([int(n) for n in nvec], names)).encode()).hexdigest()
    return f"{len(nvec)} codes, sha256 {digest[:16]}"


def action_table() -> str:
    """What the actions' numbers mean, in one line."""
    first = {
        "D": 0,
        "W>F": actions.WASTE_TO_FOUNDATION,
        "W>T": actions.WASTE_TO_COLUMN,
        "R>F": actions.RESERVE_TO_FOUNDATION,
        "R>T": actions.RESERVE_TO_COLUMN,
        "T>F": actions.COLUMN_TO_FOUNDATION,
        "F>T": actions.FOUNDATION_TO_COLUMN,
        "T>T": actions.COLUMN_TO_COLUMN,
        "tail": actions.TAIL_TO_EMPTY,
    }
    return f"{ACTIONS} actions: " + " ".join(f"{number}:{name}" for name, number in first.items())


def made_for(env_id: str, rules: Rules, observation: str, reward: str) -> dict[str, Any]:
    """What a checkpoint names, so that it is not used for something else."""
    return {
        "package_version": canfield_env.__version__,
        "env": env_id,
        "rules": rules.to_plain(),
        "observation": observation,
        "reward": reward,
        "layout": layout(),
        "action_table": action_table(),
    }


def write_checkpoint(
    path: Path, model: MaskablePPO, about: Mapping[str, Any], state: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write ``model`` with what ``about`` says of it; an OSError leaves what was at ``path`` before."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w+b") as file:
            model.save(file, exclude=["_last_obs", "_last_original_obs", "_last_episode_starts"])
            with zipfile.ZipFile(file, "a") as archive:
                archive.writestr(ABOUT, json.dumps(about, indent=1))
                if state is not None:
                    arrays = io.BytesIO()
                    np.savez(arrays, **state)  # type: ignore[arg-type]
                    archive.writestr(STATE, arrays.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _open(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except OSError as error:
        raise CheckpointError(f"cannot read checkpoint {path}: {error.strerror}") from None
    except zipfile.BadZipFile:
        raise CheckpointError(f"{path} is not a checkpoint: it is no zip, or only a part of one") from None


def read_about(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself; raises CheckpointError if its layout or actions are not this package's."""
    with _open(path) as archive:
        if ABOUT not in archive.namelist():
            raise CheckpointError(
                f"{path} is not a checkpoint of agents.train: it has no {ABOUT} to say what it was made for"
            )
        try:
            about: dict[str, Any] = json.loads(archive.read(ABOUT))
            check_fits(path, about, {"layout": layout(), "action_table": action_table()})
        except (ValueError, zipfile.BadZipFile, KeyError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(f"{path} is not a checkpoint: its {ABOUT} is damaged") from None
    return about


NAMES = {
    "layout": "observation layout",
    "action_table": "action table",
    "observation": "observation tier",
    "rules": "rules",
}


def check_fits(path: Path, about: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse a checkpoint that was made for something else, naming both."""
    for key, value in wanted.items():
        if about[key] != value:
            raise CheckpointError(
                f"{path} does not fit: it was made (by canfield_env {about['package_version']}) for the {NAMES[key]} "
                f"{about[key]!r}, but here (canfield_env {canfield_env.__version__}) it is {value!r}"
            )


def read_weights(path: Path, name: str, device: torch.device | str = "cpu") -> Any:
    """A state dict of a checkpoint: ``"policy"`` or ``"policy.optimizer"``."""
    with _open(path) as archive:
        try:
            weights = io.BytesIO(archive.read(f"{name}.pth"))
            return torch.load(weights, map_location=device, weights_only=True)
        except Exception as error:  # of many kinds, by where the file is damaged
            raise CheckpointError(f"{path} is damaged: {error}") from None


def read_state(path: Path) -> dict[str, np.ndarray]:
    """The environments and random generators of a checkpoint to resume from."""
    with _open(path) as archive:
        if STATE not in archive.namelist():
            raise CheckpointError(f"{path} holds a policy, but not the training to resume: it has no {STATE}")
        with np.load(io.BytesIO(archive.read(STATE)), allow_pickle=False) as arrays:
            return dict(arrays)


def policy_arguments(nvec: tuple[int, ...], network: Mapping[str, Any]) -> dict[str, Any]:
    """MaskablePPO's ``policy_kwargs`` for a config's."""
    return {
        "features_extractor_class": CardFeatures,
        "features_extractor_kwargs": {"nvec": nvec, "widths": tuple(network["features"])},
        "net_arch": {key: list(widths) for key, widths in network["net_arch"].items()},
        "activation_fn": {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[network["activation_fn"]],
    }


def read_policy(path: Path, about: Mapping[str, Any]) -> MaskableActorCriticPolicy:
    """The policy of a checkpoint, on the CPU, for playing."""
    import gymnasium as gym

    nvec = tuple(int(n) for n in observation_space().nvec)
    policy = MaskableActorCriticPolicy(
        gym.spaces.Box(0, np.array(nvec, np.uint8) - 1, dtype=np.uint8),
        gym.spaces.Discrete(ACTIONS),
        lambda _: 0.0,
        **policy_arguments(nvec, about["network"]),
    )
    try:
        policy.load_state_dict(read_weights(path, "policy"))
    except RuntimeError as error:
        raise CheckpointError(f"{path} is damaged: its weights are not those of the network it names") from error
    policy.set_training_mode(False)
    return policy
