"""How the kernel is compiled, and where the compiled code is kept.

Numba's on-disk cache looks only at the file of the function that Python calls: after a change in another
file that function inlines, it would go on with the old code without a sign. So the cache folder carries a
digest of every source file of this package; any change of the rules makes a new folder. For that to be
enough, kernel files import nothing of the project but each other (a test holds them to it).
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

_njit: Any = numba.njit
_config: Any = numba.config  # its attributes are made at run time

PLAIN_PYTHON = bool(_config.DISABLE_JIT)
"""Whether ``NUMBA_DISABLE_JIT=1`` runs the kernel uncompiled, for a debugger."""


def source_digest() -> str:
    """A digest, in 16 hexadecimal digits, of all source files of the kernel."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """The folder for this digest: under NUMBA_CACHE_DIR, beside the package, in the user's cache, or, where none of
    these can be written, in a temporary folder of the user's own."""
    beside, home = Path(__file__).parent / "__pycache__", Path(os.path.expanduser("~"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    if _config.CACHE_DIR:
        root = Path(_config.CACHE_DIR)
    elif _writable(beside):
        root = beside
    elif _writable(cache):
        root = cache / "canfield_env"
    else:
        root = Path(tempfile.gettempdir()) / f"canfield_env-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    return str(root / f"canfield-{source_digest()}")


def _writable(folder: Path) -> bool:
    """Whether the folder can be written, or made."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)


CACHE_FOLDER = _cache_folder()
_announced: set[str] = set()


def inner(function: Function) -> Function:
    """Compile a function that only compiled code calls; its callers' cached code holds it."""
    return _njit(nogil=True, error_model="numpy")(function)


def inlined(function: Function) -> Function:
    """Compile a function that only compiled code calls, into each caller: a call that hands over arrays is slow."""
    return _njit(nogil=True, error_model="numpy", forceinline=True)(function)


def entry(function: Function) -> Function:
    """Compile a function that Python calls, on its first call, and keep the code on disk."""
    if PLAIN_PYTHON:
        return function
    folder = _config.CACHE_DIR
    _config.CACHE_DIR = CACHE_FOLDER  # read once, when the function is decorated
    try:
        return _njit(cache=True, nogil=True, error_model="numpy")(function)
    finally:
        _config.CACHE_DIR = folder


def wrapping(function: Function) -> Function:
    """Let 64-bit unsigned arithmetic wrap around without a warning in plain Python, as it does compiled."""
    return np.errstate(over="ignore")(function) if PLAIN_PYTHON else function


def announce_compilation(entry_point: str) -> None:
    """On a terminal, say why a first call takes seconds, unless ``entry_point``, the slowest of those that are
    about to be called, was compiled before."""
    if entry_point in _announced or PLAIN_PYTHON or not sys.stderr.isatty():
        return
    _announced.add(entry_point)
    if not any(Path(CACHE_FOLDER).rglob(f"*.{entry_point}-*.nbi")):
        print("canfield_env: compiling the rules (once; some 15 seconds) ...", file=sys.stderr, flush=True)
