"""Does the message shape occur in real chat logs? (paper Section 3.3, Appendix A).

The way of a message, one module a step::

    corpus (synthetic) -> screen (rules, dedupe) -> judge -> sample -> annotate -> audit

Message text stays in the corpus and in `runs/`, which git ignores. What this package hands on are
hashes, kinds, lengths, labels and counts.
"""
