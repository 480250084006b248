"""Real training of a few hundred steps through the command: the run's folder, resuming, stopping, refusals."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
import yaml
from sb3_contrib import MaskablePPO
from typer.testing import CliRunner

import canfield_env
from agents.checkpoints import ABOUT, STATE, CheckpointError, read_about, read_state, read_weights
from agents.ppo_player import PPOPlayer
from agents.sb3_env import CanfieldVecEnv
from agents.train import app
from agents.training import checkpoints
from canfield_env.rules import Rules

ROOT = Path(canfield_env.__file__).parent.parent


def train(*arguments: object) -> tuple[int, str]:
    """Run the command in this process: its exit status, and all it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def weights(path: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = read_weights(path, "policy")
    return state


def same_training(first: Path, second: Path) -> bool:
    """Whether two checkpoints hold the same weights, optimizer, environments and generators."""
    states = [read_state(path) for path in (first, second)]
    plain = [read_about(path)["training"] for path in (first, second)]
    for training in plain:
        for episode in training["episodes"]:
            episode.pop("t")
    optimizers = [read_weights(path, "policy.optimizer") for path in (first, second)]
    return (
        plain[0] == plain[1]
        and states[0].keys() == states[1].keys()
        and all(np.array_equal(states[0][key], states[1][key]) for key in states[0])
        and all(torch.equal(weights(first)[key], weights(second)[key]) for key in weights(first))
        and optimizers[0]["param_groups"] == optimizers[1]["param_groups"]
        and all(
            torch.equal(value, optimizers[1]["state"][k][key])
            for k, state in optimizers[0]["state"].items()
            for key, value in state.items()
        )
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, tiny: str) -> Path:
    """The folder of a finished tiny run; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("finished")
    path = folder / "tiny.yaml"
    path.write_text(tiny)
    status, output = train(path, "--folder", folder / "runs")
    assert status == 0, output
    return folder / "runs" / "tiny"


def edited(source: Path, target: Path, **changes: Any) -> Path:
    """A copy of a checkpoint that says other things of itself."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            if name == ABOUT:
                data = json.dumps({**json.loads(data), **changes}).encode()
            copy.writestr(name, data)
    return target


# --- A run -------------------------------------------------------------------------------------------------


def test_run_folder_holds_all(finished: Path) -> None:
    assert [path.name for path in checkpoints(finished)] == [f"model_{k}_steps.zip" for k in (128, 192, 256)]
    rows = [json.loads(line) for line in (finished / "evaluations.jsonl").read_text().splitlines()]
    assert [row["timesteps"] for row in rows] == [128, 256]
    assert all(len(row["returns"]) == 3 for row in rows)
    with np.load(finished / "evaluations.npz") as evaluations:
        assert evaluations["results"].tolist() == [row["returns"] for row in rows]
        assert set(evaluations) == {"timesteps", "results", "ep_lengths", "successes"}
    versions = json.loads((finished / "versions.json").read_text())
    assert versions["canfield_env"] == canfield_env.__version__
    assert versions["torch"] == torch.__version__
    settings = yaml.safe_load((finished / "config.yaml").read_text())
    assert settings["Canfield-v0"]["n_epochs"] == 2
    assert list((finished / "tensorboard").glob("events.*"))
    assert not [path for path in finished.rglob("*") if path.name.endswith(".tmp")]


def test_best_model_is_the_best_evaluated(finished: Path) -> None:
    rows = [json.loads(line) for line in (finished / "evaluations.jsonl").read_text().splitlines()]
    best = max(rows, key=lambda row: row["mean_return"])
    assert read_about(finished / "best_model.zip")["timesteps"] == best["timesteps"]


def test_training_changes_the_policy_and_two_seeds_differ(finished: Path, config: Path, tmp_path: Path) -> None:
    assert train(config, "-f", tmp_path / "a", "--seed", 1, "--eval-freq", 0, "-n", 64)[0] == 0
    first = checkpoints(tmp_path / "a" / "tiny")[-1]
    assert not torch.equal(weights(first)["action_net.weight"], weights(checkpoints(finished)[0])["action_net.weight"])
    assert not (tmp_path / "a" / "tiny" / "best_model.zip").exists()


def test_checkpoint_says_what_it_was_made_for(finished: Path) -> None:
    about = read_about(finished / "best_model.zip")
    assert about["package_version"] == canfield_env.__version__
    assert about["observation"] == "recall"
    assert about["rules"] == "app"
    assert about["env"] == "Canfield-v0"
    assert about["layout"].startswith("82 codes, sha256 ")
    assert about["action_table"].startswith("95 actions: 0:D 1:W>F ")
    assert about["network"]["features"] == [16]


def test_stable_baselines_loads_a_checkpoint(finished: Path) -> None:
    model = MaskablePPO.load(finished / "best_model.zip", device="cpu")
    env = gym.make("Canfield-v0")
    observation, info = env.reset(seed=0)
    mask = info["action_mask"].astype(bool)
    action, _ = model.predict(observation, action_masks=mask, deterministic=True)
    assert int(action) == PPOPlayer(finished / "best_model.zip").act(observation, mask)


# --- Resuming ----------------------------------------------------------------------------------------------


def test_resumed_run_equals_one_never_broken_off(finished: Path, tmp_path: Path) -> None:
    """Weights, optimizer, learning rate, environments, generators and evaluations, bit for bit."""
    run = tmp_path / "tiny"
    shutil.copytree(finished, run)
    for path in checkpoints(run)[1:]:
        path.unlink()
    status, output = train("--resume", run)
    assert status == 0, output
    assert "Resuming" in output
    assert same_training(checkpoints(run)[-1], checkpoints(finished)[-1])
    for name in ("evaluations.jsonl", "config.yaml"):
        assert (run / name).read_text() == (finished / name).read_text()


def test_finished_run_goes_on_for_more_steps(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "tiny"
    shutil.copytree(finished, run)
    status, output = train(run, "--resume")
    assert status == 0
    assert "is done: it has trained 256 steps" in output
    status, output = train(run, "--resume", "-n", 384)
    assert status == 0, output
    last = checkpoints(run)[-1]
    assert last.name == "model_384_steps.zip"
    assert not torch.equal(weights(last)["action_net.weight"], weights(checkpoints(finished)[-1])["action_net.weight"])
    assert yaml.safe_load((run / "config.yaml").read_text())["Canfield-v0"]["n_timesteps"] == 384


def test_resume_refuses_other_settings(finished: Path, config: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "tiny"
    shutil.copytree(finished, run)
    status, output = train(run, "--resume", "--seed", 3)
    assert status == 2
    assert "begun with seed 0, not 3" in output
    status, output = train(config, "--folder", tmp_path / "runs", "--resume", "--hyperparams", "gamma:0.9")
    assert status == 2
    assert "begun with gamma 0.99, not 0.9" in output
    status, output = train(tmp_path / "none.yaml", "-f", tmp_path, "--resume")
    assert status == 2
    assert "there is no run to resume" in output


def test_resume_refuses_a_policy_without_its_training(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "tiny"
    shutil.copytree(finished, run)
    for path in checkpoints(run):
        path.unlink()
    status, output = train(run, "--resume")
    assert status == 2
    assert "has no checkpoint to resume from" in output
    shutil.copy(run / "best_model.zip", run / "checkpoints" / "model_64_steps.zip")
    status, output = train(run, "--resume", "-n", 1000)
    assert status == 2
    assert STATE in output


# --- Stopping ----------------------------------------------------------------------------------------------


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "agents.train", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def test_ctrl_c_leaves_a_checkpoint_that_resumes(finished: Path, config: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "tiny"
    process = subprocess.Popen(
        command(config, "-f", tmp_path / "runs", "-n", 10_000_000),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not checkpoints(run) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert f"python -m agents.train --resume {run}" in output
    last = checkpoints(run)[-1]
    assert PPOPlayer(last).observation == "recall"
    steps = read_about(last)["timesteps"]
    assert steps % 64 == 0
    status, resumed = train("--resume", run, "-n", steps + 64)
    assert status == 0, resumed
    assert checkpoints(run)[-1].name == f"model_{steps + 64}_steps.zip"


@pytest.mark.parametrize("step", [1, 16, 41])
def test_run_stopped_inside_a_rollout_is_resumed_exactly(
    finished: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    run = tmp_path / "runs" / "tiny"
    true_step, steps = CanfieldVecEnv.step_wait, 0

    def step_wait(env: CanfieldVecEnv) -> Any:
        nonlocal steps
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGTERM)
        return true_step(env)

    with monkeypatch.context() as patch:
        patch.setattr(CanfieldVecEnv, "step_wait", step_wait)
        status, output = train(config, "-f", tmp_path / "runs")
    assert status == 128 + signal.SIGTERM, output
    assert read_about(checkpoints(run)[-1])["timesteps"] == (step - 1) // 16 * 64
    status, output = train("--resume", run)
    assert status == 0, output
    assert same_training(checkpoints(run)[-1], checkpoints(finished)[-1])
    assert (run / "evaluations.jsonl").read_text() == (finished / "evaluations.jsonl").read_text()


def test_full_disk_leaves_the_last_checkpoint(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "tiny"
    shutil.copytree(finished, run)
    before = {path.name: path.read_bytes() for path in checkpoints(run)}

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        command("--resume", run, "-n", 512),
        cwd=ROOT,
        env=environment(),
        preexec_fn=small_files,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "cannot write to" in done.stdout
    assert f"The last good checkpoint is {checkpoints(run)[-1]}" in done.stdout
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in checkpoints(run)} == before
    assert not list(run.rglob("*.tmp"))


# --- Folders and wrong wishes ------------------------------------------------------------------------------


def test_a_run_is_not_overwritten_unasked(finished: Path, config: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "tiny"
    shutil.copytree(finished, run)
    status, output = train(config, "-f", tmp_path / "runs")
    assert status == 2
    assert f"{run} already holds a run" in output
    assert len(checkpoints(run)) == 3
    status, output = train(config, "-f", tmp_path / "runs", "-n", 64, "--overwrite")
    assert status == 0, output
    assert [path.name for path in checkpoints(run)] == ["model_64_steps.zip"]


def test_other_files_are_never_deleted(config: Path, tmp_path: Path) -> None:
    (tmp_path / "runs" / "tiny").mkdir(parents=True)
    (tmp_path / "runs" / "tiny" / "thesis.tex").write_text("mine")
    status, output = train(config, "-f", tmp_path / "runs", "--overwrite")
    assert status == 2
    assert "holds no run, but other files" in output
    assert (tmp_path / "runs" / "tiny" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"learning_rte": 1e-3}, "'learning_rte' is not a setting: did you mean 'learning_rate'?"),
        ({"xyz": 1}, "'xyz' is not a setting: the settings are n_timesteps"),
        ({"policy_kwargs": {"net_arch": {"pi": [8], "v": [8]}}}, "'policy_kwargs.net_arch.v' is not a setting"),
        ({"n_timesteps": "many"}, "n_timesteps: Input should be a valid integer"),
        ({"gamma": 1.5}, "gamma: Input should be less than or equal to 1, not 1.5"),
        ({"learning_rate": "exp_1"}, "learning_rate: 'exp_1' is neither a number nor"),
        ({"batch_size": 48}, "batch_size is 48, but must divide n_envs * n_steps, 64"),
        ({"env_kwargs": {"rules": "windows"}}, "'windows' is not a rule set"),
        ({"env_kwargs": {"colour": "red"}}, "colour"),
        ({"env_kwargs": {"max_episode_steps": 0}}, "environment Canfield-v0: "),
        ({"device": "abacus"}, "device abacus: "),
        ({"env_kwargs": {"draw_count": 1}}, "draws 3, but the environment draws 1"),
        ({"eval_suite": "draw9-dev"}, "there is no suite 'draw9-dev'"),
        ({"eval_deals": 5}, "eval_deals is 5, but suite"),
    ],
)
def test_wrong_settings_are_named(config: Path, tmp_path: Path, settings: dict[str, Any], says: str) -> None:
    data = yaml.safe_load(config.read_text())
    data["Canfield-v0"].update(settings)
    config.write_text(yaml.safe_dump(data))
    status, output = train(config, "-f", tmp_path / "runs")
    assert status == 2
    assert says in output
    assert "is not a setting" not in says or str(config) in output
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "it is not YAML"),
        ("", "must hold settings by environment id"),
        ("n_envs: 4", "must hold settings by environment id"),
        ("Canfield-v0: {n_envs: 4}", "'n_timesteps' is missing"),
        ("Canfield-v9: {n_timesteps: 64, n_envs: 64}", "Canfield-v9"),
        ("CartPole-v1: {n_timesteps: 64, n_envs: 64}", "is not a Canfield environment"),
        ("A-v0: {}\nB-v0: {}", "it holds settings for A-v0, B-v0: say which one with --env"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    status, output = train(path, "-f", tmp_path / "runs")
    assert status == 2
    assert says in output


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--hyperparams", "gamma=0.9"], "--hyperparams 'gamma=0.9' is not of the form name:value"),
        (["--hyperparams", "gama:0.9"], "did you mean 'gamma'?"),
        (["--env-kwargs", "rules:nobody"], "'nobody' is not a rule set"),
        (["--resume", "--overwrite"], "exclude each other"),
        (["--n-timesteps", "some"], "n_timesteps"),
    ],
)
def test_wrong_flags_are_named(config: Path, tmp_path: Path, flags: list[str], says: str) -> None:
    status, output = train(config, "-f", tmp_path / "runs", *flags)
    assert status == 2
    assert says in output


def test_flags_replace_settings(config: Path, tmp_path: Path) -> None:
    status, output = train(
        config,
        *("-f", tmp_path / "runs", "-n", "6.4e1", "--n-envs", 2, "--eval-freq", 0, "--save-freq", 0),
        *("--env", "CanfieldHoyle-v0", "--env-kwargs", "observation:screen", "--hyperparams", "gamma:0.5"),
        *("--tensorboard-log", tmp_path / "board"),
    )
    assert status == 0, output
    settings = yaml.safe_load((tmp_path / "runs" / "tiny" / "config.yaml").read_text())["CanfieldHoyle-v0"]
    assert (settings["n_timesteps"], settings["n_envs"], settings["gamma"]) == (64, 2, 0.5)
    assert settings["env_kwargs"] == {"max_episode_steps": 30, "observation": "screen"}
    assert list((tmp_path / "board").glob("events.*"))
    about = read_about(checkpoints(tmp_path / "runs" / "tiny")[-1])
    assert (about["rules"], about["observation"]) == ("hoyle", "screen")


# --- Checkpoints that do not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("layout", "80 codes, sha256 0000", "observation layout '80 codes, sha256 0000'"),
        ("action_table", "94 actions", "action table '94 actions'"),
    ],
)
def test_misfit_is_refused_with_both_values(finished: Path, tmp_path: Path, key: str, value: str, says: str) -> None:
    true = read_about(finished / "best_model.zip")[key]
    path = edited(finished / "best_model.zip", tmp_path / "other.zip", **{key: value, "package_version": "9.9"})
    with pytest.raises(CheckpointError) as refused:
        PPOPlayer(path)
    assert says in str(refused.value)
    assert repr(true) in str(refused.value)
    assert "canfield_env 9.9" in str(refused.value)


