"""Claims about the panel of models and about excluded outputs (Section 5, Appendices F and H)."""

import pandas as pd

from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value
from seam_lib.core.rows import CASUAL, TREATED


def sizes(data: Published) -> Recomputed:
    """Models, labs, and models by group."""
    panel = data.panel
    groups = panel["group"].value_counts()
    values: dict[str, Value] = {
        "models": len(panel),
        "labs": panel["lab"].nunique(),
        "open-weight": int(groups["open-weight"]),
        "proprietary": int(groups["proprietary"]),
        "frontier": int(groups["frontier"]),
        "names": panel["name"].tolist(),
    }
    rows = panel[["name", "lab", "group"]].reset_index(drop=True)
    return Recomputed(values, f"rows of panel.csv: {_tally(groups)}", rows)


def exposed(data: Published) -> list[str]:
    """Each model's exposure to a serving change between the newline and the native condition.

    Returns:
        `identifier` (another served identifier), `no record` (none for newline) or `none`.
    """
    return [_exposure(note) for note in data.panel["served_id_note"]]


def _exposure(note: str) -> str:
    if "one identifier" in note:
        return "none"
    return "no record" if "no per-call record" in note else "identifier"


def serving(data: Published) -> Recomputed:
    """Which models' serving is on record for both conditions, and when they were collected."""
    kinds = exposed(data)
    panel = data.panel.assign(exposure=kinds)
    notes = panel.loc[panel["exposure"] == "identifier", "served_id_note"]
    values: dict[str, Value] = {
        "on record": sum(k != "no record" for k in kinds),
        "models": len(panel),
        "without record": panel.loc[panel["exposure"] == "no record", "name"].tolist(),
        "number without record": kinds.count("no record"),
        "mismatch": kinds.count("identifier"),
        "pinned identifiers": [n.split(" in newline")[0] for n in notes],
        "aliases": [n.split("; ")[1].removesuffix(" in newline_R") for n in notes],
        "exposed": sum(k != "none" for k in kinds),
        "kinds of defect": len({*kinds} - {"none"}),
        "same day": int((panel["native_collected_with_newline"] == "same day").sum()),
    }
    columns = ["name", "native_collected_with_newline", "served_id_note", "exposure"]
    return Recomputed(values, "notes of panel.csv", panel[columns].reset_index(drop=True))


def other_runs(data: Published) -> Recomputed:
    """Whether the native condition was collected later than newline for most models."""
    when = data.panel["native_collected_with_newline"].value_counts()
    later = int(when["later run"])
    values: dict[str, Value] = {"models": "most" if 2 * later > len(data.panel) else "not most"}
    return Recomputed(values, f"notes of panel.csv: {_tally(when)}", when.reset_index())


def tested(data: Published) -> Recomputed:
    """How many models have labels under every condition with a comment."""
    counts = data.labels().frame.groupby("model")["condition"].nunique()
    complete = int((counts == len(TREATED)).sum())
    how = f"{complete} models have labels under all of {', '.join(TREATED)}"
    return Recomputed({"models": complete}, how, counts.reset_index())


def excluded(data: Published, casual: bool, models: str | list[str] = "all") -> Recomputed:
    """Excluded label rows of the casual conditions, or of the artifact-native one.

    Args:
        data: The published facts.
        casual: The four casual conditions, or else the artifact-native one.
        models: Model keys, or a group of the panel.
    """
    conditions = CASUAL if casual else ("newline_R",)
    frame = data.table("exclusions")
    rows = frame[frame["condition"].isin(conditions) & frame["model"].isin(data.group(models))]
    how = _tally(rows["reason"].value_counts())
    clusters = sorted(set(rows["cluster_id"]))
    values: dict[str, Value] = {"rows": len(rows), "clusters": clusters}
    values["conditions"] = [c for c in conditions if c in set(rows["condition"])]
    return Recomputed(values, how, rows)


def counted_exclusions(data: Published) -> Recomputed:
    """How many excluded cases have a label nevertheless."""
    frame, keys = data.table("exclusions"), ["model", "cluster_id", "condition"]
    labelled = frame.merge(data.labels().frame, on=keys)
    how = f"{len(labelled)} of {len(frame)} excluded cases"
    return Recomputed(
        {"cases": len(labelled)}, how, frame.groupby("model").size().reset_index(name="n")
    )


def native_exclusions(data: Published, which: str = "clean usable") -> Recomputed:
    """Artifact-native rows without a label.

    Args:
        data: The published facts.
        which: `clean usable`, those whose clean output is usable, since another condition of the
            same cluster has a label; `all`; or `reason`, those for which the release gives one.
    """
    frame = data.table("exclusions")
    rows = frame[frame["condition"] == "newline_R"]
    if which == "reason":
        rows = rows[rows["reason"] != "no usable pair in the release"]
    elif which == "clean usable":
        frame = data.labels().frame
        labelled = set(zip(frame["model"], frame["cluster_id"], strict=True))
        pairs = zip(rows["model"], rows["cluster_id"], strict=True)
        rows = rows[[pair in labelled for pair in pairs]]
    how = _tally(rows["model"].map(data.name).value_counts(sort=False))
    return Recomputed({"rows": len(rows)}, how, rows)


def unusable_outputs(data: Published, replaced: int) -> Recomputed:
    """Unusable outputs: those that excluded the casual rows, and those replaced later.

    An unusable treated output excludes one row, a clean one all rows of its cluster.

    Args:
        data: The published facts.
        replaced: Clean outputs replaced by later ones, as printed; they leave no trace in labels.
    """
    frame = data.table("exclusions").query("condition in @CASUAL", local_dict={"CASUAL": CASUAL})
    clean = frame[frame["reason"].str.startswith("clean")]
    clean_outputs = clean.groupby(["model", "cluster_id"]).ngroups
    treated = len(frame) - len(clean)
    how = (
        f"{treated} treated and {clean_outputs} clean outputs exclude {len(frame)} rows, "
        f"{replaced} more"
    )
    return Recomputed({"outputs": treated + clean_outputs + replaced}, how, frame)


def label_rows(data: Published) -> Recomputed:
    """How many label rows a case has, and how many labels a model has."""
    frame: pd.DataFrame = data.labels().frame
    per_case = frame.groupby(["model", "cluster_id", "condition"]).size()
    values: dict[str, Value] = {"rows per case": int(per_case.max())}
    rows = frame.groupby("model").size().reset_index(name="labels")
    return Recomputed(values, f"{len(frame)} labels of as many cases", rows)


def final_cases(data: Published, model: str) -> Recomputed:
    """Cases of a model with a usable output: its labels, and the clean outputs they need."""
    frame = data.labels().frame
    mine = frame[frame["model"] == model]
    clean = mine["cluster_id"].nunique()
    how = f"{len(mine)} labels and {clean} clean outputs"
    rows = mine.groupby("condition").size().reset_index(name="labels")
    return Recomputed({"cases": len(mine) + clean}, how, rows)


def decisions(data: Published, model: str) -> Recomputed:
    """Labels of a model that were changed by hand, everywhere or in the sensitivity line."""
    frame = data.table("adjudications")
    rows = frame[frame["model"] == model]
    how = _tally(rows["reason"].value_counts())
    return Recomputed({"labels": len(rows)}, how, rows)


def _tally(counts: "pd.Series[int]") -> str:
    """Counts in words, as `11 open-weight, 6 proprietary`."""
    return ", ".join(f"{n} {name}" for name, n in counts.items())
