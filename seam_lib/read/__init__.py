"""Labels to readers. Shown in notebooks/06_specimens.ipynb.

Comes in: a scored run. Goes out: specimens to browse, packets to annotate, and what the annotators'
verdicts say of the scorer.

    specimens -> gallery, diff -> view -> html -> files, browser ; packets -> annotate -> verdicts
"""
