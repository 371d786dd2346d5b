"""Items to cases. Shown step by step in notebooks/01_build.ipynb.

Comes in: rows of the six sources (data/sources, or the hub) and the comment pools of
data/comments.yaml. Goes out: six matched cases per cluster, in data/benchmark/NAME.

    sources -> comments, conditions -> clusters -> invariants -> composition
    release: is it the paper's benchmark?
"""
