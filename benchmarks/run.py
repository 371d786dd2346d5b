"""Run every benchmark in this folder; each prints its own small table."""

import runpy
from pathlib import Path


def main() -> None:
    here = Path(__file__)
    for script in sorted(here.parent.glob("*.py")):
        if script != here:
            print(f"\n== {script.stem}")
            runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
