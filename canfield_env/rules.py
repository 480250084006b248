"""The three rule sets and every mix of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

_CHOICES: dict[str, tuple[Any, ...]] = {
    "draw_count": (1, 3),
    "column_moves": ("tail", "whole"),
    "auto_fill": (True, False),
    "empty_column": ("any", "waste"),
    "take_back": (True, False),
    "build_past_base": (True, False),
    "score": ("app", "casino", "andr"),
}
_COUNTS = {"max_redeals": (True, 60_000), "undo_limit": (True, 1_000_000), "deck_price": (False, 1_000_000)}
"""Fields that hold a count: whether None (no limit) is allowed, and the largest value."""


@dataclass(frozen=True)
class Rules:
    """The rules of a game of Canfield. The defaults are the preset ``app``.

    Attributes:
        draw_count: Cards a draw turns up: 1 or 3.
        column_moves: What may move from column to column: ``"tail"`` (any tail) or ``"whole"`` (the whole column).
        auto_fill: Whether an emptied column is filled from the reserve in the same move.
        empty_column: What an empty column takes: ``"any"`` card or tail, or ``"waste"`` (the waste's top card
            only). With ``auto_fill`` there is an empty column only once the reserve is empty.
        take_back: Whether a foundation's top card may go back to a column.
        build_past_base: Whether, in a column, a card may go on a card of the base rank.
        max_redeals: How often the waste may be turned back into the stock; None for no limit.
        undo_limit: How many actions a ``Game`` can undo; None for no limit.
        score: ``"app"``, ``"casino"`` or ``"andr"``.
        deck_price: Dollars the pack costs, for the casino score.

    Raises:
        ValueError: if a field is out of range; the message names the field.
    """

    draw_count: int = 3
    column_moves: str = "tail"
    auto_fill: bool = True
    empty_column: str = "any"
    take_back: bool = True
    build_past_base: bool = True
    max_redeals: int | None = None
    undo_limit: int | None = 100
    score: str = "app"
    deck_price: int = 50

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not any(type(value) is type(choice) and value == choice for choice in choices):
                allowed = " or ".join(repr(choice) for choice in choices)
                raise ValueError(f"rules: {name} is {value!r}, but must be {allowed}")
        for name, (optional, largest) in _COUNTS.items():
            value = getattr(self, name)
            if value is None and optional:
                continue
            if type(value) is not int or not 0 <= value <= largest:
                allowed = f"a whole number from 0 to {largest}" + (" or None" if optional else "")
                raise ValueError(f"rules: {name} is {value!r}, but must be {allowed}")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Rules:
        """The preset ``"app"``, ``"hoyle"`` or ``"andr"``, with the given fields changed.

        Raises:
            ValueError: for an unknown preset, an unknown field, or a value out of range.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(f"{name!r} is not a rule set: choose one of {', '.join(PRESETS)}")
        unknown = [key for key in changes if key not in FIELD_NAMES]
        if unknown:
            raise ValueError(f"rules: {unknown[0]!r} is not a field: the fields are {', '.join(FIELD_NAMES)}")
        return replace(PRESETS[name], **changes)

    @classmethod
    def read(cls, value: Rules | str | Mapping[str, Any]) -> Rules:
        """Rules from a ``Rules``, a preset's name, text such as ``"app,draw_count=1,take_back=false"``, or a
        mapping such as ``{"preset": "app", "draw_count": 1}`` (``preset`` is ``"app"`` where it is left out).

        Raises:
            ValueError: if ``value`` is none of these, or names something that does not exist.
        """
        if isinstance(value, Rules):
            return value
        name, changes = _name_and_changes(value)
        return cls.preset(name, **changes)

    def to_plain(self) -> str | dict[str, Any]:
        """The rules as plain data for JSON: a preset's name, or a dict with ``preset`` and what differs from it."""
        name, changes = min(
            ((name, _differences(self, preset)) for name, preset in PRESETS.items()), key=lambda pair: len(pair[1])
        )
        return {"preset": name, **changes} if changes else name

    def __str__(self) -> str:
        plain = self.to_plain()
        if isinstance(plain, str):
            return plain
        return ",".join([plain.pop("preset"), *(f"{key}={_value_text(value)}" for key, value in plain.items())])


FIELD_NAMES = tuple(field.name for field in fields(Rules))
PRESETS: dict[str, Rules] = {
    "app": Rules(),
    "hoyle": Rules(column_moves="whole", empty_column="waste", take_back=False, undo_limit=0, score="casino"),
    "andr": Rules(auto_fill=False, take_back=False, undo_limit=None, score="andr"),
}


def rules_for_draw(value: Rules | str | Mapping[str, Any], draw_count: int | None, source: str) -> Rules:
    """The rules ``value`` asks for, with ``draw_count`` (None: no wish) where ``value`` leaves it open.

    A preset's name, or a mapping or text without ``draw_count``, leaves it open; a ``Rules`` never does.
    ``source`` says in the error where ``draw_count`` comes from, such as ``"the code CF1-D1-AAAAACL"``.

    Raises:
        ValueError: if both name a draw count and they differ.
    """
    rules = Rules.read(value)
    if draw_count is None or rules.draw_count == draw_count:
        return rules
    if isinstance(value, Rules) or "draw_count" in _name_and_changes(value)[1]:
        raise ValueError(f"{source} draws {draw_count}, but the rules say draw_count={rules.draw_count}")
    return replace(rules, draw_count=draw_count)


def _name_and_changes(value: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(value, str):
        name, *assignments = (part.strip() for part in value.split(","))
        read = [_read_assignment(part) for part in assignments]
        twice = [field for k, (field, _) in enumerate(read) if field in dict(read[:k])]
        if twice:
            raise ValueError(f"rules: {value!r} gives {twice[0]!r} twice")
        return name, dict(read)
    if isinstance(value, Mapping):
        changes = {str(key): change for key, change in value.items()}
        return changes.pop("preset", "app"), changes
    raise ValueError(f"rules: {value!r} is neither Rules, a rule set's name nor a mapping")


def _read_assignment(text: str) -> tuple[str, Any]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"rules: {text!r} is not of the form field=value")
    words = {"true": True, "false": False, "none": None, "null": None}
    if value.lower() in words:
        return name, words[value.lower()]
    return name, int(value) if value.isascii() and value.isdigit() else value


def _value_text(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _differences(rules: Rules, preset: Rules) -> dict[str, Any]:
    base = asdict(preset)
    return {name: value for name, value in asdict(rules).items() if value != base[name]}
