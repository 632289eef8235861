"""Figures for papers and the page: `registry` lists them, `canvas` is what they are drawn on.

Nothing is imported here: whoever wants a colour does not wait for matplotlib.
"""
