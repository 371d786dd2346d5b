"""Does the message shape occur in real chat logs? (paper Section 3.3, Appendix A).

The steps of a message, one module per step::

    corpus (synthetic) -> screen (rules, dedupe) -> judge -> sample -> annotate -> audit

Message text stays in the corpus and in `runs/`, which git ignores. Only hashes, kinds, lengths,
labels and counts leave this package.
"""
