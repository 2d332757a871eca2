"""The demonstration: the whole study on a synthetic town, from maps to a page."""
