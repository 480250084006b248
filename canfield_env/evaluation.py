"""Evaluation: a player plays a list of deals, and what he did can be replayed and checked.

result = evaluate("greedy", load_suite("draw3-dev").codes[:100], jobs=2)
print(result.summary.win_rate, result.summary.win_rate_interval)
"""

from __future__ import annotations

import multiprocessing
import platform
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np

from .deals import code_draw_count, number_code
from .kernel.state import ACTIONS
from .moves import IllegalMoveError
from .players import Player, PlayerName, check_player, player_observation, plays_batches
from .results import Result, Row, summarize
from .rules import Rules, rules_for_draw

BATCH = 1_024
"""Games that a player with ``act_batch`` plays at once."""

Progress = Callable[[int], object]
"""Called with the number of games that were just finished."""


class PlayerError(RuntimeError):
    """A player's own code failed; the message ends with its traceback."""


class ReplayError(ValueError):
    """A row that does not come out of its actions; the message names what differs."""


def evaluate(
    player: str | Player,
    codes: Sequence[str],
    rules: Rules | str | Mapping[str, Any] = "app",
    *,
    suite: str | None = None,
    jobs: int = 1,
    seed: int = 0,
    reward: str = "cards",
    progress: Progress | None = None,
) -> Result:
    """Let ``player`` play ``codes`` through the environment, each once.

    Args:
        player: A player's name (``PlayerName``), or a player, which must pickle where ``jobs`` is more than 1.
        codes: Deal codes, all of one draw, which decides the draw count where ``rules`` leave it open.
        rules: The rules, as ``Rules.read`` takes them.
        suite: The name of the list of codes, for the record.
        jobs: Processes. They change nothing but the time: each game's chance comes from ``seed`` and its place in
            the list. A player with ``act_batch`` plays all his games in this process. (More than one job needs
            ``if __name__ == "__main__":`` around a script's main part, as Python's ``multiprocessing`` does.)
        seed: What all chance comes from, 0 or more.
        reward: The environment's reward, which the rows' ``return`` adds up.
        progress: Called with the number of games just finished.

    Raises:
        ValueError: for a bad code, rules, player, reward, seed or number of jobs.
        IllegalMoveError: if the player chooses an illegal action.
        PlayerError: if the player's code fails.
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}, but must be 1 or more")
    if seed < 0:
        raise ValueError(f"seed is {seed}, but must be 0 or more")
    task = _Task(_read_player(player), _read_rules(codes, rules), reward, seed)
    # Made here even if other processes play: this finds every error of the caller's, and compiles the rules once.
    table = _Table(task)
    progress = progress or (lambda games: None)
    numbered = list(enumerate(codes))
    if plays_batches(table.player):
        rows = play_batch(table.player, task, codes, progress)
    elif jobs == 1 or len(codes) == 1:
        rows = []
        for index, code in numbered:
            rows.append(table.play(index, code))
            progress(1)
    else:
        rows = _play_in_processes(task, numbered, min(jobs, len(codes)), progress)
    return Result(
        player=task.name,
        rules=task.rules.to_plain(),
        reward=reward,
        suite=suite,
        versions=versions(),
        seed=seed,
        summary=summarize(rows, task.rules),
        rows=tuple(rows),
    )


def versions() -> dict[str, str]:
    """Versions of what decides the course of a game."""
    packages = ("canfield-env", "gymnasium", "numba", "numpy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def game_seed(seed: int, index: int) -> int:
    """The seed, of 64 bits, of game number ``index`` (from 0) of an evaluation with ``seed``."""
    return int(np.random.SeedSequence((seed, index)).generate_state(1, np.uint64)[0])


# --- Playing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """What a process needs to know to play any of the games."""

    player: PlayerName | Player
    rules: Rules
    reward: str
    seed: int

    @property
    def name(self) -> str:
        if isinstance(self.player, PlayerName):
            return self.player.text
        return f"{type(self.player).__module__}:{type(self.player).__qualname__}"


class _Table:
    """A player at an environment."""

    def __init__(self, task: _Task) -> None:
        self.task = task
        loaded = task.player.load() if isinstance(task.player, PlayerName) else task.player
        self.player = check_player(loaded, task.name)
        self.env = make_env(task.rules, player_observation(self.player), task.reward)
        # Loads the compiled rules, which would count as time of the first game.
        self.env.reset(options={"code": number_code(0, task.rules.draw_count)})
        self.env.step(0)

    def play(self, index: int, code: str) -> Row:
        """Play one game, number ``index`` of the list."""
        player = self.player
        started = perf_counter()
        observation, info = self.env.reset(options={"code": code})
        _begin(self.task, code, player, index)
        actions: list[int] = []
        total, ended = 0.0, False
        while not ended:
            action = _ask(self.task, code, player.act, observation, info["action_mask"].view(bool))
            observation, reward, terminated, truncated, info = self.env.step(
                _check_action(self.task, code, len(actions), action)
            )
            if info["illegal_action"]:
                raise _illegal(self.task, code, len(actions), action)
            actions.append(int(action))
            total += float(reward)
            ended = terminated or truncated
        return _row(info, total, actions, perf_counter() - started)


def make_env(rules: Rules, observation: str, reward: str, **settings: Any) -> gym.Env[np.ndarray, Any]:
    """The registered environment, its time limit included, for these rules, tier and reward."""
    return gym.make("Canfield-v0", disable_env_checker=True, **_settings(rules, observation, reward), **settings)


def _settings(rules: Rules, observation: str, reward: str) -> dict[str, Any]:
    """The arguments that a single environment and the vector one take alike."""
    return {"rules": rules.to_plain(), "observation": observation, "reward": reward}


def play_batch(player: Any, task: _Task, codes: Sequence[str], progress: Progress) -> list[Row]:
    """The rows of a player with ``act_batch``, who plays up to ``BATCH`` of the games at once."""
    envs: Any = gym.make_vec(
        "Canfield-v0",
        num_envs=min(BATCH, len(codes)),
        autoreset_mode="SAME_STEP",
        **_settings(task.rules, player_observation(player), task.reward),
    )
    observations, info = envs.reset(options={"queue": codes})
    _begin(task, codes[0], player, 0)
    rows: dict[int, Row] = {}
    actions: list[list[int]] = [[] for _ in codes]
    totals, seconds = np.zeros(len(codes)), np.zeros(len(codes))
    while len(rows) < len(codes):
        started = perf_counter()
        playing = np.flatnonzero(~info["queue_done"])
        games = envs.queue_index[playing]
        masks = info["action_mask"][playing].view(bool)
        whole = f"a batch of {len(games)} games"
        chosen = np.asarray(_ask(task, whole, player.act_batch, observations[playing], masks))
        if chosen.shape != (len(games),) or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"player {task.name!r}: act_batch gave {chosen.dtype} of shape {chosen.shape}, "
                f"but must give {len(games)} integers"
            )
        legal = (chosen >= 0) & (chosen < ACTIONS) & masks[np.arange(len(games)), np.clip(chosen, 0, ACTIONS - 1)]
        for game, action, is_legal in zip(games.tolist(), chosen.tolist(), legal.tolist()):
            if not is_legal:
                raise _illegal(task, codes[game], len(actions[game]), action)
            actions[game].append(action)
        all_chosen = np.zeros(envs.num_envs, np.int64)
        all_chosen[playing] = chosen
        observations, rewards, terminated, truncated, info = envs.step(all_chosen)
        totals[games] += rewards[playing]
        seconds[games] += (perf_counter() - started) / len(games)
        ended = (terminated | truncated)[playing]
        for i, game in zip(playing[ended].tolist(), games[ended].tolist()):
            final = {key: info["final_info"][key][i] for key in _ROW_KEYS}
            rows[game] = _row(final, totals[game], actions[game], seconds[game])
        progress(int(ended.sum()))
    return [rows[game] for game in range(len(codes))]


_ROW_KEYS = ("code", "is_success", "foundation_cards", "score")
"""What a row takes from the info of a game's last step."""


