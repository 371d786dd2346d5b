"""The report of a run, reports/RUN/: the paper's analysis of one model of our own asking.

One module a step::

    results (labels, traces -> numbers) -> tables, words -> page (Markdown, HTML, files)
"""
