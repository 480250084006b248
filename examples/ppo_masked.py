"""Masked PPO on Canfield in one file: the environment, PyTorch, and nothing else to learn from.

    python examples/ppo_masked.py                        # some minutes
    python examples/ppo_masked.py --help                 # every setting, with its default
    python examples/ppo_masked.py --env-id CanfieldDraw1-v0 --total-steps 5000000 --tensorboard runs/ppo_masked

It needs `pip install -e '.[agents]'`, of which it uses PyTorch (and TensorBoard, if asked to write for it).

PPO (Schulman et al., 2017, arXiv:1707.06347) repeats three things: play a while with the present policy (a *rollout*),
work out for each action how much better it went than expected (its *advantage*), and make the better actions more
likely, in small steps, because the rollout tells only about policies near the one that played it. Read ``train`` at
the bottom first: it does these in this order. Four points are the environment's own:

- *Masks.* Some 3 of the 95 actions are legal at a time. The others get no probability (``Agent.forward``), and the
  update must use the mask that the action was chosen under, so the rollout keeps it.
- *Codes.* An observation is 82 small numbers ("the 7 of hearts is in column 2"), names rather than amounts: the first
  layer looks up a vector for each of them and adds these up.
- *Ends.* ``terminated``: the game is over, nothing more will be earned. ``truncated``: only the time limit struck, the
  game would have gone on, and what it was still worth is estimated from the position it stopped in.
- *Autoreset.* In the SAME_STEP mode the step that ends a game also deals the next one. The observation it returns is
  the new game's first; the old one's last is in ``info["final_obs"]``. So no step of a rollout is wasted on a reset.
  (In the NEXT_STEP mode, Gymnasium's default, the step after an end only deals: its action is ignored, and it would
  have to be left out of the update.)

Measured with the first command (1,000,000 steps, seed 1), on the first 200 deals of the suite ``draw3-dev``:

    player             foundation cards   won
    random                         4.2     0
    agent, greedy                  8.2     0
    agent, sampling               11.1    10

It took 189 seconds beside other work on two cores (86 of processor time, compilation not counted); the environment's
share was 2 %. Why the greedy policy plays worse stands at the end of ``train``; ``agents/`` has the remedy
(``loop_guard.py``), and configs, checkpoints and longer training with stable-baselines3.
"""

from __future__ import annotations

import ast
import inspect
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import gymnasium as gym
import numpy as np
import torch
import typer
from torch import nn
from torch.distributions import Categorical

from canfield_env.evaluation import evaluate
from canfield_env.suites import load_suite
from canfield_env.vector_env import CanfieldVectorEnv


@dataclass(frozen=True)
class Args:
    """The settings. On the command line each is an option, and the line below it the option's help."""

    env_id: str = "Canfield-v0"
    """Environment: Canfield-v0, CanfieldDraw1-v0, CanfieldHoyle-v0 or CanfieldAndr-v0."""
    total_steps: int = 1_000_000
    """Steps to train for, of all games together (rounded down to whole rollouts, but at least one)."""
    num_envs: int = 128
    """Games played side by side."""
    num_steps: int = 128
    """Steps of each game in a rollout."""
    max_episode_steps: int = 300
    """Steps after which a game of the training is truncated (the evaluation's limit is the environment's own)."""
    minibatch_size: int = 2048
    """Steps that one gradient is computed from."""
    epochs: int = 2
    """How often each step of a rollout is used."""
    learning_rate: float = 1e-3
    """Adam's step size at the start; it falls to 0 in a straight line."""
    gamma: float = 0.99
    """Discount: what a reward is worth if it comes one step later."""
    gae_lambda: float = 0.95
    """From 0, advantages that trust the critic, to 1, advantages that trust the rewards that came."""
    clip: float = 0.2
    """How far a probability may move, as a share of itself, before a step pushes it no further."""
    entropy_coef: float = 0.01
    """Weight of the entropy: what it is worth not to settle on one action too early."""
    value_coef: float = 0.5
    """Weight of the critic's loss."""
    max_grad_norm: float = 0.5
    """Longer gradients are cut to this length."""
    reward_scale: float = 0.02
    """Factor of the rewards that the critic learns from: returns of up to 255 would drown the policy's loss."""
    width: int = 128
    """Width of the network's layers."""
    seed: int = 1
    """What all chance comes from: the network, the deals, the actions."""
    torch_threads: int = 1
    """PyTorch's threads; for layers this small more of them rarely help."""
    print_every: int = 5
    """Rollouts between two lines of progress."""
    tensorboard: Path | None = None
    """Folder to write curves for TensorBoard into."""
    eval_deals: int = 200
    """Deals of the evaluation at the end, the first of the suite draw1-dev or draw3-dev; 0 for none."""


