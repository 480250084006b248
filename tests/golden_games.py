"""Golden games: whole stretches of play written down, so that any drift of the environment shows.

    python tests/golden_games.py        # writes tests/golden/*.txt again

Each file is a game that a person can follow: the board, and then for each step the legal moves, the action taken
as number and text, the reward, the score, and a digest of observation, mask and info. Write them again only
for a change that is meant, and read the difference.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

from canfield_env import CanfieldEnv

FOLDER = Path(__file__).parent / "golden"
WINNING_LINE = Path(__file__).parent / "data" / "winning_line.txt"
STEPS = 36
BOARD_EVERY = 6

# File name -> code, settings of the environment, moves given (None: the small policy below chooses).
GAMES = {
    "app-draw3": ("CF1-D3-CANFIEL", {"rules": "app"}),
    "app-draw1": ("CF1-D1-CANFIEL", {"rules": "app", "draw_count": 1, "observation": "screen", "reward": "app"}),
    "hoyle-draw3": ("CF1-D3-HOYLEAA", {"rules": "hoyle", "reward": "casino"}),
    "hoyle-draw1": ("CF1-D1-HOYLEAA", {"rules": "hoyle", "draw_count": 1, "observation": "thoughtful"}),
    "andr-draw3": ("CF1-D3-ANDRAAA", {"rules": "andr", "reward": "andr", "observation": "thoughtful"}),
    "andr-draw1": ("CF1-D1-ANDRAAA", {"rules": "andr", "draw_count": 1, "reward": "win"}),
    "won": ("CF1-D3-AAAAACL", {"rules": "app"}),
}


def digest(observation, info):
    """Eight letters that change with any bit of observation, mask or info."""
    hashed = hashlib.sha256(observation.tobytes() + info["action_mask"].tobytes())
    rest = {key: value for key, value in info.items() if key != "action_mask"}
    hashed.update(json.dumps(rest, sort_keys=True).encode())
    return hashed.hexdigest()[:8]


def choose(step, actions):
    """A policy that needs no random numbers: cards to foundations first, draws seldom, the rest in turn."""
    to_foundation = [action for action in actions if action in (1, 6, 11, 12, 13, 14)]
    if to_foundation and step % 7:
        return to_foundation[0]
    plays = [action for action in actions if action]
    return plays[step * 5 % len(plays)] if plays and step % 4 else actions[step % len(actions)]


def game_text(name):
    """The game of that name, played now."""
    code, settings = GAMES[name]
    env = CanfieldEnv(**settings, render_mode="ansi")
    observation, info = env.reset(options={"code": code})
    line = WINNING_LINE.read_text(encoding="utf-8").split() if name == "won" else None
    texts = [f"{name}: {code} {json.dumps(settings)}", "", env.render(), "", f"reset  {digest(observation, info)}"]
    for step in range(len(line) if line else STEPS):
        actions = np.flatnonzero(info["action_mask"]).tolist()
        legal = " ".join(str(env.move_of(action)) for action in actions)
        action = env.action_of(line[step]) if line else choose(step, actions)
        move = env.move_of(action)
        observation, reward, terminated, truncated, info = env.step(action)
        texts.append(
            f"{step + 1:>4}  {action:>2} {move!s:<8} reward {reward:g}  score {info['score']}"
            f"  {digest(observation, info)}  of: {legal}"
        )
        if terminated or truncated:
            texts += ["", f"terminated, {'won' if info['is_success'] else 'dead'}"]
            break
        if step % BOARD_EVERY == BOARD_EVERY - 1:
            texts += ["", *env.render().splitlines()[1:], ""]
    return "\n".join([*texts, "", env.render(), ""])


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        path = FOLDER / f"{name}.txt"
        path.write_text(game_text(name), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
