"""Labels to numbers, tables and figures. Shown step by step in notebooks/04_analysis.ipynb.

Comes in: a label set, the paper's (data/published) or a run's. Goes out: frames of rates, contrasts
and levers; paper/statistics.json, paper/tables, figures.

    labels -> questions (stats) -> tables, figures, words ; two people's answers -> agreement
"""
