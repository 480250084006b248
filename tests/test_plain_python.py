"""A part of the tests again without the JIT: the same engine, as plain Python under a debugger."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_plain_part_passes_without_the_jit():
    """The golden games are in it, so compiled and plain agree on each digest."""
    environ = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    # Nothing of the outer run's: not its workers, nor its options.
    environ = {key: value for key, value in environ.items() if not key.startswith(("PYTEST", "COV"))}
    command = [sys.executable, "-m", "pytest", "-m", "plain", "-n", "0", "-q", "-p", "no:cacheprovider"]
    files = [
        str(path) for path in sorted((ROOT / "tests").glob("test_*.py")) if "mark.plain" in path.read_text("utf-8")
    ]
    files.remove(__file__)
    assert any(path.endswith("test_golden.py") for path in files)
    ran = subprocess.run(
        [*command, *files], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed and int(passed[1]) >= 30, ran.stdout
    assert "skipped" not in ran.stdout


def test_the_variable_does_what_it_says():
    code = (
        "from canfield_env.kernel import episode, jit; assert jit.PLAIN_PYTHON;"
        "assert not hasattr(episode.step_single, 'py_func'); print('plain')"
    )
    environ = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "plain"), ran.stderr
