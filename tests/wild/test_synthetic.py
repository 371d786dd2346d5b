"""The synthetic corpus: repeatable, shaped like real logs, and what the screen makes of it."""

from collections import Counter
from random import Random

import numpy as np
import pyarrow.parquet as pq

from seam_lib.core.params import SyntheticParams
from seam_lib.wild.evaluate import confusion, precision_recall
from seam_lib.wild.synthetic import SHAPES, conversations, labelled, make_corpus, message

SMALL = SyntheticParams(shards=2, rows_per_shard=200, seed=5)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    first, second = (make_corpus(tmp_path / name, SMALL) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert first[0].read_bytes() != first[1].read_bytes()


def test_shards_are_made_once_and_anew_for_other_settings(tmp_path):
    (path, _) = make_corpus(tmp_path, SMALL)
    made = path.stat().st_mtime_ns
    assert make_corpus(tmp_path, SMALL)[0].stat().st_mtime_ns == made
    other = SyntheticParams(shards=2, rows_per_shard=100, seed=5)
    assert pq.read_metadata(make_corpus(tmp_path, other)[0]).num_rows == 100


def test_lengths_are_those_of_real_logs():
    texts = [row["conversation"][0]["content"] for row in conversations(2_500, "lengths")]
    lengths = [len(text) for text in texts if text]
    assert 130 <= np.median(lengths) <= 270
    assert 3_000 <= np.percentile(lengths, 95) <= 5_500


def test_every_shape_is_labelled_equally_often_and_none_repeats():
    rows = list(labelled(5, "x"))
    assert Counter(shape for shape, _ in rows) == dict.fromkeys(SHAPES, 5)
    assert len({text for _, text in rows}) > 0.9 * len(rows)


def test_about_half_of_the_pastes_are_near_copies():
    rng = Random(1)
    numbers = [message("email_request", rng)[1] for _ in range(400)]
    assert 0.4 < np.mean([number is not None for number in numbers]) < 0.6
    assert {message("question", rng)[1] for _ in range(50)} == {None}


def test_the_screen_keeps_the_shapes_and_drops_the_others():
    table = confusion(labelled(60, "scores"))
    assert table.to_numpy().sum() == 60 * len(SHAPES)
    scores = precision_recall(table).set_index("measure")["value"]
    assert scores["precision"] > 0.97
    assert scores["recall"] > 0.9
    shapes = table.droplevel("wanted")
    assert shapes.loc["terse_tail", "paste_with_tail"] < 30  # the rules' known weakness
    assert shapes.loc["image_prompt", "scaffold"] == 60
