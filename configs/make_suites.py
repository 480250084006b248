"""Write the suites that come with the package: `python configs/make_suites.py [FOLDER]` (configs/suites by default).

Number k of the list of deals is the first 35 bits of SHA-256("canfield_env suites 1:k"), k in decimal from 0, numbers
met before left out: the same in any language, for ever. Each suite takes the next 1,000, so no deal is in two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import count, islice
from pathlib import Path

from canfield_env.deals import number_code

SEED = "canfield_env suites 1"
SIZE = 1_000
SUITES = {"draw3-dev": 3, "draw3-test": 3, "draw1-dev": 1, "draw1-test": 1}
"""Each suite's name, and how many cards a draw turns up in it; the order decides the deals."""


def numbers() -> Iterator[int]:
    """Different deal numbers without end."""
    met: set[int] = set()
    for k in count():
        number = int.from_bytes(sha256(f"{SEED}:{k}".encode()).digest()[:5], "big") >> 5
        if number not in met:
            met.add(number)
            yield number


def suite_texts() -> dict[str, str]:
    """What each suite's file holds, by the suite's name."""
    stream = numbers()
    texts = {}
    for name, draw_count in SUITES.items():
        codes = "".join(f"- {number_code(number, draw_count)}\n" for number in islice(stream, SIZE))
        texts[name] = f"# Written by configs/make_suites.py.\nname: {name}\ncodes:\n{codes}"
    return texts


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "suites"
    for name, text in suite_texts().items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
