"""SEAM: measure absorption, a user's comment returned inside the text a model was asked to edit.

The way of the data, from an item of a corpus to a table; in brackets the files between::

    sources -> build (comments, compose, invariants)         [data/benchmark, see `benchmark`]
            -> infer (plan, limits, providers, traces)       [data/traces, data/outputs]
            -> score (artifact, cascade, nli)                [data/labels]
            -> labels -> analysis (stats) -> tables, figures
               of the paper's labels -> claims, paper        [paper, figures]
               of a run -> report                            [reports/RUN]

Beside it: `schema` and `files` (rows, and all reading and writing), `params` (settings, and where
the project lies), `cli` (the `seam` command), `explain`, `specimens` and `review` (labels to read),
`health` and `run_health` (what else may be wrong), `verify` (does it reproduce?), and `wild` (does
the message shape occur in real chat logs?).
"""
