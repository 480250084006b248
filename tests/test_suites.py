"""Suites: those that come with the package, and the reading of others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from canfield_env.suites import load_suite, suite_names

CONFIGS = Path(__file__).parent.parent / "configs"
NAMES = ["draw1-dev", "draw1-test", "draw3-dev", "draw3-test"]


def test_shipped_suites():
    assert suite_names() == NAMES
    seen = set()
    for name in NAMES:
        suite = load_suite(name)
        assert suite.name == name
        assert len(suite.codes) == 1_000
        assert f"draw{suite.draw_count}" == name.split("-")[0]
        assert load_suite(CONFIGS / "suites" / f"{name}.yaml") == suite
        seen |= {code[-7:] for code in suite.codes}
    assert len(seen) == 4_000  # no deal is in two suites


def test_making_the_suites_again_gives_the_same_bytes(tmp_path):
    subprocess.run([sys.executable, CONFIGS / "make_suites.py", tmp_path], check=True)
    assert sorted(path.stem for path in tmp_path.iterdir()) == NAMES
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (CONFIGS / "suites" / path.name).read_bytes()


def read(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return load_suite(path)


def test_own_suite(tmp_path):
    suite = read(tmp_path, "name: mine\ncodes: [cf1-d3-aaaaacl, CF1-D3-AAAAACM]\nverdicts: {app: [won, unknown]}\n")
    assert suite.codes == ("CF1-D3-AAAAACL", "CF1-D3-AAAAACM")
    assert suite.draw_count == 3
    assert suite.verdicts == {"app": ("won", "unknown")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "must hold name and codes"),
        ("name: [", "it is not YAML"),
        ("name: x\ncodez: []", "'codez' is not a key of a suite: the keys are name, codes, verdicts"),
        ("codes: [CF1-D3-AAAAACL]", "name must be text, not None"),
        ("name: x\ncodes: []", "codes must be a list"),
        ("name: x\ncodes: [CF1-D3-AAAAACL, 7]", "code 2: a deal code is text"),
        ("name: x\ncodes: [CF1-D3-AAAAAC]", "code 1: .* has 6 letters"),
        ("name: x\ncodes: [CF1-D3-AAAAACL, CF1-D1-AAAAACL]", "all of one draw"),
        ("name: x\ncodes: [CF1-D3-AAAAACL, cf1-d3-aaaaacl]", "code 2, cf1-d3-aaaaacl, is code 1 again"),
        ("name: x\ncodes: [CF1-D3-AAAAACL]\nverdicts: 3", "must give each rule set a list"),
        ("name: x\ncodes: [CF1-D3-AAAAACL]\nverdicts: {app: 3}", "verdicts for app must be a list as long as codes"),
        ("name: x\ncodes: [CF1-D3-AAAAACL]\nverdicts: {app: []}", "verdicts for app must be a list as long as codes"),
        ("name: x\ncodes: [CF1-D3-AAAAACL]\nverdicts: {app: [lost]}", "verdict 'lost' for app is not one of won"),
        ("name: x\ncodes: [CF1-D3-AAAAACL]\nverdicts: {ap: [won]}", "'ap' is not a rule set"),
    ],
)
def test_bad_suites(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(tmp_path, text)
    assert "mine.yaml" in str(caught.value)


def test_unknown_suites(tmp_path):
    with pytest.raises(ValueError, match=re.escape(f"there is no suite 'draw2': the suites are {', '.join(NAMES)}")):
        load_suite("draw2")
    with pytest.raises(ValueError, match="there is no suite file"):
        load_suite(tmp_path / "none.yaml")
