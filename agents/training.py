"""What happens around MaskablePPO's own loop: evaluation, checkpoints, resuming, stopping, progress."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from canfield_env.results import Result

from .checkpoints import CheckpointError, read_state, read_weights, write_checkpoint
from .sb3_env import CanfieldVecEnv

# --- Evaluation --------------------------------------------------------------------------------------------


@dataclass
class Evaluations:
    """The evaluations of a run: ``evaluations.jsonl``, one line each, and ``evaluations.npz`` in
    Stable-Baselines3's form (``timesteps``, ``results``, ``ep_lengths``, ``successes``).
    """

    folder: Path
    rows: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path, until: int) -> Evaluations:
        """Those made up to step ``until``: later ones belong to training that is done again."""
        path = folder / "evaluations.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        rows = [json.loads(line) for line in lines]
        return cls(folder, [row for row in rows if row["timesteps"] <= until])

    @property
    def last(self) -> int:
        return self.rows[-1]["timesteps"] if self.rows else 0

    @property
    def best(self) -> float:
        return max((row["mean_return"] for row in self.rows), default=-np.inf)

    def add(self, timesteps: int, result: Result) -> dict[str, Any]:
        rows = result.rows
        row = {
            "timesteps": timesteps,
            "mean_return": float(np.mean([game.return_ for game in rows])),
            "mean_foundation_cards": float(np.mean([game.foundation_cards for game in rows])),
            "win_rate": float(np.mean([game.won for game in rows])),
            "mean_steps": float(np.mean([game.steps for game in rows])),
            "returns": [game.return_ for game in rows],
            "steps": [game.steps for game in rows],
            "won": [game.won for game in rows],
        }
        self.rows.append(row)
        with replacing(self.folder / "evaluations.jsonl") as path:
            path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        with replacing(self.folder / "evaluations.npz") as path, open(path, "wb") as file:
            np.savez(
                file,
                timesteps=[row["timesteps"] for row in self.rows],
                results=[row["returns"] for row in self.rows],
                ep_lengths=[row["steps"] for row in self.rows],
                successes=[row["won"] for row in self.rows],
            )
        return row


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path, renamed to ``path`` once it is written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


# --- Checkpoints and resuming ------------------------------------------------------------------------------


def take_snapshot(model: MaskablePPO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """All that the training needs to go on exactly, but for the weights: plain data, and arrays."""
    env = model.env
    assert isinstance(env, CanfieldVecEnv) and model.ep_info_buffer is not None and model.ep_success_buffer is not None
    generator: Any = np.random.get_state()  # noqa: NPY002  (the one that Stable-Baselines3 draws batches with)
    plain = {
        "num_timesteps": model.num_timesteps,
        "n_updates": model._n_updates,
        "episodes": list(model.ep_info_buffer),
        "successes": [bool(success) for success in model.ep_success_buffer],
    }
    arrays = {
        "last_obs": np.array(model._last_obs),
        "last_episode_starts": np.array(model._last_episode_starts),
        "numpy_keys": np.array(generator[1]),
        "numpy_position": np.array(generator[2]),
        "torch": torch.get_rng_state().numpy(),
        **{f"env_{key}": np.array(value) for key, value in env.get_state().items()},
    }
    if model.device.type == "cuda":
        arrays["cuda"] = torch.cuda.get_rng_state(model.device).numpy()
    return plain, arrays


def restore_snapshot(model: MaskablePPO, path: Path, about: Mapping[str, Any]) -> None:
    """Put ``model``, made anew from the run's config, where the checkpoint at ``path`` was."""
    arrays = read_state(path)
    plain = about["training"]
    env = model.env
    assert isinstance(env, CanfieldVecEnv)
    try:
        for name, target in (("policy", model.policy), ("policy.optimizer", model.policy.optimizer)):
            target.load_state_dict(read_weights(path, name, model.device))
        env.reset()
        env.set_state({key.removeprefix("env_"): value for key, value in arrays.items() if key.startswith("env_")})
        model.num_timesteps, model._n_updates = plain["num_timesteps"], plain["n_updates"]
        model.ep_info_buffer = deque(plain["episodes"], maxlen=model._stats_window_size)
        model.ep_success_buffer = deque(plain["successes"], maxlen=model._stats_window_size)
        model._last_obs, model._last_episode_starts = arrays["last_obs"], arrays["last_episode_starts"]
        np.random.set_state(("MT19937", arrays["numpy_keys"], int(arrays["numpy_position"]), 0, 0.0))  # noqa: NPY002
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))
        if "cuda" in arrays and model.device.type == "cuda":
            torch.cuda.set_rng_state(torch.from_numpy(arrays["cuda"]), model.device)
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"cannot resume from {path}: {error}") from error


CHECKPOINT = re.compile(r"model_(\d+)_steps\.zip")


