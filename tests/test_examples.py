"""The examples run, and the one that learns treats the ends of games rightly."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
PPO = ROOT / "examples" / "ppo_masked.py"
SMALL = ["--num-envs", "8", "--num-steps", "32", "--minibatch-size", "100", "--width", "16", "--eval-deals", "4"]


@pytest.fixture(scope="module")
def ppo():
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("ppo_masked", PPO)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_ppo_runs_from_the_command_line():
    command = [sys.executable, "-W", "error", str(PPO), *SMALL, "--total-steps", "600", "--print-every", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^step +(\d+) ", done.stdout, re.M) == ["256", "512"]  # whole rollouts
    shares = re.findall(r"environment (\d+)% of the time", done.stdout)
    assert len(shares) == 2 and all(0 <= int(share) <= 100 for share in shares)
    evaluations = re.findall(r"draw3-dev, 4 deals, (.+?): +([\d.]+) foundation cards, (\d) won", done.stdout)
    assert [name for name, _, _ in evaluations] == ["random", "agent, greedy", "agent, sampling"]
    assert all(1 <= float(cards) <= 52 for _, cards, _ in evaluations)


def test_ppo_explains_its_settings(ppo):
    options = ppo.options().parameters
    assert options["env_id"].default == "Canfield-v0"
    assert all(option.annotation.__metadata__[0].help for option in options.values())


def test_advantages_by_hand(ppo):
    """Three games of three steps: the first goes on, the second terminates in the middle, the third is truncated."""
    rewards = torch.tensor([[1.0, 1, 1], [2, 2, 2], [4, 4, 4]])
    values = torch.full((3, 3), 10.0)
    next_values = torch.tensor([[10.0, 10, 10], [10, 0, 6], [8, 8, 8]])
    ended = torch.tensor([[0, 0, 0], [0, 1, 1], [0, 0, 0]], dtype=torch.bool)
    advantages = ppo.advantages_of(rewards, values, next_values, ended, gamma=0.5, gae_lambda=0.5)
    last = 4 + 4 - 10.0
    on, terminated, truncated = 2 + 5 - 10 + 0.25 * last, 2 - 10.0, 2 + 3 - 10.0
    first = 1 + 5 - 10.0
    expected = [
        [first + 0.25 * on, first + 0.25 * terminated, first + 0.25 * truncated],
        [on, terminated, truncated],
        [last, last, last],
    ]
    torch.testing.assert_close(advantages, torch.tensor(expected))


def test_illegal_actions_have_no_probability_and_no_gradient(ppo):
    torch.manual_seed(0)
    agent = ppo.Agent([3, 2], 4, width=8)
    masks = torch.tensor([[True, False, True, False], [False, True, False, False]])
    policy, values = agent(torch.tensor([[2, 1], [0, 0]], dtype=torch.uint8), masks)
    assert values.shape == (2,)
    assert (policy.probs[~masks] == 0).all()
    torch.testing.assert_close(policy.probs.sum(1), torch.ones(2))
    (policy.entropy().sum() + policy.log_prob(torch.tensor([0, 1])).sum()).backward()
    gradient = agent.actor[-1].bias.grad
    assert torch.isfinite(gradient).all()
    assert gradient[3] == 0 and gradient[0] != 0


def test_rollouts_tell_termination_from_truncation(ppo, monkeypatch, tmp_path):
    """What a step led to: 0 after a termination, the old game's last position after a truncation, else the next."""
    rollouts, steps = [], []
    advantages_of, step = ppo.advantages_of, ppo.CanfieldVectorEnv.step

    class KeptAgent(ppo.Agent):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.first = [parameter.detach().clone() for parameter in self.parameters()]
            agents.append(self)

    def keep_rollout(rewards, values, next_values, ended, gamma, gae_lambda):
        rollouts.append((values.clone(), next_values.clone(), ended.clone()))
        return advantages_of(rewards, values, next_values, ended, gamma, gae_lambda)

    def keep_step(envs, actions):
        steps.append(step(envs, actions))
        return steps[-1]

    agents = []
    monkeypatch.setattr(ppo, "Agent", KeptAgent)
    monkeypatch.setattr(ppo, "advantages_of", keep_rollout)
    monkeypatch.setattr(ppo.CanfieldVectorEnv, "step", keep_step)
    small = {"num_envs": 8, "num_steps": 200, "max_episode_steps": 60, "width": 16, "epochs": 1, "eval_deals": 0}
    ppo.train(ppo.Args(total_steps=1, tensorboard=tmp_path, **small))
    assert list(tmp_path.glob("events.out.tfevents.*"))

    [(values, next_values, ended)], [agent] = rollouts, agents
    with torch.no_grad():
        for parameter, first in zip(agent.parameters(), agent.first):
            parameter.copy_(first)  # as it was in the rollout, before the update
        expected = torch.stack([agent.value(torch.from_numpy(observations)) for observations, *_ in steps])
        torch.testing.assert_close(expected[:-1], values[1:])
        terminated = torch.from_numpy(np.stack([terminated for _, _, terminated, _, _ in steps]))
        truncated = torch.from_numpy(np.stack([truncated for _, _, _, truncated, _ in steps])) & ~terminated
        assert terminated.any() and truncated.any()
        expected[terminated] = 0
        for t, i in truncated.nonzero().tolist():
            expected[t, i] = agent.value(torch.from_numpy(steps[t][4]["final_obs"][i][None]))[0]
    assert torch.equal(ended, terminated | truncated)
    torch.testing.assert_close(next_values, expected)
