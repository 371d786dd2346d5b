"""Does the pipeline really reproduce? Run it again elsewhere and compare bytes.

`dvc repro` trusts its lock file. `seam verify` does not: it copies the project's tracked files into
a scratch folder, forces every stage to run there without a lock, and compares what comes out with
the lock and with the files here. Hashes are MD5, as in dvc.lock; they guard against drift, not
malice.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from seam_lib.core.errors import SeamError

Result = Literal[
    "same",
    "differs",
    "not made",
    "edited",
    "missing",
    "changed input",
    "not in dvc.yaml",
    "not in dvc.lock",
]
#: Stands for the hash of a missing file.
ABSENT = "-"


class Check(NamedTuple):
    """One compared file: the hash on record, the hash found, and what that means."""

    stage: str
    path: str
    expected: str
    got: str
    verdict: Result


def verify(root: Path, stages: Sequence[str] = ()) -> list[Check]:
    """Run stages again in a scratch copy and compare every output, byte for byte.

    Args:
        root: The project's folder, with its dvc.lock.
        stages: Names of the stages to run; all by default. A name without `@` means all its
            variants.

    Returns:
        One check per output, one for every input that is not the one on record, and one for every
        stage that only the pipeline or only the record has.

    Raises:
        SeamError: dvc.lock is missing or damaged, a stage name is unknown, or a stage fails in the
            scratch copy; the message carries the end of its output.
    """
    lock = read_lock(root)
    if unknown := set(stages) - {s.split("@")[0] for s in lock} - set(lock):
        raise SeamError(f"unknown stage {min(unknown)!r}; dvc.lock has {', '.join(lock)}.")
    chosen = [s for s in lock if s in stages or s.split("@")[0] in stages]
    with tempfile.TemporaryDirectory(prefix="seam-verify-") as folder:
        scratch = Path(folder) / "project"
        copy_tracked(root, scratch)
        (scratch / "dvc.lock").unlink(missing_ok=True)  # so its lock holds only what was run there
        execute(scratch, chosen)
        again = read_lock(scratch)
        checked = chosen or sorted({*lock, *again})
        made: set[str] = set()
        for stage in checked:
            made.update(_outputs(lock.get(stage, {})))
        lines: list[Check] = []
        for stage in checked:
            if stage not in again:
                lines.append(Check(stage, "dvc.lock", ABSENT, ABSENT, "not in dvc.yaml"))
            elif stage not in lock:
                lines.append(Check(stage, "dvc.yaml", ABSENT, ABSENT, "not in dvc.lock"))
            else:
                lines.extend(_compare_inputs(stage, lock[stage], again[stage], made))
                lines.extend(_compare_outputs(root, scratch, stage, lock[stage], again[stage]))
    return lines


def read_lock(root: Path) -> dict[str, Any]:
    """The stages of dvc.lock, by name, sorted."""
    path = root / "dvc.lock"
    if not path.is_file():
        raise SeamError(f"{path}: no such file. Run `dvc repro` first.")
    try:
        return dict(sorted(yaml.safe_load(path.read_text(encoding="utf-8"))["stages"].items()))
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, AttributeError):
        raise SeamError(f"{path}: not a lock file. `git checkout` it or run `dvc repro`.") from None


def copy_tracked(root: Path, scratch: Path) -> None:
    """Copy the files that git tracks or would track, as they are now, into a new repository."""
    listing = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
    for name in sorted(set(filter(None, listing.split("\0")))):
        source, target = root / name, scratch / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    _run(["git", "init", "-q"], scratch)


def execute(scratch: Path, stages: Sequence[str]) -> None:
    """Force DVC to run stages in a project folder, with that folder's own `seam_lib`.

    Args:
        scratch: The project folder.
        stages: Stages to run, each alone; an empty sequence runs the whole pipeline.
    """
    single = ["--single-item", *stages] if stages else []
    _run(["dvc", "repro", "--force", *single], scratch)


def _run(command: list[str], folder: Path) -> str:
    # In a hook, git's variables name the hook's own repository, not the scratch one.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment = kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(folder),  # the copy's code, not the installed one
        "DVC_SITE_CACHE_DIR": str(folder / ".dvc/tmp/site"),  # leave nothing behind
    }
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError:
        raise SeamError(f"`{command[0]}` is not installed here; put it on the PATH.") from None
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        raise SeamError(f"`{' '.join(command)}` failed on a copy of the project:\n{tail}")
    return done.stdout


def _compare_inputs(
    stage: str, old: dict[str, Any], new: dict[str, Any], made: set[str]
) -> Iterator[Check]:
    """The command, parameters and input files that differ from the lock, without those `made`."""
    before, now = _inputs(old), _inputs(new)
    for name in sorted((before.keys() | now.keys()) - made):
        expected, got = before.get(name, ABSENT), now.get(name, ABSENT)
        if expected != got:
            yield Check(stage, name, expected, got, "changed input")


def _inputs(stage: dict[str, Any]) -> dict[str, str]:
    """The hash of each input of a stage in the lock, by its name."""
    values = {"dvc.yaml:cmd": stage.get("cmd", "")}
    for file, settings in stage.get("params", {}).items():
        for key, value in settings.items():
            values[f"{file}:{key}"] = value
    hashes = {k: _hash(json.dumps(x, sort_keys=True).encode()) for k, x in values.items()}
    for dependency in stage.get("deps", []):
        hashes[dependency["path"]] = dependency["md5"]
    return hashes


def _outputs(stage: dict[str, Any]) -> dict[str, str]:
    """The hash of each output of a stage in the lock, by its path."""
    return {out["path"]: out["md5"] for out in stage.get("outs", [])}


def _compare_outputs(
    root: Path, scratch: Path, stage: str, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[Check]:
    """Compare each output in three states: on record, made again, and here."""
    record, again = _outputs(old), _outputs(new)
    for name in sorted(record.keys() | again.keys()):
        expected, made = record.get(name, ABSENT), again.get(name, ABSENT)
        files = sorted(_files_below(root, name) | _files_below(scratch, name))
        for file in files:
            here, fresh = _hash_file(root / file), _hash_file(scratch / file)
            # The lock has one hash for a whole folder. If that agrees, each file made is the file
            # on record.
            yield _line(stage, str(file), fresh if made == expected else here, fresh, here)
        if not files:
            yield _line(stage, name, expected, made, _hash_file(root / name))
        elif made != expected:
            yield _line(stage, f"{name}/", expected, made, made)


def _files_below(base: Path, folder: str) -> set[Path]:
    """The files in a folder, relative to `base`; none if it is a file itself."""
    return {path.relative_to(base) for path in (base / folder).rglob("*") if path.is_file()}


def _line(stage: str, path: str, expected: str, made: str, here: str) -> Check:
    if made != expected:
        return Check(stage, path, expected, made, "not made" if made == ABSENT else "differs")
    if here != made:
        return Check(stage, path, expected, here, "missing" if here == ABSENT else "edited")
    return Check(stage, path, expected, made, "same")


def _hash_file(path: Path) -> str:
    return _hash(path.read_bytes()) if path.is_file() else ABSENT


def _hash(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()
