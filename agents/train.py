"""Train a MaskablePPO policy: ``python -m agents.train configs/train/ppo.yaml``.

A run's folder (``runs/ppo``) holds ``config.yaml`` and ``versions.json``; ``checkpoints``, each enough to resume
from; ``best_model.zip``, the best by masked evaluation on the first codes of a suite; ``evaluations.jsonl`` and
``evaluations.npz``; and ``tensorboard``.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import torch
import typer
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule

import canfield_env
from canfield_env.env import OBSERVATIONS, REWARDS, CanfieldEnv, read_start
from canfield_env.evaluation import evaluate
from canfield_env.results import Result
from canfield_env.suites import load_suite

from .checkpoints import CheckpointError, check_fits, made_for, policy_arguments, read_about
from .config import ConfigError, TrainConfig, check_config, read_config, read_pairs, write_config
from .ppo_player import PolicyPlayer
from .sb3_env import make_vec_env
from .training import (
    Evaluations,
    RunCallback,
    Stop,
    checkpoints,
    replacing,
    restore_snapshot,
)

PACKAGES = ("numpy", "gymnasium", "numba", "torch", "stable-baselines3", "sb3-contrib")


class UserError(Exception):
    """A wish that cannot be met; the message says why."""


@dataclass(frozen=True)
class Run:
    """One training run: its folder, environment and settings; ``checkpoint`` is where it goes on from."""

    folder: Path
    env_id: str
    config: TrainConfig
    tensorboard: Path
    checkpoint: Path | None = None


# --- The run's parts ---------------------------------------------------------------------------------------


def make_single(run: Run) -> CanfieldEnv:
    """The environment that the run's games are played in; raises UserError if there is none."""
    try:
        env = gym.make(run.env_id, disable_env_checker=True, **run.config.env_kwargs).unwrapped
    except (gym.error.Error, AssertionError, TypeError, ValueError) as error:
        raise UserError(f"environment {run.env_id}: {error}") from None
    if not isinstance(env, CanfieldEnv):
        raise UserError(f"environment {run.env_id} is not a Canfield environment")
    return env


def tier_and_reward(env: CanfieldEnv) -> tuple[str, str]:
    """The environment's observation tier and its reward."""
    record = env.get_state()[0]
    return OBSERVATIONS[int(record["tier"][0])], REWARDS[int(record["reward_kind"][0])]


def describe(run: Run, env: CanfieldEnv) -> dict[str, Any]:
    """What a checkpoint of the run says of itself."""
    return {
        **made_for(run.env_id, env.rules, *tier_and_reward(env)),
        "network": run.config.policy_kwargs.model_dump(),
        "eval_deterministic": run.config.eval_deterministic,
    }


def evaluation_codes(run: Run, env: CanfieldEnv) -> list[str]:
    """The codes that the run is evaluated on."""
    config = run.config
    if not config.eval_freq:
        return []
    name = config.eval_suite or f"draw{env.rules.draw_count}-dev"
    try:
        codes = load_suite(name).codes
        read_start(codes[0], env.rules, f"eval_suite {name}")
    except ValueError as error:
        raise UserError(str(error)) from None
    if len(codes) < config.eval_deals:
        raise UserError(f"eval_deals is {config.eval_deals}, but suite {name} has {len(codes)} codes")
    return list(codes[: config.eval_deals])


def make_evaluate(
    run: Run, model: MaskablePPO, env: CanfieldEnv, codes: list[str], stop: Stop
) -> Callable[[], Result] | None:
    """Plays the codes with the policy as it is when called; None without codes."""
    if not codes:
        return None
    tier, reward = tier_and_reward(env)

    def play() -> Result:
        player = PolicyPlayer(model.policy, tier, run.config.eval_deterministic)
        model.policy.set_training_mode(False)
        return evaluate(player, codes, env.rules, reward=reward, seed=run.config.seed, progress=stop.check)

    return play


def _schedule(value: float | str) -> float | LinearSchedule:
    return LinearSchedule(float(value.removeprefix("lin_")), 0.0, 1.0) if isinstance(value, str) else value


def make_model(run: Run) -> MaskablePPO:
    config = run.config
    env = make_vec_env(run.env_id, config.n_envs, config.reward_scale, config.loop_guard, **config.env_kwargs)
    return MaskablePPO(
        config.policy,
        env,
        learning_rate=_schedule(config.learning_rate),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=_schedule(config.clip_range),
        clip_range_vf=config.clip_range_vf,
        normalize_advantage=config.normalize_advantage,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        target_kl=config.target_kl,
        policy_kwargs=policy_arguments(env.nvec, config.policy_kwargs.model_dump()),
        seed=config.seed,
        device=config.device,
    )


