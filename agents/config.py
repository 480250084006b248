"""Training configs: YAML files of settings by environment id, as in rl-baselines3-zoo, read into a checked model."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator


class ConfigError(ValueError):
    """A config that cannot be used; the message names the file and the setting."""


def _whole(value: Any) -> Any:
    """``1e6``, which YAML reads as text, and ``1.0e6``, as the whole number they mean."""
    if isinstance(value, (str, float)):
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number.is_integer() else value
    return value


def _schedule(value: Any) -> Any:
    text = value.removeprefix("lin_") if isinstance(value, str) else value
    try:
        number = float(text)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is neither a number nor one that falls to 0, such as lin_1e-3") from None
    if not number > 0:
        raise ValueError(f"{value!r} is not above 0")
    return value if text is not value else number


Whole = Annotated[int, BeforeValidator(_whole)]
Positive = Annotated[Whole, Field(gt=0)]
Widths = Annotated[list[Positive], Field(min_length=1)]
Schedule = Annotated[float | str, BeforeValidator(_schedule)]
"""A number, or ``"lin_"`` and a number: that number at the start, falling in a straight line to 0 at the end."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetArch(_Model):
    """Widths of the policy's and the value's own layers."""

    pi: list[Positive] = [256]
    vf: list[Positive] = [256]


class PolicyKwargs(_Model):
    """The network: ``features`` are the widths of the shared layers, the first of them the embedding's."""

    features: Widths = [256]
    net_arch: NetArch = NetArch()
    activation_fn: Literal["relu", "tanh"] = "relu"


class TrainConfig(_Model):
    """Settings of one training run.

    Attributes:
        n_timesteps: Steps to train for, all environments together.
        n_envs: Games played side by side.
        seed: Seed of the networks, the deals and the sampling.
        env_kwargs: Keyword arguments of ``gym.make``, ``max_episode_steps`` included.
        reward_scale: Factor of the rewards that the learner sees (an episode can return 255).
        loop_guard: Whether the learner's masks leave out what was already done at the same table in this game, as the
            player does (``agents/loop_guard.py``).
        policy: Always ``MlpPolicy``.
        policy_kwargs: The network.
        n_steps … target_kl: As in MaskablePPO; ``learning_rate`` and ``clip_range`` take ``lin_…`` too.
        eval_freq: Evaluate about every so many steps; 0 for never.
        eval_suite: Name or path of the suite to evaluate on; left out, ``draw1-dev`` or ``draw3-dev``.
        eval_deals: How many of its codes, from the first.
        eval_deterministic: Whether the evaluated player takes its likeliest action, or samples.
        save_freq: Save a checkpoint about every so many steps; 0 for only at the end.
        keep_checkpoints: How many checkpoints to keep; the oldest go.
        num_threads: PyTorch's threads; 0 for PyTorch's own choice.
        device: ``cpu``, ``cuda``, … or ``auto``.
    """

    n_timesteps: Positive
    n_envs: Positive = 64
    seed: Annotated[Whole, Field(ge=0, lt=2**32)] = 0
    env_kwargs: dict[str, Any] = {}
    reward_scale: Annotated[float, Field(gt=0)] = 0.02

    loop_guard: bool = True

    policy: Literal["MlpPolicy"] = "MlpPolicy"
    policy_kwargs: PolicyKwargs = PolicyKwargs()
    n_steps: Annotated[Whole, Field(gt=1)] = 128
    batch_size: Annotated[Whole, Field(gt=1)] = 2048
    n_epochs: Positive = 3
    gamma: Annotated[float, Field(ge=0, le=1)] = 0.99
    gae_lambda: Annotated[float, Field(ge=0, le=1)] = 0.95
    learning_rate: Schedule = 1e-3
    clip_range: Schedule = 0.2
    clip_range_vf: Annotated[float, Field(gt=0)] | None = None
    normalize_advantage: bool = True
    ent_coef: Annotated[float, Field(ge=0)] = 0.01
    vf_coef: Annotated[float, Field(ge=0)] = 0.5
    max_grad_norm: Annotated[float, Field(gt=0)] = 0.5
    target_kl: Annotated[float, Field(gt=0)] | None = None

    eval_freq: Annotated[Whole, Field(ge=0)] = 100_000
    eval_suite: str | None = None
    eval_deals: Positive = 200
    eval_deterministic: bool = True
    save_freq: Annotated[Whole, Field(ge=0)] = 100_000
    keep_checkpoints: Positive = 3
    num_threads: Annotated[Whole, Field(ge=0)] = 1
    device: str = "auto"

    @model_validator(mode="after")
    def _batches_divide(self) -> TrainConfig:
        if self.n_envs * self.n_steps % self.batch_size:
            raise ValueError(
                f"batch_size is {self.batch_size}, but must divide n_envs * n_steps, {self.n_envs * self.n_steps}"
            )
        return self

    def differences(self, other: TrainConfig) -> dict[str, tuple[Any, Any]]:
        """The settings that differ: this one's value and the other's, by name."""
        mine, theirs = self.model_dump(), other.model_dump()
        return {name: (mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]}


