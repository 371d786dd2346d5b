"""What every room needs and nothing else: rows, files, settings, runs, and how things look.

Comes in: params.yaml and any file of rows. Goes out: typed rows, whole files, tables and figures in
one look and one palette. No notebook of its own; every notebook uses it.
"""