# --- The network -------------------------------------------------------------------------------------------


class Agent(nn.Module):
    """The policy (actor), and the estimate of what a position is still worth (critic), over a shared first layer."""

    offsets: torch.Tensor

    def __init__(self, nvec: Sequence[int], actions: int, width: int) -> None:
        super().__init__()
        # One table for all entries: entry k with code c looks up the row offsets[k] + c. A sum of rows is what a linear
        # layer over one-hot vectors computes, without ever making the vectors (4,695 numbers wide, nearly all of them
        # 0). A bias would be idle: one row of each entry is always in the sum.
        sizes = torch.as_tensor(nvec)
        self.register_buffer("offsets", torch.cumsum(sizes, 0) - sizes)
        self.table = nn.EmbeddingBag(int(sizes.sum()), width, mode="sum")
        nn.init.normal_(self.table.weight, std=(2 / len(nvec)) ** 0.5)  # len(nvec) terms: the sum's variance is 2
        self.actor = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, actions))
        self.critic = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        # Nearly equal logits: the first policy tries all that is legal, whatever the random weights happen to prefer.
        nn.init.orthogonal_(cast(nn.Linear, self.actor[-1]).weight, 0.01)

    def features(self, observations: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = self.table(observations.long() + self.offsets)
        return rows

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """The distributions over the legal actions, and the values."""
        features = self.features(observations)
        # So low a logit that its probability is exactly 0, and so is its gradient: the network need not learn the
        # rules. (-inf invites 0 × -inf, which is not a number.)
        logits = self.actor(features).masked_fill(~masks, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(features)[:, 0]

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.critic(self.features(observations))[:, 0]
        return values


class PolicyPlayer:
    """The agent as a player for ``canfield_env.evaluation``.

    Args:
        agent: The agent.
        greedy: Whether it always takes the likeliest legal action, or draws one as in training.
    """

    observation = "recall"  # what a player can see and remember: the environment's default, so what it was trained on

    def __init__(self, agent: Agent, greedy: bool) -> None:
        self.agent, self.greedy = agent, greedy

    def begin(self, rules: Any, seed: int) -> None:
        """All chance comes from the evaluation's seed: the same agent gets the same result again."""
        self.generator = torch.Generator().manual_seed(seed)

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Actions for many games at once."""
        with torch.no_grad():
            policy, _ = self.agent(torch.from_numpy(observations), torch.from_numpy(masks))
        if self.greedy:
            return policy.probs.argmax(1).numpy()
        return torch.multinomial(policy.probs, 1, generator=self.generator)[:, 0].numpy()

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """An action for one game."""
        return int(self.act_batch(observation[None], mask[None])[0])


# --- Advantages --------------------------------------------------------------------------------------------


def advantages_of(
    rewards: torch.Tensor,
    values: torch.Tensor,
    next_values: torch.Tensor,
    ended: torch.Tensor,
    gamma: float,
    gae_lambda: float,
) -> torch.Tensor:
    """Generalised advantage estimation (Schulman et al., 2016, arXiv:1506.02438); all of shape (steps, games).

    Args:
        rewards: What each step earned.
        values: The critic's estimate of the position that each step was taken in.
        next_values: That of the position that it led to, in the same game: 0 where the game terminated.
        ended: Where the game terminated or was truncated.
        gamma: Discount.
        gae_lambda: Weight of the steps that follow.
    """
    # A step's own surprise: what it earned and led to, against what was expected.
    surprises = rewards + gamma * next_values - values
    # Its advantage: that, and less and less of the surprises that followed in the same game. The row after an end is
    # another game's, hence the factor; an end by truncation cuts here too, but its next value is not 0.
    advantages = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        following = surprises[t] + gamma * gae_lambda * ~ended[t] * following
        advantages[t] = following
    return advantages


# --- Training ----------------------------------------------------------------------------------------------


def train(args: Args) -> None:
    """Train an agent, show how it comes on, and evaluate it."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    envs = gym.make_vec(
        args.env_id, num_envs=args.num_envs, autoreset_mode="SAME_STEP", max_episode_steps=args.max_episode_steps
    )
    assert isinstance(envs, CanfieldVectorEnv), f"{args.env_id} is not a Canfield environment"
    nvec = cast(gym.spaces.MultiDiscrete, envs.single_observation_space).nvec.tolist()
    num_actions = int(cast(gym.spaces.Discrete, envs.single_action_space).n)
    agent = Agent(nvec, num_actions, args.width)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    curves = None
    if args.tensorboard:
        from torch.utils.tensorboard import SummaryWriter  # here: most runs do without, and it takes seconds to import

        curves = SummaryWriter(str(args.tensorboard))

    # A rollout. Row t holds what the agent saw, did and expected at step t, and what came of it.
    shape = (args.num_steps, args.num_envs)
    observations = torch.zeros((*shape, len(nvec)), dtype=torch.uint8)
    masks = torch.zeros((*shape, num_actions), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    log_probs, values, next_values, rewards = (torch.zeros(shape) for _ in range(4))
    ended = torch.zeros(shape, dtype=torch.bool)

    returns: deque[int] = deque(maxlen=500)  # of the games that ended last
    cards: deque[int] = deque(maxlen=500)
    batch = args.num_steps * args.num_envs
    updates = max(1, args.total_steps // batch)
    observation, info = envs.reset(seed=args.seed)

    for update in range(updates):
        started, env_seconds = time.perf_counter(), 0.0

        # 1. Play a rollout. Games go on from one rollout to the next.
        for t in range(args.num_steps):
            observations[t] = torch.from_numpy(observation)
            masks[t] = torch.from_numpy(info["action_mask"].view(bool))
            with torch.no_grad():
                policy, values[t] = agent(observations[t], masks[t])
                actions[t] = policy.sample()
                log_probs[t] = policy.log_prob(actions[t])
            chosen = actions[t].numpy()
            before = time.perf_counter()
            observation, reward, terminated, truncated, info = envs.step(chosen)
            env_seconds += time.perf_counter() - before
            rewards[t] = torch.from_numpy(reward * args.reward_scale)
            done = terminated | truncated
            ended[t] = torch.from_numpy(done)
            if t > 0:
                next_values[t - 1] = torch.where(ended[t - 1], next_values[t - 1], values[t])
            # What the step led to is worth: after a termination nothing; after a truncation whatever the critic says
            # of the old game's last position; else what it says of the next one, which is known one step later.
            next_values[t] = 0
            cut = truncated & ~terminated
            if cut.any():
                with torch.no_grad():
                    next_values[t, cut] = agent.value(torch.from_numpy(np.stack(info["final_obs"][cut])))
            if done.any():
                returns.extend(envs.final_returns[done].tolist())
                cards.extend(info["final_info"]["foundation_cards"][done].tolist())
        with torch.no_grad():
            last_values = agent.value(torch.from_numpy(observation))
        next_values[-1] = torch.where(ended[-1], next_values[-1], last_values)

        # 2. Work out the advantages, and what the critic should have said.
        advantages = advantages_of(rewards, values, next_values, ended, args.gamma, args.gae_lambda)
        targets = (advantages + values).flatten()
        # Of one size, whatever the rewards': so that one learning rate serves from the first games to the last.
        normal = ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten()
        flat_observations, flat_masks = observations.flatten(0, 1), masks.flatten(0, 1)
        flat_actions, flat_log_probs = actions.flatten(), log_probs.flatten()

        # 3. Improve the policy and the critic, in small steps.
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / updates)
        for _ in range(args.epochs):
            # Shuffled: the steps of one game are much alike, and a gradient should see many games.
            for rows in torch.randperm(batch).split(args.minibatch_size):
                policy, value = agent(flat_observations[rows], flat_masks[rows])
                # How much likelier the action is now than when it was taken. The smaller of the two products has no
                # gradient where the ratio has already gone far enough in the direction that the advantage asks for,
                # but still has one where it went the wrong way.
                ratio = (policy.log_prob(flat_actions[rows]) - flat_log_probs[rows]).exp()
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.minimum(ratio * normal[rows], clipped * normal[rows]).mean()
                value_loss = 0.5 * (value - targets[rows]).square().mean()
                entropy = policy.entropy().mean()
                loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        # How it comes on. The numbers of the losses are the last minibatch's.
        steps = (update + 1) * batch
        seconds = time.perf_counter() - started
        figures = {
            "episode/return": float(np.mean(returns)) if returns else float("nan"),
            "episode/foundation_cards": float(np.mean(cards)) if cards else float("nan"),
            "loss/policy": policy_loss.item(),
            "loss/value": value_loss.item(),
            "loss/entropy": entropy.item(),
            # 1 means a perfect critic, 0 one that might as well always say the mean.
            "loss/explained_variance": 1 - (advantages.var() / targets.var()).item(),
            "time/steps_per_second": batch / seconds,
            "time/environment_share": env_seconds / seconds,
        }
        if update % args.print_every == 0 or update == updates - 1:
            print(
                f"step {steps:>9,}  return {figures['episode/return']:6.1f}  "
                f"foundation cards {figures['episode/foundation_cards']:5.2f}  entropy {figures['loss/entropy']:.2f}  "
                f"explained variance {figures['loss/explained_variance']:5.2f}  {batch / seconds:,.0f} steps/s  "
                f"environment {env_seconds / seconds:.0%} of the time",
                flush=True,
            )
        if curves:
            for name, figure in figures.items():
                curves.add_scalar(name, figure, steps)
    envs.close()
    if curves:
        curves.close()

    # The result proper: fixed deals, each played once, beside a player that knows nothing. The greedy policy is the
    # usual way to show an agent; here it plays worse than the same policy with some chance in it. It sees the table
    # only: where its likeliest action is one that can be taken back, it takes it back, and goes to and fro for ever.
    if args.eval_deals:
        suite = load_suite(f"draw{envs.rules.draw_count}-dev")
        players: dict[str, Any] = {
            "random": "random",
            "agent, greedy": PolicyPlayer(agent, greedy=True),
            "agent, sampling": PolicyPlayer(agent, greedy=False),
        }
        for name, player in players.items():
            summary = evaluate(player, suite.codes[: args.eval_deals], envs.rules, seed=args.seed).summary
            low, high = summary.win_rate_interval
            share = f"{summary.win_rate:.1%}, 95 % interval {low:.1%} to {high:.1%}"
            print(
                f"{suite.name}, {summary.deals} deals, {name + ':':16} {summary.foundation_cards:5.2f} foundation "
                f"cards, {summary.wins} won ({share})"
            )


# --- The command line --------------------------------------------------------------------------------------


def command(**settings: Any) -> None:
    train(Args(**settings))


def options() -> inspect.Signature:
    """The fields of ``Args`` as typer reads options: from the signature of a function."""
    body = cast(ast.ClassDef, ast.parse(inspect.getsource(Args)).body[0]).body
    helps = {
        field.target.id: line.value.value
        for field, line in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
    }
    types = get_type_hints(Args)
    return inspect.Signature(
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[types[field.name], typer.Option(help=str(helps[field.name]))],
            )
            for field in fields(Args)
        ]
    )


if __name__ == "__main__":
    cast(Any, command).__signature__ = options()
    app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
    app.command(help="Masked PPO on Canfield.")(command)
    app()
