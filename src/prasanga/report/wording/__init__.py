"""What cards say, and papers of methods and figures: templates and data, apart from those of the page and from code.

An edit of a caption makes page and cards anew, and draws no figure.
"""
