"""A synthetic town: streets, traffic and cameras, drawn from a seed and written in real formats."""
