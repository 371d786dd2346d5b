"""The report of a run, reports/RUN/: the paper's analysis of a model that was asked here.

One module a step::

    results (labels, traces -> numbers) -> tables, words -> page (Markdown, HTML, files)
"""
