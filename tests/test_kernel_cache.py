"""The compiled code on disk never outlives a change of the rules, in whichever kernel file.

Numba looks only at the file of the function that Python calls, so that a wrong rule could survive its fix.
"""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import canfield_env

PACKAGE = Path(canfield_env.__file__).parent
KERNEL = PACKAGE / "kernel"
KERNEL_FILES = sorted(KERNEL.rglob("*.py"))

PROBE = """
import json
import canfield_env
from canfield_env.kernel import episode
cards = canfield_env.Deal.from_number(75).cards
stats = episode.shuffle_number.stats
print(json.dumps([canfield_env.__file__, cards[13:18], sum(stats.cache_hits.values())]))
"""


def probe(folder):
    """Run the copy in ``folder`` in a new process: where it lies, five cards of deal 75, and hits of the cache."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "PYTHON", "XDG"))}
    environ |= {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "0"}
    ran = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    file, cards, hits = ast.literal_eval(ran.stdout)
    assert Path(file).is_relative_to(folder)
    return cards, hits


@pytest.fixture
def copied(tmp_path):
    """The package in a folder of its own, without anything compiled."""
    shutil.copytree(PACKAGE, tmp_path / "canfield_env", ignore=shutil.ignore_patterns("__pycache__", "suites"))
    return tmp_path


def swap_two_cards_of_the_pack(folder):
    """Another rule, in another file than that of the function called from Python; as long as before, and as old."""
    path = folder / "canfield_env" / "kernel" / "shuffle.py"
    times, source = path.stat(), path.read_text(encoding="utf-8")
    changed = source.replace("19, 27, 42,", "27, 19, 42,")
    assert changed != source
    path.write_text(changed, encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    # Python's own cache looks at the source's age and length: this test is about Numba's.
    for compiled in (path.parent / "__pycache__").glob("shuffle.*.pyc"):
        compiled.unlink()


PUBLISHED = [32, 5, 38, 37, 39]  # 7H, and 6C KH QH AS


def test_a_changed_rule_in_another_file_is_taken_up(copied):
    assert probe(copied) == (PUBLISHED, 0)
    assert probe(copied) == (PUBLISHED, 1)  # from the cache: there is one
    swap_two_cards_of_the_pack(copied)
    swap = {19: 27, 27: 19}
    assert probe(copied) == ([swap.get(card, card) for card in PUBLISHED], 0)


def cache_folder(folder):
    """Where the copy in ``folder`` keeps its compiled code."""
    spec = importlib.util.spec_from_file_location("copied_jit", folder / "canfield_env" / "kernel" / "jit.py")
    jit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(jit)
    return jit.CACHE_FOLDER


@pytest.mark.parametrize("name", [path.name for path in KERNEL_FILES])
def test_a_change_of_any_kernel_file_means_another_cache_folder(copied, name):
    before = cache_folder(copied)
    assert cache_folder(copied) == before
    path = copied / "canfield_env" / "kernel" / name
    path.write_bytes(path.read_bytes().replace(b"the", b"teh", 1))
    assert cache_folder(copied) != before
    assert Path(cache_folder(copied)).parent == Path(before).parent


@pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda path: path.name)
def test_kernel_files_import_nothing_of_the_project_but_each_other(path):
    """Only then is a digest of the kernel's own files enough."""
    names = {file.stem for file in KERNEL_FILES}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots = {alias.name.split(".")[0] for alias in node.names}
            assert not roots & {"canfield_env", "agents", "tests"}, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module.split(".")[0] not in {"canfield_env", "agents", "tests"}, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, ast.unparse(node)
            imported = {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
            assert imported <= names, ast.unparse(node)


def test_all_kernel_files_lie_where_the_digest_looks():
    """It looks at the folder itself, not at folders in it."""
    assert {path.parent for path in KERNEL_FILES} == {KERNEL}


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="the message is for a terminal, and this system has no ptys")
def test_a_terminal_is_told_that_the_rules_are_being_compiled(tmp_path):
    env = canfield_env.CanfieldEnv()
    env.reset(seed=0)
    env.step(0)  # compiled in the usual cache by now

    def shown(cache):
        terminal, end = os.openpty()
        environment = dict(os.environ)
        environment.pop("NUMBA_CACHE_DIR", None)
        if cache:
            environment["NUMBA_CACHE_DIR"] = str(cache)
        command = "import canfield_env; canfield_env.CanfieldEnv()"
        subprocess.run([sys.executable, "-c", command], env=environment, stderr=end, check=True)
        os.write(end, b"\n")
        text = os.read(terminal, 1000).decode()
        os.close(terminal)
        os.close(end)
        return text

    assert "compiling the rules" in shown(tmp_path)
    assert "compiling" not in shown(None)
