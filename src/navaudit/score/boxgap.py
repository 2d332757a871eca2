"""How far boxes are apart, or how deep in each other; for explanations, never for verdicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gap_m(one: Floats, other: Floats) -> Floats:
    """Distance ``[...]`` between boxes ``[..., corner, xy]``, negative the depth of an overlap.

    NaN where a box is NaN.

    Examples
    --------
    >>> square = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    >>> gap_m(square, square + [4.0, 5.0]), gap_m(square, square + [0.75, 0.0])
    (5.0, -0.25)
    """
    depth = depth_m(one, other)
    apart = np.minimum(_corners_to_edges(one, other), _corners_to_edges(other, one))
    return np.where(depth >= 0.0, -depth, apart)[()]


def depth_m(one: Floats, other: Floats) -> Floats:
    """Shortest way that takes one box ``[..., corner, xy]`` off the other; negative if apart."""
    depth = np.full(np.broadcast_shapes(one.shape[:-2], other.shape[:-2]), np.inf)
    for box in (one, other):
        for side in (box[..., 0, :] - box[..., 1, :], box[..., 0, :] - box[..., 3, :]):
            length = np.sqrt((side * side).sum(-1, keepdims=True))
            # a box without length or width has no side to look along
            axis = np.divide(side, length, out=np.zeros_like(side), where=length > 0)
            a = (one * axis[..., None, :]).sum(-1)
            b = (other * axis[..., None, :]).sum(-1)
            way = np.minimum(a.max(-1) - b.min(-1), b.max(-1) - a.min(-1))
            depth = np.where(length[..., 0] > 0, np.minimum(depth, way), depth)
    missing = np.isnan(one).any((-1, -2)) | np.isnan(other).any((-1, -2))
    return np.where(missing, np.nan, depth)


def _corners_to_edges(corners: Floats, box: Floats) -> Floats:
    """Smallest distance ``[...]`` from corners of one box to edges of another."""
    point = corners[..., :, None, :]
    begin = box[..., None, :, :]
    way = np.roll(box, -1, axis=-2)[..., None, :, :] - begin
    square = (way * way).sum(-1)
    along = ((point - begin) * way).sum(-1)
    share = np.divide(along, square, out=np.zeros_like(along), where=square > 0)
    off = point - begin - np.clip(share, 0.0, 1.0)[..., None] * way
    return np.sqrt((off * off).sum(-1)).min((-1, -2))