def test_other_rules_are_refused(finished: Path) -> None:
    player = PPOPlayer(finished / "best_model.zip")
    player.begin(Rules(), 0)
    with pytest.raises(CheckpointError, match=r"for the rules 'app', but here .* it is 'hoyle'"):
        player.begin("hoyle", 0)


def test_resume_refuses_a_checkpoint_of_other_rules(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "tiny"
    shutil.copytree(finished, run)
    last = checkpoints(run)[-1]
    edited(last, run / "checkpoints" / "model_300_steps.zip", rules="hoyle")
    status, output = train(run, "--resume", "-n", 1000)
    assert status == 2
    assert "'hoyle'" in output and "'app'" in output


def test_what_is_no_checkpoint_is_refused(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        PPOPlayer(tmp_path / "none.zip")
    part = tmp_path / "part.zip"
    part.write_bytes((finished / "best_model.zip").read_bytes()[:5000])
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        PPOPlayer(part)
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(CheckpointError, match=f"has no {ABOUT}"):
        PPOPlayer(foreign)
    network = {"features": [8], "net_arch": {"pi": [16], "vf": [16]}, "activation_fn": "relu"}
    with pytest.raises(CheckpointError, match="are not those of the network"):
        PPOPlayer(edited(finished / "best_model.zip", tmp_path / "other.zip", network=network))


# --- The player --------------------------------------------------------------------------------------------


def test_player_plays_a_batch_as_it_plays_one_by_one(finished: Path) -> None:
    envs = [gym.make("Canfield-v0") for _ in range(3)]
    starts = [env.reset(seed=k) for k, env in enumerate(envs)]
    batch, single = PPOPlayer(finished / "best_model.zip"), [PPOPlayer(finished / "best_model.zip") for _ in envs]
    for player in (batch, *single):
        player.begin(Rules(), 0)
    observations = np.stack([observation for observation, _ in starts])
    masks = np.stack([info["action_mask"] for _, info in starts])
    for _ in range(60):
        given = masks.copy()
        actions = batch.act_batch(observations, masks)
        assert np.array_equal(masks, given)
        assert actions.shape == (3,)
        for k, env in enumerate(envs):
            assert masks[k, actions[k]]
            assert single[k].act(observations[k], masks[k]) == actions[k]
            observations[k], _, _, _, info = env.step(actions[k])
            masks[k] = info["action_mask"]


def test_player_plays_as_it_was_evaluated(finished: Path, tmp_path: Path) -> None:
    observation, _ = gym.make("Canfield-v0").reset(seed=0)
    sampled = edited(finished / "best_model.zip", tmp_path / "sampled.zip", eval_deterministic=False)
    for path, deterministic, varies in (
        (finished / "best_model.zip", None, False),
        (sampled, None, True),
        (sampled, True, False),
    ):
        player = PPOPlayer(path, deterministic, loop_guard=False)
        player.begin("app", 0)
        assert (len({player.act(observation, np.ones(95, np.int8)) for _ in range(40)}) > 1) == varies


def test_preferences_are_those_of_the_policy(finished: Path) -> None:
    player = PPOPlayer(finished / "best_model.zip", loop_guard=False)
    observation, info = gym.make("Canfield-v0").reset(seed=3)
    shares = player.preferences(observation, info["action_mask"])
    assert shares.shape == (95,)
    assert np.isclose(shares.sum(), 1, atol=1e-5)
    assert not shares[info["action_mask"] == 0].any()
    assert shares.argmax() == player.act(observation, info["action_mask"])


def test_sampling_player_repeats_by_seed(finished: Path) -> None:
    observation, _ = gym.make("Canfield-v0").reset(seed=0)
    player = PPOPlayer(finished / "best_model.zip", deterministic=False, loop_guard=False)

    def actions(seed: int) -> list[int]:
        player.begin("app", seed)
        return [player.act(observation, np.ones(95, np.int8)) for _ in range(40)]

    assert actions(1) == actions(1) != actions(2)
    assert len(set(actions(1))) > 1
