"""Answers to labels. Shown step by step in notebooks/03_score.ipynb.

Comes in: cases and their outputs. Goes out: data/labels/RUN.jsonl, and RUN.meta.json that says what
made them.

    returned (phrases) -> tiers, nli -> scorer ; checks, damage: can the labels be believed?
"""
