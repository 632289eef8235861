"""Figures for papers and the page: one module a figure, over `panels` (frame, style, saving) and `palette` (colours).

Nothing is imported here: whoever wants a colour does not wait for matplotlib.
"""
