"""The scorer again: slow, obvious, with NumPy, shapely and SciPy, and no code of the fast one.

It is the specification written as code, to be read top to bottom::

    resample -> profiles -> tracker -> shapes -> traffic, road, comfort -> sheet

Arrays over candidates come first: ``[candidate, step, ...]``.  All metrics are columns of numbers,
one per candidate.  Nothing is tuned: where the stock scorer keeps lists and loops, so does this.
"""

from reference.sheet import forgive, score, score_human

__all__ = ["forgive", "score", "score_human"]
