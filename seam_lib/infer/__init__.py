"""Cases to answers. Shown step by step in notebooks/02_infer.ipynb.

Comes in: data/benchmark/NAME and a run's settings. Goes out: every attempt, in
data/traces/RUN.jsonl, and one answer a case, in data/outputs/RUN.jsonl.

    plan -> runner (limits, providers) -> traces -> health ; batches: the same by files
"""