def _row(info: Mapping[str, Any], total: float, actions: list[int], seconds: float) -> Row:
    return Row(
        code=info["code"],
        won=bool(info["is_success"]),
        foundation_cards=int(info["foundation_cards"]),
        return_=float(total),
        score=int(info["score"]),
        steps=len(actions),
        seconds=round(float(seconds), 6),
        actions=tuple(actions),
    )


def _begin(task: _Task, code: str, player: Player, index: int) -> None:
    """Tell the player that game number ``index`` begins; his ValueError, of rules he was not made for, stays one."""
    try:
        player.begin(task.rules, game_seed(task.seed, index))
    except ValueError:
        raise
    except Exception as error:
        raise _player_error(task, code, error) from None


def _ask(task: _Task, code: str, method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a player's method; what goes wrong in it is the player's error, not the caller's."""
    try:
        return method(*arguments)
    except Exception as error:
        raise _player_error(task, code, error) from None


def _player_error(task: _Task, code: str, error: Exception) -> PlayerError:
    # The player's own part of the traceback, as text, which comes through from another process too.
    where = error.__traceback__.tb_next if error.__traceback__ else None
    told = "".join(traceback.format_exception(type(error), error, where)).rstrip()
    return PlayerError(f"player {task.name!r} failed in {code}: {error!r}\n{told}")


def _check_action(task: _Task, code: str, step: int, action: Any) -> Any:
    if not isinstance(action, int | np.integer) or not 0 <= action < ACTIONS:
        raise _illegal(task, code, step, action)
    return action


def _illegal(task: _Task, code: str, step: int, action: Any) -> IllegalMoveError:
    return IllegalMoveError(f"player {task.name!r} chose {action!r}, no legal action, after {step} steps of {code}")


def _read_player(player: str | Player) -> PlayerName | Player:
    return PlayerName.read(player) if isinstance(player, str) else player


def _read_rules(codes: Sequence[str], rules: Rules | str | Mapping[str, Any]) -> Rules:
    if isinstance(codes, str) or not codes:
        raise ValueError(f"codes must be a list of one deal code or more, not {codes!r}")
    draw = code_draw_count(codes[0])
    for code in codes:
        if code_draw_count(code) != draw:
            raise ValueError(f"the codes must be all of one draw, but {codes[0]} and {code} are not")
    return rules_for_draw(rules, draw, f"the code {codes[0]}")


# --- Processes ---------------------------------------------------------------------------------------------

_task: _Task | None = None
_table: _Table | None = None


def _start_worker(task: _Task) -> None:
    global _task
    _task = task
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _play_chunk(numbered: Sequence[tuple[int, str]]) -> list[Row]:
    """In a worker: play these games."""
    global _table
    if _table is None:
        assert _task is not None
        _table = _Table(_task)
    return [_table.play(index, code) for index, code in numbered]


def _play_in_processes(task: _Task, numbered: Sequence[tuple[int, str]], jobs: int, progress: Progress) -> list[Row]:
    # Small chunks: the bar moves, and no process waits long for the last one.
    size = max(1, min(8, len(numbered) // (4 * jobs)))
    chunks = [numbered[start : start + size] for start in range(0, len(numbered), size)]
    # Spawned, not forked: the same on every system, and safe beside the threads of PyTorch and of progress bars.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker, initargs=(task,))
    try:
        with _no_interrupt():  # processes start here, and begin with this process's handling of signals
            futures = [pool.submit(_play_chunk, chunk) for chunk in chunks]
        for future in as_completed(futures):
            progress(len(future.result()))
        return [row for future in futures for row in future.result()]
    except BaseException:  # Ctrl-C too: nobody waits for games that may take minutes
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ignore Ctrl-C for a moment: it reaches every process, but only the first one is to answer it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets, and may handle, signals
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- Replaying ---------------------------------------------------------------------------------------------


def replay(
    row: Row,
    rules: Rules | str | Mapping[str, Any],
    reward: str = "cards",
    show: Callable[[str], object] | None = None,
) -> None:
    """Play a row's actions again through the environment, and check all that the row says of the game.

    Args:
        row: The row.
        rules: The rules it was played under.
        reward: The reward that its ``return`` adds up.
        show: Called with the board as text at the start, and with each move and the board after it.

    Raises:
        ReplayError: if an action is not legal, the game ends too early or not at all, or the row says of ``won``,
            ``foundation_cards``, ``return``, ``score`` or ``steps`` what is not so; the message names it.
    """
    rules = rules_for_draw(rules, code_draw_count(row.code), f"the code {row.code}")
    env = make_env(rules, "recall", reward, render_mode="ansi" if show else None)
    canfield: Any = env.unwrapped
    _, info = env.reset(options={"code": row.code})
    if show:
        show(str(env.render()))
    total, ended = 0.0, False
    for step, action in enumerate(row.actions, 1):
        if ended:
            raise ReplayError(f"{row.code}: the game ends after {step - 1} steps, but the row has {len(row.actions)}")
        if not info["action_mask"][action]:
            raise ReplayError(f"{row.code}: action {action}, step {step}, is not legal there")
        move = canfield.move_of(action) if show else None
        _, gain, terminated, truncated, info = env.step(action)
        total += float(gain)
        ended = terminated or truncated
        if show:
            show(f"\n{step}. {move}\n{env.render()}")
    if not ended:
        raise ReplayError(f"{row.code}: after its {len(row.actions)} steps the game is not over")
    replayed = _row(info, total, list(row.actions), 0.0).model_dump(by_alias=True)
    said = row.model_dump(by_alias=True)
    for key in ("won", "foundation_cards", "return", "score", "steps"):
        if said[key] != replayed[key]:
            raise ReplayError(f"{row.code}: {key} is {said[key]} in the row, but {replayed[key]} in the replay")


def check_result(result: Result, progress: Progress | None = None) -> None:
    """Replay every row of a result, and check that its summary is that of its rows.

    Raises:
        ReplayError: at the first difference.
    """
    for row in result.rows:
        replay(row, result.rules, result.reward)
        if progress:
            progress(1)
    computed = summarize(result.rows, Rules.read(result.rules)).model_dump(by_alias=True)
    for key, value in result.summary.model_dump(by_alias=True).items():
        if not np.allclose(value, computed[key], rtol=1e-9):
            raise ReplayError(f"summary: {key} is {value}, but its rows give {computed[key]}")