def versions() -> dict[str, str]:
    """What the run was made with."""
    return {
        "canfield_env": canfield_env.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
    }


# --- Folders -----------------------------------------------------------------------------------------------


def start_run(run: Run, overwrite: bool) -> None:
    """Make the run's folder; an earlier run there goes only if ``overwrite`` says so."""
    if run.folder.exists() and any(run.folder.iterdir()):
        if not overwrite:
            raise UserError(
                f"{run.folder} already holds a run: add --resume to go on with it, --overwrite to delete it and "
                "train anew, or --folder to train elsewhere"
            )
        if not (run.folder / "versions.json").is_file():
            raise UserError(f"{run.folder} holds no run, but other files: it is not overwritten")
        shutil.rmtree(run.folder)
    (run.folder / "checkpoints").mkdir(parents=True)
    with replacing(run.folder / "versions.json") as path:
        path.write_text(json.dumps(versions(), indent=1), encoding="utf-8")
    save_config(run)


def save_config(run: Run) -> None:
    with replacing(run.folder / "config.yaml") as path:
        write_config(path, run.env_id, run.config)


def find_run(source: Path, folder: Path) -> Path:
    """The folder of the run that ``source`` names: itself, or by its config's name under ``folder``."""
    run = source if source.is_dir() else folder / source.stem
    if not (run / "config.yaml").is_file():
        raise UserError(f"there is no run to resume in {run}")
    return run


def resumed_run(
    source: Path, folder: Path, changes: dict[str, Any], env_id: str | None, tensorboard: Path | None
) -> Run:
    """The run to go on with, under the settings it was begun with; only ``n_timesteps`` may be another."""
    path = find_run(source, folder)
    begun_id, begun = read_config(path / "config.yaml")
    steps = changes.get("n_timesteps", begun.n_timesteps)
    if source.is_dir():
        wanted_id, wanted = read_config(path / "config.yaml", env_id, changes)
    else:
        wanted_id, wanted = read_config(source, env_id, changes)
        steps = wanted.n_timesteps if "n_timesteps" in changes else begun.n_timesteps
    differences = {
        name: pair for name, pair in wanted.differences(begun).items() if name not in ("n_timesteps", "device")
    }
    if wanted_id != begun_id:
        differences["env"] = (wanted_id, begun_id)
    if differences:
        name, (new, old) = next(iter(differences.items()))
        raise UserError(
            f"{path} was begun with {name} {old!r}, not {new!r}, and goes on so: "
            f"resume it as it is with --resume {path}, or train anew"
        )
    found = checkpoints(path)
    if not found:
        raise UserError(f"{path} has no checkpoint to resume from: train anew with --overwrite")
    config = check_config({**begun.model_dump(), "n_timesteps": steps}, str(path / "config.yaml"))
    return Run(path, begun_id, config, tensorboard or path / "tensorboard", found[-1])


# --- Training ----------------------------------------------------------------------------------------------


