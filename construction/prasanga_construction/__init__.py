"""Making pairs of sentences: from tuples of identity and attribute, and from one language to another.

Nothing of a study depends on this package; its rules run when they are asked for.
"""
