"""Suites: named lists of deal codes that players are compared on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .deals import code_draw_count
from .rules import Rules

_FOLDERS = (Path(__file__).parent / "suites", Path(__file__).parent.parent / "configs" / "suites")
"""Where the shipped suites are: in an installed package, and in a checkout."""

_KEYS = ("name", "codes", "verdicts")
VERDICTS = ("won", "unwinnable", "unknown")
"""What a solver can say of a deal."""


@dataclass(frozen=True)
class Suite:
    """A list of deals to play.

    Attributes:
        name: The suite's name.
        codes: Deal codes in upper case, all different and all of one draw.
        verdicts: For each rule set by name, a list as long as ``codes`` of ``"won"``, ``"unwinnable"`` or
            ``"unknown"``.
    """

    name: str
    codes: tuple[str, ...]
    verdicts: Mapping[str, tuple[str, ...]]

    @property
    def draw_count(self) -> int:
        """How many cards a draw turns up in all its games: 1 or 3."""
        return code_draw_count(self.codes[0])


def suite_names() -> list[str]:
    """The names of the suites that come with the package."""
    return sorted({path.stem for folder in _FOLDERS for path in folder.glob("*.yaml")})


def load_suite(name: str | os.PathLike[str]) -> Suite:
    """The suite of this name (``"draw3-dev"``), or in this YAML file.

    Raises:
        ValueError: if there is no such suite, or its file is not one; the message says what is wrong.
    """
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        found = [folder / f"{name}.yaml" for folder in _FOLDERS if (folder / f"{name}.yaml").is_file()]
        if not found:
            raise ValueError(
                f"there is no suite {str(name)!r}: the suites are {', '.join(suite_names())}, or give a YAML file"
            )
        path = found[0]
    if not path.is_file():
        raise ValueError(f"there is no suite file {str(path)!r}")
    import yaml  # here, since only this needs it: a user of random deals does not wait for it

    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"suite {path}: it is not YAML: {error}") from error
    return _read(path, data)


def _read(path: Path, data: Any) -> Suite:
    if not isinstance(data, dict):
        raise ValueError(f"suite {path}: it must hold name and codes")
    for key in data:
        if key not in _KEYS:
            raise ValueError(f"suite {path}: {key!r} is not a key of a suite: the keys are {', '.join(_KEYS)}")
    name, codes, verdicts = data.get("name"), data.get("codes"), data.get("verdicts") or {}
    if not isinstance(name, str):
        raise ValueError(f"suite {path}: name must be text, not {name!r}")
    if not isinstance(codes, list) or not codes:
        raise ValueError(f"suite {path}: codes must be a list of deal codes")
    draws: dict[int, str] = {}
    places: dict[str, int] = {}
    for place, code in enumerate(codes, 1):
        try:
            draws[code_draw_count(code)] = code
        except ValueError as error:
            raise ValueError(f"suite {path}: code {place}: {error}") from error
        if code.upper() in places:
            raise ValueError(f"suite {path}: code {place}, {code}, is code {places[code.upper()]} again")
        places[code.upper()] = place
    if len(draws) > 1:
        raise ValueError(f"suite {path}: its codes must be all of one draw, but {draws[1]} and {draws[3]} are not")
    return Suite(name, tuple(places), _read_verdicts(path, verdicts, len(codes)))


def _read_verdicts(path: Path, verdicts: Any, deals: int) -> dict[str, tuple[str, ...]]:
    if not isinstance(verdicts, dict):
        raise ValueError(f"suite {path}: verdicts must give each rule set a list, not {verdicts!r}")
    for rules, words in verdicts.items():
        try:
            Rules.read(rules)
        except ValueError as error:
            raise ValueError(f"suite {path}: verdicts: {error}") from error
        if not isinstance(words, list) or len(words) != deals:
            raise ValueError(f"suite {path}: the verdicts for {rules} must be a list as long as codes, {deals} words")
        for word in words:
            if word not in VERDICTS:
                raise ValueError(f"suite {path}: verdict {word!r} for {rules} is not one of {', '.join(VERDICTS)}")
    return {rules: tuple(words) for rules, words in verdicts.items()}