def train(run: Run, console: Console, progress: bool, overwrite: bool = False) -> int:
    """Train, evaluate and save as the run's config says; the exit status."""
    if run.config.num_threads:
        torch.set_num_threads(run.config.num_threads)
    # The checks cost a tenth of the training's time, and with masked rows find errors where there are none.
    torch.distributions.Distribution.set_default_validate_args(False)
    env = make_single(run)
    codes = evaluation_codes(run, env)
    about = describe(run, env)
    resumed = read_about(run.checkpoint) if run.checkpoint else None
    if resumed is not None:
        assert run.checkpoint is not None
        check_fits(run.checkpoint, resumed, {key: about[key] for key in ("rules", "observation")})
        if resumed["timesteps"] >= run.config.n_timesteps:
            console.print(
                f"{run.folder} is done: it has trained {resumed['timesteps']:,} steps. To train on, "
                f"ask for more with -n.",
            )
            return 0
    stop = Stop()
    try:
        model = make_model(run)
    except RuntimeError as error:  # PyTorch's, of a device
        raise UserError(f"device {run.config.device}: {error}") from None
    callback = None
    try:
        if resumed is None:
            start_run(run, overwrite)
        else:
            assert run.checkpoint is not None
            restore_snapshot(model, run.checkpoint, resumed)
            save_config(run)
            console.print(f"Resuming {run.checkpoint}")
        steps = run.config.n_timesteps - model.num_timesteps
        console.print(f"Training {steps:,} steps of {run.env_id} (rules {env.rules}) in {run.folder}")
        model.set_logger(configure(str(run.tensorboard), ["tensorboard"]))
        callback = RunCallback(
            run.folder,
            about,
            Evaluations.read(run.folder, model.num_timesteps),
            make_evaluate(run, model, env, codes, stop),
            run.config.eval_freq,
            run.config.save_freq,
            run.config.keep_checkpoints,
            stop,
            console,
            progress,
        )
        with stop.listening():
            model.learn(steps, callback, reset_num_timesteps=resumed is None)
            last = callback.finish()
    except OSError as error:
        found = checkpoints(run.folder)
        console.print(f"Stopped: cannot write to {run.folder}: {error.strerror}.")
        console.print(
            f"The last good checkpoint is {found[-1]}. {resume_hint(run)}" if found else "There is no checkpoint yet.",
        )
        return 1
    finally:
        if callback is not None:
            callback.close()
        if hasattr(model, "_logger"):
            with suppress(OSError):
                model.logger.close()
    if callback.broken_off and stop.signal is not None:
        console.print(f"Stopped. The checkpoint is {last}. {resume_hint(run)}")
        return 128 + stop.signal
    console.print(f"Done: {last}")
    return 0


def resume_hint(run: Run) -> str:
    return f"To go on: python -m agents.train --resume {run.folder}"


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help="Train a MaskablePPO policy.")
def command(
    config: Annotated[Path, typer.Argument(help="YAML config, or the folder of a run to resume.")],
    folder: Annotated[Path, typer.Option("--folder", "-f", help="Where the runs' folders are.")] = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the run's last checkpoint.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Delete an earlier run of this name.")] = False,
    n_timesteps: Annotated[str | None, typer.Option("--n-timesteps", "-n", help="Steps to train for.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed.")] = None,
    env: Annotated[str | None, typer.Option(help="Environment id.")] = None,
    env_kwargs: Annotated[
        list[str] | None, typer.Option(help="Environment setting, as rules:hoyle; may be repeated.")
    ] = None,
    hyperparams: Annotated[
        list[str] | None,
        typer.Option("--hyperparams", "-params", help="Any setting of the config, as gamma:0.99; may be repeated."),
    ] = None,
    n_envs: Annotated[int | None, typer.Option(help="Games side by side.")] = None,
    eval_freq: Annotated[int | None, typer.Option(help="Steps between evaluations; 0 for none.")] = None,
    eval_deals: Annotated[int | None, typer.Option(help="Deals of an evaluation.")] = None,
    save_freq: Annotated[int | None, typer.Option(help="Steps between checkpoints.")] = None,
    num_threads: Annotated[int | None, typer.Option(help="PyTorch's threads; 0 for its own choice.")] = None,
    device: Annotated[str | None, typer.Option(help="PyTorch device.")] = None,
    tensorboard_log: Annotated[Path | None, typer.Option(help="TensorBoard's folder, if not the run's.")] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Progress bar (default: on a terminal).")
    ] = None,
) -> None:
    console = Console(highlight=False, soft_wrap=True, markup=False)
    flags = {
        "n_timesteps": n_timesteps,
        "seed": seed,
        "n_envs": n_envs,
        "eval_freq": eval_freq,
        "eval_deals": eval_deals,
        "save_freq": save_freq,
        "num_threads": num_threads,
        "device": device,
    }
    try:
        changes = read_pairs(hyperparams or [], "--hyperparams")
        changes.update({name: value for name, value in flags.items() if value is not None})
        if env_kwargs:
            changes["env_kwargs"] = read_pairs(env_kwargs, "--env-kwargs")
        if resume and overwrite:
            raise UserError("--resume and --overwrite exclude each other")
        if resume:
            run = resumed_run(config, folder, changes, env, tensorboard_log)
        else:
            if config.is_dir():
                raise UserError(f"{config} is a folder: give a config, or --resume to go on with a run")
            env_id, settings = read_config(config, env, changes)
            path = folder / config.stem
            run = Run(path, env_id, settings, tensorboard_log or path / "tensorboard")
        status = train(run, console, console.is_terminal if progress is None else progress, overwrite)
    except (ConfigError, CheckpointError, UserError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(status)


if __name__ == "__main__":
    app(prog_name="python -m agents.train")
