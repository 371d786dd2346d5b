"""Does the pipeline really reproduce? Re-execute it elsewhere and compare bytes.

`dvc repro` trusts its lock file. `seam verify` does not: it copies the project's tracked files into
a scratch folder, forces every stage to run there, and compares what comes out with the lock and
with the files at hand. Hashes are MD5, as in dvc.lock; they guard against drift, not malice.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from seam_lib.errors import SeamError

Verdict = Literal["same", "differs", "edited", "missing", "changed input"]


class Line(NamedTuple):
    """One compared file: the hash on record, the hash found, and what that means."""

    stage: str
    path: str
    expected: str
    got: str
    verdict: Verdict


def verify(root: Path, stages: Sequence[str] = ()) -> list[Line]:
    """Re-execute stages in a scratch copy and compare every output, byte for byte.

    Args:
        root: The project's folder, with its dvc.lock.
        stages: Names of the stages to run; all by default. A name without `@` means all its
            variants.

    Returns:
        One line an output, and one for every input that is not the one on record.

    Raises:
        SeamError: dvc.lock is missing, a stage name is unknown, or a stage fails in the scratch
            copy; the message carries the end of its output.
    """
    lock = read_lock(root)
    chosen = [s for s in lock if not stages or s in stages or s.split("@")[0] in stages]
    unknown = [s for s in stages if s not in {n.split("@")[0] for n in lock} | set(lock)]
    if unknown:
        raise SeamError(f"unknown stage {unknown[0]!r}; dvc.lock has {', '.join(lock)}.")
    lines = list(_changed_inputs(root, lock, chosen))
    with tempfile.TemporaryDirectory(prefix="seam-verify-") as folder:
        scratch = Path(folder) / "project"
        copy_tracked(root, scratch)
        execute(scratch, chosen if stages else [])
        again = read_lock(scratch)
        for stage in chosen:
            for out in lock[stage].get("outs", []):
                new = next(o["md5"] for o in again[stage]["outs"] if o["path"] == out["path"])
                lines.extend(_compare(root, scratch, stage, out, new))
    return lines


def read_lock(root: Path) -> dict[str, Any]:
    """The stages of dvc.lock, by name, sorted."""
    path = root / "dvc.lock"
    if not path.is_file():
        raise SeamError(f"{path}: no such file. Run `dvc repro` first.")
    return dict(sorted(yaml.safe_load(path.read_text(encoding="utf-8"))["stages"].items()))


def copy_tracked(root: Path, scratch: Path) -> None:
    """Copy the files that git tracks or would track, as they are now, into a fresh repository."""
    listing = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
    for name in sorted(set(filter(None, listing.split("\0")))):
        source, target = root / name, scratch / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    _run(["git", "init", "-q"], scratch)


def execute(scratch: Path, stages: Sequence[str]) -> None:
    """Force DVC to run stages in a project folder, with that folder's own `seam_lib`.

    Args:
        scratch: The project folder.
        stages: Stages to run, each alone; an empty sequence runs the whole pipeline.
    """
    single = ["--single-item", *stages] if stages else []
    _run([sys.executable, "-m", "dvc", "repro", "--force", *single], scratch)


def _run(command: list[str], folder: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(folder),  # the copy's code, not the installed one
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        raise SeamError(f"`{' '.join(command[-4:])}` failed in the scratch copy:\n{tail}")
    return done.stdout


def _changed_inputs(root: Path, lock: dict[str, Any], stages: Sequence[str]) -> Iterator[Line]:
    """Inputs that are no stage's output and are not as the lock has them."""
    outputs = {out["path"] for stage in lock.values() for out in stage.get("outs", [])}
    for stage in stages:
        for dep in lock[stage].get("deps", []):
            path = root / dep["path"]
            if dep["path"] in outputs or path.is_dir():
                continue
            got = _md5(path)
            if got != dep["md5"]:
                verdict: Verdict = "changed input" if path.is_file() else "missing"
                yield Line(stage, dep["path"], dep["md5"], got, verdict)


def _compare(
    root: Path, scratch: Path, stage: str, out: dict[str, Any], again: str
) -> Iterator[Line]:
    """Compare one output: the lock, the file at hand, and the file just made."""
    name, expected = out["path"], out["md5"]
    if not expected.endswith(".dir"):
        at_hand = _md5(root / name)
        if at_hand != expected:
            verdict: Verdict = "edited" if (root / name).is_file() else "missing"
            yield Line(stage, name, expected, at_hand, verdict)
        else:
            yield Line(stage, name, expected, again, "same" if again == expected else "differs")
        return
    files = sorted(
        {f.relative_to(base) for base in (root, scratch) for f in (base / name).rglob("*")}
    )
    for file in (f for f in files if (root / f).is_file() or (scratch / f).is_file()):
        at_hand, made = _md5(root / file), _md5(scratch / file)
        yield Line(stage, str(file), at_hand, made, "same" if at_hand == made else "differs")
    if again != expected:
        yield Line(stage, f"{name}/", expected, again, "differs")


def _md5(path: Path) -> str:
    if not path.is_file():
        return "-"
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "md5").hexdigest()