def checkpoints(run: Path) -> list[Path]:
    """A run's checkpoints, oldest first."""
    found = {path: CHECKPOINT.fullmatch(path.name) for path in (run / "checkpoints").glob("*.zip")}
    return sorted((path for path, match in found.items() if match), key=lambda path: int(found[path][1]))  # type: ignore[index]


# --- Stopping ----------------------------------------------------------------------------------------------


class StoppedError(Exception):
    """A signal asked to stop."""


class Stop:
    """Whether a signal asked to stop: the training does so at its next step, with everything in order."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def check(self, games: int) -> None:
        """Break off an evaluation, whose progress calls this, if a signal asked to stop."""
        if self.signal is not None:
            raise StoppedError

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM ask to stop; a second Ctrl-C breaks off at once."""

        def ask(number: int, frame: FrameType | None) -> None:
            if self.signal is not None:
                raise KeyboardInterrupt
            self.signal = number

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


# --- The callback ------------------------------------------------------------------------------------------


class RunCallback(BaseCallback):
    """Evaluates, saves and stops a run, between one update and the next rollout only.

    There everything is a whole: a run that was broken off goes on from the checkpoint exactly as if it had not
    been. When a stop comes in the middle of a rollout, its steps are dropped, and made again on resuming.

    Attributes:
        broken_off: Whether a stop came before the last step.
    """

    model: MaskablePPO

    def __init__(
        self,
        run: Path,
        about: Mapping[str, Any],
        evaluations: Evaluations,
        evaluate: Callable[[], Result] | None,
        eval_freq: int,
        save_freq: int,
        keep: int,
        stop: Stop,
        console: Console,
        progress: bool,
    ) -> None:
        super().__init__()
        self._run, self._about, self._evaluations, self._evaluate = run, about, evaluations, evaluate
        self._eval_freq, self._save_freq, self._keep = eval_freq, save_freq, keep
        self._stop = stop
        self._saved_at = -1
        self.broken_off = False
        self._progress = Progress(
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} steps"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[rollouts]}"),
            console=console,
            disable=not progress,
        )
        self._task = self._progress.add_task("train", total=None, rollouts="", start=True)

    def _on_training_start(self) -> None:
        existing = checkpoints(self._run)
        self._saved_at = self.model.num_timesteps if existing else -1
        self._progress.update(self._task, total=self.model._total_timesteps, completed=self.model.num_timesteps)
        self._progress.start()

    def _on_rollout_start(self) -> None:
        self._between_updates()

    def _on_step(self) -> bool:
        self._progress.update(self._task, completed=self.num_timesteps)
        self.broken_off = self._stop.signal is not None
        return not self.broken_off

    def _on_rollout_end(self) -> None:
        episodes = self.model.ep_info_buffer
        if episodes:
            mean = np.mean([episode["r"] for episode in episodes])
            self._progress.update(self._task, rollouts=f"return {mean:.1f}")

    def close(self) -> None:
        self._progress.stop()

    def finish(self) -> Path:
        """Save where the training stands, after its loop has ended; the checkpoint."""
        if self.broken_off:
            self.model.num_timesteps = self._snapshot[0]["num_timesteps"]
        else:
            self._between_updates(last=True)
        return self._save()

    def _between_updates(self, last: bool = False) -> None:
        now = self.model.num_timesteps
        if self._evaluate and now > self._evaluations.last:
            if last or (self._eval_freq and now // self._eval_freq > self._evaluations.last // self._eval_freq):
                with suppress(StoppedError):  # an evaluation that was broken off is made again on resuming
                    self._run_evaluation(now)
        self._snapshot = take_snapshot(self.model)
        if self._save_freq and now // self._save_freq > max(self._saved_at, 0) // self._save_freq:
            self._save()

    def _run_evaluation(self, now: int) -> None:
        assert self._evaluate is not None
        best = self._evaluations.best
        row = self._evaluations.add(now, self._evaluate())
        for key in ("mean_return", "mean_foundation_cards", "win_rate", "mean_steps"):
            self.logger.record(f"eval/{key}", row[key])
        self.logger.dump(now)
        better = row["mean_return"] > best
        if better:
            write_checkpoint(self._run / "best_model.zip", self.model, self._named(now))
        self._progress.console.print(
            f"{now:>11,} steps: won {row['win_rate']:.1%}, {row['mean_foundation_cards']:.2f} foundation cards, "
            f"return {row['mean_return']:.1f} on {len(row['won'])} deals" + (" (best so far)" if better else ""),
        )

    def _named(self, now: int) -> dict[str, Any]:
        return {**self._about, "timesteps": now}

    def _save(self) -> Path:
        plain, arrays = self._snapshot
        now = plain["num_timesteps"]
        path = self._run / "checkpoints" / f"model_{now}_steps.zip"
        if now != self._saved_at:
            write_checkpoint(path, self.model, {**self._named(now), "training": plain}, arrays)
            self._saved_at = now
            for old in checkpoints(self._run)[: -self._keep]:
                old.unlink()
        return path
