"""SEAM: measure absorption, a user's comment returned inside the text a model was asked to edit.

The house follows the data, from an item of a corpus to a table; in brackets the files between::

    top      cli (the `seam` command), trial (a model in one call), verify (does it reproduce?),
             inspect_task (the same benchmark for Inspect)
    reports  report (of a run) [reports/RUN], claims (the paper's numbers, its PDF) [paper],
             wild (does the message shape occur in chat logs?) [data/wild, reports/wild]
    readers  read (specimens, packets, verdicts)
    stages   build: items -> cases    [data/benchmark]      infer: cases -> answers  [data/outputs]
             score: answers -> labels [data/labels]         analysis: labels -> numbers, tables
    ground   core (rows, files, settings, runs, how tables and figures look)

Arrows point down only, and the rooms of one floor know nothing of each other. Each room's first
lines say what comes in, what goes out, and which notebook shows it; docs/design.md has the plan.
"""
