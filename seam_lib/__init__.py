"""SEAM: measure absorption, a user's remark returned inside the text a model was asked to edit.

The way of the data, one module a step::

    sources -> build (comments, compose) -> infer (providers) -> artifact -> cascade (nli) -> labels
    labels  -> stats -> tables, figures -> claims -> report
"""