def read_config(
    path: Path, env_id: str | None = None, changes: Mapping[str, Any] | None = None
) -> tuple[str, TrainConfig]:
    """The environment id and the settings in a YAML file.

    Args:
        path: The file: settings by environment id.
        env_id: Which id's settings. A file that holds a single id's serves any other too.
        changes: Settings that replace the file's; ``env_kwargs`` are merged.

    Raises:
        ConfigError: if the file or a setting cannot be used.
    """
    try:
        blocks = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read config {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"config {path}: it is not YAML: {error}") from None
    if not isinstance(blocks, dict) or not all(isinstance(block, dict) for block in blocks.values()) or not blocks:
        raise ConfigError(f"config {path}: it must hold settings by environment id, such as 'Canfield-v0:'")
    if env_id in blocks:
        chosen = env_id
    elif len(blocks) == 1:
        chosen = next(iter(blocks))
    else:
        wish = "say which one with --env" if env_id is None else f"there is none for {env_id}"
        raise ConfigError(f"config {path}: it holds settings for {', '.join(map(str, blocks))}: {wish}")
    settings = {**blocks[chosen], **(changes or {})}
    if changes and "env_kwargs" in changes:
        settings["env_kwargs"] = {**(blocks[chosen].get("env_kwargs") or {}), **changes["env_kwargs"]}
    return env_id or str(chosen), check_config(settings, str(path))


def check_config(settings: Mapping[str, Any], source: str) -> TrainConfig:
    """The checked model of ``settings``; raises ConfigError, whose message begins with ``source``."""
    try:
        return TrainConfig.model_validate(settings)
    except ValidationError as error:
        raise ConfigError("\n".join(f"config {source}: {_problem(problem)}" for problem in error.errors())) from None


def write_config(path: Path, env_id: str, config: TrainConfig) -> None:
    """Write settings so that ``read_config`` gives them back."""
    path.write_text(yaml.safe_dump({env_id: config.model_dump()}, sort_keys=False), encoding="utf-8")


def read_pairs(pairs: Sequence[str], flag: str) -> dict[str, Any]:
    """Settings from a command line's ``name:value``, the values in YAML."""
    settings = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name:
            raise ConfigError(f"{flag} {pair!r} is not of the form name:value")
        try:
            settings[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ConfigError(f"{flag} {pair!r}: {value!r} cannot be read as YAML") from None
    return settings


def _problem(problem: Any) -> str:
    """One of pydantic's errors in plain words."""
    where = [str(part) for part in problem["loc"] if part not in ("float", "str", "int")]
    name = ".".join(where)
    if problem["type"] == "extra_forbidden":
        names = _field_names(where[:-1])
        close = difflib.get_close_matches(where[-1], names, 1)
        advice = f"did you mean {close[0]!r}?" if close else f"the settings are {', '.join(names)}"
        return f"{name!r} is not a setting: {advice}"
    if problem["type"] == "missing":
        return f"{name!r} is missing"
    message = problem["msg"].removeprefix("Value error, ")
    given = "" if problem["type"] == "value_error" else f", not {problem['input']!r}"
    return f"{name}: {message}{given}" if name else message


def _field_names(where: Sequence[str]) -> list[str]:
    model: Any = TrainConfig
    for name in where:
        model = model.model_fields[name].annotation
    return list(model.model_fields)
